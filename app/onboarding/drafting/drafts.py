"""A whole model drafted from a graph and a table: description, registry and examples, checked as the service would."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from app.adapters.catalog import catalog_of
from app.adapters.files.flaws import BrokenFiles
from app.adapters.files.names import listed
from app.adapters.files.snapshots import Snapshot
from app.adapters.graphs.feeds import SCORES
from app.adapters.graphs.inspecting import Graph
from app.adapters.graphs.onnx import UnloadableGraph
from app.answering.service import Service
from app.core.favourable import Bools, Floats
from app.onboarding.drafting.doubts import doubts_about
from app.onboarding.drafting.examples import Examples
from app.onboarding.drafting.features import Drafted, draft, graph_rows, with_missing
from app.onboarding.drafting.matching import Matching, arrangements, match
from app.onboarding.drafting.model_toml import Description, model_toml
from app.onboarding.drafting.outputs import Probe, fit, read_output
from app.onboarding.drafting.registry_toml import registry_toml
from app.onboarding.failures import Unfit
from app.onboarding.ranges import Wanted, learn_ranges, today
from app.onboarding.reading.outcomes import Outcomes
from app.onboarding.reading.table import Table
from app.settings import Settings

# People who are scored to see what the scores mean.
MOST_SCORED = 20_000
# Where in its own sources ONNX Runtime found a mistake.
ORIGIN = re.compile(r"\S*/onnxruntime_src/.*\) (?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for: a name, a graph, and the options that a table does not answer."""

    name: str
    graph: Path
    context: Sequence[str]
    features: Sequence[str]
    tensor: str | None
    threshold: float | None
    outside: str


@dataclass(frozen=True, slots=True)
class Draft:
    """The files of a model and its registry, a service that has loaded them, and what to tell."""

    files: Mapping[str, bytes]
    registry: str
    service: Service
    examples: Mapping[str, dict[str, Any]]
    # The example that somebody would want to see answered.
    shown: str
    how: str
    notes: Sequence[str]


def draft_model(settings: Settings, asked: Request, table: Table, outcomes: Outcomes, wanted: Wanted) -> Draft:
    """Everything that a served model needs; `Unfit` if the graph and the table do not go together."""
    if outcomes.interval is not None and asked.threshold is not None:
        raise Unfit("--threshold is for classes: the favourable number is the limit of a regression")
    content, graph = _opened(asked.graph)
    keys = {text.partition(":")[0] for text in wanted.by}
    assert outcomes.column is not None
    left_out = {outcomes.column.name, *(table.column(name, "--context").name for name in asked.context)}
    matching = match(graph.inputs, table, left_out, keys, asked.features)
    if any(matched.column is outcomes.column for matched in matching.features):
        raise Unfit(f"--outcome {outcomes.column.name}: the graph reads it; a model must not know the outcome")
    arranged = [matching] if asked.features else arrangements(matching)
    tried = [_tried(each, content, graph, asked.tensor, outcomes) for each in arranged]
    chosen = max(tried, key=lambda each: each.fit)
    features = chosen.features
    output = read_output(chosen.probe, chosen.raw, outcomes, chosen.usable)
    how = _how(chosen, tried)
    doubts = [*output.doubts, *doubts_about(matching, features, outcomes, chosen.usable)]
    description = Description(
        name=asked.name,
        sha256=graph.sha256,
        output=output,
        interval=outcomes.interval,
        threshold=asked.threshold,
        features=features,
        how=how,
        outside=asked.outside,
        table=f"a table of {table.rows:,} rows",
        table_sha256=table.digest,
        day=today(),
    )
    columns = {drafted.feature.name: drafted.column for drafted in features}
    learned = learn_ranges(asked.name, table, columns, outcomes, wanted)
    registry = registry_toml(learned)
    texts = {"model.onnx": content, "model.toml": model_toml(description).encode()}
    service = _service(settings, asked.name, texts, registry)
    bodies = Examples(service, asked.name, features, outcomes, table, learned.keys - columns.keys())
    examples, shown = bodies.found()
    files = {**texts, **{f"examples/{name}.json": _json(body) for name, body in examples.items()}}
    return Draft(files, registry, service, examples, shown, how, [*doubts, *bodies.notes])


@dataclass(frozen=True, slots=True)
class _Tried:
    """People scored in one order of the columns, and how well the scores fit their outcomes."""

    matching: Matching
    features: list[Drafted]
    probe: Probe
    usable: Bools
    raw: Floats
    fit: float


def _tried(matching: Matching, content: bytes, graph: Graph, tensor: str | None, outcomes: Outcomes) -> _Tried:
    features = _features(matching, content, graph, tensor)
    probe = Probe(content, graph, [drafted.feature for drafted in features], tensor)
    usable = _usable(features) & (outcomes.accepted | outcomes.refused)
    raw = _scores(probe, features, usable)
    return _Tried(matching, features, probe, usable, raw, fit(raw, outcomes.accepted[usable]))


