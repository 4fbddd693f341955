"""Events of records, sent to a real receiver that fails as receivers do."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from app.adapters.records.opening import ready_store
from app.adapters.records.sealing import sha256
from app.adapters.records.store import Store
from app.recording import events
from app.recording.events import Events
from app.recording.writer import Job, Writer
from tests.live.asking import PERSON, ask
from tests.support.live_server import live_server
from tests.support.records import new_record
from tests.support.waiting import PATIENCE, eventually


class Receiver(ThreadingHTTPServer):
    """Keeps what it is sent; `replies` are the statuses of the next answers, then all are 202."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.replies: list[int] = []
        self.came: list[tuple[dict[str, str], dict[str, object]]] = []
        self.url = f"http://127.0.0.1:{self.server_port}/records"

    def ids(self) -> list[object]:
        return [event["id"] for _, event in self.came]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Receiver

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status = self.server.replies.pop(0) if self.server.replies else 202
        if status < 300:
            self.server.came.append((dict(self.headers), body))
        self.send_response(status)
        self.send_header("Location", "http://127.0.0.1:1/")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Silence."""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as made:
        Thread(target=made.serve_forever, daemon=True).start()
        yield made
        made.shutdown()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(ready_store(f"sqlite:///{tmp_path}/r.db")) as made:
        yield made


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(events, "LONGEST_PAUSE", 0.02)


def test_every_record_is_told_once_it_is_written_and_nothing_personal(store: Store, receiver: Receiver, tmp_path: Path):
    (tmp_path / "key").write_text("a-key\n")
    counted: Counter[str] = Counter()
    sender = Events(store, receiver.url, "https://flipset.example.org/v1/records", tmp_path / "key")
    sender.count = lambda result: counted.update([result])
    writer = Writer(store, 2**20)
    writer.tell = sender.put
    records = [new_record("wilhelmina-of-the-lake") for _ in range(30)]
    for record in records:
        writer.put(Job(record, 0))
    writer.close(PATIENCE)
    sender.close(PATIENCE)
    assert receiver.ids() == [record.id for record in records]
    assert counted == {"sent": 30}
    headers, event = receiver.came[0]
    assert headers["Content-Type"].startswith("application/cloudevents+json")
    assert headers["Authorization"] == "Bearer a-key"
    found = store.find(records[0].id)
    assert found is not None
    assert event == {
        "specversion": "1.0",
        "type": "flipset.record.written",
        "source": "https://flipset.example.org/v1/records",
        "id": records[0].id,
        "time": "2027-01-15T08:00:00.000+00:00",
        "datacontenttype": "application/json",
        "data": {"hash": sha256(found.sealed), "sealed": json.loads(found.sealed)},
    }
    assert "wilhelmina" not in json.dumps(receiver.came)


def test_what_may_pass_is_tried_again_and_what_is_for_good_is_dropped(store: Store, receiver: Receiver):
    first, refused, redirected, last = (new_record() for _ in range(4))
    store.append([first, refused, redirected, last])
    receiver.replies = [503, 429, 202, 400, 307, 202]
    counted: Counter[str] = Counter()
    sender = Events(store, receiver.url, "/v1/records")
    sender.count = lambda result: counted.update([result])
    sender.put([first.id, refused.id, redirected.id, "0" * 32, last.id])
    sender.close(PATIENCE)
    assert receiver.ids() == [first.id, last.id]
    assert counted == {"sent": 2, "dropped": 3}


def test_a_receiver_that_is_away_holds_up_nobody(store: Store, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(events, "MOST_WAITING", 5)
    record = new_record()
    store.append([record])
    counted: Counter[str] = Counter()
    sender = Events(store, "http://127.0.0.1:1/", "/v1/records")
    sender.count = lambda result: counted.update([result])
    for _ in range(100):
        sender.put([record.id])
    eventually(lambda: counted["dropped"] >= 100 - 6)
    sender.close(0)
    eventually(lambda: counted["dropped"] >= 100 - 5)


def test_an_unreachable_address_is_given_up_after_some_attempts(store: Store):
    record = new_record()
    store.append([record])
    counted: Counter[str] = Counter()
    sender = Events(store, "http://127.0.0.1:1/", "/v1/records")
    sender.count = lambda result: counted.update([result])
    sender.put([record.id])
    sender.close(PATIENCE)
    assert counted == {"dropped": 1}


@pytest.mark.slow
def test_a_server_tells_of_its_records(receiver: Receiver, tmp_path: Path):
    kept = {"records": f"sqlite:///{tmp_path}/r.db", "record_all": "true", "records_events": receiver.url}
    with live_server(**kept, workers="2") as server, server.client() as client:
        names = [ask(client, {"instance": PERSON}).headers["flipset-record"] for _ in range(10)]
        eventually(lambda: sorted(receiver.ids(), key=str) == sorted(names))
        eventually(lambda: 'flipset_record_events_total{result="sent"} 10' in client.get("/metrics").text)
