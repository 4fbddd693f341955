"""The Observations of a Bundle that a model has features for: the latest valid one of each feature."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from typing import Any

from pydantic import ValidationError

from app.adapters.codes import loinc
from app.adapters.graphs.features import ModelFeature
from app.asking.reading import Errors
from app.clinic.people import Person, check_meaning, tell
from app.clinic.resources import Bundle, Measured, Observation
from app.clinic.times import BadTime, day_of, instant_of, is_to_come
from app.clinic.versions import VALID, current_observations

WHOLE_DAY = len("2026-11-18")
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Reading:
    """A value of a feature in a Bundle: where it stands, which Observation it is, and when it was measured."""

    measured: Measured
    place: str
    observation: str | None
    effective: str | None
    instant: datetime | None
    updated: datetime

    @property
    def day(self) -> date | None:
        """The day, where it is known."""
        return None if self.effective is None or len(self.effective) < WHOLE_DAY else day_of(self.effective)

    @property
    def age(self) -> tuple[datetime, datetime]:
        return self.instant or _LONG_AGO, self.updated


def latest_readings(
    bundle: Bundle, features: Sequence[ModelFeature], person: Person, errors: Errors
) -> dict[int, Reading]:
    """By the feature's position. What cannot be told apart, or is about someone else, is an error that names it."""
    codes = {code: position for position, feature in enumerate(features) for code in feature.loinc}
    found: dict[int, list[Reading]] = {}
    subjects: dict[str, str] = {}
    for index in current_observations(bundle, partial(_mentions, codes=codes), errors):
        if errors.suffice:
            break
        entry, place = bundle.entry[index], f"entry[{index}].resource"
        try:
            observation = Observation.model_validate(entry.resource)
        except ValidationError as error:
            tell(error, place, errors)
            continue
        if observation.status in VALID:
            _check_subject(observation, place, person, subjects, errors)
            check_meaning(entry, f"entry[{index}]", errors)
            _check_meaning(observation, place, errors)
            name = f"Observation/{observation.id}" if observation.id else entry.full_url
            for position, reading in _readings(observation, place, name, codes, errors):
                found.setdefault(position, []).append(reading)
    return {position: _latest(readings, features[position], errors) for position, readings in found.items()}


def _mentions(raw: Mapping[str, Any], codes: Mapping[str, int]) -> bool:
    """Whether it holds one of the codes, before anything else of it has to be right."""
    components = raw.get("component")
    parts = [raw, *(components if isinstance(components, list) else [])]
    for part in parts:
        concept = part.get("code") if isinstance(part, dict) else None
        coding = concept.get("coding") if isinstance(concept, dict) else None
        for each in coding if isinstance(coding, list) else []:
            code = each.get("code") if isinstance(each, dict) else None
            if isinstance(code, str) and code in codes and each.get("system") == loinc.SYSTEM:
                return True
    return False


def _check_subject(
    observation: Observation, place: str, person: Person, subjects: dict[str, str], errors: Errors
) -> None:
    if observation.subject is None:
        return
    reference = observation.subject.reference
    if reference is None:
        errors.add(f"{place}.subject", "has no reference, so nobody can tell who it is; point at the Patient")
    elif person.patient is not None and not person.is_meant_by(reference):
        errors.add(f"{place}.subject", "is not the Patient of this Bundle; send a Bundle about one person")
    elif person.patient is None and subjects.setdefault("", reference) != reference:
        errors.add(f"{place}.subject", "is not that of the Observations before; send a Bundle about one person")


def _check_meaning(observation: Observation, place: str, errors: Errors) -> None:
    check_meaning(observation, place, errors)
    for index, part in enumerate(observation.component):
        check_meaning(part, f"{place}.component[{index}]", errors)
    subject = None if observation.subject is None else observation.subject.reference
    if any(each.reference is None or each.reference != subject for each in observation.focus):
        errors.add(f"{place}.focus", "is not the subject; send Observations that are about the Patient")


def _readings(
    observation: Observation, place: str, name: str | None, codes: Mapping[str, int], errors: Errors
) -> Iterator[tuple[int, Reading]]:
    try:
        instant = None if observation.effective is None else instant_of(observation.effective)
        updated = observation.issued if observation.meta is None else observation.meta.last_updated
        changed = _LONG_AGO if updated is None else instant_of(updated)
    except BadTime:
        errors.add(place, "has a time that is none; write it like 2026-11-18T09:30:00Z or 2026-11-18")
        return
    parts: list[tuple[str, Measured]] = [(place, observation)]
    parts += [(f"{place}.component[{index}]", part) for index, part in enumerate(observation.component)]
    for where, part in parts:
        for position in {codes[code] for code in part.code.codes_of(loinc.SYSTEM) if code in codes}:
            if part.has_value and observation.effective is not None and is_to_come(observation.effective):
                errors.add(where, "has a value of a time that is still to come; correct the time, or leave it out")
            elif part.has_value:
                yield position, Reading(part, where, name, observation.effective, instant, changed)


def _latest(readings: list[Reading], feature: ModelFeature, errors: Errors) -> Reading:
    latest = max(readings, key=lambda reading: reading.age)
    undated = [reading for reading in readings if reading.instant is None]
    if undated and len(readings) > 1 and any(each.measured != readings[0].measured for each in readings):
        errors.add(undated[0].place, f"({feature.name}) has no time, and there are others: nobody can tell the latest")
    rivals = [each for each in readings if each.age == latest.age and _differ(each.measured, latest.measured)]
    if rivals and not undated:
        reason = f"({feature.name}) differs from {rivals[0].place}, which has the same time"
        errors.add(latest.place, f"{reason}; leave out the one that does not hold")
    for each in readings:
        if _may_be_as_late(each, latest) and _differ(each.measured, latest.measured):
            reason = f"({feature.name}) may be earlier or later than {latest.place}, and differs"
            errors.add(each.place, f"{reason}; say when more exactly, or leave one out")
            break
    return latest


def _may_be_as_late(one: Reading, latest: Reading) -> bool:
    """Whether one says a day, a month or a year, and the other a time in it, or before it by the clock of its place."""
    here, there = one.effective, latest.effective
    if here is None or there is None or here == there:
        return False
    # A day has no zone, so days are compared as they are written.
    known = min(len(here), len(there))
    return known <= WHOLE_DAY and here[:known] >= there[:known]


def _differ(one: Measured, other: Measured) -> bool:
    values = ("quantity", "whole", "truth", "text", "concept", "other")
    return any(getattr(one, value) != getattr(other, value) for value in values)
