"""Recorded answers, asked for again."""

import json
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest

from app.adapters.files.snapshots import take_snapshot
from app.adapters.keys.key import Key
from app.adapters.keys.key_rules import KeyRules
from app.adapters.records.archive import Archive, NotArchived
from app.adapters.records.record import NewRecord
from app.adapters.records.sealing import flaws_of_chain
from app.adapters.rules.constraints import ConstraintsEntry
from app.asking.refusals import RecordErased, RequestError
from app.recording.lines import Transcript
from app.recording.replaying import Difference, Replay, replay
from app.recording.versions import Versions
from tests.live.asking import PERSON
from tests.support.live_server import ROOT
from tests.support.recorded import Recorded, recorded, some_request
from tests.support.scale import scaled
from tests.support.seeds import Seeds

RECORD = {"instance": PERSON, "record": {"subject": "p-1"}}


def replayed(made: Recorded, name: str, archive: Path | None = None) -> Replay:
    record = made.store.find(name)
    assert record is not None
    return replay(record, made.service, Versions(archive))


def test_every_recorded_answer_is_the_same_when_it_is_asked_for_again(address: str):
    with recorded(address) as made:
        for seed in Seeds(scaled(25)):
            rng = Random(seed)  # noqa: S311  # nothing random here is a secret
            model, body = some_request(rng)
            ask = made.ask_for_reasons if rng.random() < 0.2 else made.ask
            try:
                ask(model, body)
            except RequestError:
                continue
        made.written()
        records = list(made.store.all())
        assert len(records) > scaled(25) / 2
        assert list(flaws_of_chain(records, made.store.chain())) == []
        for record in records:
            assert replay(record, made.service, Versions(None)) == Replay(same=True, compared="answer"), record.id


def test_an_answer_is_recorded_and_asked_for_again_in_its_language(tmp_path: Path):
    with recorded(f"sqlite:///{tmp_path}/r.db") as made:
        german = made.service.catalog.languages.closest("de-AT")
        assert german is not None
        made.language = german
        name = made.ask("synthetic", RECORD)
        made.written()
        record = made.store.find(name)
        assert record is not None
        assert record.personal is not None
        assert json.loads(record.terms)["language"] == "de-AT"
        assert json.loads(record.personal.plans[0])["sentence"].startswith("Feature ")
        assert "senken" in record.personal.plans[0] or "erhöhen" in record.personal.plans[0]
        assert replayed(made, name) == Replay(same=True, compared="answer")
        lost = replace(record, terms=json.dumps({**json.loads(record.terms), "language": "fr"}))
        assert replay(lost, made.service, Versions(None)).same is not True


def test_of_an_answer_that_was_cut_off_the_beginning_is_compared(tmp_path: Path):
    with recorded(f"sqlite:///{tmp_path}/r.db") as made:
        name = made.ask("synthetic", RECORD, most=3)
        made.written()
        assert replayed(made, name) == Replay(same=True, compared="plans")


def test_what_there_was_no_time_to_tell_is_no_difference(tmp_path: Path):
    body = {**RECORD, "robustness": {"noise": {"A": {"sd": 0.1}}, "draws": 20}}
    with recorded(f"sqlite:///{tmp_path}/r.db") as made:
        name = made.ask("synthetic", body)
        made.written()
        record = made.store.find(name)
        assert record is not None
        held = record.personal
        assert held is not None
        for stopped_by, where in (("deadline", None), (None, "plans[2].stability")):
            plans = [json.loads(plan) for plan in held.plans]
            assert plans[1]["stability"] is not None
            plans[1]["stability"] = None
            texts = [held.plans[0], json.dumps(plans[1], separators=(",", ":"), ensure_ascii=False)]
            # As if the time had been over then.
            taken = Transcript(20)
            for kind, text in (("start", held.start), *(("counterfactual", text) for text in texts)):
                taken.take(kind, text)
            hurried = replace(
                held,
                plans=tuple(taken.plans),
                answer_sha256=taken.sha256,
                plans_sha256=taken.sha256_of_plans(),
            )
            facts = {key: json.loads(record.sealed)[key] for key in ("model", "others", "normal_ranges")}
            facts["answer"] = {"sent": 2, "stopped_by": stopped_by}
            name = ("d" if stopped_by else "e") * 32
            made.store.append([NewRecord(name, 1, None, record.model, "found", facts, record.terms, hurried)])
            said = replayed(made, name)
            if where is None:
                assert said == Replay(same=True, compared="plans")
            else:
                assert where in {each.where for each in said.differences}


