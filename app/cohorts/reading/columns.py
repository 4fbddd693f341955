"""The columns of the input: features, context, the person's name, and columns to copy."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.adapters.files.names import suggestion
from app.adapters.graphs.models import Model


class BadColumns(Exception):
    """The columns that the command names are wrong; the text says how to fix it."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The column of each feature, fact and copied value. `person` is the column of names; None: the row number."""

    features: Mapping[str, str]
    context: Mapping[str, str]
    kept: Mapping[str, str]
    person: str | None = None

    @property
    def wanted(self) -> list[str]:
        """Every column that is read, each once."""
        named = [*self.features.values(), *self.context.values(), *self.kept.values()]
        return list(dict.fromkeys([*named, *([] if self.person is None else [self.person])]))

    def by_option(self) -> dict[str, list[str]]:
        """The columns that each option names. A feature's own name is no option: its files may lack it one by one."""
        return {
            "--id": [] if self.person is None else [self.person],
            "--column": [column for name, column in self.features.items() if column != name],
            "--context": list(self.context.values()),
            "--keep": list(self.kept.values()),
        }


def read_columns(
    model: Model, given: Mapping[str, str], context: Sequence[str], kept: Sequence[str], person: str | None
) -> Columns:
    """A feature has the column of its name unless another is given; context columns are copied too."""
    # Derived features have no column: they are computed.
    names = list(model.sent)
    for name in given:
        if name not in names:
            raise BadColumns(f"--column {name}: is not a feature of this model; {suggestion(name, names)}")
    facts = pairs("--context", context)
    return Columns(
        features={name: given.get(name, name) for name in names},
        context=facts,
        kept={**facts, **pairs("--keep", kept)},
        person=person,
    )


def pairs(option: str, given: Iterable[str]) -> dict[str, str]:
    """`NAME` or `NAME=COLUMN`, several of them separated by commas: the column by the name."""
    found: dict[str, str] = {}
    for each in (part.strip() for text in given for part in text.split(",")):
        name, _, column = each.partition("=")
        if not name or (each.endswith("=")):
            raise BadColumns(f"{option} takes NAME or NAME=COLUMN, separated by commas")
        if name in found:
            raise BadColumns(f"{option} names {name} twice")
        found[name] = column or name
    return found
