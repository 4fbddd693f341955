"""Models: a folder with a graph, its description and its examples."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from app.adapters.files.flaws import BrokenFiles, Flaw
from app.adapters.files.names import suggestion
from app.adapters.files.numbers import NumberType, number_type
from app.adapters.files.snapshots import Snapshot
from app.adapters.files.toml_files import Entry, Finite, read_toml
from app.adapters.graphs.derived import read_derived
from app.adapters.graphs.examples import read_example
from app.adapters.graphs.features import FeatureEntry, ModelFeature, Unreadable
from app.adapters.graphs.feeds import UnusableGraph
from app.adapters.graphs.onnx import ModelFailed, OnnxGraph, UnloadableGraph, plainly
from app.adapters.graphs.output import OutputEntry
from app.adapters.graphs.said import WordsEntry
from app.adapters.graphs.scorer import Graph, ModelScorer
from app.adapters.machine.optional_groups import how_to_install
from app.adapters.predictors.entry import PredictorEntry
from app.adapters.predictors.failures import PredictorUnavailable, UntrustedReply
from app.adapters.predictors.predictor import WHY_OPAQUE, Predictor
from app.adapters.rules.constraints import ConstraintsEntry, read_constraints
from app.adapters.rules.formulas import FormulaLimits
from app.adapters.rules.policies import PolicyEntry
from app.adapters.structures.networks import NetworkStructure
from app.adapters.structures.reading import Opaque, structure_of
from app.adapters.structures.sums.structure import Structure
from app.core.constraints import Item
from app.core.favourable import Favourable, FavourableClasses, FavourableInterval
from app.core.following.arithmetic import Arithmetic, features_of
from app.core.ranges import NormalRange

# The name of a model's folder, as it stands in the URL; hcv@2 is another version of hcv, side by side with it.
ADDRESS = re.compile("[A-Za-z0-9][A-Za-z0-9._@-]*")

BEYOND_PROBABILITIES = "must lie between 0 and 1: the {} are probabilities"


class ModelEntry(Entry):
    """A `model.toml`."""

    title: str
    version: str
    sha256: str | None = Field(default=None, pattern="^[0-9a-f]{64}$")
    normal_ranges: str | None = None
    # Where the model lives, if not in model.onnx.
    predictor: PredictorEntry | None = None
    output: OutputEntry
    features: list[FeatureEntry] = Field(min_length=1)
    prototype: dict[str, Finite | str] = {}
    constraints: ConstraintsEntry = ConstraintsEntry()
    # Features that are never stated as a reason. Plans leave them alone too: see `_protected_flaws`.
    protected: list[str] = []
    policy: PolicyEntry = PolicyEntry()
    training: dict[str, Any] = {}
    words: WordsEntry = WordsEntry()


@dataclass(frozen=True, slots=True)
class Model:
    """A model that is ready to score, with its description."""

    name: str
    title: str
    version: str
    # None where the model lives elsewhere: nobody here has seen its bytes.
    sha256: str | None
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
    protected: tuple[str, ...]
    policy: PolicyEntry
    training: Mapping[str, Any]
    words: WordsEntry
    examples: Mapping[str, dict[str, Any]]
    scorer: ModelScorer
    # What was understood of the graph.
    structure: Structure | NetworkStructure | Opaque
    # Where each feature stands, and the type that the graph reads it in.
    positions: Mapping[str, int]
    # How the derived ones are computed, each after those that it is computed from; all others are sent.
    derived: Mapping[int, Arithmetic]
    sent: Mapping[str, int]
    types: tuple[NumberType, ...]
    # The largest number that means itself, where any number up to it does; below nought where none does.
    plain: tuple[float, ...]
    file: Path
    # Of all its files together: where it is the same, so is the model.
    digest: str

    def first_sent(self, position: int) -> int:
        """The feature itself; of a derived one, the first that is sent of those that it is computed from."""
        while position in self.derived:
            position = features_of(self.derived[position])[0]
        return position


def load_model(folder: Path, snapshot: Snapshot) -> Model:
    """Read, check and warm up one model; `BrokenFiles` with all its flaws."""
    file = folder / "model.toml"
    entry = read_toml(file, snapshot.read(file), ModelEntry)
    content = snapshot.read(folder / "model.onnx") if entry.predictor is None else None
    sha256 = None if content is None else hashlib.sha256(content).hexdigest()
    examples = {example.stem: read_example(example, snapshot) for example in snapshot.examples(folder / "examples")}
    if flaws := [*_flaws(file, entry, sha256)]:
        raise BrokenFiles(flaws)
    if entry.predictor is not None and folder / "model.onnx" in snapshot.contents:
        raise BrokenFiles([Flaw(file, "predictor", "takes the place of model.onnx: keep only one of them")])
    features = tuple(map(ModelFeature.of, entry.features))
    items, mistakes = read_constraints(entry.constraints, features, FormulaLimits())
    if mistakes:
        raise BrokenFiles([Flaw(file, f"constraints.{mistake.field}", mistake.message) for mistake in mistakes])
    scorer = _scorer(file, entry, features, content, snapshot.predictor_url)
    if scorer.probabilities and not 0 <= (entry.output.threshold or 0) <= 1:
        raise BrokenFiles([Flaw(file, "output.threshold", BEYOND_PROBABILITIES.format("graph's scores"))])
    types = tuple(number_type(scorer.dtype_at(position)) for position in range(len(features)))
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
        protected=tuple(entry.protected),
        policy=entry.policy,
        training=entry.training,
        words=entry.words,
        examples=examples,
        scorer=scorer,
        structure=_structure(entry, scorer, features, content),
        positions={feature.name: position for position, feature in enumerate(features)},
        derived=read_derived(file, features),
        sent={feature.name: position for position, feature in enumerate(features) if feature.derived is None},
        types=types,
        plain=tuple(kind.most if feature.is_plain else -1 for kind, feature in zip(types, features, strict=True)),
        file=file,
        digest=digest_of(folder, snapshot),
    )


def digest_of(folder: Path, snapshot: Snapshot) -> str:
    """The digest of all files of a model."""
    graph = [folder / "model.onnx"] if folder / "model.onnx" in snapshot.contents else []
    files = (*graph, folder / "model.toml", *snapshot.examples(folder / "examples"))
    parts = [f"{file.name}:{hashlib.sha256(snapshot.read(file)).hexdigest()}" for file in files]
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def _structure(
    entry: ModelEntry, scorer: ModelScorer, features: tuple[ModelFeature, ...], content: bytes | None
) -> Structure | NetworkStructure | Opaque:
    if content is None:
        return Opaque(WHY_OPAQUE)
    return structure_of(scorer.served(content, entry.output.classes), scorer, features, scorer.dtype)


def _flaws(file: Path, entry: ModelEntry, sha256: str | None) -> Iterator[Flaw]:
    if not ADDRESS.fullmatch(file.parent.name):
        yield Flaw(file.parent, "", "the folder's name is part of the URL: use only letters, digits and . _ - @")
    if entry.sha256 is not None and sha256 is None:
        yield Flaw(file, "sha256", "belongs to a model.onnx, which a model with a predictor does not have")
    elif entry.sha256 is not None and entry.sha256 != sha256:
        yield Flaw(file, "sha256", f"model.onnx is a different file: its sha256 is {sha256}")
    seen: set[str] = set()
    for index, feature in enumerate(entry.features):
        if feature.name in seen:
            yield Flaw(file, f"features[{index}].name", f"{feature.name!r} is named twice")
        seen.add(feature.name)
    yield from _code_flaws(file, entry)
    features = {feature.name: ModelFeature.of(feature) for feature in entry.features}
    for name, value in entry.prototype.items():
        if name not in features:
            yield Flaw(file, f"prototype.{name}", f"is not a feature; {suggestion(name, features)}")
            continue
        if features[name].derived is not None:
            yield Flaw(file, f"prototype.{name}", "is derived, so it moves to no value of its own")
            continue
        try:
            features[name].read_known(value)
        except Unreadable as error:
            yield Flaw(file, f"prototype.{name}", str(error))
    yield from _protected_flaws(file, entry, features)
    yield from _policy_flaws(file, entry)


def _code_flaws(file: Path, entry: ModelEntry) -> Iterator[Flaw]:
    """Codes that two features share: nobody could tell whose value an Observation holds."""
    owners: dict[str, str] = {}
    for index, feature in enumerate(entry.features):
        for code in feature.loinc:
            if (owner := owners.setdefault(code, feature.name)) != feature.name:
                yield Flaw(file, f"features[{index}].loinc", f"{code!r} is the code of {owner!r} already")


def _protected_flaws(file: Path, entry: ModelEntry, features: Mapping[str, ModelFeature]) -> Iterator[Flaw]:
    for index, name in enumerate(entry.protected):
        if name not in features:
            yield Flaw(file, f"protected[{index}]", f"is not a feature; {suggestion(name, features)}")
        elif name not in entry.constraints.immutable:
            reason = f"needs {name!r} in constraints.immutable too, so that no plan changes it"
            yield Flaw(file, f"protected[{index}]", reason)


def _policy_flaws(file: Path, entry: ModelEntry) -> Iterator[Flaw]:
    """Policies that would refuse even a request that chooses nothing."""
    own, least, policy = entry.normal_ranges, entry.policy.least_threshold, entry.policy
    if not policy.allows(own) and own is None:
        yield Flaw(file, "policy.without_registry", "must be true: the model has no registry of its own")
    elif not policy.allows(own):
        yield Flaw(file, "policy.registries", f"must include {own!r}, the model's own registry")
    if least is not None and (entry.output.threshold is None or entry.output.threshold < least):
        yield Flaw(file, "policy.least_threshold", "must not be above the model's own threshold, output.threshold")


def _favourable(output: OutputEntry) -> Favourable:
    if isinstance(output.favourable, NormalRange):
        return FavourableInterval(output.favourable.low, output.favourable.high)
    return favourable_classes(tuple(output.classes), output.favourable, output.threshold)


def favourable_classes(classes: tuple[str, ...], chosen: Sequence[str], threshold: float | None) -> FavourableClasses:
    """The favourable classes and the others, by index."""
    places = tuple(place for place, name in enumerate(classes) if name in chosen)
    others = tuple(place for place, name in enumerate(classes) if name not in chosen)
    return FavourableClasses(places, others, threshold)


def _number_flaws(file: Path, features: tuple[ModelFeature, ...], scorer: ModelScorer) -> Iterator[Flaw]:
    """What the graph's types cannot hold: fractions among whole numbers, and numbers that are too large."""
    for index, feature in enumerate(features):
        dtype = scorer.dtype_at(index)
        if dtype.kind in "ib" and feature.type == "number":
            reason = "the graph reads whole numbers, so the type must be integer"
            yield Flaw(file, f"features[{index}].type", reason)
        elif not all(map(number_type(dtype).holds, feature.written_numbers())):
            yield Flaw(file, f"features[{index}]", f"gives a number that the graph's {dtype} input cannot hold")


