"""A `model.toml` with comments that say what was guessed and what to look at."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.adapters.files.numbers import number_text
from app.adapters.files.toml_files import comment, quoted
from app.core.ranges import NormalRange
from app.onboarding.drafting.features import Drafted
from app.onboarding.drafting.outputs import Output


@dataclass(frozen=True, slots=True)
class Description:
    """All that a description says."""

    name: str
    sha256: str
    output: Output
    interval: NormalRange | None
    threshold: float | None
    features: Sequence[Drafted]
    how: str
    outside: str
    # What the table was, in words, and its digest.
    table: str
    table_sha256: str
    day: str


def model_toml(said: Description) -> str:
    lines = [
        f"# Drafted by flipset init from {said.table}. Read it once: what was guessed says so.",
        f"# The columns were matched {said.how}.",
        "",
        f"title = {quoted(said.name)}   # what people should read",
        'version = "1.0.0"',
        f"sha256 = {quoted(said.sha256)}",
        f"normal_ranges = {quoted(said.name)}",
        "",
        *_output(said),
        "",
        "# In the order of the graph's columns. Give titles and units: answers speak in them. A unit must also be in",
        f"# normal_ranges/{said.name}.toml, letter by letter.",
        *(line for drafted in said.features for line in _feature(drafted, said.outside)),
        "[training]",
        f"drafted = {quoted(said.day)}",
        f"table_sha256 = {quoted(said.table_sha256)}",
    ]
    return "\n".join(lines) + "\n"


def _output(said: Description) -> Iterator[str]:
    output = said.output
    yield from map(comment, output.notes)
    yield "[output]"
    yield f"tensor = {quoted(output.tensor)}"
    if output.classes is None:
        assert said.interval is not None
        side, end = ("low", said.interval.low) if said.interval.low is not None else ("high", said.interval.high)
        yield 'kind = "regression"'
        yield f"favourable = {{ {side} = {number_text(end or 0.0)} }}"
        return
    yield 'kind = "classification"'
    guessed = "" if output.activation == "none" else "   # guessed: the graph gives raw scores"
    yield f"activation = {quoted(output.activation)}{guessed}"
    yield f"classes = {_list(output.classes)}   # in the order of the scores"
    yield f"favourable = {_list([name for name in output.classes if name in output.favourable])}"
    if said.threshold is None:
        yield "# threshold = 0.7   # without it the favourable class must win"
    else:
        yield f"threshold = {number_text(said.threshold)}"


def _feature(drafted: Drafted, outside: str) -> Iterator[str]:
    feature = drafted.feature
    yield from map(comment, drafted.notes)
    yield "[[features]]"
    yield f"name = {quoted(feature.name)}"
    yield f"type = {quoted(feature.type)}"
    if feature.categories:
        yield f"categories = {_list(feature.categories)}"
    if feature.codes:
        yield f"codes = {_list(feature.codes)}"
    yield from (f"{key} = true" for key in ("one_hot", "drop_first", "takes_missing") if getattr(feature, key))
    if feature.missing is not None:
        yield f"missing = {quoted(feature.missing)}"
    if feature.missing_codes:
        yield f"missing_codes = {_list(feature.missing_codes)}"
    if feature.bounds is not None and feature.bounds.low is not None and feature.bounds.high is not None:
        ends = f"low = {number_text(feature.bounds.low)}, high = {number_text(feature.bounds.high)}"
        yield f'bounds = {{ {ends}, outside = "{outside}" }}   # guessed: plausible values'
    yield ""


def _list(values: Sequence[str | float]) -> str:
    return f"[{', '.join(quoted(value) if isinstance(value, str) else number_text(value) for value in values)}]"
