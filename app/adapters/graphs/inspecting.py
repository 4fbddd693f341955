"""The inputs and outputs of a graph, and a draft of its `model.toml`."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from app.adapters.graphs.features import ModelFeature
from app.adapters.graphs.feeds import SCORES, TEXT, Offer
from app.adapters.graphs.graph_file import why_unusable
from app.adapters.graphs.onnx import MAPPED_SCORES, open_session
from app.adapters.structures.reading import in_words, untried

# Placeholders of a draft; `flipset validate` warns of those that are left.
OPEN = "..."


def drafted_classes(count: int) -> list[str]:
    return [f"class {place}" for place in range(count)]


def drafted_name(table: str, place: int) -> str:
    """What a draft calls a column of a table."""
    return f"{table}_{place}"


class Graph:
    """The inputs and outputs of a graph file."""

    def __init__(self, file: Path) -> None:
        content = file.read_bytes()
        session = open_session(content)
        self._content = content
        self.why_unusable = why_unusable(content)
        self.sha256 = hashlib.sha256(content).hexdigest()
        self.inputs = [Offer.of(argument) for argument in session.get_inputs()]
        self.outputs = [Offer.of(argument) for argument in session.get_outputs()]

    def description(self) -> str:
        """The graph's inputs and outputs, for a person."""
        lines = [*_listed("input", self.inputs), *_listed("output", self.outputs)]
        scores = [offer.name for offer in self.outputs if offer.type in (*SCORES, *MAPPED_SCORES)]
        told = f"scores may come from: {', '.join(scores)}" if scores else "no output holds floating-point scores"
        unfit = [f"cannot be served: {self.why_unusable}"] if self.why_unusable else []
        return "\n".join([*lines, told, *unfit, *self._structure(scores)])

    def _structure(self, scores: Sequence[str]) -> Iterator[str]:
        """What can be read in the graph. Only a model with a description is also tried against what was read."""
        columns = [kind for _, kind in self._columns()]
        features = tuple(_made_up(place, kind) for place, kind in enumerate(columns))
        if scores:
            yield in_words(untried(self._content, self.inputs, features, scores[0]))

    def draft(self) -> str:
        """A draft of the description: everything that the graph reveals, and gaps for the rest."""
        lines = [
            f'title = "{OPEN}"',
            'version = "1.0.0"',
            f'sha256 = "{self.sha256}"',
            '# normal_ranges = "..."           # a file of normal_ranges/, without .toml',
            "",
            *self._output(),
            "",
            "# In the order of the graph's columns. unit = \"...\" must be the registry's.",
            *self._features(),
        ]
        return "\n".join(lines) + "\n"

    def _output(self) -> Iterator[str]:
        scores = [offer for offer in self.outputs if offer.type in (*SCORES, *MAPPED_SCORES)]
        yield "[output]"
        if len(self.outputs) == 1 and scores and scores[0].shape[1:] in ((1,), ()):
            yield 'kind = "regression"               # or classification: a single score is that of the second class'
            yield "favourable = {}                   # low = ..., high = ... or both"
        else:
            count = scores[0].shape[1] if scores and len(scores[0].shape) == 2 else None
            classes = drafted_classes(max(count or 2, 2))
            yield 'kind = "classification"'
            yield f"classes = {json.dumps(classes)}   # your names, in the order of the scores"
            yield f"favourable = {json.dumps(classes[-1:])}"
        if scores:
            yield f"tensor = {json.dumps(scores[0].name)}"
        yield 'activation = "none"               # softmax or sigmoid if the graph gives raw scores'

    def _features(self) -> Iterator[str]:
        columns = list(self._columns())
        if sum(kind != TEXT for _, kind in columns) > 1:
            yield from ONE_HOT
        groups = _groups([offer.name for offer in self.inputs]) if len(columns) == len(self.inputs) else {}
        for name, kind in columns:
            if name in groups:
                yield from _group(*groups[name])
            yield from _feature(name, kind)

    def _columns(self) -> Iterator[tuple[str, str]]:
        for offer in self.inputs:
            width = offer.shape[1] if len(offer.shape) == 2 else 1
            if width is None:
                # The graph does not say how many columns it reads: the user fills this in.
                width = 1
            for place in range(width):
                name = offer.name if width == 1 else drafted_name(offer.name, place)
                yield name, offer.type


def _made_up(place: int, kind: str) -> ModelFeature:
    """A feature for a column of which only the type is known."""
    if kind == TEXT:
        return ModelFeature(str(place), None, None, "category", categories=("a", "b"))
    return ModelFeature(str(place), None, None, "number")


# What get_dummies and OneHotEncoder(handle_unknown="ignore") write for a missing value are noughts.
ONE_HOT = (
    "# Columns that an encoder made from one category, one for each of its values, are one feature:",
    '# type = "category", one_hot = true, categories in the order of the columns, and',
    '# missing = "zeros"                 # null is all zeros, as get_dummies and OneHotEncoder write it; "nan": NaN',
    "# drop_first = true                 # if the first of the categories has no column",
    "",
)


def _groups(names: Sequence[str]) -> dict[str, tuple[str, list[str]]]:
    """Neighbours with a common beginning, home_owns and home_rents: what it is, and all of them, by the first."""
    runs = [(name, list(run)) for name, run in groupby(names, lambda name: name.rpartition("_")[0])]
    # If one is all that there is, the graph only counts its columns.
    return {run[0]: (name, run) for name, run in runs if name and 1 < len(run) < len(names)}


def _group(name: str, columns: Sequence[str]) -> list[str]:
    """The same columns as one feature, for those who take the signs of the comment away."""
    categories = [column.removeprefix(f"{name}_") for column in columns]
    lines = [
        f"{', '.join(columns)} look like one category. If they are, replace them with this:",
        "[[features]]",
        f"name = {json.dumps(name, ensure_ascii=False)}",
        'type = "category"',
        f"categories = {json.dumps(categories, ensure_ascii=False)}",
        "one_hot = true",
        'missing = "zeros"',
    ]
    return [*(f"# {line}" for line in lines), ""]


def _listed(kind: str, offers: Sequence[Offer]) -> Iterator[str]:
    for offer in offers:
        shape = f" {[side or 'any' for side in offer.shape]}" if offer.shape else ""
        yield f"{kind} {offer.name}: {offer.type}{shape}"


def _feature(name: str, kind: str) -> list[str]:
    lines = ["[[features]]", f"name = {json.dumps(name, ensure_ascii=False)}"]
    if kind not in (TEXT, *SCORES):
        return [*lines, 'type = "integer"                  # or category, with codes', ""]
    if kind == TEXT:
        known = f'categories = ["{OPEN}"]             # every text that the graph knows'
        return [*lines, 'type = "category"', known, ""]
    return [*lines, 'type = "number"                   # or integer, or category', ""]
