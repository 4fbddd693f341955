"""The resources of FHIR R4 that are read, with no more of their fields than are used; all others are passed over."""

from typing import Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from app.adapters.files.numbers import Number


class Element(BaseModel):
    """A part of a resource."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Modifiable(Element):
    """A part that may hold what changes the meaning of all the rest of it, in ways that FHIR does not know."""

    modifiers: list[Any] = Field(default=[], alias="modifierExtension")
    implicit_rules: str | None = Field(default=None, alias="implicitRules")


class Coding(Element):
    """A code of a system."""

    system: str | None = None
    code: str | None = None


class Concept(Element):
    """A CodeableConcept."""

    coding: list[Coding] = []
    text: str | None = None

    def codes_of(self, system: str) -> list[str]:
        return [coding.code for coding in self.coding if coding.system == system and coding.code is not None]


class Quantity(Element):
    """A number with its unit."""

    value: Number | None = None
    comparator: str | None = None
    unit: str | None = None
    system: str | None = None
    code: str | None = None


class Interval(Element):
    """A Range."""

    low: Quantity | None = None
    high: Quantity | None = None


class ReferenceRange(Interval, Modifiable):
    """What a laboratory calls normal, for whom."""

    type: Concept | None = None
    applies_to: list[Concept] = Field(default=[], alias="appliesTo")
    age: Interval | None = None


class Reference(Element):
    """Points at a resource."""

    reference: str | None = None


class Period(Element):
    """From a time to a time."""

    start: str | None = None
    end: str | None = None


class Meta(Element):
    """About a resource itself."""

    last_updated: str | None = Field(default=None, alias="lastUpdated")


# Values that no feature can have.
_OTHER_VALUES = ("valueRange", "valueRatio", "valueSampledData", "valueTime", "valueDateTime", "valuePeriod")


class Measured(Modifiable):
    """An Observation, or a component of one: what was measured, its value, and what is normal."""

    code: Concept
    quantity: Quantity | None = Field(default=None, alias="valueQuantity")
    whole: Number | None = Field(default=None, alias="valueInteger")
    truth: bool | None = Field(default=None, alias="valueBoolean")
    text: str | None = Field(default=None, alias="valueString")
    concept: Concept | None = Field(default=None, alias="valueCodeableConcept")
    other: Any = Field(default=None, validation_alias=AliasChoices(*_OTHER_VALUES))
    reference_ranges: list[ReferenceRange] = Field(default=[], alias="referenceRange")

    @property
    def has_value(self) -> bool:
        if self.quantity is not None and self.quantity.value is not None:
            return True
        return any(value is not None for value in (self.whole, self.truth, self.text, self.concept, self.other))

    @property
    def count(self) -> float | None:
        """A number without a unit."""
        return self.whole if self.truth is None else int(self.truth)


class Observation(Measured):
    """A measurement of a person at a time."""

    id: str | None = None
    status: str
    meta: Meta | None = None
    subject: Reference | None = None
    focus: list[Reference] = []
    date_time: str | None = Field(default=None, alias="effectiveDateTime")
    instant: str | None = Field(default=None, alias="effectiveInstant")
    period: Period | None = Field(default=None, alias="effectivePeriod")
    issued: str | None = None
    component: list[Measured] = []

    @property
    def effective(self) -> str | None:
        """When it holds, as it is written; of a period the end."""
        period = None if self.period is None else self.period.end or self.period.start
        return self.date_time or self.instant or period or self.issued


class Patient(Modifiable):
    """The person."""

    id: str | None = None
    birth_date: str | None = Field(default=None, alias="birthDate")
    gender: Literal["male", "female", "other", "unknown"] | None = None


class Entry(Modifiable):
    """One resource of a Bundle."""

    full_url: str | None = Field(default=None, alias="fullUrl")
    resource: dict[str, Any] | None = None


class Bundle(Modifiable):
    """Several resources together."""

    resource_type: Literal["Bundle"] = Field(alias="resourceType")
    type: Any = None
    entry: list[Entry] = []
