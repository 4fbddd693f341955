"""The values of a chunk: as arrays, and one by one as they would be in JSON."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from app.adapters.graphs.features import as_sent
from app.asking.parsing import parse_json
from app.asking.refusals import MalformedJson
from app.cohorts.reading.chunks import LINE, CellFormat, Chunk
from app.core.favourable import Bools

# A number in a text file. Python would also accept nan and 1_000.
NUMBER = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?"
IS_NUMBER = re.compile(NUMBER)
# Truth values of facts in a text file.
TRUTHS = {"true": True, "false": False}
# JSON can write half a character, which no UTF-8 can carry.
HALVES = re.compile("[\ud800-\udfff]")


class Cells(Protocol):
    """One column of a chunk."""

    def numbers(self) -> tuple[NDArray[np.float64], Bools]:
        """The values as numbers, and which of them are numbers; the others are undefined."""
        ...

    def texts(self) -> tuple[pa.Array, Bools]:
        """The same for texts."""
        ...

    def truths(self) -> tuple[Bools, Bools]:
        """The same for true and false."""
        ...

    def nulls(self) -> Bools:
        """Which values are empty."""
        ...

    def value(self, row: int) -> Any:
        """One value, as it would be in the instance of a request."""
        ...

    def fact(self, row: int) -> Any:
        """The same in the context."""
        ...

    def carried(self, kind: pa.DataType) -> pa.Array:
        """All values in this type; null if a value does not fit it."""
        ...


# Values that JSON cannot hold: rows with them are rejected.
NO_VALUE = object()


def _as_json(scalar: pa.Scalar) -> Any:
    try:
        value = scalar.as_py()
    except (pa.ArrowException, ValueError, OverflowError, KeyError):
        # A date beyond all calendars, a zone that nobody knows, text that is none.
        return NO_VALUE
    return float(value) if isinstance(value, Decimal) else value


def _as_kind(scalar: pa.Scalar, kind: pa.DataType) -> Any:
    try:
        return scalar.cast(kind).as_py()
    except (pa.ArrowException, ValueError, OverflowError, KeyError):
        return None


def typed_cells(column: pa.ChunkedArray) -> "Cells":
    """A column of Parquet; read value by value if some values do not fit the column's type."""
    try:
        column.validate(full=True)
    except pa.ArrowException:
        return JsonCells([_as_json(scalar) for scalar in column])
    return TypedCells(column)


class TypedCells:
    """A column of Parquet."""

    def __init__(self, column: pa.ChunkedArray) -> None:
        array = column.combine_chunks()
        array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
        self._array = array.dictionary_decode() if pa.types.is_dictionary(array.type) else array

    def numbers(self) -> tuple[NDArray[np.float64], Bools]:
        kind = self._array.type
        if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind)):
            return np.full(len(self._array), np.nan), _nowhere(self._array)
        # By their digits: Arrow's conversion of decimals to floats is sometimes off by a bit.
        numbers = self._array.cast(pa.string()) if pa.types.is_decimal(kind) else self._array
        return _filled(numbers.cast(pa.float64(), safe=False)), ~self.nulls()

    def texts(self) -> tuple[pa.Array, Bools]:
        kind = self._array.type
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)):
            return pa.nulls(len(self._array), pa.string()), _nowhere(self._array)
        return self._array.cast(pa.string()), ~self.nulls()

    def truths(self) -> tuple[Bools, Bools]:
        if not pa.types.is_boolean(self._array.type):
            return _nowhere(self._array), _nowhere(self._array)
        return _truths(self._array.fill_null(False)), ~self.nulls()

    def nulls(self) -> Bools:
        return _truths(self._array.is_null())

    def value(self, row: int) -> Any:
        return _as_json(self._array[row])

    fact = value

    def carried(self, kind: pa.DataType) -> pa.Array:
        try:
            return self._array.cast(kind)
        except pa.ArrowException:
            return pa.array([_as_kind(scalar, kind) for scalar in self._array], kind)


