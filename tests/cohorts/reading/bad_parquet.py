"""Bad rows of Parquet: values and types that are none of a feature's, columns that are not there, damaged files."""

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from math import inf, nan
from typing import Any

import pyarrow as pa
from pyarrow import feather, parquet

from tests.cohorts.reading.kinds import PERSON, SUBJECTS, Fate, Kind, Subject

NOT_FINITE = {"NaN": nan, "Infinity": inf, "minus-infinity": -inf}
TOO_LARGE = {"beyond-32-bits": 1e39, "minus-beyond-32-bits": -3.5e38, "all-64-bits": 1.7e308}
NO_CATEGORIES = {
    "unknown": "lends",
    "upper-case": "RENTS",
    "capital": "Rents",
    "spaces-around": " rents ",
    "part": "rent",
    "empty-text": "",
    "code": "0",
    "nul": "rents\x00",
    "very-long": "rents" * 5_000,
}
_NOON = datetime(2024, 1, 31, 12, 30, tzinfo=UTC)


def _texts(kind: pa.DataType, *, like: str = "38.5") -> pa.Array:
    return pa.array([like] * 2, pa.string()).cast(kind)


def _not_utf8() -> pa.Array:
    """A column that says it is text, and is not."""
    return pa.Array.from_buffers(pa.string(), 2, pa.array([b"\xff38", b"\xe9"], pa.binary()).buffers())


# What is neither a number nor a text nor true or false, whatever it is wanted for.
NO_VALUES: Mapping[str, pa.Array] = {
    "binary": pa.array([b"38.5"] * 2, pa.binary()),
    "large-binary": pa.array([b"38.5"] * 2, pa.large_binary()),
    "fixed-binary": pa.array([b"38.5"] * 2, pa.binary(4)),
    "date": pa.array([date(2024, 1, 31)] * 2, pa.date32()),
    "date64": pa.array([date(2024, 1, 31)] * 2, pa.date64()),
    "timestamp-s": pa.array([_NOON.replace(tzinfo=None)] * 2, pa.timestamp("s")),
    "timestamp-ms": pa.array([_NOON.replace(tzinfo=None)] * 2, pa.timestamp("ms")),
    "timestamp-us": pa.array([_NOON.replace(tzinfo=None)] * 2, pa.timestamp("us")),
    "timestamp-ns": pa.array([1_700_000_000_000_000_001] * 2, pa.timestamp("ns")),
    "timestamp-with-zone": pa.array([_NOON] * 2, pa.timestamp("us", "Europe/Berlin")),
    "timestamp-with-no-such-zone": pa.array([0] * 2, pa.timestamp("us", "Nowhere/Else")),
    "timestamp-after-all-years": pa.array([2**50] * 2, pa.timestamp("ms")),
    "date-after-all-years": pa.array([2**31 - 1] * 2, pa.date32()),
    "time": pa.array([time(12, 30)] * 2, pa.time32("ms")),
    "time-ns": pa.array([1_001] * 2, pa.time64("ns")),
    "duration": pa.array([timedelta(days=1)] * 2, pa.duration("us")),
    "duration-ns": pa.array([2**62 + 1] * 2, pa.duration("ns")),
    "list": pa.array([[38.5]] * 2, pa.list_(pa.float64())),
    "empty-list": pa.array([[]] * 2, pa.list_(pa.float64())),
    "large-list": pa.array([[38.5]] * 2, pa.large_list(pa.float64())),
    "fixed-list": pa.array([[38.5]] * 2, pa.list_(pa.float64(), 1)),
    "list-of-texts": pa.array([["38.5"]] * 2, pa.list_(pa.string())),
    "struct": pa.array([{"value": 38.5}] * 2, pa.struct([("value", pa.float64())])),
    "list-of-structs": pa.array([[{"value": 38.5}]] * 2, pa.list_(pa.struct([("value", pa.float64())]))),
    "map": pa.array([[("value", 38.5)]] * 2, pa.map_(pa.string(), pa.float64())),
    "dictionary-of-binary": pa.array([b"38.5"] * 2, pa.binary()).dictionary_encode(),
}
NO_NUMBERS: Mapping[str, pa.Array] = {
    **NO_VALUES,
    "boolean": pa.array([True, False]),
    "text": _texts(pa.string(), like="high"),
    "number-as-text": _texts(pa.string()),
    "empty-text": _texts(pa.string(), like=""),
    "large-text": _texts(pa.large_string()),
    "text-view": _texts(pa.string_view()),
    "dictionary-of-texts": _texts(pa.string()).dictionary_encode(),
}
NUMBERS: Mapping[str, pa.Array] = {
    **{
        str(kind): pa.array([38] * 2, kind)
        for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())
    },
    "half": pa.array([38.0] * 2, pa.float16()),
    "float": pa.array([38.0] * 2, pa.float32()),
    "decimal": pa.array([Decimal("38.0")] * 2, pa.decimal128(10, 2)),
    "decimal-32-bits": pa.array([Decimal("38.0")] * 2, pa.decimal32(5, 2)),
    "decimal-64-bits": pa.array([Decimal("38.0")] * 2, pa.decimal64(10, 2)),
    "decimal-256-bits": pa.array([Decimal("38.0")] * 2, pa.decimal256(60, 2)),
    "dictionary-of-numbers": pa.array([38.0] * 2).dictionary_encode(),
}
TOO_LARGE_DECIMALS = {"large-decimal": pa.array([Decimal(10) ** 60] * 2, pa.decimal256(70, 0))}
NAMES: Mapping[str, pa.Array] = {
    "large-text": _texts(pa.large_string(), like="owns"),
    "text-view": _texts(pa.string_view(), like="owns"),
    "dictionary": _texts(pa.string(), like="owns").dictionary_encode(),
    "dictionary-of-large-texts": _texts(pa.large_string(), like="owns").dictionary_encode(),
}
GROUP, GROUPS = 4, 3


