"""Our side: a request as bytes in, an answer as bytes out, through the service but without the network."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from app.adapters.catalog import load_catalog
from app.api.bodies import parse_json
from app.api.schemas import CounterfactualsRequest
from app.api.service import Service
from app.settings import Settings
from evaluation.posing import Posed


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

    def __init__(self, models: Path, ranges: Path) -> None:
        settings = Settings(models_dir=models, normal_ranges_dir=ranges)
        self._service = Service(settings, load_catalog(models, ranges))

    def ask(self, model: str, body: bytes, see: Callable[[str], None] | None = None) -> Answered:
        """Answer the request to its last byte; `see` is shown every counterfactual. No line is kept."""
        first = None
        began = perf_counter()
        request = CounterfactualsRequest.model_validate(parse_json(body))
        answer = self._service.answer(request, self._service.model(model))
        try:
            start = last = answer.start()
            start.text.encode()
            for line in answer.rest():
                if line is None:
                    continue
                line.text.encode()
                if line.kind == "counterfactual":
                    first = first or perf_counter() - began
                    if see is not None:
                        see(line.text)
                last = line
            total = perf_counter() - began
        finally:
            self._service.end(answer)
        if last.kind != "summary":
            raise RuntimeError(f"{model}: {last.text}")
        return Answered(total, first, json.loads(start.text), json.loads(last.text))
