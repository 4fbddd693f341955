"""The rows of a CSV file, as spreadsheets and people write them."""

import csv
import re
from collections.abc import Iterator

DELIMITERS = (",", ";", "\t")
# A quoted field may span this many lines; a longer one is taken for a stray quote.
MOST_LINES = 20
# What a file that is not UTF-8 leaves in a text.
STRAY = re.compile("[\udc80-\udcff]")


def heading(lines: Iterator[str]) -> tuple[str, list[str]]:
    """The separator of the columns, and their names; `csv.Error` if the names do not end with the line."""
    line = next(lines, "").rstrip("\r\n")
    if line.count('"') % 2:
        raise csv.Error
    delimiter = max(DELIMITERS, key=line.count)
    names = next(csv.reader([line], delimiter=delimiter), [])
    return delimiter, [name.strip() for name in names]


class Records:
    """The rows of a CSV file, each with its first line, and why it cannot be read if it cannot."""

    def __init__(self, lines: Iterator[str], delimiter: str, width: int) -> None:
        self._lines = lines
        self._delimiter = delimiter
        self._width = width
        # The heading was the first.
        self._number = 1
        self._ahead: list[str] = []
        self._nothing = [""] * width

    def __iter__(self) -> Iterator[tuple[int, list[str], str | None]]:
        while (line := self._next()) is not None:
            if line.strip("\r\n"):
                yield self._number, *self._row(line)

    def _next(self) -> str | None:
        self._number += 1
        return self._ahead.pop(0) if self._ahead else next(self._lines, None)

    def _row(self, line: str) -> tuple[list[str], str | None]:
        fields = self._fields(line)
        if fields is None:
            fields = self._joined(line)
        if fields is None:
            return self._nothing, "has a quote that is not closed"
        if any(STRAY.search(field) for field in fields):
            return self._nothing, "is not UTF-8 text"
        if len(fields) != self._width:
            return self._nothing, f"has {len(fields)} fields, but the header has {self._width}"
        return fields, None

    def _joined(self, line: str) -> list[str] | None:
        """The fields of a row whose quoted field may span several lines; None if it does not end soon."""
        taken: list[str] = []
        while len(taken) < MOST_LINES and (more := self._next()) is not None:
            taken.append(more)
            fields = self._fields("".join([line, *taken]))
            if fields is not None and len(fields) == self._width:
                return fields
        # One more was asked for where the file ends.
        self._number -= len(taken) + (len(taken) < MOST_LINES)
        self._ahead[:0] = taken
        return None

    def _fields(self, text: str) -> list[str] | None:
        """The fields of one row; None where the text is not exactly one."""
        text = text.rstrip("\r\n")
        if '"' not in text:
            return text.split(self._delimiter)
        for strict in (True, False):
            try:
                rows = list(csv.reader([text], delimiter=self._delimiter, strict=strict))
            except csv.Error as error:
                if strict and "end of data" not in str(error):
                    # A stray quote is part of its field, unless it is still open.
                    continue
                return None
            return rows[0] if len(rows) == 1 else None
        return None