def _scorer(
    file: Path, entry: ModelEntry, features: tuple[ModelFeature, ...], content: bytes | None, elsewhere: str | None
) -> ModelScorer:
    output, source = entry.output, file if content is None else file.with_name("model.onnx")
    try:
        graph = _graph(file, entry, features, content, elsewhere)
        scorer = ModelScorer(graph, features, output.activation, outputs=len(output.classes) or 1)
        if flaws := [*_number_flaws(file, features, scorer)]:
            raise BrokenFiles(flaws)
        scorer.warm_up()
    except UnloadableGraph as error:
        raise BrokenFiles([Flaw(source, "", str(error))]) from None
    except UnusableGraph as error:
        raise BrokenFiles([Flaw(file, error.field, error.reason)]) from None
    except (PredictorUnavailable, UntrustedReply) as error:
        raise BrokenFiles([Flaw(file, "predictor", str(error))]) from None
    except ModelFailed as error:
        raise BrokenFiles([Flaw(source, "", f"fails on a row of zeros: {plainly(error.reason)}")]) from None
    return scorer


def _graph(
    file: Path, entry: ModelEntry, features: tuple[ModelFeature, ...], content: bytes | None, elsewhere: str | None
) -> Graph:
    if content is not None:
        return OnnxGraph(content, features, entry.output.tensor, entry.output.classes)
    assert entry.predictor is not None, "one of the two is there"
    url = entry.predictor.url or elsewhere
    if url is None:
        raise UnusableGraph("predictor.url", "is missing: give it here, or for all models in FLIPSET_PREDICTOR_URL")
    try:
        return Predictor(entry.predictor, url, file.parent, features, entry.output.tensor)
    except ModuleNotFoundError:
        raise UnusableGraph("predictor", f"needs another package: {how_to_install('predictors')}") from None
    except (OSError, ValueError) as error:
        # The files that it names: a key, certificates.
        raise UnusableGraph("predictor", f"names a file that cannot be used: {type(error).__name__}") from None
