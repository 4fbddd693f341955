"""Marked values through every path of a real server, the failing ones too; then all that was written is searched.

A value may stand in the answer itself, the name of a field in a refusal; neither anywhere else.
"""

import json
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from onnx import TensorProto, helper

from tests.live import endless
from tests.live.asking import with_a_deadline
from tests.live.clients import marks
from tests.live.collector import Collector, collector
from tests.live.operation.test_breakdowns import write_table
from tests.support import graphs
from tests.support.live_server import PATIENCE, LiveServer, live_server
from tests.support.waiting import eventually

PLANTED = "planted-2718281828"

# A server in which things go wrong that should not, each where a request says so; every error quotes the instance.
SABOTAGED = """
import asyncio, threading
from app.api import responding
from app.answering import service

def fail(*values):
    raise RuntimeError(f"could not cope with {values}")

pose, stream = service.Service.pose, responding.stream

def sabotaged_pose(self, body, *others, **options):
    answer = pose(self, body, *others, **options)
    match body.limits.max_counterfactuals:
        case 501:
            fail(body.instance, body.context)
        case 502:
            answer._search.facts = lambda engine: map(fail, [body.instance])
        case 503:
            thread = threading.Thread(target=fail, args=[body.instance])
            thread.start()
            thread.join()
            asyncio.get_running_loop().call_soon(fail, body.instance)
            asyncio.get_running_loop().create_task(wait_and_fail(body.instance))
    return answer

async def wait_and_fail(instance):
    fail(instance)

async def sabotaged_stream(answer, *others):
    async for piece in stream(answer, *others):
        yield piece
        if answer.limits.max_counterfactuals == 504:
            fail(answer.question.problem.instance)

service.Service.pose, responding.stream = sabotaged_pose, sabotaged_stream
"""


@dataclass
class Watched:
    """A server, and everything that comes out of it."""

    server: LiveServer
    collector: Collector
    home: Path
    answers: list[httpx.Response] = field(default_factory=list)

    def ask(self, model: str, path: str = "counterfactuals", **options: Any) -> httpx.Response:
        return self.send("POST", f"/v1/models/{model}/{path}", **options)

    def send(self, method: str, path: str, **options: Any) -> httpx.Response:
        """With everything marked that no path has any use for."""
        headers = {
            "Authorization": f"Bearer {marks.KEY}",
            "Cookie": f"session={marks.KEY}",
            "User-Agent": marks.QUERY,
            "Referer": f"http://nowhere/{marks.QUERY}",
            "X-Forwarded-For": marks.QUERY,
            "X-Request-ID": f"{marks.TEXT} is not harmless",
            "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "tracestate": f"vendor={marks.GARBAGE}",
            "baggage": f"who={marks.TEXT}",
            **options.pop("headers", {}),
        }
        with self.server.client() as client:
            response = client.request(method, path, params={"q": marks.QUERY}, headers=headers, **options)
        self.answers.append(response)
        return response

    def metrics(self) -> bytes:
        with self.server.client() as client:
            return client.get("/metrics").content


def instance(**changed: Any) -> dict[str, Any]:
    return {"amount": marks.AMOUNT, "rate": marks.RATE, "colour": "red", **changed}


def request(**changed: Any) -> dict[str, Any]:
    return {"instance": instance(), "context": {"region": marks.REGION}, **changed}


CODES = {
    "amount": 'loinc = "1742-6"\nucum = "U/L"',
    "rate": 'loinc = "1920-8"\nucum = "U/L"',
    "colour": 'loinc = "6768-6"',
}


