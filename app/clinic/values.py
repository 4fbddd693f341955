"""From a reading to a value of its feature, and to the laboratory's own range, in the feature's unit."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from app.adapters.codes import ucum
from app.adapters.files.numbers import number_text
from app.adapters.graphs.features import ModelFeature
from app.asking.reading import Errors
from app.clinic.people import Person, check_meaning
from app.clinic.readings import Reading
from app.clinic.resources import Concept, Interval, Quantity, ReferenceRange
from app.core.ranges import NormalRange

NORMAL = "normal"
RANGE_MEANING = "http://terminology.hl7.org/CodeSystem/referencerange-meaning"
# The codes of the two sexes that a laboratory's range may be for.
SEXES = {
    ("http://hl7.org/fhir/administrative-gender", "male"): "male",
    ("http://hl7.org/fhir/administrative-gender", "female"): "female",
    ("http://snomed.info/sct", "248153007"): "male",
    ("http://snomed.info/sct", "248152002"): "female",
}
# Longer texts of numbers say nothing more, and take long to turn into fractions.
_LONGEST_NUMBER = 40


class Unconvertible(Exception):
    """A quantity that cannot be told in the feature's unit; the text says why."""


@dataclass(frozen=True, slots=True)
class Whose:
    """The person, on the day of a measurement."""

    sex: str | None
    years: int | None
    days: int | None

    @classmethod
    def of(cls, person: Person, reading: Reading) -> "Whose":
        if reading.day is None:
            return cls(person.sex, None, None)
        return cls(person.sex, person.age_on(reading.day), person.days_on(reading.day))


def value_of(reading: Reading, feature: ModelFeature, errors: Errors) -> float | str | None:
    """The value in the feature's unit, or None and an error that names the Observation."""
    measured, said = reading.measured, f"({feature.name})"
    if feature.type == "category":
        return _category(reading, feature, errors)
    if feature.ucum == "1" and measured.count is not None:
        return measured.count
    quantity = measured.quantity
    if quantity is None or quantity.value is None:
        errors.add(reading.place, f"{said} must have a valueQuantity")
    elif quantity.comparator is not None:
        reason = f"{said} tells a bound and no value; send a measured value"
        errors.add(f"{reading.place}.valueQuantity.comparator", reason)
    else:
        try:
            return converted(quantity.value, unit_of(quantity, feature), feature)
        except Unconvertible as error:
            errors.add(f"{reading.place}.valueQuantity", f"{said} {error}")
    return None


def _category(reading: Reading, feature: ModelFeature, errors: Errors) -> float | str | None:
    measured = reading.measured
    concept = measured.concept or Concept()
    told = [measured.text, measured.count, concept.text, *(coding.code for coding in concept.coding)]
    for each in told:
        if each is not None and each in feature.categories:
            return each
    offered = ", ".join(str(category) for category in feature.categories)
    errors.add(reading.place, f"({feature.name}) must be one of: {offered}")
    return None


def unit_of(quantity: Quantity, feature: ModelFeature) -> str:
    """The unit of a quantity in UCUM; one that is written as the model writes it needs no code."""
    assert feature.ucum is not None, "a number with a code has a unit"
    if quantity.code is not None and quantity.system == ucum.SYSTEM:
        return quantity.code
    if quantity.code is None and quantity.unit in (feature.ucum, feature.unit):
        return feature.ucum
    if quantity.code is None and quantity.unit is None and feature.ucum == "1":
        return feature.ucum
    raise Unconvertible(f"must give its unit in UCUM, as system and code; the model wants {feature.ucum}")


def converted(value: float, unit: str, feature: ModelFeature) -> float:
    """A number in the feature's unit: as it was sent where that is the same, else to the nearest number there is."""
    wanted = feature.ucum
    assert wanted is not None, "a number with a code has a unit"
    mass = None if feature.molar_mass is None else Fraction(repr(feature.molar_mass))
    try:
        factor = ucum.factor_between(unit, wanted, mass)
        return value if factor == 1 else float(_exactly(value) * factor)
    except ucum.UnknownUnit:
        shown = unit if unit.isascii() and unit.isprintable() and len(unit) <= ucum.LONGEST else "its unit"
        raise Unconvertible(f"is in {shown}, which is not a unit that Flipset knows; send {wanted}") from None
    except ucum.OtherDimension:
        raise Unconvertible(f"is in {unit}, which cannot be converted to {wanted}") from None
    except OverflowError:
        raise Unconvertible(f"is too large in {wanted}") from None


