"""Which column of a table goes into which column of a graph: by name, in order, by kind. Misfits are not guessed."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from app.adapters.files.names import counted, listed
from app.adapters.graphs.feeds import TEXT, Offer
from app.onboarding.failures import Unfit
from app.onboarding.reading.columns import Column
from app.onboarding.reading.table import Table

# How pandas calls the numbers of its rows: in Parquet, and in a CSV file that it has read and written again.
INDEX = re.compile(r"__index_level_\d+__|Unnamed: \d+")


class How(StrEnum):
    """What columns were matched by."""

    NAME = "by their names"
    ORDER = "in the order of the table"
    KIND = "by their kinds: texts to texts, numbers to numbers, each in the order of the table"
    ONE_HOT = "in the order of the table, each category as one column for each of its values"
    ONE_HOT_LAST = (
        "with the numbers first, then each category as one column for each of its values, as get_dummies writes it"
    )
    ONE_HOT_FIRST = "with each category first, as one column for each of its values, then the numbers"


@dataclass(frozen=True, slots=True)
class Matched:
    """A column of the table, the type that the graph reads it in, and whether it is one-hot there."""

    column: Column
    type: str
    one_hot: bool = False
    drop_first: bool = False


@dataclass(frozen=True, slots=True)
class Matching:
    """The features in the graph's order, and what they were matched by."""

    features: tuple[Matched, ...]
    how: How
    # Columns that nobody called anything else, and that were taken for no features all the same.
    passed_over: tuple[str, ...] = ()


def match(
    inputs: Sequence[Offer], table: Table, left_out: set[str], groups: set[str], asked: Sequence[str]
) -> Matching:
    """Match the columns of a table to the inputs of a graph, or `Unfit`.

    `left_out` are no features: the outcome and the context. `groups` are columns that sort people, and may be features.
    """
    if any(len(offer.shape) not in (1, 2) for offer in inputs):
        raise Unfit(f"the graph's inputs must be tables of rows and columns; it reads {_described(inputs)}")
    if not asked and (named := _by_name(inputs, table)):
        return Matching(named, How.NAME)
    for columns in _candidates(table, left_out, groups, asked):
        if found := _fitting(inputs, columns):
            taken = {*left_out, *(column.name for column in columns)}
            passed_over = () if asked else tuple(name for name in table.columns if name not in taken)
            return replace(found, passed_over=passed_over)
    raise Unfit(_misfit(inputs, table, left_out, asked))


def arrangements(matching: Matching) -> list[Matching]:
    """The orders in which encoders write one-hot columns, the likeliest first; for any other matching only itself."""
    if matching.how is not How.ONE_HOT:
        return [matching]
    found = [matching]
    for how in (How.ONE_HOT_LAST, How.ONE_HOT_FIRST):
        is_last = how is How.ONE_HOT_LAST
        features = tuple(sorted(matching.features, key=lambda each: each.one_hot == is_last))
        if all(_names(features) != _names(other.features) for other in found):
            found.append(replace(matching, features=features, how=how))
    return found


def _names(features: Sequence[Matched]) -> list[str]:
    return [each.column.name for each in features]


def _by_name(inputs: Sequence[Offer], table: Table) -> tuple[Matched, ...] | None:
    """Every input has a column of its name, give or take capitals and signs."""
    columns = {_plain(name): column for name, column in table.columns.items()}
    found = [columns.get(_plain(offer.name)) for offer in inputs]
    if len(inputs) < 2 or len(columns) < len(table.columns) or any(column is None for column in found):
        return None
    if any(_width(offer) not in (1, None) for offer in inputs):
        return None
    return tuple(Matched(column, offer.type) for column, offer in zip(found, inputs, strict=True) if column is not None)


def _plain(name: str) -> str:
    return re.sub("[^a-z0-9]+", "_", name.casefold())


def _candidates(table: Table, left_out: set[str], groups: set[str], asked: Sequence[str]) -> Iterator[list[Column]]:
    """The columns that may be features, the likeliest choice first."""
    if asked:
        yield [table.column(name, "--features") for name in asked]
        return
    columns = [column for name, column in table.columns.items() if name not in left_out and not INDEX.fullmatch(name)]
    filled = [column for column in columns if column.number_count or column.word_count]
    plain = [column for column in filled if not column.is_counter and not column.is_free_text]
    yield from (plain, [column for column in plain if column.name not in groups], filled)


def _fitting(inputs: Sequence[Offer], columns: Sequence[Column]) -> Matching | None:
    types = _types(inputs, len(columns))
    if types is not None and len(types) == len(columns):
        if all(_suits(kind, column) for kind, column in zip(types, columns, strict=True)):
            return Matching(tuple(map(Matched, columns, types)), How.ORDER)
        if by_kind := _by_kind(types, columns):
            return Matching(by_kind, How.KIND)
    if types is not None and len(inputs) == 1 and inputs[0].type != TEXT:
        return _one_hot(columns, inputs[0])
    return None


def _types(inputs: Sequence[Offer], count: int) -> list[str] | None:
    """The type of each column of the graph; None where it does not say how many it has."""
    widths = [_width(offer) for offer in inputs]
    if len(inputs) == 1 and widths[0] is None:
        return [inputs[0].type] * count
    if None in widths:
        return None
    return [offer.type for offer, width in zip(inputs, widths, strict=True) for _ in range(width or 0)]


def _width(offer: Offer) -> int | None:
    return offer.shape[1] if len(offer.shape) == 2 else 1


def _suits(kind: str, column: Column) -> bool:
    """A graph that reads numbers may read codes of words; one that reads texts reads no fractions."""
    return column.is_text or column.is_number if kind != TEXT else column.is_text


def _by_kind(types: Sequence[str], columns: Sequence[Column]) -> tuple[Matched, ...] | None:
    texts, numbers = ([column for column in columns if column.is_text is is_text] for is_text in (True, False))
    if len(texts) != sum(kind == TEXT for kind in types) or not all(column.is_number for column in numbers):
        return None
    queues = {True: iter(texts), False: iter(numbers)}
    return tuple(Matched(next(queues[kind == TEXT]), kind) for kind in types)


def _one_hot(columns: Sequence[Column], offer: Offer) -> Matching | None:
    """One column for each value of each category, or for all but the first."""
    for drop_first in (False, True):
        width = sum(len(column.words) - drop_first if column.is_text else 1 for column in columns)
        if width == _width(offer) and all(column.is_text or column.is_number for column in columns):
            found = [Matched(column, offer.type, column.is_text, column.is_text and drop_first) for column in columns]
            return Matching(tuple(found), How.ONE_HOT)
    return None


def _misfit(inputs: Sequence[Offer], table: Table, left_out: set[str], asked: Sequence[str]) -> str:
    names = list(asked) or [name for name in table.columns if name not in left_out]
    columns = [table.columns[name] for name in names]
    mixed = [column for column in columns if column.unit or (column.number_count and column.word_count)]
    if mixed:
        return f"{mixed[0].name}: {mixed[0].not_numbers}; clean the column, or name the features with --features"
    widths = [_width(offer) for offer in inputs]
    reads = "an unknown number of columns" if None in widths else counted(sum(width or 0 for width in widths), "column")
    return (
        f"the graph reads {reads} ({_described(inputs)}), and the table has {len(names)}: {listed(names)}; "
        "name the features in the graph's order with --features"
    )


def _described(inputs: Sequence[Offer]) -> str:
    shown = [f"{offer.name} {offer.type}" for offer in inputs]
    return listed(shown)
