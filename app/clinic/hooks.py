"""Requests of CDS Hooks 2.0, and what a service tells of itself."""

import re
from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from app.adapters.codes import loinc
from app.adapters.graphs.models import Model
from app.adapters.locales.language import IN_ENGLISH, Language
from app.asking.parsing import check_body
from app.asking.refusals import DataMissing, FieldError, InvalidRequest
from app.clinic.people import UNKNOWN_MEANING
from app.clinic.resources import Bundle, Element

HOOK = "patient-view"
# More Observations than this are not read for one card.
MOST_OBSERVATIONS = 200
_PLACE = re.compile(r"\bentry\[(\d+)\](?:\.resource)?")


class Context(Element):
    """Whose chart is open."""

    patient_id: str = Field(alias="patientId", min_length=1)


class HookRequest(Element):
    """What a client sends when a chart is opened. Where to fetch more, and with what right, is passed over."""

    hook: Literal["patient-view"]
    hook_instance: str = Field(alias="hookInstance", min_length=1)
    context: Context
    prefetch: dict[str, Any] | None = None


class CardFeedback(Element):
    """What became of a card."""

    card: UUID
    outcome: Literal["accepted", "overridden"]


class FeedbackRequest(Element):
    """What became of several."""

    feedback: list[CardFeedback] = Field(min_length=1, max_length=100)


def is_offered(model: Model) -> bool:
    """Whether every feature that the model needs has a code."""
    return any(feature.loinc for feature in model.features) and all(
        feature.loinc or feature.may_be_missing or feature.derived for feature in model.features
    )


def service_of(model: Model, language: Language = IN_ENGLISH) -> dict[str, Any]:
    """A model as a service, with what it wants to be sent beforehand."""
    codes = ",".join(f"{loinc.SYSTEM}|{code}" for feature in model.features for code in feature.loinc)
    return {
        "hook": HOOK,
        "id": model.name,
        "title": language.title(model),
        "description": language.messages.service.format(title=language.title(model)),
        "prefetch": {
            "patient": "Patient/{{context.patientId}}",
            "observations": "Observation?patient={{context.patientId}}"
            f"&code={codes}&_sort=-date&_count={MOST_OBSERVATIONS}",
        },
        "usageRequirements": "Needs its prefetch: Flipset asks no FHIR server.",
    }


def prefetched(request: HookRequest) -> Bundle:
    """The prefetched Bundle, the Patient first; `DataMissing` if there is none."""
    sent = request.prefetch or {}
    lacking = [name for name in ("patient", "observations") if not isinstance(sent.get(name), dict)]
    if lacking:
        raise DataMissing(
            [FieldError(f"prefetch.{name}", "is missing; Flipset asks no FHIR server") for name in lacking]
        )
    patient, observations = sent["patient"], sent["observations"]
    if patient.get("resourceType") != "Patient" or patient.get("id") != request.context.patient_id:
        raise InvalidRequest([FieldError("prefetch.patient", "must be the Patient of context.patientId")])
    entries = observations.get("entry", [])
    if observations.get("resourceType") != "Bundle" or not isinstance(entries, list):
        raise InvalidRequest([FieldError("prefetch.observations", "must be a Bundle")])
    if "implicitRules" in observations:
        raise InvalidRequest([FieldError("prefetch.observations.implicitRules", UNKNOWN_MEANING)])
    return check_body({"resourceType": "Bundle", "entry": [{"resource": patient}, *entries]}, Bundle)


def in_prefetch(text: str) -> str:
    """The places of that Bundle, as the client knows them."""
    return _PLACE.sub(_sent_at, text)


def _sent_at(place: re.Match[str]) -> str:
    index = int(place[1])
    rest = place[0].partition("]")[2]
    return "prefetch.patient" if index == 0 else f"prefetch.observations.entry[{index - 1}]{rest}"