def bad_parquet() -> Iterator[Kind]:
    for subject in SUBJECTS:
        yield from _values(subject)
        yield from _types(subject)
        yield from _context(subject)
        yield from _columns(subject)
        yield from _damaged_pages(subject)
        yield from _cut(subject)
        yield from _other_files(subject)


def _values(subject: Subject) -> Iterator[Kind]:
    for name in (*subject.numbers, *subject.wholes):
        yield from _each(subject, name, NOT_FINITE, name, "finite")
        yield from _each(subject, name, TOO_LARGE, name, "too large")
    for name in subject.wholes:
        yield from _each(subject, name, {"fraction": 2.5, "small-fraction": 1e-3}, name, "whole")
        yield from _each(subject, name, {"null": None, "missing-code": -9.0}, fate=Fate.ACCEPTED)
    for name in (*subject.numbers, *subject.categories):
        yield from _each(subject, name, {"null": None}, name, "missing")
    for name in subject.categories:
        yield from _each(subject, name, NO_CATEGORIES, name, "one of")
    yield from _each(subject, PERSON, {"null": None, "empty-text": ""}, fate=Fate.ACCEPTED)


def _each(
    subject: Subject, name: str, mistakes: Mapping[str, Any], *mentions: str, fate: Fate = Fate.REJECTED
) -> Iterator[Kind]:
    """A value that its column can hold, between two good ones."""
    for mistake, value in mistakes.items():
        good = float(subject.row[name]) if name in (*subject.numbers, *subject.wholes) else subject.row.get(name, "a")
        table = _with(subject, name, pa.array([good, value, good]))
        yield _kind(subject, f"{name}-{mistake}", _written(table), 3, (2,), *mentions, fate=fate)


