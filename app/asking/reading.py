"""Reading values and names of a request, with all that is wrong collected on the way."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import isfinite, isnan, nan
from typing import Any, cast

from app.adapters.files.names import LONGEST_NAME, closest, suggestion
from app.adapters.files.numbers import SentNumber
from app.adapters.graphs.features import Unreadable
from app.adapters.graphs.models import Model
from app.adapters.rules.formulas import Place
from app.asking.refusals import MOST_ERRORS, FieldError, ForbiddenByKey, InvalidRequest
from app.asking.schemas import Body, Instance
from app.core.following.arithmetic import features_of, result

NUMBERS = frozenset((int, float, SentNumber))


@dataclass(slots=True)
class Errors:
    """Collects what is wrong, so that a person can mend all of it at once."""

    found: list[FieldError] = field(default_factory=list)
    # What the key that was given does not allow.
    forbidden: list[FieldError] = field(default_factory=list)

    def add(self, field: str, message: str, place: Place | None = None) -> None:
        self.found.append(FieldError(field, message, place))

    def forbid(self, field: str, message: str) -> None:
        self.forbidden.append(FieldError(field, message))

    @property
    def suffice(self) -> bool:
        """Whether so much is wrong that nobody would read on."""
        return len(self.found) >= MOST_ERRORS

    def raise_any(self) -> None:
        if self.forbidden:
            raise ForbiddenByKey(self.forbidden)
        if self.found:
            raise InvalidRequest(self.found)


def check_extents(request: Body, fields: Iterable[str], most: int) -> None:
    """Objects with more entries than any model has features are not looked at one by one."""
    for name in fields:
        if len(getattr(request, name) or ()) > most:
            raise InvalidRequest([FieldError(name, f"holds more than {most:,} entries")])


def read_instance(instance: Instance, model: Model, field: str, errors: Errors) -> tuple[float, ...]:
    """The values in the model's order; every feature is needed but those that are derived, and no other."""
    if instance.keys() != model.sent.keys():
        # A misspelt name is one of those that are lacking: another would put the value in the wrong place.
        lacking = [name for name in model.sent if name not in instance]
        check_known(instance, model.positions, field, errors, meant=lacking)
    sent: list[Any] = [instance.get(feature.name) for feature in model.features]
    values = tuple(
        [
            # Nearly every value: a number for a feature that may be any number.
            cast(float, raw)
            if type(raw) in NUMBERS and -most <= raw <= most
            else _read_or_absent(instance, position, model, field, errors)
            for position, (raw, most) in enumerate(zip(sent, model.plain, strict=True))
        ]
    )
    return with_derived(values, model, field, errors) if model.derived else values


def with_derived(values: Sequence[float], model: Model, field: str, errors: Errors) -> tuple[float, ...]:
    """The values with those that are computed from others."""
    found = list(values)
    for position, arithmetic in model.derived.items():
        feature, parts = model.features[position], features_of(arithmetic)
        value = float(result(arithmetic, found.__getitem__))
        found[position] = value = float(round(value)) if feature.whole and isfinite(value) else value
        where = f"{field}.{model.features[model.first_sent(position)].name}"
        if any(isnan(found[part]) for part in parts):
            if not errors.found and not feature.may_be_missing:
                errors.add(where, f"must not be missing: {feature.name}, which the model needs, is {feature.derived}")
            found[position] = nan
        elif not isfinite(value) or too_large(value, position, model):
            errors.add(where, f"leaves {feature.name} without a value that the model can read: {feature.derived}")
    return tuple(found)


def _read_or_absent(instance: Instance, position: int, model: Model, field: str, errors: Errors) -> float:
    feature = model.features[position]
    if feature.name in instance:
        return read_value(instance[feature.name], position, model, field, errors)
    if feature.derived is None:
        hint = "; send null for a value that is not known" if feature.may_be_missing else ""
        errors.add(f"{field}.{feature.name}", f"is missing{hint}")
    return nan


def read_value(raw: Any, position: int, model: Model, field: str, errors: Errors) -> float:
    """A value of the feature at this position, as the core knows it; `field` is the object that it stands in."""
    feature = model.features[position]
    if feature.derived is not None:
        errors.add(f"{field}.{feature.name}", f"is derived, so leave it out: it is computed as {feature.derived}")
        return nan
    try:
        value = feature.read(raw)
    except Unreadable as error:
        errors.add(f"{field}.{feature.name}", str(error))
        return nan
    if not isnan(value) and (name := too_large(value, position, model)):
        errors.add(f"{field}.{feature.name}", f"is too large for the model's {name} input")
    return value


def too_large(value: float, position: int, model: Model) -> str | None:
    """The type that the graph reads the feature in, where that cannot hold the value."""
    read_as = model.types[position]
    return None if all(map(read_as.holds, model.features[position].cells(value))) else read_as.name


def check_known(
    given: Iterable[str], known: Iterable[str], field: str, errors: Errors, meant: Sequence[str] = ()
) -> None:
    """Every name must be known; of a name that is not, `meant` are the likelier ones."""
    for name in given:
        if name not in known and not errors.suffice:
            hint = closest(name, meant) or suggestion(name, known)
            errors.add(f"{field}.{name[:LONGEST_NAME]}", f"is not a feature of this model; {hint}")


def check_list(given: list[str], known: Iterable[str], field: str, what: str, errors: Errors) -> None:
    seen: set[str] = set()
    for index, name in enumerate(given):
        if errors.suffice:
            return
        if name not in known:
            errors.add(f"{field}[{index}]", f"is not a {what} of this model; {suggestion(name, known)}")
        elif name in seen:
            errors.add(f"{field}[{index}]", f"names {name[:LONGEST_NAME]!r} twice")
        seen.add(name)
