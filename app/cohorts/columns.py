"""Which column of the input is what: a feature, a fact of the context, a name, or something to carry over."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.adapters.models import Model
from app.adapters.names import suggestion


class BadColumns(Exception):
    """What the command says of the columns cannot be; says how to mend it."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The input's column by what it holds. `person` names the person; None: the number of the row does."""

    features: Mapping[str, str]
    context: Mapping[str, str]
    kept: Mapping[str, str]
    person: str | None = None

    @property
    def wanted(self) -> list[str]:
        """Every column that is read, each once."""
        named = [*self.features.values(), *self.context.values(), *self.kept.values()]
        return list(dict.fromkeys([*named, *([] if self.person is None else [self.person])]))


def read_columns(
    model: Model, given: Mapping[str, str], context: Sequence[str], kept: Sequence[str], person: str | None
) -> Columns:
    """Every feature has the column of its name unless it is given another; what is context is carried over too."""
    names = [feature.name for feature in model.features]
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
            raise BadColumns(f"{option} takes NAME or NAME=COLUMN, several of them separated by commas")
        if name in found:
            raise BadColumns(f"{option} names {name} twice")
        found[name] = column or name
    return found
