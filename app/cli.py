"""The command line: serve, explain, validate."""

import json
import os
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from pydantic import ValidationError
from rich.console import Console

from app import __version__, serving
from app.adapters.catalog import Catalog, load_catalog
from app.adapters.flaws import BrokenFiles, field_path, reason_of
from app.adapters.inspecting import Graph
from app.adapters.models import Model
from app.adapters.names import suggestion
from app.adapters.onnx import ModelFailed, UnloadableGraph
from app.api.bodies import parse_json
from app.api.errors import RequestError, invalid, problem
from app.api.schemas import CounterfactualsRequest
from app.api.service import Service
from app.settings import Settings
from app.terminal import show

cli = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _show_version(asked: bool) -> None:
    if asked:
        print(f"flipset {__version__}")
        raise typer.Exit


@cli.callback()
def options(
    version: Annotated[bool, typer.Option("--version", callback=_show_version, is_eager=True)] = False,
) -> None:
    """Every minimal set of changes that turns a model's decision."""


@cli.command()
def serve() -> None:
    """Serve the models over HTTP. Settings are environment variables: FLIPSET_HOST, FLIPSET_PORT, FLIPSET_MODELS_DIR,
    FLIPSET_NORMAL_RANGES_DIR, and those that the README lists.
    """
    try:
        serving.serve(_settings())
    except BrokenFiles as error:
        _fail(f"Flipset cannot start:\n{error}")


@cli.command()
def explain(
    model: Annotated[str, typer.Argument(help="name of the model")],
    file: Annotated[str, typer.Argument(help="file with the request as JSON; - reads it from the input")],
) -> None:
    """Answer one request: a table in a terminal, JSON lines in a pipe."""
    settings = _settings()
    service = Service(settings, _catalog(settings))
    try:
        request = _request(_read(file))
        answer = service.answer(request, service.model(model))
    except (RequestError, ModelFailed) as error:
        _fail(_refusal(problem(error)))
    lines = (line.text for line in chain([answer.start()], answer.rest()) if line is not None)
    if sys.stdout.isatty():
        show([json.loads(line) for line in lines], Console())
    else:
        for line in lines:
            print(line, flush=True)


@cli.command()
def validate() -> None:
    """Check every model and registry, and say what is wrong: file, field and reason, one line each."""
    settings = _settings()
    service = Service(settings, _catalog(settings))
    flaws = [flaw for model in service.catalog.models.values() for flaw in _example_flaws(service, model)]
    if flaws:
        _fail("\n".join(flaws))
    print(f"In order: {len(service.catalog.models)} models, {len(service.catalog.registries)} registries.")


@cli.command()
def inspect(file: Annotated[Path, typer.Argument(help="an ONNX file")]) -> None:
    """Print what a graph offers, and write a model.toml beside it to fill in."""
    try:
        graph = Graph(file)
    except OSError as error:
        _fail(f"{file}: {error.strerror}")
    except UnloadableGraph as error:
        _fail(f"{file}: {error}")
    print(graph.description())
    draft = file.with_name("model.toml")
    if draft.exists():
        print(f"{draft} is there already and was left as it is.")
        return
    try:
        draft.write_text(graph.draft(), encoding="utf-8")
    except OSError as error:
        _fail(f"{draft}: {error.strerror}")
    print(f"Written: {draft}. Fill in what it leaves open, then run: flipset validate")


def _example_flaws(service: Service, model: Model) -> Iterator[str]:
    """What a request would be refused for, of the requests that are to show the model at work."""
    for name, request in model.examples.items():
        try:
            service.end(service.answer(_request(json.dumps(request).encode()), model))
        except (RequestError, ModelFailed) as error:
            file = model.file.parent / "examples" / f"{name}.json"
            yield from (f"{file}: {flaw['field']}: {flaw['message']}" for flaw in problem(error)["errors"])


def _settings() -> Settings:
    known = {f"FLIPSET_{name.upper()}" for name in Settings.model_fields}
    for name in sorted(set(os.environ) - known):
        if name.startswith("FLIPSET_"):
            print(f"{name} is not a setting, and is ignored; {suggestion(name, known)}", file=sys.stderr)
    try:
        return Settings()
    except ValidationError as error:
        flaws = [f"FLIPSET_{field_path(entry['loc']).upper()}: {reason_of(entry)}" for entry in error.errors()]
        _fail("\n".join(flaws))


def _catalog(settings: Settings) -> Catalog:
    try:
        return load_catalog(settings.models_dir, settings.normal_ranges_dir)
    except BrokenFiles as error:
        _fail(str(error))


def _read(file: str) -> bytes:
    if file == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(file).read_bytes()
    except OSError as error:
        _fail(f"{file}: {error.strerror}")


def _request(body: bytes) -> CounterfactualsRequest:
    try:
        return CounterfactualsRequest.model_validate(parse_json(body))
    except ValidationError as error:
        raise invalid(error.errors()) from None


def _refusal(content: dict[str, Any]) -> str:
    fields = [f"  {error['field']}: {error['message']}" for error in content["errors"]]
    return "\n".join([f"{content['title']}.", *(fields or [f"  {content['detail']}"])])


def _fail(message: str) -> NoReturn:
    print(message, file=sys.stderr)
    raise typer.Exit(1)
