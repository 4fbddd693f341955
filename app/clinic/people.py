"""Whom a Bundle is about: one Patient, and what of them decides which range holds."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date

from pydantic import ValidationError

from app.adapters.files.flaws import field_path, reason_of
from app.asking.reading import Errors
from app.clinic.resources import Bundle, Modifiable, Patient
from app.clinic.times import age_on, day_of, is_day

UNKNOWN_MEANING = "may change the meaning of what holds it, and Flipset does not know how; leave that out"
PAST = "a history also holds what was deleted since; send the resources that hold now, as a collection"
_VERSION = re.compile(r"/_history/[^/]+$")


@dataclass(frozen=True, slots=True)
class Person:
    """The Patient of a Bundle, or nobody in particular; `names` are what references may call them."""

    patient: Patient | None = None
    names: frozenset[str] = frozenset()
    place: str = ""

    @property
    def sex(self) -> str | None:
        gender = None if self.patient is None else self.patient.gender
        return None if gender == "unknown" else gender

    @property
    def reference(self) -> str | None:
        """How an answer points at them."""
        if self.patient is not None and self.patient.id is not None:
            return f"Patient/{self.patient.id}"
        return next(iter(sorted(self.names)), None)

    def is_meant_by(self, reference: str) -> bool:
        plain = _VERSION.sub("", reference)
        # An absolute reference ends with the relative one; the same id on another server is somebody else.
        is_elsewhere = "://" in plain and any("://" in name for name in self.names)
        is_same_id = any(plain.endswith(f"/{name}") for name in self.names)
        return plain in self.names or (is_same_id and not is_elsewhere)

    def is_same(self, other: "Person") -> bool:
        """Whether the two are one Patient that was sent twice: by the same name, with the same facts."""
        is_named = bool(self.names) and bool(other.names)
        return is_named and self.patient == other.patient and (self.names <= other.names or self.names >= other.names)

    def age_on(self, day: date) -> int | None:
        birth = None if self.patient is None else self.patient.birth_date
        return None if birth is None else age_on(birth, day)

    def days_on(self, day: date) -> int | None:
        """Days since birth, where the day of birth is known."""
        birth = None if self.patient is None else self.patient.birth_date
        return None if birth is None or len(birth) != 10 else (day - day_of(birth)).days


def person_in(bundle: Bundle, errors: Errors) -> Person:
    """The one Patient of a Bundle; no other may be there."""
    check_meaning(bundle, "", errors)
    if bundle.type == "history":
        errors.add("type", PAST)
    found: Person | None = None
    for each in _patients(bundle, errors):
        if found is None:
            found = each
        elif found.is_same(each):
            found = replace(found, names=found.names | each.names)
        else:
            errors.add(each.place, "is a second Patient; send a Bundle about one person")
            break
    return found or Person()


def _patients(bundle: Bundle, errors: Errors) -> Iterator[Person]:
    for index, entry in enumerate(bundle.entry):
        if entry.resource is None or entry.resource.get("resourceType") != "Patient":
            continue
        place = f"entry[{index}].resource"
        try:
            patient = Patient.model_validate(entry.resource)
        except ValidationError as error:
            tell(error, place, errors)
            continue
        if patient.birth_date is not None and not is_day(patient.birth_date):
            errors.add(f"{place}.birthDate", "is not a date, such as 1985-03-31")
            continue
        check_meaning(entry, f"entry[{index}]", errors)
        check_meaning(patient, place, errors)
        names = {name for name in (entry.full_url, patient.id and f"Patient/{patient.id}") if name}
        yield Person(patient, frozenset(names), place)


def check_meaning(part: Modifiable, place: str, errors: Errors) -> None:
    """What may turn a meaning around, and is not understood, must not be passed over."""
    for name, given in (("modifierExtension", part.modifiers), ("implicitRules", part.implicit_rules)):
        if given not in (None, []):
            errors.add(f"{place}.{name}".lstrip("."), UNKNOWN_MEANING)


def tell(error: ValidationError, place: str, errors: Errors) -> None:
    """What is wrong with a resource, field by field, without a value."""
    for entry in error.errors(include_url=False, include_input=False):
        errors.add(f"{place}.{field_path(entry['loc'])}", reason_of(entry))
