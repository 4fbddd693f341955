"""The same people asked about one by one, over HTTP; and whether they get the same answers."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from lab.benchmarks.figures import agreed
from lab.benchmarks.registers.register import shipped
from lab.benchmarks.requests.load import Load, counted
from tests.support.live_server import LiveServer

CONNECTIONS = 16
# However long it takes: all are asked about once.
ENOUGH_SECONDS = 600.0
NDJSON = "application/x-ndjson"


def bodies(people: pa.Table, model: str, context: Sequence[str], most: int) -> list[str]:
    """The requests that a front-end would send for the first people of a register."""
    features = [feature.name for feature in shipped(model).features]
    return [
        json.dumps(
            {"instance": {name: person[name] for name in features}, "context": {name: person[name] for name in context}}
        )
        for person in people.slice(0, most).to_pylist()
    ]


def requests_a_second(server: LiveServer, model: str, asked: Sequence[str]) -> tuple[float, float]:
    """How many are answered a second, and the processor's share that asking itself took."""
    port = urlsplit(server.url).port
    assert port is not None
    told = counted(Load(port, _path(model), tuple(asked), NDJSON, ENOUGH_SECONDS, CONNECTIONS, len(asked)))
    return told["answers"] / told["seconds"], told["processor_seconds"] / told["seconds"]


def answers_agree(answers: Path, asked: Sequence[str], server: LiveServer, model: str) -> None:
    """The first people of a run have the answers that the service gives: changes, scores, and how many."""
    people = pq.read_table(answers / "people").slice(0, len(asked)).to_pylist()
    found: dict[int, list[dict[str, Any]]] = {person["row"]: [] for person in people}
    for answer in pq.read_table(answers / "counterfactuals").to_pylist():
        if answer["row"] in found:
            found[answer["row"]].append(answer)
    with server.client() as client:
        for body, person in zip(asked, people, strict=True):
            headers = {"Content-Type": "application/json", "Accept": "application/json"}
            said = client.post(_path(model), content=body, headers=headers).raise_for_status().json()
            same = _of_the_service(said) == _of_the_run(person, found[person["row"]])
            agreed(same, f"cohort: {model}, row {person['row']} has the answers of the service")


def _of_the_service(said: Mapping[str, Any]) -> list[Any]:
    outcome = (said["summary"]["outcome"], said["summary"]["count"], _score(said["start"]["prediction"]["score"]))
    changes = [
        (
            [(change["feature"], change["from"], change["to"]) for change in answer["changes"]],
            _score(answer["prediction"]["score"]),
        )
        for answer in said["counterfactuals"]
    ]
    return [outcome, changes]


def _of_the_run(person: Mapping[str, Any], answers: Sequence[Mapping[str, Any]]) -> list[Any]:
    outcome = (person["outcome"], person["count"], _score(person["score"]))
    changes = [
        ([(change["feature"], change["from"], change["to"]) for change in answer["changes"]], _score(answer["score"]))
        for answer in answers
    ]
    return [outcome, changes]


def _score(value: float) -> float:
    """As the models of this bench give it."""
    return float(np.float32(value))


def _path(model: str) -> str:
    return f"/v1/models/{model}/counterfactuals"
