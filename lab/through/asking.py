"""Asking a service in this process, as a request would."""

import time
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from app.adapters.catalog import load_catalog
from app.answering import service as answering
from app.answering import watchdog
from app.answering.events import Counterfactual, Failed, Finished, Started, Summary
from app.answering.in_use import ModelInUse
from app.answering.service import Service
from app.asking.parsing import check_body
from app.asking.schemas import CounterfactualsRequest
from app.settings import Settings


@dataclass(frozen=True)
class Told:
    """What an answer said: the sets of positions that change, in their order, and the summary."""

    movable: tuple[int, ...]
    answers: list[frozenset[int]]
    summary: Summary | None
    favourable: bool


def count_processor_time() -> None:
    """Let deadlines and figures count the time that this process has the processor: for a machine that is busy."""
    clock = SimpleNamespace(perf_counter=time.process_time, sleep=time.sleep)
    answering.time = watchdog.time = clock  # type: ignore[assignment]


def service_of(folder: Path) -> Service:
    settings = Settings(models_dir=folder, normal_ranges_dir=folder)
    return Service(settings, load_catalog(folder, folder))


def ask(service: Service, model: str | ModelInUse, body: dict[str, Any], *, keep: bool = True) -> Told:
    """Ask about a model by its name, or as it is in use. Millions of answers are too many to `keep`."""
    chosen = service.model(model) if isinstance(model, str) else model
    request = check_body(body, CounterfactualsRequest)
    answers: list[frozenset[int]] = []
    summary, movable, favourable = None, (), False
    with service.answering(request, chosen) as answer:
        positions = [move.position for move in answer.question.problem.moves]
        for event in answer.events():
            match event:
                case Started():
                    favourable, movable = bool(event.prediction.favourable[0]), tuple(positions)
                case Counterfactual() if keep:
                    answers.append(frozenset(positions[index] for index in event.found.moves))
                case Finished():
                    summary = event.summary
                case Failed():
                    raise event.error
    return Told(movable, answers, summary, favourable)
