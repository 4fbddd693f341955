"""What a graph offers, and a `model.toml` to begin with."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from app.adapters.onnx import MAPPED_SCORES, SCORES, TEXT, Offer, open_session


class Graph:
    """The inputs and outputs of a graph file."""

    def __init__(self, file: Path) -> None:
        content = file.read_bytes()
        session = open_session(content)
        self.sha256 = hashlib.sha256(content).hexdigest()
        self.inputs = [Offer.of(argument) for argument in session.get_inputs()]
        self.outputs = [Offer.of(argument) for argument in session.get_outputs()]

    def description(self) -> str:
        """The graph's inputs and outputs, for a person."""
        lines = [*_listed("input", self.inputs), *_listed("output", self.outputs)]
        scores = [offer.name for offer in self.outputs if offer.type in (*SCORES, *MAPPED_SCORES)]
        told = f"scores may come from: {', '.join(scores)}" if scores else "no output holds floating-point scores"
        return "\n".join([*lines, told])

    def draft(self) -> str:
        """A description of the model with everything that the graph gives away, and gaps for the rest."""
        lines = [
            'title = "..."',
            'version = "1.0.0"',
            f'sha256 = "{self.sha256}"',
            '# normal_ranges = "..."           # a file of normal_ranges/, without .toml',
            "",
            *self._output(),
            "",
            "# In the order of the graph's columns. unit = \"...\" must be the registry's.",
            *(line for name, kind in self._columns() for line in _feature(name, kind)),
        ]
        return "\n".join(lines) + "\n"

    def _output(self) -> Iterator[str]:
        scores = [offer for offer in self.outputs if offer.type in (*SCORES, *MAPPED_SCORES)]
        yield "[output]"
        if len(self.outputs) == 1 and scores and scores[0].shape[1:] in ((1,), ()):
            yield 'kind = "regression"               # or classification: one score is that of the second class'
            yield "favourable = { low = 0.0 }        # ..."
        else:
            count = scores[0].shape[1] if scores and len(scores[0].shape) == 2 else None
            classes = [f"class {place}" for place in range(max(count or 2, 2))]
            yield 'kind = "classification"'
            yield f"classes = {json.dumps(classes)}   # your names, in the order of the scores"
            yield f"favourable = {json.dumps(classes[-1:])}"
        if scores:
            yield f"tensor = {json.dumps(scores[0].name)}"
        yield 'activation = "none"               # softmax or sigmoid where the graph gives raw scores'

    def _columns(self) -> Iterator[tuple[str, str]]:
        for offer in self.inputs:
            width = offer.shape[1] if len(offer.shape) == 2 else 1
            if width is None:
                # The graph does not say how many columns it reads: whoever fills this in does.
                width = 1
            for place in range(width):
                name = offer.name if width == 1 else f"{offer.name}_{place}"
                yield name, offer.type


def _listed(kind: str, offers: Sequence[Offer]) -> Iterator[str]:
    for offer in offers:
        shape = f" {[side or 'any' for side in offer.shape]}" if offer.shape else ""
        yield f"{kind} {offer.name}: {offer.type}{shape}"


def _feature(name: str, kind: str) -> list[str]:
    lines = ["[[features]]", f"name = {json.dumps(name, ensure_ascii=False)}"]
    if kind not in (TEXT, *SCORES):
        return [*lines, 'type = "integer"                  # or category, with codes', ""]
    if kind == TEXT:
        return [*lines, 'type = "category"', 'categories = ["..."]             # every text that the graph knows', ""]
    return [*lines, 'type = "number"                   # or integer, or category', ""]