def _how(chosen: _Tried, tried: Sequence[_Tried]) -> str:
    """What the columns were matched by, and how well that fits."""
    told = f"{chosen.matching.how}; so the scores fit the outcomes with an AUC of {chosen.fit:.2f}"
    others = [f"{each.fit:.2f}" for each in tried if each is not chosen]
    return f"{told}, in other orders {listed(others)}" if others else told


def _opened(file: Path) -> tuple[bytes, Graph]:
    try:
        graph = Graph(file)
        content = file.read_bytes()
    except OSError as error:
        raise Unfit(f"{file}: {error.strerror}") from None
    except UnloadableGraph as error:
        told = ORIGIN.sub("", " ".join(str(error).split()))
        raise Unfit(f"{file}: {told}") from None
    if graph.why_unusable:
        raise Unfit(f"{file}: cannot be served: {graph.why_unusable}")
    return content, graph


def _features(matching: Matching, content: bytes, graph: Graph, tensor: str | None) -> list[Drafted]:
    """The features; those with missing values say whether the graph takes that."""
    drafted = [draft(matched) for matched in matching.features]
    names = [each.feature.name for each in drafted]
    if twice := [name for name in names if names.count(name) > 1]:
        raise Unfit(f"--features names {twice[0]} twice")
    typical = np.array([_typical(each) for each in drafted])
    found = []
    for place, (each, matched) in enumerate(zip(drafted, matching.features, strict=True)):
        if not each.column.missing_count:
            found.append(each)
            continue
        can = matched.type in SCORES and not each.feature.one_hot
        found.append(with_missing(each, can and _takes_missing(drafted, place, typical, (content, graph, tensor))))
    return found


def _typical(drafted: Drafted) -> float:
    values = drafted.values()
    known = values[~np.isnan(values)]
    if not len(known):
        raise Unfit(f"{drafted.feature.name}: nobody who was kept has a value")
    return float(np.quantile(known, 0.5, method="nearest"))


def _takes_missing(
    drafted: Sequence[Drafted], place: int, typical: Floats, graph: tuple[bytes, Graph, str | None]
) -> bool:
    """Whether the graph gives a score for somebody typical who lacks one value."""
    features = [each.feature for each in drafted]
    features[place] = replace(features[place], takes_missing=True)
    content, inspected, tensor = graph
    person = typical.copy()
    person[place] = np.nan
    try:
        scores = Probe(content, inspected, features, tensor).scores(graph_rows(features, person[None, :]))
    except Unfit:
        return False
    return bool(np.isfinite(scores).all())


def _usable(features: Sequence[Drafted]) -> Bools:
    """The people who have a value wherever the graph needs one."""
    needed = [~np.isnan(each.values()) for each in features if not each.feature.may_be_missing]
    usable = np.logical_and.reduce(needed) if needed else np.ones(len(features[0].values()), dtype=np.bool_)
    places = np.flatnonzero(usable)
    if not len(places):
        raise Unfit("nobody in the table has a value in every column that the graph needs")
    kept = np.zeros(len(usable), dtype=np.bool_)
    kept[places[:: max(1, len(places) // MOST_SCORED)]] = True
    return kept


def _scores(probe: Probe, features: Sequence[Drafted], usable: Bools) -> Floats:
    if not usable.any():
        raise Unfit("nobody in the table has both an outcome and a value in every column that the graph needs")
    values = np.column_stack([each.values()[usable] for each in features])
    raw = probe.scores(graph_rows([each.feature for each in features], values))
    if lost := int((~np.isfinite(raw).all(axis=1)).sum()):
        raise Unfit(
            f"the graph gives no number as the score of {lost:,} of {len(raw):,} people: are these its columns?"
        )
    return raw


def _service(settings: Settings, name: str, files: Mapping[str, bytes], registry: str) -> Service:
    """Load the files as the service would, from memory."""
    folder, ranges = settings.models_dir / name, settings.normal_ranges_dir / f"{name}.toml"
    contents = {folder / file: content for file, content in files.items()} | {ranges: registry.encode()}
    snapshot = Snapshot(settings.models_dir, settings.normal_ranges_dir, contents, {}, (folder,), (ranges,))
    try:
        return Service(settings, catalog_of(snapshot))
    except BrokenFiles as error:
        raise Unfit(f"no model can be made of these: {str(error).splitlines()[0]}") from None


def _json(body: Mapping[str, Any]) -> bytes:
    return (json.dumps(body, ensure_ascii=False, indent=2) + "\n").encode()