def check_sign(
    value: float | str | None, ranges: Sequence[NormalRange], reading: Reading, feature: ModelFeature, errors: Errors
) -> None:
    """Nothing is measured to be less than nothing, unless a range reaches below zero, as that of a base excess does."""
    if not isinstance(value, int | float) or value >= 0 or feature.type == "category":
        return
    ends = [end for each in ranges for end in (each.low, each.high) if end is not None]
    # A plain number that nobody has a range for may be a score, or a logarithm.
    is_an_amount = bool(ends) or bool(ucum.unit_of(feature.ucum or "1").dimension)
    if is_an_amount and not any(end < 0 for end in ends):
        errors.add(reading.place, f"({feature.name}) is negative, and no range of it reaches below zero")


def _exactly(value: float) -> Fraction:
    text = number_text(value)
    is_short = len(text) <= _LONGEST_NUMBER and abs(value) > 1e-300
    return Fraction(text) if is_short else Fraction(float(value))


def own_range(reading: Reading, feature: ModelFeature, whose: Whose, errors: Errors) -> NormalRange | None:
    """The laboratory's range for this person, in the feature's unit; None where it gives none."""
    for index, entry in enumerate(reading.measured.reference_ranges):
        check_meaning(entry, f"{reading.place}.referenceRange[{index}]", errors)
        if not _holds(entry, whose):
            continue
        try:
            low, high = (_end(end, reading, feature) for end in (entry.low, entry.high))
        except Unconvertible as error:
            errors.add(f"{reading.place}.referenceRange[{index}]", f"({feature.name}) {error}")
            return None
        if (found := NormalRange(low, high)).flaw() is None:
            return found
        if low is not None:
            errors.add(f"{reading.place}.referenceRange[{index}]", f"({feature.name}) low is above high")
            return None
    return None


def _end(end: Quantity | None, reading: Reading, feature: ModelFeature) -> float | None:
    if end is None or end.value is None:
        return None
    if end.comparator is not None:
        raise Unconvertible("has a range that ends with a comparator; give the number where it ends")
    if end.code is None and end.unit is None and reading.measured.quantity is not None:
        # An end without a unit has that of the value.
        return converted(end.value, unit_of(reading.measured.quantity, feature), feature)
    return converted(end.value, unit_of(end, feature), feature)


def _holds(entry: ReferenceRange, whose: Whose) -> bool:
    """Whether it says what is normal, for such a person; a condition that cannot be judged does not hold."""
    meant = None if entry.type is None else entry.type.codes_of(RANGE_MEANING)
    if meant is not None and NORMAL not in meant:
        return False
    return all(_is_for(concept, whose.sex) for concept in entry.applies_to) and _is_of_age(entry.age, whose)


def _is_for(concept: Concept, sex: str | None) -> bool:
    return sex is not None and any(SEXES.get((str(each.system), str(each.code))) == sex for each in concept.coding)


def _is_of_age(age: Interval | None, whose: Whose) -> bool:
    if age is None:
        return True
    sides: Sequence[tuple[Quantity | None, int]] = ((age.low, 1), (age.high, -1))
    return all(end is None or _is_beyond(end, sign, whose) for end, sign in sides)


def _is_beyond(end: Quantity, sign: int, whose: Whose) -> bool:
    """Whether the person is at least so old, or at most; years are counted by birthdays, all else in days."""
    if end.value is None or end.code is None or end.comparator is not None or whose.years is None:
        return False
    if end.code == "a":
        return sign * whose.years >= sign * end.value
    try:
        limit = _exactly(end.value) * ucum.factor_between(end.code, "d")
    except (ucum.UnknownUnit, ucum.OtherDimension):
        return False
    return whose.days is not None and sign * whose.days >= sign * limit
