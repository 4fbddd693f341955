"""Whom a Bundle is about: one Patient, and what of them decides which range holds."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from pydantic import ValidationError

from app.adapters.files.flaws import field_path, reason_of
from app.asking.reading import Errors
from app.clinic.resources import Bundle, Patient
from app.clinic.times import age_on, day_of, is_day

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
        # An absolute reference ends with the relative one.
        return plain in self.names or any(plain.endswith(f"/{name}") for name in self.names)

    def age_on(self, day: date) -> int | None:
        birth = None if self.patient is None else self.patient.birth_date
        return None if birth is None else age_on(birth, day)

    def days_on(self, day: date) -> int | None:
        """Days since birth, where the day of birth is known."""
        birth = None if self.patient is None else self.patient.birth_date
        return None if birth is None or len(birth) != 10 else (day - day_of(birth)).days


def person_in(bundle: Bundle, errors: Errors) -> Person:
    """The one Patient of a Bundle; no more than one may be there."""
    found = list(_patients(bundle, errors))
    if len(found) > 1:
        errors.add(found[1].place, "is a second Patient; send a Bundle about one person")
    return found[0] if found else Person()


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
        names = {name for name in (entry.full_url, patient.id and f"Patient/{patient.id}") if name}
        yield Person(patient, frozenset(names), place)


def tell(error: ValidationError, place: str, errors: Errors) -> None:
    """What is wrong with a resource, field by field, without a value."""
    for entry in error.errors(include_url=False, include_input=False):
        errors.add(f"{place}.{field_path(entry['loc'])}", reason_of(entry))