def bundle(**quantity: Any) -> dict[str, Any]:
    """The marked person as a clinic would send them; `quantity` is changed in the amount."""
    amount = {"value": marks.AMOUNT, "system": "http://unitsofmeasure.org", "code": "U/L", **quantity}
    measured = [
        {"code": "1742-6", "valueQuantity": amount},
        {"code": "1920-8", "valueQuantity": {**amount, "value": marks.RATE, "code": "U/L", "comparator": None}},
        {"code": "6768-6", "valueString": "red"},
    ]
    patient = {"resourceType": "Patient", "id": marks.TEXT, "gender": "female", "name": [{"family": marks.REGION}]}
    observations = [
        {
            **each,
            "resourceType": "Observation",
            "id": marks.GARBAGE,
            "status": "final",
            "subject": {"reference": f"Patient/{marks.TEXT}"},
            "code": {"coding": [{"system": "http://loinc.org", "code": each["code"]}]},
            "note": [{"text": marks.TEXT}],
        }
        for each in measured
    ]
    return {"resourceType": "Bundle", "entry": [{"resource": each} for each in (patient, *observations)]}


def hook(**quantity: Any) -> dict[str, Any]:
    person, *observations = (sent := bundle(**quantity))["entry"]
    return {
        "hook": "patient-view",
        "hookInstance": marks.QUERY,
        "fhirServer": f"https://{marks.QUERY}",
        "fhirAuthorization": {"access_token": marks.KEY},
        "context": {"userId": marks.QUERY, "patientId": marks.TEXT},
        "prefetch": {"patient": person["resource"], "observations": {**sent, "entry": observations}},
    }


