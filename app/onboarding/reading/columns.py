"""One column of a table of people: its numbers, its words, and what is missing."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from app.cohorts.reading.cells import Cells
from app.core.favourable import Bools, Floats

# What stands for a missing value in a table, besides nothing: what pandas takes for one, and a question mark.
MISSING = (
    "NA", "N/A", "n/a", "nan", "NaN", "-nan", "-NaN", "null", "NULL", "None", "<NA>", "#N/A", "#NA", "#N/A N/A",
    "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN", "?",
)  # fmt: skip
# Texts that were numbers or dates before somebody wrote them down.
DATE = re.compile(r"[0-9]{1,4}([-/.])[0-9]{1,2}\1[0-9]{1,4}([ T][0-9:.+Z -]*)?")
SIGNS = re.compile(r"[^\w\s]?\s?[+-]?[0-9][0-9.,'\s]*[%\u20ac$\u00a3]?")
# A number with a unit. A few whole ones may be categories: 36 months, 60 months.
WITH_UNIT = re.compile("[+-]?[0-9][0-9.,]*\\s*([A-Za-z\u00b5\u03bc/]\\S*)")
FEW = 10
# What stands for a missing value among numbers, in old files.
NINES = re.compile("-9{1,6}|9{3,6}")
# A column of more different words is free text.
MOST_WORDS = 1_000

Places = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Column:
    """The values of a column: NaN where no number is, -1 where no word is. The counts are of all rows of the file."""

    name: str
    numbers: Floats
    places: Places
    words: tuple[str, ...]
    number_count: int
    word_count: int
    # How many rows have no value, and by which words that is said.
    missing_count: int
    missing_words: Mapping[str, int]
    # Of all numbers.
    least: float
    most: float
    is_whole: bool
    # Whether each number is the one before it and 1 more.
    is_counter: bool
    # Of the first row with a word, counted from 1.
    first_word_row: int | None

    @property
    def is_number(self) -> bool:
        return self.number_count > 0 and self.word_count == 0

    @property
    def is_text(self) -> bool:
        return self.word_count > 0 and self.number_count == 0

    @property
    def not_numbers(self) -> str | None:
        """Why this is no column of numbers, for a sentence that begins with its name; None if it is one."""
        if self.is_number:
            return None
        if self._meant is not None:
            return f"holds {self._meant}"
        if self.number_count and self.word_count:
            return f"holds numbers and texts, the first text in row {self.first_word_row}"
        return "is not a number" if self.word_count else "holds no values"

    @property
    def _meant(self) -> str | None:
        """What its words were meant to be, if not words."""
        if self.words and all(map(DATE.fullmatch, self.words)):
            return "dates: make numbers of them, such as years"
        if self.words and all(map(SIGNS.fullmatch, self.words)):
            return "numbers that are written as texts: write them like 1234.5, with a point and nothing else"
        if self.unit is not None:
            return f"numbers with their unit: leave only the numbers, and put unit = {self.unit!r} into model.toml"
        return None

    @property
    def unit(self) -> str | None:
        """What stands behind the number in each of its words; None unless it is the same everywhere."""
        found = [WITH_UNIT.fullmatch(word) for word in self.words]
        units = {each[1] if each else None for each in found}
        if len(units) != 1 or not (len(found) > FEW or any("." in word for word in self.words)):
            return None
        return units.pop()

    @property
    def codes(self) -> tuple[float, ...]:
        """Its smallest and its largest value, where they may be codes for missing: nines, far from the rest."""
        known = np.unique(self.numbers[~np.isnan(self.numbers)])
        if len(known) < FEW:
            return ()
        others = known[[not NINES.fullmatch(f"{number:g}") for number in known]]
        if not len(others):
            return ()
        least, most = float(others[0]), float(others[-1])
        far = [number for number in (float(known[0]), float(known[-1])) if not least <= number <= most]
        return tuple(n for n in far if (n < 0 <= least) or max(least - n, n - most) > most - least)

    @property
    def is_spoilt(self) -> bool:
        """Whether it should be numbers, but some of them cannot be read."""
        return self.word_count > 0 and (self.number_count > 0 or self._meant is not None)

    @property
    def is_free_text(self) -> bool:
        return len(self.words) > MOST_WORDS

    @property
    def is_missing(self) -> Bools:
        return np.isnan(self.numbers) & (self.places < 0)

    def are(self, value: str) -> Bools:
        """Which rows hold this value: a word, or a number that is written so."""
        if value in self.words:
            return np.asarray(self.places == self.words.index(value))
        try:
            return np.asarray(self.numbers == float(value))
        except ValueError:
            return np.zeros(len(self.numbers), dtype=np.bool_)


class Gathered:
    """A column while it is read."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._numbers: list[Floats] = []
        self._places: list[Places] = []
        self._words: dict[str, int] = {}
        self._counts = {"number": 0, "word": 0, "missing": 0}
        self._missing_words: dict[str, int] = {}
        self._least, self._most, self._whole = np.inf, -np.inf, True
        self._counter, self._last = True, np.nan
        self._rows = 0
        self._first_word_row: int | None = None

    def add(self, cells: Cells | None, fine: Bools) -> None:
        """The cells of a chunk, without the rows that are not fine; None: the file does not have the column."""
        if cells is None:
            numbers, places = np.full(len(fine), np.nan), np.full(len(fine), -1, dtype=np.int32)
        else:
            numbers, are = cells.numbers()
            places = self._read_words(cells, fine & ~are)
            numbers = np.where(are & np.isfinite(numbers), numbers, np.nan)
        self._see(numbers[fine], places[fine])
        self._numbers.append(numbers[fine])
        self._places.append(places[fine])

    def _read_words(self, cells: Cells, asked: Bools) -> Places:
        """The places of the words in the rows that are asked for."""
        texts, are = cells.texts()
        truths, are_truths = cells.truths()
        are = are & asked
        places = np.full(len(are), -1, dtype=np.int32)
        encoded = pc.dictionary_encode(texts.filter(pa.array(are)))
        known = np.array([self._place(word) for word in encoded.dictionary.to_pylist()], dtype=np.int32)
        found = np.asarray(encoded.indices.to_numpy(zero_copy_only=False), dtype=np.intp)
        places[are] = known[found] if len(known) else -1
        self._count_missing(encoded.dictionary.to_pylist(), found)
        alone = are_truths & ~are & asked
        if alone.any():
            places[alone] = np.where(truths[alone], self._place("true"), self._place("false"))
        return places

    def _place(self, word: str) -> int:
        if word in MISSING or not word.strip():
            return -1
        if word not in self._words and len(self._words) > MOST_WORDS:
            return MOST_WORDS
        return self._words.setdefault(word, len(self._words))

    def _count_missing(self, words: list[str], found: NDArray[np.intp]) -> None:
        counts = np.bincount(found, minlength=len(words))
        for word, count in zip(words, counts, strict=True):
            if word in MISSING:
                self._missing_words[word] = self._missing_words.get(word, 0) + int(count)

    def _see(self, numbers: Floats, places: Places) -> None:
        known = numbers[~np.isnan(numbers)]
        are_words = places >= 0
        if self._first_word_row is None and are_words.any():
            self._first_word_row = self._rows + int(np.argmax(are_words)) + 1
        self._rows += len(numbers)
        counts = {"number": len(known), "word": int(are_words.sum())}
        counts["missing"] = len(numbers) - sum(counts.values())
        self._counts = {kind: self._counts[kind] + count for kind, count in counts.items()}
        if len(known):
            self._least, self._most = min(self._least, float(known.min())), max(self._most, float(known.max()))
            self._whole = self._whole and bool(np.all(known == np.floor(known)))
            with np.errstate(over="ignore"):
                steps = np.diff(known if np.isnan(self._last) else np.concatenate([[self._last], known]))
            self._counter = self._counter and bool(np.all(steps == 1))
            self._last = float(known[-1])

    def keep(self, stay: NDArray[np.intp]) -> None:
        """Drop all rows but these."""
        self._numbers = [np.concatenate(self._numbers)[stay]]
        self._places = [np.concatenate(self._places)[stay]]

    def column(self) -> Column:
        return Column(
            name=self._name,
            numbers=np.concatenate(self._numbers),
            places=np.concatenate(self._places),
            words=tuple(self._words),
            number_count=self._counts["number"],
            word_count=self._counts["word"],
            missing_count=self._counts["missing"],
            missing_words=self._missing_words,
            least=self._least,
            most=self._most,
            is_whole=self._whole,
            is_counter=self._counter and self._counts["number"] == self._rows > 2,
            first_word_row=self._first_word_row,
        )
