"""Our side: a request as bytes in, an answer as bytes out, through the service but without the network."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from app.adapters.catalog import load_catalog
from app.adapters.graphs.models import Model
from app.adapters.graphs.scorer import Graph
from app.answering.events import Counterfactual, Finished
from app.answering.service import Service
from app.api.problems import problem
from app.asking.parsing import parse_json
from app.asking.schemas import CounterfactualsRequest
from app.settings import Settings
from app.writing.forms import JsonLines
from app.writing.lines import Presenter
from lab.paper.questions.posing import Posed

# A machine that is busy with other things has to find all answers too.
PLENTY_MS = 3_600_000
PLENTY_OF_TIME = {"default_deadline_ms": str(PLENTY_MS), "max_deadline_ms": str(PLENTY_MS)}
# For a search that goes through everything.
EVERYTHING = {"engine": "lattice", "deadline_ms": PLENTY_MS, "max_model_rows": 20_000_000}


@dataclass(frozen=True)
class Answered:
    """How long it took, in seconds from the bytes of the request; `first` is the first counterfactual."""

    total: float
    first: float | None
    start: dict[str, Any]
    summary: dict[str, Any]

    @property
    def search(self) -> float:
        """The search alone, in seconds, as the summary tells it."""
        return float(self.summary["elapsed_ms"]["search"]) / 1000

    @property
    def model(self) -> float:
        """The calls of the model alone, in seconds."""
        return float(self.summary["elapsed_ms"]["model"]) / 1000

    @property
    def posed(self) -> Posed:
        """The question as the answer's first line states it, for the other side."""
        features = self.start["features"]
        movable = [position for position, feature in enumerate(features) if feature["movable"]]
        values = np.array([feature["value"] for feature in features], dtype=np.float32)
        return Posed(values, {position: float(features[position]["target"]) for position in movable})

    def columns(self, line: str) -> frozenset[int]:
        """Which columns a counterfactual changes."""
        places = {feature["name"]: position for position, feature in enumerate(self.start["features"])}
        return frozenset(places[change["feature"]] for change in json.loads(line)["changes"])


def request(values: dict[str, float], **fields: Any) -> bytes:
    return json.dumps({"instance": values, **fields}).encode()


class Asker:
    """The service in this process."""

    def __init__(self, models: Path, ranges: Path, **others: int) -> None:
        deadlines = {"default_deadline_ms": PLENTY_MS, "max_deadline_ms": PLENTY_MS}
        settings = Settings(models_dir=models, normal_ranges_dir=ranges, **deadlines, **others)
        self._service = Service(settings, load_catalog(models, ranges))

    def model(self, name: str) -> Model:
        return self._service.catalog.models[name]

    def graph(self, model: str) -> Graph:
        """What scores the rows of a model."""
        return self.model(model).scorer.graph

    def ask(self, model: str, body: bytes, see: Callable[[str], None] | None = None) -> Answered:
        """Answer the request to its last byte; `see` is shown every counterfactual. No line is kept."""
        first = None
        began = perf_counter()
        request = CounterfactualsRequest.model_validate(parse_json(body))
        with self._service.answering(request, self._service.model(model)) as answer:
            present, events = Presenter(answer.question, JsonLines(), problem).text, answer.events()
            start = last = present(next(events))
            start.encode()
            for event in events:
                if event is None:
                    continue
                last = present(event)
                last.encode()
                if isinstance(event, Counterfactual):
                    first = first or perf_counter() - began
                    if see is not None:
                        see(last)
            total = perf_counter() - began
        if not isinstance(event, Finished):
            raise RuntimeError(f"{model}: {last}")
        return Answered(total, first, json.loads(start), json.loads(last))
