"""The commands that load models in their own process. Errors end them with a message."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console

from app.adapters.catalog import catalog_of
from app.adapters.files.names import counted
from app.adapters.files.snapshots import Snapshot, take_snapshot
from app.adapters.files.versions import doubtful, versions_in, write_locks
from app.adapters.graphs.inspecting import Graph
from app.adapters.graphs.models import Model
from app.adapters.graphs.onnx import ModelFailed, UnloadableGraph
from app.adapters.graphs.trials import try_out
from app.adapters.locales.lacking import lacking
from app.adapters.structures.reading import in_words
from app.answering.answer import Answer
from app.answering.service import Service
from app.api.problems import problem
from app.asking.parsing import check_body, read_body
from app.asking.refusals import RequestError
from app.asking.schemas import CounterfactualsRequest
from app.cli.doubts import doubts
from app.cli.terminal import show
from app.processes.supervising import trial_limits
from app.settings import Settings
from app.writing.forms import JsonLines
from app.writing.lines import Presenter


def explain(settings: Settings, model: str, file: str) -> None:
    """Answer one request: as a table in a terminal, as JSON lines in a pipe."""
    service = Service(settings, catalog_of(_snapshot(settings)))
    try:
        request = read_body(_read(file), CounterfactualsRequest)
        with service.answering(request, service.model(model)) as answer:
            _print(answer)
    except (RequestError, ModelFailed) as error:
        raise SystemExit(refusal(problem(error))) from None


def _print(answer: Answer) -> None:
    if sys.stdout.isatty():
        show([event for event in answer.events() if event is not None], Console())
        return
    present = Presenter(answer.question, JsonLines(), problem).text
    for text in filter(None, map(present, answer.events())):
        print(text, end="", flush=True)


def validate(settings: Settings, lock: bool = False) -> None:
    """Check every model, registry and translation. Prints one line for each mistake or doubt: file, field, reason."""
    snapshot = _snapshot(settings)
    tried = try_out(snapshot, trial_limits(settings))
    if tried:
        raise SystemExit("\n".join(map(str, tried)))
    service = Service(settings, catalog_of(snapshot))
    flaws = [flaw for model in service.catalog.models.values() for flaw in _example_flaws(service, model)]
    if flaws:
        raise SystemExit("\n".join(flaws))
    doubted = [f"warning: {doubt}" for doubt in (*doubts(service), *doubtful(snapshot))]
    aside = ", warnings aside" if doubted else ""
    models, registries = len(service.catalog.models), len(service.catalog.registries)
    counts = f"{counted(models, 'model')}, {counted(registries, 'registry', 'registries')}"
    told = [f"{model.name}: {in_words(model.structure)}" for model in service.catalog.models.values()]
    told += map(str, lacking(snapshot.locales, service.catalog))
    print("\n".join([*doubted, *told, f"In order{aside}: {counts}."]))
    if lock:
        print(f"Recorded in {' and '.join(map(str, write_locks(snapshot, versions_in(snapshot))))}.")


def inspect(file: Path) -> None:
    """Print the inputs and outputs of a graph, and write a draft of model.toml beside it."""
    try:
        graph = Graph(file)
    except OSError as error:
        raise SystemExit(f"{file}: {error.strerror}") from None
    except UnloadableGraph as error:
        raise SystemExit(f"{file}: {error}") from None
    print(graph.description())
    draft = file.with_name("model.toml")
    if draft.exists():
        print(f"{draft} already exists and was left unchanged.")
        return
    try:
        draft.write_text(graph.draft(), encoding="utf-8")
    except OSError as error:
        raise SystemExit(f"{draft}: {error.strerror}") from None
    print(f"Wrote {draft}. Fill in the gaps, then run: flipset validate")


def _snapshot(settings: Settings) -> Snapshot:
    most = settings.model_file_mb * 2**20
    folders = settings.models_dir, settings.normal_ranges_dir
    return take_snapshot(*folders, most, settings.predictor_url, settings.locales_dir)


def _example_flaws(service: Service, model: Model) -> Iterator[str]:
    """Why the examples of a model would be refused."""
    for name, request in model.examples.items():
        try:
            with service.answering(check_body(request, CounterfactualsRequest), service.model(model.name)):
                pass
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


def refusal(content: dict[str, Any]) -> str:
    """A problem as a person reads it in a terminal."""
    fields = [f"  {error['field']}: {error['message']}" for error in content["errors"]]
    return "\n".join([f"{content['title']}.", *(fields or [f"  {content['detail']}"])])