def write_marked(folder: Path) -> None:
    """Yes where amount and rate are both below 10; its scores cannot be mistaken."""
    nodes = [
        helper.make_node("Less", ["features", "ten"], ["low"]),
        helper.make_node("Cast", ["low"], ["good"], to=TensorProto.DOUBLE),
        helper.make_node("MatMul", ["good", "weights"], ["sum"]),
        helper.make_node("Add", ["sum", "bias"], ["scores"]),
    ]
    step = marks.SCORES[1] - marks.SCORES[0]
    constants = {
        "ten": np.array([10.0]),
        "weights": np.array([[0.0, step], [0.0, step], [0.0, 0.0]]),
        "bias": np.array([0.5, marks.SCORES[0]]),
    }
    graphs.save(folder / "models/marked/model.onnx", nodes, constants, 3, TensorProto.DOUBLE)
    file = graphs.write_model_toml(folder / "models/marked", ["amount", "rate"], registry="marked")
    colour = '[[features]]\nname = "colour"\ntype = "category"\ncategories = ["red", "green"]\ncodes = [5, 7]\n'
    described = file.read_text() + colour
    for name, codes in CODES.items():
        described = described.replace(f'name = "{name}"\n', f'name = "{name}"\n{codes}\n')
    file.write_text(described)
    graphs.write_registry(folder / "ranges/marked.toml", dict.fromkeys(["amount", "rate"], "{ high = 9 }"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("marked")
    write_marked(made)
    write_table(made)
    return endless.write_endless(made)


@pytest.fixture
def watched(folder: Path, tmp_path: Path) -> Iterator[Watched]:
    with collector() as received:
        environment = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": received.url,
            "OTEL_BSP_SCHEDULE_DELAY": "100",
            "HOME": str(tmp_path),
            "XDG_CACHE_HOME": "",
        }
        with live_server(
            folder / "models",
            folder / "ranges",
            environment=environment,
            first=SABOTAGED,
            log_level="debug",
            records=f"sqlite:///{folder}/records.db",
            **endless.SETTINGS,
        ) as server:
            yield Watched(server, received, tmp_path)


def test_no_mark_turns_up_where_it_should_not(watched: Watched):
    _answer(watched)
    _speak_fhir(watched)
    _record(watched)
    _refuse(watched)
    _refuse_values(watched)
    _break_down(watched)
    _go_wrong(watched)
    _speak_no_http(watched)
    _leave_early(watched)
    _plant(watched)
    counted = watched.metrics()
    _stop(watched)
    spans = b"".join(watched.collector.bodies)
    log = watched.server.log.read_bytes()
    assert marks.found(marks.ALL, log) == set()
    assert marks.found(marks.ALL, counted) == set()
    assert marks.found(marks.ALL, spans) == set()
    for response in watched.answers:
        headers = repr(response.headers.raw).encode()
        assert marks.found(marks.ALL, headers) == set()
        if response.status_code >= 400:
            assert marks.found(marks.SECRETS, response.content) == set(), response.text
    # Whatever a library would like to keep for later: nothing is written beside the log.
    assert [str(file) for file in watched.home.rglob("*") if file.is_file()] == []
    # The search can find what is there: it has looked into all three.
    assert PLANTED.encode() in log
    assert PLANTED.encode() in spans
    assert b'model="marked"' in counted


def _speak_fhir(watched: Watched) -> None:
    """Bundles and hooks, answered and refused."""
    fhir = {"Content-Type": "application/fhir+json"}
    for path in ("counterfactuals", "reasons", "subsets"):
        answered = watched.ask("marked", path, content=json.dumps(bundle()), headers=fhir)
        assert answered.status_code == 200, answered.text
    assessed = watched.ask("marked", content=json.dumps(bundle()), headers={**fhir, "Accept": "application/fhir+json"})
    assert assessed.status_code == 200, assessed.text
    assert watched.send("POST", "/cds-services/marked", json=hook()).status_code == 200
    assert watched.send("POST", "/cds-services/marked", json={**hook(), "hook": marks.TEXT}).status_code == 422
    for wrong in ({"comparator": "<"}, {"value": marks.TEXT}, {"code": "mol/L"}, {"code": "U/m2"}):
        assert watched.ask("marked", content=json.dumps(bundle(**wrong)), headers=fhir).status_code == 422
        assert watched.send("POST", "/cds-services/marked", json=hook(**wrong)).status_code == 412


def _answer(watched: Watched) -> None:
    """What is answered may hold the values."""
    for accept in ("application/x-ndjson", "application/json", "text/event-stream"):
        response = watched.ask("marked", json=request(), headers={"Accept": accept})
        assert response.status_code == 200
        assert {marks.AMOUNT, marks.SCORES[0], marks.SCORES[2]} <= marks.found(marks.ALL, response.content)
    assert watched.ask("marked", "predictions", json={"instance": instance()}).status_code == 200
    assert watched.ask("marked", "subsets", json=request()).status_code == 200
    engines = [request(limits={"engine": engine}) for engine in ("lattice", "cemsp")]
    no_way_out = request(constraints={"immutable": ["amount"]})
    favourable = request(instance=instance(amount=1, rate=1))
    for body in (*engines, no_way_out, favourable):
        assert watched.ask("marked", json=body).status_code == 200
    hurried = with_a_deadline(lambda ms: watched.ask("endless", json=endless_request(deadline_ms=ms)))
    assert '"stopped_by":"deadline"' in hurried.text


def _record(watched: Watched) -> None:
    """What is recorded may hold the values; what is said about records elsewhere must not."""
    name = watched.ask("marked", json=request(record={"subject": marks.TEXT})).headers["flipset-record"]
    path = f"/v1/records/{name}"
    kept = eventually(lambda: (found := watched.send("GET", path)).status_code == 200 and found)
    assert {marks.AMOUNT, marks.TEXT} <= marks.found(marks.ALL, kept.content)
    assert watched.send("POST", f"{path}/replay").json()["same"] is True
    wrong = {"plan": marks.TEXT, "outcome": marks.GARBAGE, "reason": marks.CATEGORY}
    assert watched.send("POST", f"{path}/feedback", json=wrong).status_code == 422
    assert watched.send("POST", f"{path}/feedback", json={"plan": 1, "outcome": "tried"}).status_code == 200
    assert watched.send("GET", f"/v1/records/{marks.GARBAGE}").status_code == 404
    assert watched.send("DELETE", f"/v1/subjects/{marks.GARBAGE}%20").status_code == 422
    assert watched.send("DELETE", f"/v1/subjects/{marks.TEXT}").json() == {"records": 1}
    assert watched.send("POST", f"{path}/replay").status_code == 410


def _refuse(watched: Watched) -> None:
    """What is refused before anyone has looked at a value."""
    text, plain = json.dumps(request()), {"Content-Type": "application/json"}
    garbage = (
        f'{{"instance": {{"amount": {marks.AMOUNT}, "{marks.GARBAGE}',
        f'{{"instance": {marks.GARBAGE}}}',
        f'{{"instance": {{"rate": {marks.AMOUNT}, "rate": "{marks.TEXT}"}}}}',
        f'"\\q{marks.TEXT}"',
        "[" * 50_000 + marks.TEXT,
    )
    for body in garbage:
        assert watched.ask("marked", content=body, headers=plain).status_code == 400
    assert watched.ask("marked", content=b"\xff" + text.encode(), headers=plain).status_code == 400
    assert watched.send("GET", f"/{marks.QUERY}/{marks.NAME}").status_code == 404
    assert watched.send("GET", f"/v1/normal-ranges/{marks.NAME}").status_code == 404
    assert watched.ask(marks.NAME, json=request()).status_code == 404
    assert watched.send("DELETE", "/v1/models/marked").status_code == 405
    assert watched.send("PURGE", "/livez", headers={"traceparent": f"00-{marks.GARBAGE}-01"}).status_code == 405
    accept = {"Accept": f"application/{marks.GARBAGE}"}
    assert watched.ask("marked", json=request(), headers=accept).status_code == 406
    content_type = {"Content-Type": f"text/{marks.GARBAGE}"}
    assert watched.ask("marked", content=text, headers=content_type).status_code == 415
    huge = request(context={"region": marks.REGION * 200_000})
    assert watched.ask("marked", json=huge).status_code in (200, 413, 422)


def _refuse_values(watched: Watched) -> None:
    """Values that cannot be accepted, in every field that takes one."""
    values = [marks.TEXT, [marks.AMOUNT], {marks.NAME: marks.AMOUNT}, True, None, 10**400]
    bodies = [request(instance=instance(amount=value)) for value in values]
    bodies += [request(instance=instance(colour=value)) for value in (marks.CATEGORY, marks.AMOUNT, [marks.CATEGORY])]
    bodies += [request(**{part: marks.TEXT}) for part in ("instance", "context", "target", "constraints", "limits")]
    bodies += [request(**{part: {marks.NAME: marks.AMOUNT}}) for part in ("guide", "weights", "limits", "target")]
    bodies += [
        request(instance={marks.NAME: marks.AMOUNT}),
        request(**{marks.NAME: marks.TEXT}),
        request(context={"region": [marks.REGION]}),
        request(registry=marks.TEXT),
        request(target={"classes": [marks.TEXT]}),
        request(target={"threshold": marks.TEXT}),
        request(guide={"amount": marks.GUIDE}),
        request(guide={"colour": marks.CATEGORY}),
        request(normal_ranges={"amount": {"low": marks.LOW, "high": marks.LOW - 1}}),
        request(normal_ranges={"amount": {"low": marks.TEXT}}),
        request(normal_ranges={"colour": {"allowed": [marks.CATEGORY]}}),
        request(normal_ranges={"amount": {"high": 9, "move_to": {"value": marks.GUIDE}}}),
        request(weights={"amount": marks.TEXT}),
        request(constraints={"max_step": {"amount": marks.TEXT}}),
        request(constraints={"directions": {"amount": marks.TEXT}}),
        request(constraints={"max_changes": marks.AMOUNT}),
        request(constraints={"formulas": [f"amount xor ({marks.NAME}"]}),
        request(constraints={"formulas": [f"{marks.NAME} and amount"]}),
        request(constraints={"immutable": ["amount"], "formulas": ["amount"]}),
        request(limits={"engine": marks.TEXT}),
        request(limits={"deadline_ms": marks.AMOUNT}),
    ]
    for body in bodies:
        assert watched.ask("marked", json=body).status_code == 422, body
        assert watched.ask("marked", "subsets", json=body).status_code == 422, body
    several = {"instances": [instance(), instance(amount=marks.TEXT)]}
    assert watched.ask("marked", "predictions", json=several).status_code == 422


def _break_down(watched: Watched) -> None:
    """The model itself fails, at once or on the way: its runtime quotes the value in its message."""
    for path in ("counterfactuals", "predictions", "subsets"):
        assert watched.ask("table", path, json={"instance": {"a": marks.INDEX, "b": 0}}).status_code == 422
    on_the_way = {"instance": {"a": 0, "b": 1}, "guide": {"a": marks.INDEX}}
    assert watched.ask("table", "subsets", json=on_the_way).status_code == 422
    response = watched.ask("table", json=on_the_way)
    _ends_with_an_error(response)


def _go_wrong(watched: Watched) -> None:
    """What should never happen: before the first byte, within the search, in the stream, and where nobody looks."""
    assert watched.ask("marked", json=request(limits={"max_counterfactuals": 501})).status_code == 500
    _ends_with_an_error(watched.ask("marked", json=request(limits={"max_counterfactuals": 502})))
    assert watched.ask("marked", json=request(limits={"max_counterfactuals": 503})).status_code == 200
    with pytest.raises(httpx.RemoteProtocolError):
        watched.ask("endless", json=endless_request(max_counterfactuals=504))

    def told() -> bool:
        lines = watched.server.lines()
        unexpected = {line["request_id"] for line in lines if "unexpected RuntimeError" in line["message"]}
        uncaught = sum(line["message"] == "an error that nobody caught" for line in lines)
        return (len(unexpected), uncaught) == (3, 3)

    assert eventually(told, watched.server.log.read_text)


def _ends_with_an_error(response: httpx.Response) -> None:
    last = json.loads(response.text.splitlines()[-1])
    assert last["type"] == "error"
    assert marks.found(marks.ALL, json.dumps(last).encode()) == set()


def _speak_no_http(watched: Watched) -> None:
    port = httpx.URL(watched.server.url).port
    for sent in (
        f"{marks.GARBAGE} /{marks.QUERY}\r\n\r\n",
        f"GET /{marks.QUERY} HTTP/1.1\r\n{marks.GARBAGE}\r\n\r\n",
        f"GET /livez?{marks.QUERY} HTTP/1.1\r\nHost: {marks.TEXT}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {marks.KEY}\r\n\r\n",
        f"POST /v1/models/marked/counterfactuals HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        f'Content-Length: 999\r\n\r\n{{"instance": "{marks.TEXT}',
    ):
        with socket.create_connection(("127.0.0.1", port or 0), timeout=PATIENCE) as connection:
            connection.sendall(sent.encode())
            connection.shutdown(socket.SHUT_WR)
            connection.recv(4096)


def _leave_early(watched: Watched) -> None:
    with watched.server.client() as client:
        with client.stream("POST", endless.PATH, json=endless_request()) as response:
            pieces = response.iter_raw()
            next(pieces)
        eventually(lambda: b"flipset_disconnected_total 0" not in watched.metrics())


def _plant(watched: Watched) -> None:
    with watched.server.client() as client:
        assert client.get("/livez", headers={"X-Request-ID": PLANTED}).headers["x-request-id"] == PLANTED
    watched.server.whole_log()


def _stop(watched: Watched) -> None:
    """In the middle of an answer."""
    asked = {"json": endless_request()}
    with watched.server.client() as client, client.stream("POST", endless.PATH, **asked) as response:
        lines = response.iter_lines()
        next(lines)
        watched.server.terminate()
        assert '"stopped_by":"shutdown"' in list(lines)[-1]
    watched.server.process.wait(timeout=PATIENCE)


def endless_request(**limits: int) -> dict[str, Any]:
    instance = {**endless.INSTANCE, "f8": -marks.AMOUNT}
    return {"instance": instance, "limits": {"engine": "cemsp", "deadline_ms": endless.HOUR_MS, **limits}}


@pytest.mark.parametrize("mark", marks.ALL)
def test_the_search_finds_a_mark_in_every_spelling(mark: float | str):
    for spelling in marks.spellings(mark):
        assert mark in marks.found(marks.ALL, b'{"message":"it was ' + spelling + b'"}')
    assert marks.found(marks.ALL, b'{"message":"it was something else"}') == set()