class TextCells:
    """A column of a CSV file: null if a field is empty, a number if it looks like one.

    `words` are never numbers: the name of a category may look like one.
    """

    def __init__(self, column: pa.ChunkedArray, words: frozenset[str] = frozenset()) -> None:
        self._array = pc.utf8_trim_whitespace(column.combine_chunks())
        self._words = words

    def numbers(self) -> tuple[NDArray[np.float64], Bools]:
        like_numbers = pc.match_substring_regex(self._array, f"^{NUMBER}$")
        if self._words:
            meant = pc.is_in(self._array, value_set=pa.array(sorted(self._words), pa.string()))
            like_numbers = pc.and_not(like_numbers, meant)
        cast = pc.if_else(like_numbers, self._array, pa.scalar(None, pa.string())).cast(pa.float64())
        return _filled(cast), _truths(like_numbers)

    def texts(self) -> tuple[pa.Array, Bools]:
        return self._array, ~self.nulls()

    def truths(self) -> tuple[Bools, Bools]:
        true, false = (_truths(pc.equal(self._array, word)) for word in TRUTHS)
        return true, true | false

    def nulls(self) -> Bools:
        return _truths(pc.equal(self._array, ""))

    def value(self, row: int) -> Any:
        text = self._array[row].as_py()
        if IS_NUMBER.fullmatch(text) and text not in self._words:
            return float(text)
        return text or None

    def fact(self, row: int) -> Any:
        value = self.value(row)
        return TRUTHS.get(value, value) if isinstance(value, str) else value

    def carried(self, kind: pa.DataType) -> pa.Array:
        return pc.if_else(pc.equal(self._array, ""), pa.scalar(None, pa.string()), self._array)


class JsonCells:
    """A key of JSON lines."""

    def __init__(self, values: list[Any]) -> None:
        self._values = values

    def numbers(self) -> tuple[NDArray[np.float64], Bools]:
        are = np.fromiter((type(each) is not bool and isinstance(each, int | float) for each in self._values), np.bool_)
        values = [_as_float(each) if is_number else np.nan for each, is_number in zip(self._values, are, strict=True)]
        return np.array(values, dtype=np.float64), are

    def texts(self) -> tuple[pa.Array, Bools]:
        texts = [each if isinstance(each, str) and not HALVES.search(each) else None for each in self._values]
        return pa.array(texts, pa.string()), np.fromiter((text is not None for text in texts), np.bool_)

    def truths(self) -> tuple[Bools, Bools]:
        are = np.fromiter((type(each) is bool for each in self._values), np.bool_)
        return np.fromiter((each is True for each in self._values), np.bool_), are

    def nulls(self) -> Bools:
        return np.fromiter((each is None for each in self._values), np.bool_)

    def value(self, row: int) -> Any:
        return self._values[row]

    fact = value

    def carried(self, kind: pa.DataType) -> pa.Array:
        return pa.array([_written(each) for each in self._values], pa.string())


def _written(value: Any) -> str | None:
    """A JSON value as text; None for a list or an object."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    return as_sent(value) if isinstance(value, int | float) else None


def _as_float(number: float) -> float:
    """A whole number of JSON may be longer than any float."""
    try:
        return float(number)
    except OverflowError:
        return np.inf


def _filled(array: pa.Array) -> NDArray[np.float64]:
    return np.asarray(array.fill_null(np.nan).to_numpy(zero_copy_only=False))


def _truths(array: pa.Array) -> Bools:
    return np.asarray(array.to_numpy(zero_copy_only=False), dtype=np.bool_)


def _nowhere(array: pa.Array) -> Bools:
    return np.zeros(len(array), dtype=np.bool_)


@dataclass(frozen=True, slots=True)
class Rows:
    """The cells of a chunk by column, and why some rows cannot be read. A missing column has no cells."""

    count: int
    cells: Mapping[str, Cells]
    flaws: Mapping[int, str]
    # Keys that a line of JSON does not have; by row.
    absent: Mapping[int, frozenset[str]]


def rows_of(chunk: Chunk, wanted: Sequence[str], words: Mapping[str, frozenset[str]] | None = None) -> Rows:
    """Split a chunk into columns. `words` are, by column of a text file, the texts that are never numbers."""
    if chunk.form is CellFormat.JSON:
        return _json_rows(chunk, wanted)
    columns = {name: chunk.table[name] for name in wanted if name in chunk.table.column_names}
    if chunk.form is CellFormat.TYPED:
        return Rows(chunk.rows, {name: typed_cells(column) for name, column in columns.items()}, chunk.flaws, {})
    known = words or {}
    cells = {name: TextCells(column, known.get(name, frozenset())) for name, column in columns.items()}
    return Rows(chunk.rows, cells, chunk.flaws, {})


def _json_rows(chunk: Chunk, wanted: Sequence[str]) -> Rows:
    flaws, absent, objects = dict(chunk.flaws), {}, []
    for row, line in enumerate(chunk.table[LINE].to_pylist()):
        try:
            parsed = parse_json(line, "line")
        except MalformedJson as error:
            parsed, flaws[row] = {}, str(error)
        if not isinstance(parsed, dict):
            parsed, flaws[row] = {}, "is not a JSON object"
        objects.append(parsed)
        if lacking := frozenset(name for name in wanted if name not in parsed):
            absent[row] = lacking
    cells = {name: JsonCells([each.get(name) for each in objects]) for name in wanted}
    return Rows(chunk.rows, cells, flaws, absent)
