"""A table of people in memory: a register's files, read in chunks. Of very long ones a sample is kept."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.adapters.files.names import counted, suggestion
from app.asking.parsing import parse_json
from app.asking.refusals import MalformedJson
from app.cohorts.reading.cells import Rows, rows_of
from app.cohorts.reading.chunks import LINE, CellFormat, Chunk
from app.cohorts.reading.csv_rows import STRAY
from app.cohorts.reading.people_files import BadInput, column_names, digest, people_files, read_people
from app.core.favourable import Bools
from app.onboarding.failures import Unfit
from app.onboarding.reading.columns import Column, Gathered

# People that are kept in memory; of more, a sample of so many that depends on nothing but their number.
MOST_PEOPLE = 500_000
SEED = 12
# How Excel's files begin, new and old.
WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
# Lines of JSON whose keys are the columns.
FIRST_LINES = 1_000


@dataclass(frozen=True, slots=True)
class Table:
    """The people of a register. `rows` counts all of them, `unreadable` the rows that no one could read."""

    files: tuple[Path, ...]
    digest: str
    rows: int
    unreadable: int
    # The first of those, and why.
    first_flaw: str
    # The row of each person who was kept, counted from 1 through all files.
    places: NDArray[np.int64]
    columns: Mapping[str, Column]

    @property
    def kept(self) -> int:
        """How many people the columns hold."""
        return len(next(iter(self.columns.values())).numbers)

    def column(self, name: str, option: str) -> Column:
        """A column by its name, or `Unfit` with the name that was probably meant."""
        if name not in self.columns:
            raise Unfit(f"{option} {name}: is not a column; {suggestion(name, self.columns)}")
        return self.columns[name]


def read_table(path: Path, form: str | None, most_people: int = MOST_PEOPLE) -> Table:
    """Read all people of a file or a folder; `Unfit` if nobody can be read."""
    if _is_workbook(path):
        raise Unfit(f"{path}: is an Excel workbook: save its sheet as CSV UTF-8")
    try:
        files = people_files(path, form)
    except BadInput as error:
        raise Unfit(str(error)) from None
    names = _names(files, form)
    reading = _Reading(names, most_people)
    for file in files:
        for chunk in _chunks(file, form, names):
            reading.add(chunk)
    if not reading.readable:
        hint = "; is its first line the header?" if reading.first_flaw else ""
        raise Unfit(f"{path}: holds nobody who can be read{reading.first_flaw}{hint}")
    return Table(tuple(files), _digest(files), reading.rows, reading.unreadable, reading.first_flaw, *reading.kept())


def _is_workbook(path: Path) -> bool:
    try:
        with path.open("rb") as opened:
            return opened.read(4) in WORKBOOKS
    except OSError:
        return False


def _chunks(file: Path, form: str | None, names: Sequence[str]) -> Iterator[Chunk]:
    try:
        yield from read_people(file, form, names)
    except OSError as error:
        raise Unfit(f"{file}: {error.strerror}") from None


def _names(files: Sequence[Path], form: str | None) -> list[str]:
    """The columns of all files, in the order of the first; `Unfit` if they cannot be told."""
    found: dict[str, None] = {}
    for file in files:
        names = column_names(file, form)
        if names is None:
            names = list(_keys(file, form))
        if any(map(STRAY.search, names)):
            raise Unfit(f"{file}: is not UTF-8 text: save it as CSV UTF-8")
        if not [name for name in names if name]:
            raise Unfit(f"{file}: has no columns that can be read")
        if twice := [name for name in names if name and names.count(name) > 1]:
            raise Unfit(f"{file}: has several columns {twice[0]!r}: rename all but one")
        found.update(dict.fromkeys(name for name in names if name))
    return list(found)


def _keys(file: Path, form: str | None) -> dict[str, None]:
    """The keys of the first lines of JSON."""
    chunk = next(_chunks(file, form, ()), None)
    if chunk is None or chunk.form is not CellFormat.JSON:
        raise Unfit(f"{file}: {'is empty' if chunk is None else chunk.lost or 'has no columns that can be read'}")
    found: dict[str, None] = {}
    for line in chunk.table[LINE].to_pylist()[:FIRST_LINES]:
        try:
            parsed = parse_json(line, "line")
        except MalformedJson:
            continue
        found.update(dict.fromkeys(parsed if isinstance(parsed, dict) else ()))
    return found


def _digest(files: Sequence[Path]) -> str:
    """The digest of one file; of several, that of their digests."""
    digests = [digest(file) for file in files]
    return digests[0] if len(digests) == 1 else hashlib.sha256("\n".join(digests).encode()).hexdigest()


class _Reading:
    """Gathers the columns chunk by chunk. Each row draws a number; where there are too many, the lowest stay."""

    def __init__(self, names: Sequence[str], most_people: int) -> None:
        self._names = names
        self._most = most_people
        self._gathered = {name: Gathered(name) for name in names}
        self._draws: list[NDArray[np.float64]] = []
        self._places: list[NDArray[np.int64]] = []
        self._kept = 0
        self._rng = np.random.default_rng(SEED)
        self.rows = 0
        self.unreadable = 0
        self.first_flaw = ""

    @property
    def readable(self) -> int:
        return self.rows - self.unreadable

    def add(self, chunk: Chunk) -> None:
        if chunk.lost is not None:
            raise Unfit(f"{chunk.file}: {chunk.lost}")
        rows = rows_of(chunk, self._names)
        before = self.rows
        fine = self._fine(rows)
        self._places.append(np.flatnonzero(fine) + before + 1)
        for name, gathered in self._gathered.items():
            gathered.add(rows.cells.get(name), fine)
        self._draws.append(self._rng.random(int(fine.sum())))
        self._kept += len(self._draws[-1])
        if self._kept > 2 * self._most:
            self._thin()

    def _fine(self, rows: Rows) -> Bools:
        """The rows that can be read; counts the others."""
        fine = np.ones(rows.count, dtype=np.bool_)
        fine[list(rows.flaws)] = False
        if rows.flaws and not self.first_flaw:
            place, reason = min(rows.flaws.items())
            self.first_flaw = f": row {self.rows + place + 1} {reason}"
        self.rows += rows.count
        self.unreadable += len(rows.flaws)
        return fine

    def _thin(self) -> None:
        draws = np.concatenate(self._draws)
        # In the order of the file, as before.
        stay = np.sort(np.argpartition(draws, self._most)[: self._most])
        for gathered in self._gathered.values():
            gathered.keep(stay)
        self._places = [np.concatenate(self._places)[stay]]
        self._draws, self._kept = [draws[stay]], self._most

    def kept(self) -> tuple[NDArray[np.int64], dict[str, Column]]:
        if self._kept > self._most:
            self._thin()
        columns = {name: gathered.column() for name, gathered in self._gathered.items()}
        return np.concatenate(self._places), columns


def about(table: Table) -> str:
    """How many people were read, in words."""
    lost = f", {table.unreadable:,} of them unreadable{table.first_flaw}" if table.unreadable else ""
    sampled = f"; a sample of {table.kept:,} is used" if table.kept < table.rows - table.unreadable else ""
    return f"{counted(table.rows, 'row')}{lost}{sampled}"
