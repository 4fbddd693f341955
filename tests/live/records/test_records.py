"""Records of a real server, in real stores."""

import json
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.adapters.keys.key import SCOPES, new_key
from app.adapters.keys.key_file import editing
from app.adapters.records.opening import store_at
from app.adapters.records.receipts import check_receipt
from app.adapters.records.receipts import new_key as new_receipt_key
from app.adapters.records.sealing import flaws_of_chain
from app.api.describing.lines import Summary
from app.api.describing.start import Start
from app.api.records.described import FeedbackKept, RecordDetails, ReplayResult
from app.recording.lines import Transcript, timeless
from tests.live import endless
from tests.live.asking import PATH, PERSON, ask, lines_of, refused
from tests.support.live_server import ROOT, LiveServer, live_server
from tests.support.postgres import Postgres
from tests.support.stores import KINDS
from tests.support.waiting import eventually

RECORD = {"instance": PERSON, "record": {"subject": "p-1"}}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One small model, so that a server starts quickly."""
    folder = tmp_path_factory.mktemp("served")
    shutil.copytree(ROOT / "models/synthetic", folder / "models/synthetic")
    (folder / "ranges").mkdir()
    shutil.copy(ROOT / "normal_ranges/synthetic.toml", folder / "ranges")
    return folder


@pytest.fixture
def endless_models(tmp_path: Path) -> Path:
    """A model whose search does not end."""
    return endless.write_endless(tmp_path)


@contextmanager
def serving(models: Path, **settings: str) -> Iterator[LiveServer]:
    with live_server(models / "models", models / "ranges", **settings) as server:
        yield server


@pytest.fixture(scope="module", params=KINDS)
def recorded_at(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path_factory.mktemp('records')}/r.db"
    server: Postgres = request.getfixturevalue("database_server")
    return server.new_database()


@pytest.fixture(scope="module")
def recording(models: Path, recorded_at: str) -> Iterator[LiveServer]:
    new_receipt_key(models / "receipt-keys")
    with serving(models, records=recorded_at, receipt_keys=str(models / "receipt-keys")) as server:
        yield server


def of(subject: str) -> dict[str, Any]:
    return {"instance": PERSON, "record": {"subject": subject}}


def kept(client: httpx.Client, name: str, headers: dict[str, str] | None = None) -> dict[str, Any]:
    """The record, once it is written."""

    def look() -> httpx.Response | None:
        found = client.get(f"/v1/records/{name}", headers=headers)
        return None if found.status_code == 404 else found

    found = eventually(look)
    assert found.status_code == 200, found.text
    RecordDetails.model_validate(found.json())
    return found.json()


def test_an_answer_is_recorded_in_every_form(recording: LiveServer, recorded_at: str):
    with recording.client() as client:
        answers = [
            ask(client, of("forms"), accept=accept) for accept in ("*/*", "text/event-stream", "application/json")
        ]
        records = [kept(client, answer.headers["flipset-record"]) for answer in answers]
        lines = lines_of(answers[0])
        Start.model_validate(lines[0])
        Summary.model_validate(lines[-1])
        assert lines[0]["record"] == records[0]["id"] == answers[0].headers["flipset-record"]
        assert lines[-1]["recorded"] is True
        assert records[0]["request"] == of("forms")
        assert records[0]["plans"] == [line for line in lines if line["type"] == "counterfactual"]
        assert [record["id"] for record in client.get("/v1/records?subject=forms").json()["records"]] == [
            record["id"] for record in records
        ]
        assert ask(client, {"instance": PERSON}).headers.get("flipset-record") is None
    with closing(store_at(recorded_at)) as store:
        found = store.of_subject("forms", 10)
        assert len({record.personal.answer_sha256 for record in found if record.personal is not None}) == 1
        assert list(flaws_of_chain(store.all(), store.chain())) == []


def test_the_digest_is_that_of_the_lines_that_were_sent(recording: LiveServer, recorded_at: str):
    with recording.client() as client:
        response = ask(client, of("digest"))
        name = response.headers["flipset-record"]
        kept(client, name)
    taken = Transcript(0)
    for line in response.text.splitlines():
        own = line.replace(f',"record":"{name}"', "").replace(',"recorded":true', "")
        taken.take(json.loads(line)["type"], own)
    with closing(store_at(recorded_at)) as store:
        found = store.find(name)
    assert found is not None
    assert found.personal is not None
    assert found.personal.answer_sha256 == taken.sha256
    assert timeless("summary", response.text.splitlines()[-1]) == response.text.splitlines()[-1].replace(
        f',"elapsed_ms":{json.dumps(json.loads(response.text.splitlines()[-1])["elapsed_ms"], separators=(",", ":"))}',
        "",
    )


def test_a_subject_is_erased(recording: LiveServer, recorded_at: str):
    with recording.client() as client:
        name = ask(client, of("erased")).headers["flipset-record"]
        kept(client, name)
        assert client.delete("/v1/subjects/erased").json() == {"records": 1}
        assert client.delete("/v1/subjects/erased").json() == {"records": 0}
        erased = kept(client, name)
        assert (erased["state"], erased["request"], erased["subject"], erased["salt"]) == ("erased", None, None, None)
        assert client.get("/v1/records?subject=erased").json() == {"records": [], "after": None}
    with closing(store_at(recorded_at)) as store:
        assert list(flaws_of_chain(store.all(), store.chain())) == []


@pytest.mark.slow
def test_nothing_of_an_erased_person_is_left_in_the_files_of_a_server(models: Path, tmp_path: Path):
    """Two workers keep the files open; the marks are in the subject, a value, the context and what was sent."""
    subject, value, place = "wilhelmina-of-the-lake", -0.271828182845, "lake-of-wilhelmina"
    folder = tmp_path / "store"
    folder.mkdir()
    person = {"instance": {**PERSON, "A": value}, "context": {"place": place}, "record": {"subject": subject}}
    marks = [each.encode() for each in (subject, str(value), place)]
    kept_in = {"records": f"sqlite:///{folder}/r.db", "workers": "2"}
    with serving(models, **kept_in) as server, server.client() as client:
        names = []
        for number in range(60):
            names.append(ask(client, person).headers["flipset-record"])
            ask(client, of(f"other-{number}"))
        for name in names:
            kept(client, name)
        client.post(f"/v1/records/{names[0]}/feedback", json={"plan": 1, "outcome": "tried"})
        assert all(any(mark in file.read_bytes() for file in folder.iterdir()) for mark in marks)
        assert client.delete(f"/v1/subjects/{subject}").json() == {"records": 60}
        for file in folder.iterdir():
            assert not [mark for mark in marks if mark in file.read_bytes()], file
        assert kept(client, names[0])["state"] == "erased"
    with closing(store_at(kept_in["records"])) as store:
        assert list(flaws_of_chain(store.all(), store.chain())) == []


def test_a_recorded_answer_is_replayed(recording: LiveServer):
    with recording.client() as client:
        name = ask(client, of("replayed")).headers["flipset-record"]
        kept(client, name)
        said = client.post(f"/v1/records/{name}/replay")
        assert said.json() == {"same": True, "differences": [], "compared": "answer"}
        ReplayResult.model_validate(said.json())
        refused(client.post(f"/v1/records/{'0' * 32}/replay"), 404)
        client.delete("/v1/subjects/replayed")
        refused(client.post(f"/v1/records/{name}/replay"), 410)


def test_a_receipt_can_be_checked_with_the_published_keys(recording: LiveServer):
    with recording.client() as client:
        name = ask(client, of("receipt")).headers["flipset-record"]
        kept(client, name)
        receipt = client.get(f"/v1/records/{name}/receipt")
        said = check_receipt(receipt.text, client.get("/.well-known/flipset-keys").json()["keys"])
        assert said["record"]["id"] == name
        refused(client.get(f"/v1/records/{'0' * 32}/receipt"), 404)


def test_what_became_of_a_plan_is_kept_once(recording: LiveServer, recorded_at: str):
    with recording.client() as client:
        name = ask(client, of("feedback")).headers["flipset-record"]
        before = kept(client, name)
        path = f"/v1/records/{name}/feedback"
        declined = {"plan": 2, "outcome": "declined", "reason": "too_costly"}
        first = client.post(path, json=declined)
        FeedbackKept.model_validate(first.json())
        assert client.post(path, json=declined).json() == first.json()
        assert client.post(path, json={"plan": 1, "outcome": "accepted"}).status_code == 200
        assert client.post(path, json={"plan": 1, "outcome": "achieved"}).status_code == 200
        after = kept(client, name)
        told = [(each["plan"], each["outcome"], each["reason"]) for each in after.pop("feedback")]
        assert sorted(told) == [(1, "accepted", None), (1, "achieved", None), (2, "declined", "too_costly")]
        before.pop("feedback")
        assert after == before
        listed = client.get("/v1/records?subject=feedback").json()["records"]
        assert [len(record["feedback"]) for record in listed] == [3]
        assert "had 3" in refused(client.post(path, json={"plan": 4, "outcome": "tried"}), 422)["plan"]
        refused(client.post(path, json={"plan": 1, "outcome": "declined"}), 422)
        refused(client.post(path, json={"plan": 1, "outcome": "tried", "reason": "other"}), 422)
        assert set(refused(client.post(path, json={"plan": 0, "outcome": "liked"}), 422)) == {"plan", "outcome"}
        refused(client.post(f"/v1/records/{'0' * 32}/feedback", json=declined), 404)
        client.delete("/v1/subjects/feedback")
        refused(client.post(path, json=declined), 410)
        assert kept(client, name)["feedback"] == []


def test_what_is_asked_for_wrongly_is_refused(recording: LiveServer):
    with recording.client() as client:
        assert "must be an id" in refused(ask(client, {**RECORD, "record": {"subject": "a b"}}), 422)["record.subject"]
        for dots in (".", ".."):
            # No path could name it, so nobody could erase it.
            assert set(refused(ask(client, {**RECORD, "record": {"subject": dots}}), 422)) == {"record.subject"}
        assert ask(client, {**RECORD, "record": {"subject": "..."}}).status_code == 200
        assert "must be an id" in refused(client.get("/v1/records"), 422)["subject"]
        assert set(refused(client.get("/v1/records?subject=p-1&after=x"), 422)) == {"after"}
        refused(client.get("/v1/records/none"), 404)
        refused(client.get("/v1/records/a%00b"), 404)
        assert set(refused(client.delete("/v1/subjects/a%20b"), 422)) == {"subject"}
        # What is refused leaves no record.
        assert ask(client, {**of("refused"), "instance": {}}).status_code == 422
        assert client.get("/v1/records?subject=refused").json()["records"] == []


def test_without_a_store_nothing_is_recorded(client: httpx.Client):
    assert "FLIPSET_RECORDS" in refused(ask(client, RECORD), 422)["record"]
    assert client.get("/v1/records/x").json()["type"] == "urn:flipset:problem:records-off"
    plain = ask(client, {"instance": PERSON})
    assert "flipset-record" not in plain.headers
    assert "record" not in lines_of(plain)[0]
    assert "recorded" not in lines_of(plain)[-1]


@pytest.mark.slow
def test_every_answer_is_recorded_if_the_setting_says_so(models: Path, tmp_path: Path):
    with (
        serving(models, records=f"sqlite:///{tmp_path}/r.db", record_all="true", workers="2") as server,
        server.client() as client,
    ):
        answers = [ask(client, {"instance": PERSON}) for _ in range(10)]
        for answer in answers:
            assert kept(client, answer.headers["flipset-record"])["subject"] is None
    with closing(store_at(f"sqlite:///{tmp_path}/r.db")) as store:
        assert len(list(store.all())) == 10
        assert list(flaws_of_chain(store.all(), store.chain())) == []


@pytest.mark.slow
def test_an_answer_whose_reader_leaves_is_recorded_as_cut(endless_models: Path, tmp_path: Path):
    records = {"records": f"sqlite:///{tmp_path}/r.db", "record_all": "true"}
    with serving(endless_models, **endless.SETTINGS, **records) as server, server.client() as client:
        with client.stream("POST", endless.PATH, json=endless.request()) as response:
            next(response.iter_raw())
            name = response.headers["flipset-record"]
        record = kept(client, name)
    assert (record["outcome"], record["summary"]) == ("cut", None)


def test_keys_have_scopes(models: Path, tmp_path: Path):
    file = tmp_path / "keys.toml"
    headers: dict[str, dict[str, str]] = {}
    with editing(file) as keys:
        for name, scopes, allowed in (
            *((scope, (scope,), None) for scope in SCOPES),
            ("usual", ("ask", "feedback"), None),
            ("hcv", ("read", "erase"), ("hcv",)),
        ):
            key, text = new_key(name, allowed, None, "")
            keys[name] = replace(key, scopes=scopes)
            headers[name] = {"Authorization": f"Bearer {text}"}
    with (
        serving(models, records=f"sqlite:///{tmp_path}/r.db", keys_file=str(file)) as server,
        server.client() as client,
    ):
        answer = client.post(PATH, json=RECORD, headers=headers["ask"])
        name = answer.headers["flipset-record"]
        assert kept(client, name, headers["read"])["sealed"]["key"] == "ask"
        for scope in ("read", "feedback", "erase"):
            refusal = client.post(PATH, json=RECORD, headers=headers[scope])
            assert refusal.json()["type"] == "urn:flipset:problem:out-of-scope"
        became = {"plan": 1, "outcome": "tried"}
        for scope in ("ask", "read", "erase"):
            refused(client.post(f"/v1/records/{name}/feedback", json=became, headers=headers[scope]), 403)
        assert client.post(f"/v1/records/{name}/feedback", json=became, headers=headers["usual"]).status_code == 200
        for scope in ("ask", "feedback", "erase", "usual"):
            refused(client.get(f"/v1/records/{name}", headers=headers[scope]), 403)
            refused(client.get("/v1/records?subject=p-1", headers=headers[scope]), 403)
        for scope in ("ask", "feedback", "read", "usual", "hcv"):
            refused(client.delete("/v1/subjects/p-1", headers=headers[scope]), 403)
        # A key for some models sees nothing of the others.
        refused(client.get(f"/v1/records/{name}", headers=headers["hcv"]), 403)
        assert client.get("/v1/records?subject=p-1", headers=headers["hcv"]).json()["records"] == []
        assert client.delete("/v1/subjects/p-1", headers=headers["erase"]).json() == {"records": 1}
        refused(client.get(f"/v1/records/{name}"), 401)


@pytest.mark.slow
def test_a_database_that_is_killed_holds_up_no_answer(models: Path, database_server: Postgres):
    address = database_server.new_database()
    with serving(models, records=address) as server, server.client() as client:
        names = [ask(client, RECORD).headers["flipset-record"]]
        kept(client, names[0])
        database_server.kill()
        names.append(ask(client, RECORD).headers["flipset-record"])

        def says_so() -> bool:
            answer = ask(client, RECORD)
            names.append(answer.headers["flipset-record"])
            return lines_of(answer)[-1]["recorded"] is False

        eventually(says_so)
        unreachable = client.get(f"/v1/records/{names[0]}")
        assert (unreachable.status_code, unreachable.headers["retry-after"]) == (503, "5")
        database_server.start()
        for name in names:
            eventually(lambda name=name: client.get(f"/v1/records/{name}").status_code == 200)
    with closing(store_at(address)) as store:
        assert list(flaws_of_chain(store.all(), store.chain())) == []


@pytest.mark.slow
def test_where_records_are_required_nothing_is_answered_without_one(models: Path, database_server: Postgres):
    address = database_server.new_database()
    settings = {"records": address, "records_required": "true", "record_all": "true"}
    with serving(models, **settings) as server, server.client() as client:
        # It is in the store before its first byte.
        name = ask(client, RECORD).headers["flipset-record"]
        assert client.get(f"/v1/records/{name}").json()["state"] == "kept"
        database_server.kill()
        refusal = ask(client, RECORD)
        refused(refusal, 503)
        assert refusal.json()["type"] == "urn:flipset:problem:records-unavailable"
        assert refusal.headers["retry-after"] == "5"
        database_server.start()
        eventually(lambda: ask(client, RECORD).status_code == 200)
    with closing(store_at(address)) as store:
        assert list(flaws_of_chain(store.all(), store.chain())) == []


@pytest.mark.slow
def test_a_required_record_of_a_long_answer_is_there_before_its_first_byte(endless_models: Path, tmp_path: Path):
    records = {"records": f"sqlite:///{tmp_path}/r.db", "record_all": "true", "records_required": "true"}
    with (
        serving(endless_models, **endless.SETTINGS, **records) as server,
        server.client() as client,
        client.stream("POST", endless.PATH, json=endless.request()) as response,
    ):
        # Kept: a reader that is let go closes the connection.
        pieces = response.iter_raw()
        next(pieces)
        name = response.headers["flipset-record"]
        found = client.get(f"/v1/records/{name}").json()
        assert (found["state"], found["model"], found["request"]) == ("unfinished", "endless", None)
        # Killed without a word: the store still says that there was an answer.
        server.process.kill()
    with closing(store_at(f"sqlite:///{tmp_path}/r.db")) as store:
        assert store.find(name) is None or store.find_begun(name) is None
        assert list(flaws_of_chain(store.all(), store.chain())) == []
