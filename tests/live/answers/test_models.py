"""Versions side by side, prototypes, categories and missing values, over HTTP; and `flipset inspect`."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest

from tests.cli.test_flipset import flipset
from tests.live.asking import ask, lines_of, refused
from tests.support import graphs
from tests.support.live_server import live_server
from tests.support.loans import PERSON, write_loans
from tests.support.networks import Network


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("loans")
    for name, version in (("loans", "1.0"), ("loans@2", "2.0")):
        write_loans(folder, name, version)
    with live_server(folder / "models", folder / "ranges") as server, server.client() as connected:
        yield connected


def test_versions_stand_side_by_side(client: httpx.Client):
    listed = {model["name"]: model["version"] for model in client.get("/v1/models").json()["models"]}
    assert listed == {"loans": "1.0", "loans@2": "2.0"}
    for name, version in listed.items():
        model = lines_of(ask(client, {"instance": PERSON}, name))[0]["model"]
        assert (model["name"], model["version"], len(model["sha256"])) == (name, version, 64)


def test_an_answer_is_said_in_a_sentence(client: httpx.Client):
    """20 - 4.8 - 3 + 0 + 1 is 13.2, and 17.5 is needed: the home gives 6, years 4, late 3, debt 1.15."""
    lines = lines_of(ask(client, {"instance": PERSON}, "loans"))
    said = [line["sentence"] for line in lines if line["type"] == "counterfactual"]
    assert said == [
        "Change home from rents to owns.",
        "Lower Debt to income from 48 to 36.5 % and raise years from 1 to 5.",
        "Lower late from 3 to 0 and raise years from 1 to 5.",
    ]
    home = next(line for line in lines if line["type"] == "counterfactual")["changes"][0]
    assert home == {
        "feature": "home", "title": "Where they live", "from": "rents", "to": "owns", "unit": None, "direction": None,
    }  # fmt: skip


def test_features_that_sound_alike_are_told_apart_by_their_names(tmp_path: Path):
    write_loans(tmp_path)
    file = tmp_path / "models/loans/model.toml"
    file.write_text(file.read_text().replace('name = "late"', 'name = "late"\ntitle = "Debt to income"'))
    folders = {"FLIPSET_MODELS_DIR": str(tmp_path / "models"), "FLIPSET_NORMAL_RANGES_DIR": str(tmp_path / "ranges")}
    told = flipset("explain", "loans", "-", stdin=json.dumps({"instance": PERSON}), **folders).stdout
    said = [line["sentence"] for line in map(json.loads, told.splitlines()) if line["type"] == "counterfactual"]
    assert said[1:] == [
        "Lower Debt to income (debt) from 48 to 36.5 % and raise years from 1 to 5.",
        "Lower Debt to income (late) from 3 to 0 and raise years from 1 to 5.",
    ]


def test_a_model_tells_the_short_names_of_its_features(client: httpx.Client):
    told = client.get("/v1/models/loans").json()["features"]
    assert [feature["short"] for feature in told] == [None, None, "home", None]


def test_a_condition_may_ask_for_a_category_of_the_instance(client: httpx.Client):
    owner = lines_of(ask(client, {"instance": {**PERSON, "home": "owns"}}, "loans"))[0]
    assert owner["features"][0]["high"] == 40
    assert (owner["features"][2]["status"], owner["features"][2]["allowed"]) == ("normal", ["owns", "other"])


@pytest.mark.parametrize("missing", [None, -9])
def test_a_missing_value_is_filled_in_and_marked(client: httpx.Client, missing: int | None):
    lines = lines_of(ask(client, {"instance": {**PERSON, "late": missing}}, "loans"))
    late = lines[0]["features"][1]
    assert (late["value"], late["filled"], late["status"], late["why_not"]) == (missing, 1, "unknown", "missing")
    assert all(line["instance"]["late"] == missing for line in lines if line["type"] == "counterfactual")
    assert (
        lines[0]["prediction"] == lines_of(ask(client, {"instance": {**PERSON, "late": 1}}, "loans"))[0]["prediction"]
    )


def test_a_prototype_guides_where_there_is_no_range_and_a_request_may_say_otherwise(client: httpx.Client):
    years = lines_of(ask(client, {"instance": PERSON}, "loans"))[0]["features"][3]
    assert (years["status"], years["target"]) == ("unknown", 5)
    own = lines_of(ask(client, {"instance": PERSON, "guide": {"years": 2}}, "loans"))[0]["features"][3]
    assert own["target"] == 2
    free = lines_of(ask(client, {"instance": PERSON, "registry": None}, "loans"))
    assert [feature["movable"] for feature in free[0]["features"]] == [False, False, False, True]


def test_a_request_may_allow_other_categories(client: httpx.Client):
    body = {"instance": PERSON, "normal_ranges": {"home": {"allowed": ["other", "rents"]}}}
    assert lines_of(ask(client, body, "loans"))[0]["features"][2]["status"] == "normal"


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        ({"instance": {**PERSON, "home": "tent"}}, "instance.home", 'must be one of: "rents", "owns", "other"'),
        ({"instance": {**PERSON, "home": 1}}, "instance.home", 'must be one of: "rents", "owns", "other"'),
        (
            {"instance": {**PERSON, "home": None}},
            "instance.home",
            "must not be missing: the model does not accept a missing value",
        ),
        ({"instance": {**PERSON, "late": 1.5}}, "instance.late", "must be a whole number"),
        (
            {"normal_ranges": {"home": {"low": 1}}},
            "normal_ranges.home",
            "is a category: give it allowed values, and nothing else",
        ),
        (
            {"normal_ranges": {"home": {"allowed": ["owns", "tent"]}}},
            "normal_ranges.home.allowed[1]",
            'must be one of: "rents", "owns", "other"',
        ),
        (
            {"normal_ranges": {"debt": {"allowed": ["x"]}}},
            "normal_ranges.debt",
            "is not a category: give it low, high or both",
        ),
        (
            {"constraints": {"directions": {"home": "increase"}}},
            "constraints.directions.home",
            "is a category; categories have no direction and no step",
        ),
        (
            {"constraints": {"max_step": {"home": 1}}},
            "constraints.max_step.home",
            "is a category; categories have no direction and no step",
        ),
        ({"guide": {"years": None}}, "guide.years", "must not be missing"),
        ({"registry": None, "guide": {"late": -9}}, "guide.late", "must not be missing"),
        (
            {"instance": {**PERSON, "late": -20}, "normal_ranges": {"late": {"low": -9}}},
            "normal_ranges.late",
            "leads to a target that is one of the feature's missing codes",
        ),
        ({"guide": {"years": "long"}}, "guide.years", "must be a number, not text"),
    ],
)
def test_what_a_feature_cannot_be_is_refused(client: httpx.Client, change: dict, field: str, message: str):
    assert refused(ask(client, {"instance": PERSON, **change}, "loans"), 422) == {field: message}


def test_nan_is_refused_with_what_to_send_instead(client: httpx.Client):
    body = json.dumps({"instance": {**PERSON, "late": float("nan"), "home": float("nan")}})
    path, headers = "/v1/models/loans/counterfactuals", {"content-type": "application/json"}
    assert refused(client.post(path, content=body, headers=headers), 422) == {
        "instance.late": "must be a finite number; send null, not NaN, for a value that is not known",
        "instance.home": "must be a finite number: the model does not accept a missing value",
    }


def test_a_value_that_may_be_missing_is_still_to_be_sent(client: httpx.Client):
    person = {name: value for name, value in PERSON.items() if name != "late"}
    message = "is missing; send null for a value that is not known"
    assert refused(ask(client, {"instance": person}, "loans"), 422) == {"instance.late": message}


@pytest.mark.slow
def test_inspect_writes_a_description_that_can_be_served(tmp_path: Path):
    """Filled in no further than it must be, the draft passes validation."""
    file = tmp_path / "models/m/model.onnx"
    graphs.write_network(file, Network(np.ones((3, 1)), np.zeros(1), np.ones(1), -1.5))
    shown = flipset("inspect", str(file))
    assert shown.returncode == 0
    assert "input features: tensor(float) ['any', 3]" in shown.stdout
    assert "scores may come from: scores" in shown.stdout
    (tmp_path / "ranges").mkdir()
    folders = {"FLIPSET_MODELS_DIR": str(tmp_path / "models"), "FLIPSET_NORMAL_RANGES_DIR": str(tmp_path / "ranges")}
    assert flipset("validate", **folders).returncode == 0
    before = file.with_name("model.toml").read_text()
    assert "was left unchanged" in flipset("inspect", str(file)).stdout
    assert file.with_name("model.toml").read_text() == before
    explained = flipset(
        "explain", "m", "-", stdin=json.dumps({"instance": {f"features_{i}": 0 for i in range(3)}}), **folders
    )
    assert json.loads(explained.stdout.splitlines()[-1])["outcome"] == "no_recourse"


def test_inspect_says_what_is_no_graph(tmp_path: Path):
    (tmp_path / "model.onnx").write_bytes(b"no graph")
    done = flipset("inspect", str(tmp_path / "model.onnx"))
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert flipset("inspect", "nowhere.onnx").returncode == 1


WORDS = '[words]\nperson = "applicant"\n\n[[features]]'
BOUNDS = 'name = "late"\nbounds = { low = 0, high = 400 }'


def test_a_model_tells_the_words_of_its_field_and_what_is_plausible(tmp_path: Path):
    """What the file leaves out has the words that fit everywhere."""
    write_loans(tmp_path)
    file = tmp_path / "models/loans/model.toml"
    file.write_text(file.read_text().replace("[[features]]", WORDS, 1).replace('name = "late"', BOUNDS))
    with live_server(tmp_path / "models", tmp_path / "ranges") as server, server.client() as client:
        told = client.get("/v1/models/loans").json()
    assert told["words"] == {"person": "applicant", "decision": "decision", "range": "normal range"}
    bounds = {feature["name"]: feature["bounds"] for feature in told["features"]}
    assert (bounds["late"], bounds["home"]) == ({"low": 0, "high": 400, "outside": "warn"}, None)


@pytest.mark.parametrize(
    ("written", "field", "flaw"),
    [
        ("bounds = { low = 3, high = 3 }", "features[1].bounds", "low must be below high"),
        ("bounds = {}", "features[1].bounds", "bounds must have low, high or both"),
    ],
)
def test_bounds_that_hold_nothing_are_a_mistake(tmp_path: Path, written: str, field: str, flaw: str):
    write_loans(tmp_path)
    file = tmp_path / "models/loans/model.toml"
    file.write_text(file.read_text().replace('name = "late"', f'name = "late"\n{written}'))
    folders = {"FLIPSET_MODELS_DIR": str(tmp_path / "models"), "FLIPSET_NORMAL_RANGES_DIR": str(tmp_path / "ranges")}
    said = flipset("validate", **folders)
    assert said.returncode == 1
    assert field in said.stdout + said.stderr
    assert flaw in said.stdout + said.stderr