@pytest.mark.parametrize("instance", [PERSON, {**dict.fromkeys("BCD", 0.0), "A": 1.0}])
def test_on_a_slower_machine_an_answer_is_the_same(tmp_path: Path, instance: dict[str, float]):
    """It asks the model about other rows, and more often."""
    body = {**RECORD, "instance": instance}
    with recorded(f"sqlite:///{tmp_path}/r.db") as made:
        name = made.ask("synthetic", body)
        scorer = made.service.catalog.models["synthetic"].scorer
        scorer.prompt_rows = 0
        slowly = made.ask("synthetic", body)
        made.written()
        counted = []
        for each in (name, slowly):
            record = made.store.find(each)
            assert record is not None
            assert record.personal is not None
            assert record.personal.summary is not None
            summary = json.loads(record.personal.summary)
            counted.append((summary["model_rows"], summary["model_calls"]))
            assert replayed(made, each) == Replay(same=True, compared="answer")
        assert counted[0] != counted[1]


def test_the_rules_of_the_key_hold_as_they_were(tmp_path: Path):
    rules = {"synthetic": KeyRules(constraints=ConstraintsEntry(immutable=["A"]))}
    key = Key("k", "", None, None, datetime.now(UTC), rules=rules)
    with recorded(f"sqlite:///{tmp_path}/r.db") as made:
        name = made.ask("synthetic", RECORD, key)
        made.written()
        found = made.store.find(name)
        assert found is not None
        assert json.loads(found.sealed)["answer"]["sent"] == 2
        assert replayed(made, name) == Replay(same=True, compared="answer")


def test_a_difference_is_named(tmp_path: Path):
    with recorded(f"sqlite:///{tmp_path}/r.db") as made:
        name = made.ask("synthetic", RECORD)
        made.written()
        record = made.store.find(name)
        assert record is not None
        assert record.personal is not None
        forged = replace(record.personal, request=json.dumps(RECORD).replace("-0.3", "-0.4"))
        said = replay(replace(record, personal=forged), made.service, Versions(None))
        assert (said.same, said.differences[0].where) == (None, "record")
        # As if another service had answered, and recorded that faithfully.
        summary = (record.personal.summary or "").replace('"count":3', '"count":4').replace('"guarantee":"exact",', "")
        other = replace(record.personal, summary=summary, answer_sha256="0" * 64)
        facts = {name: json.loads(record.sealed)[name] for name in ("model", "others", "normal_ranges", "answer")}
        made.store.append([NewRecord("f" * 32, 1, None, record.model, "found", facts, record.terms, other)])
        said = replayed(made, "f" * 32)
        assert said.same is False
        assert set(said.differences) == {
            Difference("summary.count", "differs"),
            Difference("summary.guarantee", "is new"),
        }


def test_what_is_refused_now_says_why(tmp_path: Path):
    with recorded(f"sqlite:///{tmp_path}/r.db") as made:
        name = made.ask("synthetic", RECORD)
        made.written()
        record = made.store.find(name)
        assert record is not None
        assert record.personal is not None
        # As if there had been fewer features then.
        other = replace(record.personal, request=json.dumps({"instance": {"A": 1}}))
        facts = {name: json.loads(record.sealed)[name] for name in ("model", "others", "normal_ranges", "answer")}
        made.store.append([NewRecord("f" * 32, 1, None, record.model, "found", facts, record.terms, other)])
        said = replayed(made, "f" * 32)
        assert said == Replay(False, (Difference("answer", "is refused now: the request is not valid any more"),))


def test_an_erased_record_cannot_be_replayed(tmp_path: Path):
    with recorded(f"sqlite:///{tmp_path}/r.db") as made:
        name = made.ask("synthetic", RECORD)
        made.written()
        made.store.erase("p-1")
        with pytest.raises(RecordErased):
            replayed(made, name)


def test_older_versions_come_from_the_archive(tmp_path: Path):
    models, ranges = tmp_path / "models", tmp_path / "ranges"
    shutil.copytree(ROOT / "models/synthetic", models / "synthetic")
    ranges.mkdir()
    shutil.copy(ROOT / "normal_ranges/synthetic.toml", ranges)
    address, archive = f"sqlite:///{tmp_path}/r.db", tmp_path / "archive"
    with recorded(address, models, ranges) as made:
        name = made.ask("synthetic", RECORD)
        made.written()
    Archive(archive).keep(take_snapshot(models, ranges))
    registry = ranges / "synthetic.toml"
    registry.write_text(registry.read_text() + "\n# another version\n")
    with recorded(address, models, ranges) as made:
        assert replayed(made, name, archive) == Replay(same=True, compared="answer")
        for folder in (None, tmp_path / "empty"):
            said = replayed(made, name, folder)
            assert said.same is None
            assert "synthetic" in said.differences[0].what
    [some] = [
        file for file in archive.iterdir() if file.read_bytes() == (ROOT / "normal_ranges/synthetic.toml").read_bytes()
    ]
    some.write_bytes(b"changed")
    with pytest.raises(NotArchived):
        Archive(archive).read(some.name)
    with pytest.raises(NotArchived):
        Archive(archive).read("../../etc/passwd")
