"""What the commands do that load models themselves. What cannot be done is told on the way out."""

import json
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from rich.console import Console

from app.adapters.catalog import catalog_of
from app.adapters.inspecting import Graph
from app.adapters.models import Model
from app.adapters.onnx import ModelFailed, UnloadableGraph
from app.adapters.snapshots import Snapshot, take_snapshot
from app.adapters.trials import try_out
from app.api.bodies import parse_json
from app.api.errors import RequestError, invalid, problem
from app.api.schemas import CounterfactualsRequest
from app.api.service import Service
from app.settings import Settings
from app.supervising import trial_limits
from app.terminal import show


def explain(settings: Settings, model: str, file: str) -> None:
    """Answer one request: a table in a terminal, JSON lines in a pipe."""
    service = Service(settings, catalog_of(_snapshot(settings)))
    try:
        request = _request(_read(file))
        answer = service.answer(request, service.model(model))
    except (RequestError, ModelFailed) as error:
        raise SystemExit(refusal(problem(error))) from None
    lines = (line.text for line in chain([answer.start()], answer.rest()) if line is not None)
    if sys.stdout.isatty():
        show([json.loads(line) for line in lines], Console())
    else:
        for line in lines:
            print(line, flush=True)


def validate(settings: Settings) -> None:
    """Check every model and registry, and say what is wrong: file, field and reason, one line each."""
    snapshot = _snapshot(settings)
    tried = try_out(snapshot, trial_limits(settings))
    if tried:
        raise SystemExit("\n".join(map(str, tried)))
    service = Service(settings, catalog_of(snapshot))
    flaws = [flaw for model in service.catalog.models.values() for flaw in _example_flaws(service, model)]
    if flaws:
        raise SystemExit("\n".join(flaws))
    print(f"In order: {len(service.catalog.models)} models, {len(service.catalog.registries)} registries.")


def inspect(file: Path) -> None:
    """Print what a graph offers, and write a model.toml beside it to fill in."""
    try:
        graph = Graph(file)
    except OSError as error:
        raise SystemExit(f"{file}: {error.strerror}") from None
    except UnloadableGraph as error:
        raise SystemExit(f"{file}: {error}") from None
    print(graph.description())
    draft = file.with_name("model.toml")
    if draft.exists():
        print(f"{draft} is there already and was left as it is.")
        return
    try:
        draft.write_text(graph.draft(), encoding="utf-8")
    except OSError as error:
        raise SystemExit(f"{draft}: {error.strerror}") from None
    print(f"Written: {draft}. Fill in what it leaves open, then run: flipset validate")


def _snapshot(settings: Settings) -> Snapshot:
    return take_snapshot(settings.models_dir, settings.normal_ranges_dir, settings.model_file_mb * 2**20)


def _example_flaws(service: Service, model: Model) -> Iterator[str]:
    """What a request would be refused for, of the requests that are to show the model at work."""
    for name, request in model.examples.items():
        try:
            service.end(service.answer(_request(json.dumps(request).encode()), model))
        except (RequestError, ModelFailed) as error:
            file = model.file.parent / "examples" / f"{name}.json"
            yield from (f"{file}: {flaw['field']}: {flaw['message']}" for flaw in problem(error)["errors"])


def _read(file: str) -> bytes:
    if file == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise SystemExit(f"{file}: {error.strerror}") from None


def _request(body: bytes) -> CounterfactualsRequest:
    try:
        return CounterfactualsRequest.model_validate(parse_json(body))
    except ValidationError as error:
        raise invalid(error.errors()) from None


def refusal(content: dict[str, Any]) -> str:
    """A problem as a person reads it in a terminal."""
    fields = [f"  {error['field']}: {error['message']}" for error in content["errors"]]
    return "\n".join([f"{content['title']}.", *(fields or [f"  {content['detail']}"])])