def _types(subject: Subject) -> Iterator[Kind]:
    for name in (*subject.numbers, *subject.wholes):
        yield from _typed(subject, name, NO_NUMBERS, name, "number")
        yield from _typed(subject, name, {"not-utf8": _not_utf8()}, name)
        yield from _typed(subject, name, TOO_LARGE_DECIMALS, name, "too large")
        yield from _typed(subject, name, NUMBERS, fate=Fate.ACCEPTED)
    for name in subject.categories:
        yield from _typed(subject, name, {**NO_VALUES, **NUMBERS, "boolean": NO_NUMBERS["boolean"]}, name)
        yield from _typed(subject, name, {"not-utf8": _not_utf8()}, name)
        yield from _typed(subject, name, NAMES, fate=Fate.ACCEPTED)
    for name in (*subject.numbers, *subject.categories):
        yield from _typed(subject, name, {"nothing": pa.nulls(2)}, name, "missing")
    for name in subject.wholes:
        yield from _typed(subject, name, {"nothing": pa.nulls(2)}, fate=Fate.ACCEPTED)
    for mistake, array in {**NO_VALUES, "not-utf8": _not_utf8()}.items():
        yield from _typed(subject, PERSON, {mistake: array}, fate=Fate.COUNTED)
    yield from _typed(subject, PERSON, {**NUMBERS, "nothing": pa.nulls(2)}, fate=Fate.ACCEPTED)


def _typed(
    subject: Subject, name: str, mistakes: Mapping[str, pa.Array], *mentions: str, fate: Fate = Fate.REJECTED
) -> Iterator[Kind]:
    """A type is wrong in every row."""
    for mistake, array in mistakes.items():
        content = _written(_with(subject, name, array))
        yield _kind(subject, f"{name}-as-{mistake}", content, 2, (1, 2), *mentions, fate=fate)


def _context(subject: Subject) -> Iterator[Kind]:
    if "age" not in subject.context:
        return
    yield from _each(subject, "age", NOT_FINITE, "age")
    yield from _each(subject, "age", {"null": None, "negative": -1.0}, fate=Fate.ACCEPTED)
    yield from _each(subject, "sex", {"null": None, "unknown": "x", "empty-text": ""}, fate=Fate.ACCEPTED)
    yield from _typed(subject, "age", {**NO_NUMBERS, "not-utf8": _not_utf8()}, "age")
    yield from _typed(subject, "sex", {**NO_VALUES, "not-utf8": _not_utf8()}, "sex")
    yield from _typed(subject, "age", {**NUMBERS, "nothing": pa.nulls(2)}, fate=Fate.ACCEPTED)
    yield from _typed(subject, "sex", {**NAMES, **NUMBERS, "nothing": pa.nulls(2)}, fate=Fate.ACCEPTED)


def _columns(subject: Subject) -> Iterator[Kind]:
    table = _people(subject, 2)
    for name in subject.features:
        absent = table.drop_columns([name])
        yield _kind(subject, f"{name}-column-absent", _written(absent), 2, (1, 2), name, "missing")
        renamed = [name.swapcase() if each == name else each for each in table.column_names]
        content = _written(table.rename_columns(renamed))
        yield _kind(subject, f"{name}-column-case", content, 2, (1, 2), name, "missing")
        twice = table.append_column(name, table[name])
        yield _kind(subject, f"{name}-column-twice", _written(twice), 2, (1, 2), name)
    for name in subject.context:
        content = _written(table.drop_columns([name]))
        yield _kind(subject, f"{name}-column-absent", content, 2, (1, 2), fate=Fate.ACCEPTED)
    only = table.select([PERSON])
    yield _kind(subject, "only-persons", _written(only), 2, (1, 2), subject.numbers[0], "missing")
    inside = pa.table({"instance": pa.array(table.to_pylist())})
    yield _kind(subject, "instance-inside", _written(inside), 2, (1, 2), subject.numbers[0], "missing")
    wide = table.append_column("other", pa.array([[1]] * 2))
    yield _kind(subject, "other-column", _written(wide), 2, (), fate=Fate.ACCEPTED)


