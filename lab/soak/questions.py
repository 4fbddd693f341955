"""What is asked, and how two answers are compared: byte for byte, but for what they say of time."""

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.benchmarks.models import any_four, names
from tests.support.graphs import write_model_toml, write_registry
from tests.support.live_server import ROOT

FORMS = ("application/x-ndjson", "text/event-stream", "application/json")
WIDTH = 18
# In the form of one object there is only white space in its place.
PROGRESS = re.compile(rb'(event: progress\ndata: )?\{"type":"progress".*?\}\n+|(?<=\[)\n+|\n+(?=[,\]])')
ELAPSED = re.compile(rb'"elapsed_ms":(\{[^}]*\}|[\d.e+-]+),?')


@dataclass(frozen=True)
class Question:
    """One request, and its name in the table."""

    kind: str
    method: str
    path: str
    accept: str
    body: bytes = b""

    @property
    def request(self) -> bytes:
        """As it goes over the wire."""
        head = f"{self.method} {self.path} HTTP/1.1\r\nHost: soak\r\nAccept: {self.accept}\r\n"
        if self.body:
            head += f"Content-Type: application/json\r\nContent-Length: {len(self.body)}\r\n"
        return head.encode() + b"\r\n" + self.body


def write_folders(folder: Path) -> tuple[Path, Path]:
    """The shipped models and ranges, and a model whose every set of four changes is an answer."""
    models, ranges = folder / "models", folder / "ranges"
    shutil.copytree(ROOT / "models", models)
    shutil.copytree(ROOT / "normal_ranges", ranges)
    any_four(_made(models / "wide") / "model.onnx", WIDTH)
    write_model_toml(models / "wide", names(WIDTH), registry="wide")
    write_registry(ranges / "wide.toml", dict.fromkeys(names(WIDTH), "{ low = 1 }"))
    return models, ranges


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def small_questions() -> list[Question]:
    """Every example of every shipped model in all three forms, its subsets, its prediction, and the listings."""
    asked = [Question("listing", "GET", path, "*/*") for path in ("/v1/models", "/openapi.json", "/readyz", "/livez")]
    for file in sorted((ROOT / "models").glob("*/examples/*.json")):
        model, request = file.parent.parent.name, json.loads(file.read_text())
        path = f"/v1/models/{model}"
        asked += [Question("small search", "POST", f"{path}/counterfactuals", form, _body(request)) for form in FORMS]
        asked.append(Question("subsets", "POST", f"{path}/subsets", "*/*", _body(request)))
        wanted = {key: value for key, value in request.items() if key in ("instance", "context", "target")}
        asked.append(Question("prediction", "POST", f"{path}/predictions", "*/*", _body(wanted)))
        asked.append(Question("listing", "GET", f"{path}/examples", "*/*"))
    return asked


def large_questions() -> list[Question]:
    """Searches that take a while, with streams of megabytes, by every engine."""
    instance, limits = dict.fromkeys(names(WIDTH), 0), {"deadline_ms": 60_000}
    requests: list[dict[str, Any]] = [
        {"limits": {**limits, "engine": "lattice"}},
        {"limits": {**limits, "engine": "cemsp", "max_counterfactuals": 200}},
        {"limits": limits, "constraints": {"max_changes": 3}},
        {"limits": limits, "constraints": {"formulas": ["f0 xor f1", "at_most(2, f2, f3, f4, f5)"]}},
        {"limits": limits, "weights": {"f3": 2, "f4": 0.5}},
    ]
    bodies = [_body({"instance": instance, **request}) for request in requests]
    return [
        Question("large search", "POST", "/v1/models/wide/counterfactuals", form, body)
        for body in bodies
        for form in FORMS
    ]


def _body(request: dict[str, Any]) -> bytes:
    return json.dumps(request).encode()


def timeless(body: bytes) -> bytes:
    """An answer without what it says of time, and without `progress`, which comes when a while has passed."""
    return ELAPSED.sub(b"", PROGRESS.sub(b"", body))


def is_whole(question: Question, body: bytes) -> bool:
    """Whether an answer has its last line."""
    if not question.path.endswith("/counterfactuals"):
        return True
    last = body.rstrip().rpartition(b"\n")[2]
    return b'"summary":{' in last or b'{"type":"summary"' in last or b'{"type":"error"' in last


def is_comparable(body: bytes) -> bool:
    """Whether the search ended by itself: what a deadline cuts off depends on how busy the machine is."""
    return b'"stopped_by":"deadline"' not in body and b'"stopped_by":"shutdown"' not in body
