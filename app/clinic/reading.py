"""A Bundle read for a model: the request that it amounts to, and which Observation each value and range is from."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from app.adapters.graphs.features import as_sent
from app.answering.in_use import ModelInUse
from app.asking.callers import Caller
from app.asking.policies import policies_of
from app.asking.prepared import PreparedModel
from app.asking.reading import Errors
from app.asking.schemas import CounterfactualsRequest
from app.clinic.people import Person, person_in
from app.clinic.readings import Reading, latest_readings
from app.clinic.resources import Bundle
from app.clinic.values import Whose, check_sign, own_range, value_of
from app.core.ranges import MoveTo, NormalRange
from app.writing.forms import Form
from app.writing.json_pieces import encoded


class Source(NamedTuple):
    """Where a value is from, and its range: the Observation's own, the registry's, or none."""

    feature: str
    observation: str | None
    effective: str | None
    unit: str | None
    range: str | None


@dataclass(frozen=True, slots=True)
class FromBundle:
    """What a Bundle asks for, about whom, and from what."""

    request: CounterfactualsRequest
    person: Person
    sources: tuple[Source, ...]
    # The time of the latest Observation, as it is written.
    effective: str | None
    # The request in JSON, digit for digit: what a record keeps of it.
    text: str


def read_bundle(bundle: Bundle, chosen: ModelInUse, caller: Caller) -> FromBundle:
    """Read a Bundle, or raise `InvalidRequest` with all that is wrong, each Observation by its place."""
    errors, model = Errors(), chosen.model
    person = person_in(bundle, errors)
    readings = latest_readings(bundle, model.features, person, errors)
    # An Observation that could not be read is not missing.
    errors.raise_any()
    registry = None if model.registry is None else chosen.catalog.registries[model.registry]
    prepared = chosen.prepared.with_registry(model, registry)
    fixed = any(policy.entry.normal_ranges == "fixed" for policy in (*policies_of(model), *caller.policies))
    instance: dict[str, Any] = {}
    ranges: dict[str, dict[str, Any]] = {}
    sources = []
    for position, feature in enumerate(model.features):
        if feature.derived is not None:
            continue
        reading = readings.get(position)
        if reading is None:
            instance[feature.name] = None
            if not feature.may_be_missing:
                errors.add(f"instance.{feature.name}", _lacking(feature.loinc))
            continue
        instance[feature.name] = value_of(reading, feature, errors)
        whose = Whose.of(person, reading)
        own = None if fixed or feature.type == "category" else own_range(reading, feature, whose, errors)
        registry_ranges = [each.normal for each in prepared.ranges[position] if isinstance(each.normal, NormalRange)]
        check_sign(instance[feature.name], [own] if own else registry_ranges, reading, feature, errors)
        if own is not None:
            ranges[feature.name] = _written(own, prepared, position)
        sources.append(_source(feature.name, reading, own, prepared, position))
    errors.raise_any()
    latest = max(readings.values(), key=lambda reading: reading.age, default=None)
    body = {"instance": instance, "context": _context(person, latest), "normal_ranges": ranges}
    effective = None if latest is None else latest.effective
    request = CounterfactualsRequest.model_validate(body)
    return FromBundle(request, person, tuple(sources), effective, _as_json(body))


def _lacking(codes: tuple[str, ...]) -> str:
    if not codes:
        return "cannot come from a Bundle: the model names no LOINC code for it; send the request as plain JSON"
    return f"is missing: the Bundle has no valid Observation with a value and the LOINC code {' or '.join(codes)}"


def _context(person: Person, latest: Reading | None) -> dict[str, Any]:
    """The sex, and the age at the latest Observation, as far as they are known."""
    day = None if latest is None else latest.day
    known = {"sex": person.sex, "age": None if day is None else person.age_on(day)}
    return {key: fact for key, fact in known.items() if fact is not None}


def _written(own: NormalRange, prepared: PreparedModel, position: int) -> dict[str, Any]:
    """The range as a request has it; the registry's way of moving holds as long as it fits."""
    known = prepared.ranges[position]
    usual = known[0].move_to if known else MoveTo()
    return {"low": own.low, "high": own.high, **({"move_to": "nearest"} if usual.flaw(own) else {})}


def _source(name: str, reading: Reading, own: NormalRange | None, prepared: PreparedModel, position: int) -> Source:
    quantity = reading.measured.quantity
    unit = None if quantity is None else quantity.code or quantity.unit
    held = "observation" if own is not None else "registry" if prepared.ranges[position] else None
    return Source(name, reading.observation, reading.effective, unit, held)


def _as_json(value: Any) -> str:
    """Objects, texts and numbers, these with the digits that they came with."""
    if isinstance(value, dict):
        return f"{{{','.join([f'{encoded(key)}:{_as_json(part)}' for key, part in value.items()])}}}"
    return as_sent(value)


class WithSources:
    """A form whose first line also says which Observations the values are from."""

    def __init__(self, form: Form, bundle: FromBundle) -> None:
        self.media_type = form.media_type
        self._form = form
        self._sources = encoded([source._asdict() for source in bundle.sources])

    def frame(self, kind: str, text: str) -> str:
        more = f'{text[:-1]},"observations":{self._sources}}}' if kind == "start" else text
        return self._form.frame(kind, more)