def _damaged_pages(subject: Subject) -> Iterator[Kind]:
    """Three groups of rows, the second of which has a page that cannot be read."""
    table = _people(subject, GROUP * GROUPS)
    spoilt = tuple(range(GROUP + 1, 2 * GROUP + 1))
    for compression in ("none", "snappy", "gzip", "zstd"):
        content = _written(table, row_group_size=GROUP, compression=compression, use_dictionary=False)
        group = parquet.ParquetFile(pa.BufferReader(content)).metadata.row_group(1)
        for place, name in enumerate(table.column_names):
            start, size = group.column(place).data_page_offset, group.column(place).total_compressed_size
            damages = {"header": (start, 8, b"\xff"), "all": (start, size, b"\x00")}
            if compression == "gzip":
                # The others have no check sum: what is damaged there may be read as something else.
                damages["body"] = (start + size - 8, 8, b"\xff")
            for damage, (first, length, byte) in damages.items():
                bad = content[:first] + byte * length + content[first + length :]
                title = f"{name}-page-{damage}-{compression}"
                yield _kind(subject, title, bad, GROUP * GROUPS, spoilt, "damaged")


def _cut(subject: Subject) -> Iterator[Kind]:
    content = _written(_people(subject, 20), row_group_size=GROUP)
    cuts = {f"{share}-of-20": len(content) * share // 20 for share in range(20)}
    cuts |= {f"all-but-{count}": len(content) - count for count in (1, 4, 5, 8, 9, 100)}
    cuts |= {f"first-{count}": count for count in (1, 3, 4, 8, 12)}
    for where, length in cuts.items():
        yield _kind(subject, f"cut-{where}", content[:length], None, (), "Parquet")
    footer = int.from_bytes(content[-8:-4], "little")
    start = len(content) - 8 - footer
    for damage, bad in {
        "footer-of-nothing": content[:-8] + bytes(4) + b"PAR1",
        "footer-longer-than-the-file": content[:-8] + b"\xff\xff\xff\x7f" + b"PAR1",
        "footer-of-noughts": content[:start] + bytes(footer) + content[-8:],
        "footer-of-ones": content[:start] + b"\xff" * footer + content[-8:],
        "other-end": content[:-4] + b"PAR2",
        "encrypted-end": content[:-4] + b"PARE",
        "text-behind": content + b"\n",
    }.items():
        yield _kind(subject, damage, bad, None, (), "Parquet")


def _other_files(subject: Subject) -> Iterator[Kind]:
    """A name that ends in parquet makes no Parquet file."""
    sink = pa.BufferOutputStream()
    feather.write_feather(_people(subject, 2), sink)
    for what, content in {
        "csv": b"person,ALB\na,38.5\n",
        "json": b'{"ALB": 38.5}\n',
        "feather": sink.getvalue().to_pybytes(),
        "gzip": b"\x1f\x8b\x08" + bytes(30),
        "magic-alone": b"PAR1PAR1",
        "noughts": bytes(1_000),
        "web-page": b"<!doctype html><title>404</title>",
    }.items():
        yield _kind(subject, f"in-fact-{what}", content, None, (), "Parquet")
    yield _kind(subject, "no-rows", _written(_people(subject, 2).slice(0, 0)), 0, (), fate=Fate.ACCEPTED)


def _people(subject: Subject, count: int) -> pa.Table:
    people = pa.Table.from_pylist(subject.people(count))
    numbers = {name: people[name].cast(pa.float64()) for name in (*subject.numbers, *subject.wholes)}
    return pa.table({name: numbers.get(name, people[name]) for name in people.column_names})


def _with(subject: Subject, name: str, column: pa.Array) -> pa.Table:
    people = _people(subject, len(column))
    return people.set_column(people.column_names.index(name), name, column)


def _written(table: pa.Table, **options: Any) -> bytes:
    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink, **options)
    return sink.getvalue().to_pybytes()


def _kind(
    subject: Subject,
    mistake: str,
    content: bytes,
    rows: int | None,
    places: tuple[int, ...],
    *mentions: str,
    fate: Fate = Fate.REJECTED,
) -> Kind:
    name = f"{subject.model}-parquet-{mistake}"
    return Kind(name, subject.model, "parquet", content, rows, places, (), fate, mentions)
