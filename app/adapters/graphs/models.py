"""Models: a folder with a graph, its description and its examples."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NoReturn

from pydantic import Field, model_validator

from app.adapters.files.fields import FavourableField
from app.adapters.files.flaws import BrokenFiles, Flaw
from app.adapters.files.names import suggestion
from app.adapters.files.numbers import NumberType, number_type
from app.adapters.files.snapshots import Snapshot
from app.adapters.files.toml_files import Entry, Finite, read_toml
from app.adapters.graphs.features import FeatureEntry, ModelFeature, Unreadable
from app.adapters.graphs.feeds import UnusableGraph
from app.adapters.graphs.onnx import ModelFailed, OnnxGraph, UnloadableGraph, plainly
from app.adapters.graphs.scorer import OnnxScorer
from app.adapters.rules.constraints import ConstraintsEntry, read_constraints
from app.adapters.rules.formulas import FormulaLimits
from app.adapters.rules.policies import PolicyEntry
from app.adapters.structures.networks import NetworkStructure
from app.adapters.structures.reading import Opaque, structure_of
from app.adapters.structures.sums.structure import Structure
from app.core.constraints import Item
from app.core.favourable import Favourable, FavourableClasses, FavourableInterval
from app.core.ranges import NormalRange

# The name of a model's folder, as it stands in the URL; hcv@2 is another version of hcv, side by side with it.
ADDRESS = re.compile("[A-Za-z0-9][A-Za-z0-9._@-]*")

BEYOND_PROBABILITIES = "must lie between 0 and 1: the {} are probabilities"
# No score of a float32 model is larger.
MOST_THRESHOLD = 3e38


class OutputEntry(Entry):
    """What the model says, and what of it is favourable."""

    kind: Literal["classification", "regression"]
    tensor: str | None = None
    activation: Literal["none", "softmax", "sigmoid"] = "none"
    classes: list[str] = []
    favourable: FavourableField
    threshold: Finite | None = None

    @model_validator(mode="after")
    def _fits_its_kind(self) -> "OutputEntry":
        flaw = self._classes_flaw() if self.kind == "classification" else self._interval_flaw()
        if flaw:
            raise ValueError(flaw)
        return self

    def _classes_flaw(self) -> str | None:
        if len(self.classes) < 2 or len(set(self.classes)) < len(self.classes):
            return "classes must name at least two classes, each once"
        if isinstance(self.favourable, NormalRange):
            return "favourable must be a list of classes"
        if unknown := [name for name in self.favourable if name not in self.classes]:
            return f"favourable names {unknown[0]!r}, which is not one of the classes"
        if len(set(self.favourable)) < len(self.favourable) or not 0 < len(self.favourable) < len(self.classes):
            return "favourable must name some of the classes, each once, and leave at least one out"
        if self.threshold is not None and abs(self.threshold) > MOST_THRESHOLD:
            return "threshold is too large for any score"
        return None

    def _interval_flaw(self) -> str | None:
        if self.classes or self.threshold is not None:
            return "a regression has neither classes nor a threshold"
        if not isinstance(self.favourable, NormalRange):
            return "favourable must be an interval: { low = ..., high = ... }"
        return None


class ModelEntry(Entry):
    """A `model.toml`."""

    title: str
    version: str
    sha256: str | None = Field(default=None, pattern="^[0-9a-f]{64}$")
    normal_ranges: str | None = None
    output: OutputEntry
    features: list[FeatureEntry] = Field(min_length=1)
    prototype: dict[str, Finite | str] = {}
    constraints: ConstraintsEntry = ConstraintsEntry()
    policy: PolicyEntry = PolicyEntry()
    training: dict[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Model:
    """A model that is ready to score, with its description."""

    name: str
    title: str
    version: str
    sha256: str
    # Of model.toml, as the one above is of model.onnx.
    description_sha256: str
    registry: str | None
    features: tuple[ModelFeature, ...]
    classes: tuple[str, ...]
    favourable: Favourable
    probabilities: bool
    prototype: Mapping[str, float | str]
    # What holds for every request, whatever it asks for; as it is written, and as items.
    constraints: ConstraintsEntry
    items: tuple[Item, ...]
    policy: PolicyEntry
    training: Mapping[str, Any]
    examples: Mapping[str, dict[str, Any]]
    scorer: OnnxScorer
    # What was understood of the graph.
    structure: Structure | NetworkStructure | Opaque
    # Where each feature stands, and the type that the graph reads it in.
    positions: Mapping[str, int]
    types: tuple[NumberType, ...]
    file: Path
    # Of all its files together: where it is the same, so is the model.
    digest: str


def load_model(folder: Path, snapshot: Snapshot) -> Model:
    """Read, check and warm up one model; `BrokenFiles` with all its flaws."""
    file = folder / "model.toml"
    entry = read_toml(file, snapshot.read(file), ModelEntry)
    content = snapshot.read(folder / "model.onnx")
    sha256 = hashlib.sha256(content).hexdigest()
    examples = {example.stem: _example(example, snapshot) for example in snapshot.examples(folder / "examples")}
    if flaws := [*_flaws(file, entry, sha256)]:
        raise BrokenFiles(flaws)
    features = tuple(map(ModelFeature.of, entry.features))
    items, mistakes = read_constraints(entry.constraints, features, FormulaLimits())
    if mistakes:
        raise BrokenFiles([Flaw(file, f"constraints.{mistake.field}", mistake.message) for mistake in mistakes])
    scorer = _scorer(file, entry, features, content)
    if scorer.probabilities and not 0 <= (entry.output.threshold or 0) <= 1:
        raise BrokenFiles([Flaw(file, "output.threshold", BEYOND_PROBABILITIES.format("graph's scores"))])
    return Model(
        name=folder.name,
        title=entry.title,
        version=entry.version,
        sha256=sha256,
        description_sha256=hashlib.sha256(snapshot.read(file)).hexdigest(),
        registry=entry.normal_ranges,
        features=features,
        classes=tuple(entry.output.classes),
        favourable=_favourable(entry.output),
        probabilities=scorer.probabilities,
        prototype=entry.prototype,
        constraints=entry.constraints,
        items=items,
        policy=entry.policy,
        training=entry.training,
        examples=examples,
        scorer=scorer,
        structure=structure_of(scorer.served(content, entry.output.classes), scorer, features, scorer.dtype),
        positions={feature.name: position for position, feature in enumerate(features)},
        types=tuple(number_type(scorer.dtype_at(position)) for position in range(len(features))),
        file=file,
        digest=digest_of(folder, snapshot),
    )


def digest_of(folder: Path, snapshot: Snapshot) -> str:
    """The digest of all files of a model."""
    files = (folder / "model.onnx", folder / "model.toml", *snapshot.examples(folder / "examples"))
    parts = [f"{file.name}:{hashlib.sha256(snapshot.read(file)).hexdigest()}" for file in files]
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def _flaws(file: Path, entry: ModelEntry, sha256: str) -> Iterator[Flaw]:
    if not ADDRESS.fullmatch(file.parent.name):
        yield Flaw(file.parent, "", "the folder's name is part of the URL: use only letters, digits and . _ - @")
    if entry.sha256 is not None and entry.sha256 != sha256:
        yield Flaw(file, "sha256", f"model.onnx is a different file: its sha256 is {sha256}")
    seen: set[str] = set()
    for index, feature in enumerate(entry.features):
        if feature.name in seen:
            yield Flaw(file, f"features[{index}].name", f"{feature.name!r} is named twice")
        seen.add(feature.name)
    features = {feature.name: ModelFeature.of(feature) for feature in entry.features}
    for name, value in entry.prototype.items():
        if name not in features:
            yield Flaw(file, f"prototype.{name}", f"is not a feature; {suggestion(name, features)}")
            continue
        try:
            features[name].read_known(value)
        except Unreadable as error:
            yield Flaw(file, f"prototype.{name}", str(error))
    yield from _policy_flaws(file, entry)


def _policy_flaws(file: Path, entry: ModelEntry) -> Iterator[Flaw]:
    """Policies that would refuse even a request that chooses nothing."""
    own, least, policy = entry.normal_ranges, entry.policy.least_threshold, entry.policy
    if not policy.allows(own) and own is None:
        yield Flaw(file, "policy.without_registry", "must be true: the model has no registry of its own")
    elif not policy.allows(own):
        yield Flaw(file, "policy.registries", f"must include {own!r}, the model's own registry")
    if least is not None and (entry.output.threshold is None or entry.output.threshold < least):
        yield Flaw(file, "policy.least_threshold", "must not be above the model's own threshold, output.threshold")


def _example(file: Path, snapshot: Snapshot) -> dict[str, Any]:
    content = snapshot.read(file)
    try:
        request = json.loads(content.decode("utf-8"), parse_constant=_no_number)
    except ValueError as error:
        raise BrokenFiles([Flaw(file, "", f"is not valid JSON: {error}")]) from None
    except RecursionError:
        raise BrokenFiles([Flaw(file, "", "is nested too deeply")]) from None
    if not isinstance(request, dict) or "instance" not in request:
        raise BrokenFiles([Flaw(file, "", 'is not a request: it must be an object with an "instance"')])
    return request


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def _favourable(output: OutputEntry) -> Favourable:
    if isinstance(output.favourable, NormalRange):
        return FavourableInterval(output.favourable.low, output.favourable.high)
    return favourable_classes(tuple(output.classes), output.favourable, output.threshold)


def favourable_classes(classes: tuple[str, ...], chosen: Sequence[str], threshold: float | None) -> FavourableClasses:
    """The favourable classes and the others, by index."""
    places = tuple(place for place, name in enumerate(classes) if name in chosen)
    others = tuple(place for place, name in enumerate(classes) if name not in chosen)
    return FavourableClasses(places, others, threshold)


def _number_flaws(file: Path, features: tuple[ModelFeature, ...], scorer: OnnxScorer) -> Iterator[Flaw]:
    """What the graph's types cannot hold: fractions among whole numbers, and numbers that are too large."""
    for index, feature in enumerate(features):
        dtype = scorer.dtype_at(index)
        if dtype.kind in "ib" and feature.type == "number":
            reason = "the graph reads whole numbers, so the type must be integer"
            yield Flaw(file, f"features[{index}].type", reason)
        elif not all(map(number_type(dtype).holds, feature.written_numbers())):
            yield Flaw(file, f"features[{index}]", f"gives a number that the graph's {dtype} input cannot hold")


def _scorer(file: Path, entry: ModelEntry, features: tuple[ModelFeature, ...], content: bytes) -> OnnxScorer:
    output = entry.output
    try:
        graph = OnnxGraph(content, features, output.tensor, output.classes)
        scorer = OnnxScorer(graph, features, output.activation, outputs=len(output.classes) or 1)
        if flaws := [*_number_flaws(file, features, scorer)]:
            raise BrokenFiles(flaws)
        scorer.warm_up()
    except UnloadableGraph as error:
        raise BrokenFiles([Flaw(file.with_name("model.onnx"), "", str(error))]) from None
    except UnusableGraph as error:
        raise BrokenFiles([Flaw(file, error.field, error.reason)]) from None
    except ModelFailed as error:
        raise BrokenFiles(
            [Flaw(file.with_name("model.onnx"), "", f"fails on a row of zeros: {plainly(error.reason)}")]
        ) from None
    return scorer
