"""Chunks: some rows of a file, on their way from the reader to a worker."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from app.cohorts.tables import packed, unpacked


class CellFormat(StrEnum):
    """How a file stores its values: typed, as text, or as JSON."""

    TYPED = "typed"
    TEXT = "text"
    JSON = "json"


# The only column of a chunk of JSON: a line for each row.
LINE = "line"


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some rows of a file. `first` is the number of the first one, counted from 1 through all files.

    `flaws` are the rows that could not be read, by their index in the chunk. A file that cannot be read any further
    gives a chunk without rows, with the reason in `lost`.
    """

    file: str
    form: CellFormat
    rows: int
    table: pa.Table
    first: int = 1
    lines: NDArray[np.int64] | None = None
    flaws: Mapping[int, str] = field(default_factory=dict)
    lost: str | None = None

    def part(self, start: int, stop: int) -> "Chunk":
        return replace(
            self,
            rows=stop - start,
            table=self.table.slice(start, stop - start),
            first=self.first + start,
            lines=None if self.lines is None else self.lines[start:stop],
            flaws={place - start: reason for place, reason in self.flaws.items() if start <= place < stop},
        )

    def __getstate__(self) -> dict[str, Any]:
        state = {name: getattr(self, name) for name in self.__slots__}
        return {**state, "table": packed(self.table)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in {**state, "table": unpacked(state["table"])}.items():
            object.__setattr__(self, name, value)


def numbered(pieces: Iterable[Chunk]) -> Iterator[Chunk]:
    """Count the rows through all files."""
    first = 1
    for piece in pieces:
        yield replace(piece, first=first)
        first += piece.rows


def cut(pieces: Iterable[Chunk], rows: int, partition_rows: int) -> Iterator[Chunk]:
    """Chunks of at most `rows` rows; none spans two partitions or two files."""
    held: list[Chunk] = []
    for piece in pieces:
        if held and piece.file != held[0].file:
            yield joined(held)
            held = []
        start = 0
        while start < piece.rows:
            inside = (piece.first + start - 1) % partition_rows
            stop = min(piece.rows, start + partition_rows - inside, start + rows - inside % rows)
            held.append(piece.part(start, stop))
            start, end = stop, inside + stop - start
            if end == partition_rows or end % rows == 0:
                yield joined(held)
                held = []
        if piece.lost is not None:
            yield from [joined(held)] if held else []
            yield piece.part(piece.rows, piece.rows)
            held = []
    yield from [joined(held)] if held else []


def joined(parts: Sequence[Chunk]) -> Chunk:
    """Consecutive chunks of one file, as one chunk."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    lines = [part.lines for part in parts if part.lines is not None]
    return replace(
        first,
        rows=sum(part.rows for part in parts),
        table=pa.concat_tables([part.table for part in parts], promote_options="default"),
        lines=np.concatenate(lines) if lines else None,
        flaws={part.first - first.first + place: reason for part in parts for place, reason in part.flaws.items()},
    )
