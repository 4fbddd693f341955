"""A model that lives elsewhere: the same answers as at home, and never a wrong one, whatever its server does."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest

from app.adapters.catalog import catalog_of, load_catalog
from app.adapters.files.flaws import BrokenFiles
from app.adapters.files.snapshots import take_snapshot
from app.adapters.graphs.models import Model
from app.adapters.graphs.onnx import ModelFailed
from app.adapters.graphs.runs import Runs
from app.adapters.predictors.failures import PredictorUnavailable
from app.adapters.predictors.tensors import as_body
from app.core.budget import Interrupted
from tests.support.live_server import ROOT
from tests.support.predictors import FakePredictor, onnx_scores, write_remote
from tests.support.waiting import PATIENCE, eventually

ROWS = np.random.default_rng(3).lognormal(3, 1, (500, 10)).astype(np.float32)
RANGES = ROOT / "normal_ranges"


@pytest.fixture(scope="module")
def home() -> Model:
    return load_catalog(ROOT / "models", RANGES).models["hcv"]


@pytest.fixture
def fake() -> Iterator[FakePredictor]:
    predictor = FakePredictor(onnx_scores(), 10)
    with predictor.running():
        yield predictor


def loaded(fake: FakePredictor, folder: Path, **settings) -> Model:
    given = {"url": f"http://127.0.0.1:{fake.port}", "retries": 0, "timeout": PATIENCE, **settings}
    write_remote(folder / "models/hcv", **given)
    return load_catalog(folder / "models", RANGES).models["hcv"]


@pytest.mark.parametrize("binary", [True, False])
def test_rows_get_the_scores_of_the_model_at_home(fake: FakePredictor, home: Model, tmp_path: Path, binary: bool):
    fake.binary = binary
    model = loaded(fake, tmp_path)
    assert model.scorer(ROWS).tobytes() == home.scorer(ROWS).tobytes()
    assert (model.scorer.score_dtype, model.probabilities) == (home.scorer.score_dtype, home.probabilities)


def test_it_claims_no_digest_and_is_opaque_and_never_on_the_event_loop(fake: FakePredictor, tmp_path: Path):
    model = loaded(fake, tmp_path)
    assert model.sha256 is None
    assert model.structure.kind == "opaque"
    assert "lives elsewhere" in (model.structure.why or "")
    assert model.scorer.prompt_rows == 0


def test_many_rows_go_in_batches_several_at_a_time(fake: FakePredictor, home: Model, tmp_path: Path):
    model = loaded(fake, tmp_path, batch=40, in_flight=3)
    fake.sizes.clear()
    fake.delay = 0.02
    assert model.scorer(ROWS).tobytes() == home.scorer(ROWS).tobytes()
    assert sorted(fake.sizes) == [20, *[40] * 12]
    assert fake.most_at_once == 3
    assert model.scorer.runs(500) == 13


def test_a_server_that_does_not_describe_its_tensors_is_described_in_the_file(
    fake: FakePredictor, home: Model, tmp_path: Path
):
    fake.describes = False
    with pytest.raises(BrokenFiles, match=r"predictor\.input.*give the tensor's name"):
        loaded(fake, tmp_path / "without")
    model = loaded(fake, tmp_path / "with", input="rows")
    assert model.scorer(ROWS).tobytes() == home.scorer(ROWS).tobytes()


def test_where_the_size_of_a_batch_matters_it_is_always_the_same(fake: FakePredictor, tmp_path: Path):
    honest = fake.score
    fake.score = lambda rows: honest(rows) * np.float32(1 - 1e-3 * (len(rows) > 1))
    model = loaded(fake, tmp_path)
    fake.sizes.clear()
    assert model.scorer(ROWS[:7]).tobytes() == model.scorer(ROWS)[:7].tobytes()
    assert set(fake.sizes) == {64}


def test_where_its_neighbours_matter_a_row_goes_alone(fake: FakePredictor, tmp_path: Path):
    honest = fake.score
    fake.score = lambda rows: honest(rows) * np.float32(1 / (1 + rows.std(axis=0).sum()))
    model = loaded(fake, tmp_path)
    fake.sizes.clear()
    assert model.scorer(ROWS[:7]).tobytes() == np.concatenate([honest(row[None]) for row in ROWS[:7]]).tobytes()
    assert fake.sizes == [1] * 7


def test_a_predictor_that_draws_lots_is_refused_at_load(fake: FakePredictor, tmp_path: Path):
    draws, honest = np.random.default_rng(0), fake.score
    fake.score = lambda rows: honest(rows) * np.float32(draws.uniform(0.9, 1))
    with pytest.raises(BrokenFiles, match="gives other scores for the same rows when asked again"):
        loaded(fake, tmp_path)


WRONG = {
    "too few rows": lambda status, answer, behind: (status, _shaped(answer, -1), behind[:-8]),
    "too many rows": lambda status, answer, behind: (status, _shaped(answer, 1), behind + behind[-8:]),
    "cut off": lambda status, answer, behind: (status, answer, behind[:-3]),
    "another type": lambda status, answer, behind: (status, _typed(answer, "INT64"), behind),
    "one column": lambda status, answer, behind: (status, _wide(answer, 1), behind[: len(behind) // 2]),
    "three columns": lambda status, answer, behind: (status, _wide(answer, 3), behind + behind[: len(behind) // 2]),
    "other floats": lambda status, answer, behind: (status, _wide(answer, 2, "FP64", 8), behind * 2),
    "no outputs": lambda status, answer, behind: (status, {"model_name": "there"}, b""),
    "two outputs": lambda status, answer, behind: (status, {"outputs": answer["outputs"] * 2}, behind * 2),
    "no object": lambda status, answer, behind: (status, ["scores"], b""),
    "texts": lambda status, answer, behind: (status, _in_json(answer, "0.5"), b""),
    "no probabilities": lambda status, answer, behind: (status, answer, _scaled(behind, 3.7)),
    "infinity": lambda status, answer, behind: (status, answer, _scaled(behind, np.inf)),
    "nothing": lambda status, answer, behind: (status, _in_json(answer, None), b""),
    "another version": lambda status, answer, behind: (status, {**answer, "model_version": "2"}, behind),
    "a status": lambda status, answer, behind: (500, {"error": "sorry"}, b""),
    "forbidden": lambda status, answer, behind: (403, {"error": "sorry"}, b""),
    "a redirect": lambda status, answer, behind: (307, {}, b""),
}


def _scaled(behind: bytes, factor: float) -> bytes:
    return (np.frombuffer(behind, "<f4") * np.float32(factor)).tobytes()


def _shaped(answer: dict, more: int) -> dict:
    (output,) = answer["outputs"]
    rows, columns = output["shape"]
    size = output["parameters"]["binary_data_size"] + 8 * more
    return {
        **answer,
        "outputs": [{**output, "shape": [rows + more, columns], "parameters": {"binary_data_size": size}}],
    }


def _wide(answer: dict, columns: int, datatype: str = "FP32", size: int = 4) -> dict:
    (output,) = answer["outputs"]
    shape = [output["shape"][0], columns]
    told = {"shape": shape, "datatype": datatype, "parameters": {"binary_data_size": shape[0] * columns * size}}
    return {**answer, "outputs": [{**output, **told}]}


def _typed(answer: dict, datatype: str) -> dict:
    return {**answer, "outputs": [{**answer["outputs"][0], "datatype": datatype}]}


def _in_json(answer: dict, value: object) -> dict:
    (output,) = answer["outputs"]
    rows, columns = output["shape"]
    return {**answer, "outputs": [{**output, "parameters": {}, "data": [value] * rows * columns}]}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_reply_that_does_not_fit_the_question_is_an_error(fake: FakePredictor, tmp_path: Path, wrong: str):
    model = loaded(fake, tmp_path)
    fake.spoil = WRONG[wrong]
    with pytest.raises(PredictorUnavailable):
        model.scorer(ROWS)
    fake.spoil = None
    assert len(model.scorer(ROWS)) == len(ROWS)


@pytest.mark.parametrize("wrong", ["too few rows", "no object", "texts", "a status"])
def test_the_same_at_load_refuses_the_model(fake: FakePredictor, tmp_path: Path, wrong: str):
    fake.spoil = WRONG[wrong]
    with pytest.raises(BrokenFiles, match=r"model\.toml: predictor: "):
        loaded(fake, tmp_path)


@pytest.mark.parametrize("inputs", [7, "rows", [7], [{"name": "rows", "datatype": "FP32", "shape": [float("inf")]}]])
def test_a_description_that_is_none_refuses_the_model(fake: FakePredictor, tmp_path: Path, inputs: object):
    fake.described_inputs = inputs
    with pytest.raises(BrokenFiles, match=r"model\.toml: predictor: .*describes"):
        loaded(fake, tmp_path)


def test_rows_that_the_server_refuses_are_rows_that_the_model_cannot_score(fake: FakePredictor, tmp_path: Path):
    model = loaded(fake, tmp_path)
    fake.spoil = lambda status, answer, behind: (400, {"error": "I do not like 46.0"}, b"")
    with pytest.raises(ModelFailed) as failed:
        model.scorer(ROWS)
    assert "46" not in f"{failed.value} {failed.value.reason}"


def test_a_connection_that_breaks_is_made_again(fake: FakePredictor, home: Model, tmp_path: Path):
    model = loaded(fake, tmp_path, retries=2)
    fake.drops = 2
    assert model.scorer(ROWS).tobytes() == home.scorer(ROWS).tobytes()
    fake.drops = 3
    with pytest.raises(PredictorUnavailable, match="cannot be reached"):
        model.scorer(ROWS)


def test_a_busy_server_is_asked_again(fake: FakePredictor, home: Model, tmp_path: Path):
    model, refused = loaded(fake, tmp_path, retries=1), iter([503])

    def busy_once(status: int, answer: dict, behind: bytes) -> tuple[int, dict, bytes]:
        return next(refused, status), answer, behind

    fake.spoil = busy_once
    assert model.scorer(ROWS).tobytes() == home.scorer(ROWS).tobytes()


def test_a_slow_server_is_not_waited_for_longer_than_the_file_says(fake: FakePredictor, tmp_path: Path):
    model = loaded(fake, tmp_path, timeout=1)
    fake.delay = PATIENCE
    with pytest.raises(PredictorUnavailable, match="did not answer within 1 s"):
        model.scorer(ROWS)


def test_a_request_that_ends_takes_its_calls_along(fake: FakePredictor, tmp_path: Path):
    model, runs = loaded(fake, tmp_path), Runs(perf_counter() + PATIENCE)
    fake.delay = PATIENCE
    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(model.scorer.within(runs), ROWS)
        eventually(lambda: fake.most_at_once and fake.at_once > 0, lambda: "nobody has asked")
        runs.end()
        with pytest.raises(Interrupted):
            asked.result(PATIENCE)
    eventually(lambda: fake.at_once == 0, lambda: "the call goes on")
    with pytest.raises(Interrupted):
        model.scorer.within(runs)(ROWS)


@pytest.mark.slow
def test_a_server_that_fails_again_and_again_is_left_alone_until_it_is_back(
    fake: FakePredictor, home: Model, tmp_path: Path
):
    model = loaded(fake, tmp_path)
    fake.kill()
    reasons = []
    for _ in range(7):
        with pytest.raises(PredictorUnavailable) as failed:
            model.scorer(ROWS)
        reasons.append(str(failed.value))
    assert all("cannot be reached" in reason for reason in reasons[:5])
    assert all("left alone" in reason for reason in reasons[5:])
    fake.start()

    def is_back() -> bool:
        try:
            return model.scorer(ROWS).tobytes() == home.scorer(ROWS).tobytes()
        except PredictorUnavailable:
            return False

    eventually(is_back, lambda: "the breaker stays open")


def test_a_key_comes_from_a_file_and_may_change(fake: FakePredictor, tmp_path: Path):
    fake.key = "first"
    key = tmp_path / "key"
    key.write_text("first\n")
    model = loaded(fake, tmp_path, key_file=str(key))
    fake.key = "the second"
    key.write_text("the second\n")
    assert len(model.scorer(ROWS)) == len(ROWS)
    with pytest.raises(BrokenFiles, match=r"predictor\.key_file: the predictor does not accept it"):
        loaded(fake, tmp_path / "without")


def test_a_reload_tries_what_lives_elsewhere_again(fake: FakePredictor, tmp_path: Path):
    model = loaded(fake, tmp_path)
    fake.version = "2"
    with pytest.raises(PredictorUnavailable, match="another version than the one that was tried"):
        model.scorer(ROWS)
    again = catalog_of(take_snapshot(tmp_path / "models", RANGES), {"hcv": model}).models["hcv"]
    assert len(again.scorer(ROWS)) == len(ROWS)


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"url": "ftp://127.0.0.1"}, "predictor.url"),
        ({"url": "predictor:8080"}, "predictor.url"),
        ({"url": "http://user:secret@127.0.0.1"}, "predictor.url"),
        ({"url": "http://127.0.0.1/?a=b"}, "predictor.url"),
        ({"model": "elsewhere"}, "predictor.model"),
        ({"batch": 0}, "predictor.batch"),
        ({"timeout": 0}, "predictor.timeout"),
        ({"key_file": "nowhere"}, "predictor"),
        ({"sha512": "0"}, "predictor.sha512"),
    ],
)
def test_a_wrong_table_names_its_field(fake: FakePredictor, tmp_path: Path, settings: dict, field: str):
    with pytest.raises(BrokenFiles) as broken:
        loaded(fake, tmp_path, **settings)
    assert [flaw.field for flaw in broken.value.flaws] == [field]
    assert "secret" not in str(broken.value)


def test_a_graph_beside_it_is_one_too_many(fake: FakePredictor, tmp_path: Path):
    loaded(fake, tmp_path)
    (tmp_path / "models/hcv/model.onnx").write_bytes((ROOT / "models/hcv/model.onnx").read_bytes())
    with pytest.raises(BrokenFiles, match=r"predictor: takes the place of model\.onnx"):
        load_catalog(tmp_path / "models", RANGES)


def test_missing_values_need_tensors_that_have_them(fake: FakePredictor, tmp_path: Path):
    folder = write_remote(tmp_path / "models/hcv", f"http://127.0.0.1:{fake.port}")
    text = (folder / "model.toml").read_text()
    (folder / "model.toml").write_text(text.replace('type = "number"', 'type = "number"\ntakes_missing = true', 1))
    load_catalog(tmp_path / "models", RANGES)
    fake.binary = False
    with pytest.raises(BrokenFiles, match=r"features\[0\]\.takes_missing: .* JSON only"):
        load_catalog(tmp_path / "models", RANGES)


def test_questions_are_what_the_protocol_says(fake: FakePredictor, tmp_path: Path):
    model = loaded(fake, tmp_path)
    feeds = model.scorer.graph.feeds
    plain = json.loads(as_body(feeds, ROWS[:2], "scores", binary=False).content)
    assert plain["inputs"][0]["shape"] == [2, 10]
    assert np.array(plain["inputs"][0]["data"], dtype=np.float32).tobytes() == ROWS[:2].tobytes()
    body = as_body(feeds, ROWS[:2], "scores", binary=True)
    head = json.loads(body.content[: body.json_length])
    assert head["inputs"][0]["parameters"] == {"binary_data_size": 80}
    assert body.content[body.json_length :] == ROWS[:2].tobytes()
