"""Asking a service in this process, as a request would."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.adapters.catalog import load_catalog
from app.answering.events import Counterfactual, Failed, Finished, Started, Summary
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


def service_of(folder: Path) -> Service:
    settings = Settings(models_dir=folder, normal_ranges_dir=folder)
    return Service(settings, load_catalog(folder, folder))


def ask(service: Service, model: str, body: dict[str, Any]) -> Told:
    request = check_body(body, CounterfactualsRequest)
    answers: list[frozenset[int]] = []
    summary, movable, favourable = None, (), False
    with service.answering(request, service.model(model)) as answer:
        positions = [move.position for move in answer.question.problem.moves]
        for event in answer.events():
            match event:
                case Started():
                    favourable, movable = bool(event.prediction.favourable[0]), tuple(positions)
                case Counterfactual():
                    answers.append(frozenset(positions[index] for index in event.found.moves))
                case Finished():
                    summary = event.summary
                case Failed():
                    raise event.error
    return Told(movable, answers, summary, favourable)
