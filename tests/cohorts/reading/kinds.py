"""What a kind of bad row is, and the good rows that bad ones are made of."""

from dataclasses import dataclass
from enum import Enum
from typing import Any

from tests.support import loans

PERSON = "person"


class Fate(Enum):
    """What has to become of a row. A control is accepted; what may be either only has to be counted, once."""

    REJECTED = "rejected"
    ACCEPTED = "accepted"
    COUNTED = "counted"


@dataclass(frozen=True, slots=True)
class Kind:
    """A small file in which one thing is wrong, and what has to come of it.

    `rows` is how many there are to count; None of a file that cannot be read, of which one reject tells. `places` are
    the rows that are bad, counted from 1, and `lines` where they begin in a file of text; all other rows are good.
    Whatever is rejected is to mention each of `mentions`, in its reason.
    """

    name: str
    model: str
    form: str
    content: bytes
    rows: int | None
    places: tuple[int, ...]
    lines: tuple[int, ...] = ()
    fate: Fate = Fate.REJECTED
    mentions: tuple[str, ...] = ()

    @property
    def file_name(self) -> str:
        return f"{self.name}.{self.form}"

    @property
    def rejected(self) -> tuple[int, ...]:
        """The rows that have to be among the rejects."""
        return self.places if self.fate is Fate.REJECTED else ()


@dataclass(frozen=True, slots=True)
class Subject:
    """A model with a row that can be answered for, and what each column is to it."""

    model: str
    row: dict[str, Any]
    numbers: tuple[str, ...]
    # They have a default, so that nothing may stand there, and -9 stands for nothing.
    wholes: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    # The ranges of both models make do without; but an age that is none is refused.
    context: tuple[str, ...] = ()

    @property
    def features(self) -> tuple[str, ...]:
        return tuple(name for name in self.row if name not in self.context)

    @property
    def columns(self) -> tuple[str, ...]:
        return (PERSON, *self.row)

    def people(self, count: int) -> list[dict[str, Any]]:
        return [{PERSON: f"{self.model}-{number}", **self.row} for number in range(1, count + 1)]


# Refused by the model, with several abnormal values.
_NAMES = ("ALB", "ALP", "ALT", "AST", "BIL", "CHE", "CHOL", "CREA", "GGT", "PROT")
_PANEL = dict(zip(_NAMES, (28.8, 31.8, 3.3, 74.4, 43.8, 2.42, 3.69, 80.2, 101.5, 76.6), strict=True))
HCV = Subject("hcv", {**_PANEL, "sex": "male", "age": 45}, tuple(_PANEL), context=("sex", "age"))
LOANS = Subject("loans", loans.PERSON, ("debt", "years"), wholes=("late",), categories=("home",))
SUBJECTS = (HCV, LOANS)
