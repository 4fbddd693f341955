"""An answer as a RiskAssessment of FHIR R4: what the model says, and what it would say of other values."""

from typing import Any

from app import __version__
from app.adapters.graphs.models import Model
from app.adapters.locales.language import IN_ENGLISH, Language
from app.adapters.locales.messages import Messages
from app.clinic.people import Person
from app.clinic.plans import Plans, findings
from app.clinic.reading import FromBundle
from app.core.favourable import FavourableClasses
from app.writing.variations import Variations

# A resource that holds more would be read by nobody.
MOST_PLANS = 100


def risk_assessment(plans: Plans, bundle: FromBundle | None, language: Language = IN_ENGLISH) -> dict[str, Any]:
    """The resource. The first prediction is of the values as measured, each other of one plan."""
    model, messages = plans.question.model, language.messages
    person = Person() if bundle is None else bundle.person
    about = {} if bundle is None else _from_bundle(bundle)
    subject = {"display": messages.person} if person.reference is None else {"reference": person.reference}
    return {
        "resourceType": "RiskAssessment",
        **({} if language is IN_ENGLISH else {"language": language.tag}),
        "status": "final",
        "method": {"text": f"Flipset {__version__}, model {model.name} {model.version}{_digest(model)}"},
        "code": {"text": language.title(model)},
        "subject": subject,
        **about,
        "prediction": [_as_measured(plans, language), *_with_other_values(plans, language)],
        "note": [{"text": text} for text in (*findings(plans, language), *_listed(plans, messages), messages.no_cause)],
    }


def _digest(model: Model) -> str:
    """None of a model that lives elsewhere: nobody here has seen it."""
    return "" if model.sha256 is None else f", sha256 {model.sha256}"


def _from_bundle(bundle: FromBundle) -> dict[str, Any]:
    basis = dict.fromkeys(source.observation for source in bundle.sources if source.observation is not None)
    time = {} if bundle.effective is None else {"occurrenceDateTime": bundle.effective}
    return {**time, **({"basis": [{"reference": name} for name in basis]} if basis else {})}


def _as_measured(plans: Plans, language: Language) -> dict[str, Any]:
    return _prediction(plans, plans.prediction.score[0], language.messages.as_measured, language)


def _with_other_values(plans: Plans, language: Language) -> list[dict[str, Any]]:
    speaking, template = Variations(plans.question, language), language.messages.with_values
    return [
        _prediction(plans, found.score, template.format(values=speaking.values(found)), language)
        for found in plans.first
    ]


def _prediction(plans: Plans, score: Any, rationale: str, language: Language) -> dict[str, Any]:
    """The favourable outcome; its score is a probability only where the model says so."""
    likely = {"probabilityDecimal": float(str(score))} if plans.question.model.probabilities else {}
    return {"outcome": {"text": _favourable(plans, language)}, **likely, "rationale": rationale}


def _favourable(plans: Plans, language: Language) -> str:
    favourable = plans.question.favourable
    if isinstance(favourable, FavourableClasses):
        labels = [language.label(plans.question.model, place) for place in favourable.classes]
        return language.messages.either.join(labels)
    return language.messages.favourable_value


def _listed(plans: Plans, messages: Messages) -> list[str]:
    return [messages.first_listed.format(count=MOST_PLANS)] if plans.summary.count > MOST_PLANS else []
