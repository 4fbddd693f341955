"""Bundles get the answer of the plain request that they amount to, or a refusal that names the Observation."""

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fhir.resources.R4B.bundle import Bundle as PublishedBundle
from fhir.resources.R4B.riskassessment import RiskAssessment

from app.adapters.catalog import load_catalog
from app.answering.service import Service
from app.api.problems import problem
from app.asking.callers import ANYONE
from app.asking.parsing import read_body
from app.asking.refusals import InvalidRequest
from app.asking.schemas import CounterfactualsRequest
from app.clinic.assessments import risk_assessment
from app.clinic.people import PAST, UNKNOWN_MEANING
from app.clinic.plans import first_plans
from app.clinic.reading import FromBundle, read_bundle
from app.clinic.resources import Bundle
from app.core.turns import run_through
from app.settings import Settings
from app.writing.forms import JsonLines
from app.writing.lines import Presenter
from tests.support.bundles import GENDER, UCUM, Made, made_bundle
from tests.support.live_server import ROOT
from tests.support.scale import scaled
from tests.support.seeds import Seeds


@pytest.fixture(scope="module")
def service() -> Service:
    settings = Settings(models_dir=ROOT / "models", normal_ranges_dir=ROOT / "normal_ranges")
    return Service(settings, load_catalog(settings.models_dir, settings.normal_ranges_dir))


def read(service: Service, bundle: dict[str, Any]) -> FromBundle:
    return read_bundle(read_body(json.dumps(bundle).encode(), Bundle), service.model("hcv"), ANYONE)


def refused(service: Service, bundle: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(InvalidRequest) as error:
        read(service, bundle)
    return {each.field: each.message for each in error.value.errors}


def lines(service: Service, request: CounterfactualsRequest) -> list[Any]:
    """The answer line by line, without its times."""
    with service.answering(request, service.model("hcv")) as answer:
        presenter = Presenter(answer.question, JsonLines(), problem)
        told = [json.loads(text) for event in answer.events() if (text := presenter.text(event))]
    for line in told:
        line.pop("elapsed_ms", None)
    return told


def test_a_bundle_gets_the_answer_of_the_plain_request_or_a_refusal_by_name(service: Service):
    answered = 0
    for seed in Seeds(scaled(60), first=25_000_000):
        made = made_bundle(seed)
        if made.refused is not None:
            assert any(place.startswith(f"{made.refused}.") for place in refused(service, made.bundle))
            continue
        answered += 1
        found = read(service, made.bundle)
        plain = read_body(json.dumps(made.request).encode(), CounterfactualsRequest)
        assert dict(found.request.instance) == dict(plain.instance)
        assert dict(found.request.context) == dict(plain.context)
        assert lines(service, found.request) == lines(service, plain)
        own = {source.feature for source in found.sources if source.range == "observation"}
        assert own == set(made.request["normal_ranges"])
    assert answered > scaled(30)


def test_what_is_made_is_a_bundle_to_others_too(service: Service):
    for seed in Seeds(scaled(10), first=25_000_000):
        made = made_bundle(seed)
        # Not all that the standard asks of other resources is filled in.
        made.entries = [entry for entry in made.entries if entry["resource"]["resourceType"] != "Condition"]
        PublishedBundle.model_validate(made.bundle)


def test_an_assessment_is_a_resource_to_others_too(service: Service):
    outcomes = set()
    for seed in Seeds(scaled(20), first=25_100_000):
        made = made_bundle(seed)
        if made.refused is not None:
            continue
        found = read(service, made.bundle)
        with service.answering(found.request, service.model("hcv")) as answer:
            plans = run_through(first_plans(answer, 100))
        resource = risk_assessment(plans, found)
        RiskAssessment.model_validate(resource)
        assert "[]" not in json.dumps(resource)
        assert "null" not in json.dumps(resource)
        assert len(resource["prediction"]) == 1 + plans.summary.count
        assert not any("cause" in note["text"] for note in resource["note"])
        outcomes.add(plans.summary.outcome)
    assert "found" in outcomes


def plain(**changes: Any) -> Made:
    """A Bundle that would be answered; `changes` are made to the Observation of ALT."""
    made = made_bundle(25, simple=True)
    alt(made).update(changes)
    return made


def alt(made: Made) -> dict[str, Any]:
    return next(
        entry["resource"]
        for entry in made.entries
        if any(code["code"] == "1742-6" for code in entry["resource"].get("code", {}).get("coding", ()))
    )


def place_of_alt(made: Made) -> str:
    return f"entry[{next(i for i, entry in enumerate(made.entries) if entry['resource'] is alt(made))}].resource"


def of_alt(value: Any, **unit: str) -> dict[str, Any]:
    return {"valueQuantity": {"value": value, "system": UCUM, **unit}}


NO_TIME = "has a time that is none; write it like 2026-11-18T09:30:00Z or 2026-11-18"
NO_QUANTITY = "(ALT) must have a valueQuantity"
QUANTITY = ".valueQuantity"
UNUSABLE: list[tuple[dict[str, Any], str, str]] = [
    (
        of_alt(5, code="U/L", comparator="<"),
        f"{QUANTITY}.comparator",
        "(ALT) tells a bound and no value; send a measured value",
    ),
    (of_alt(5, code="mg/dL"), QUANTITY, "(ALT) is in mg/dL, which cannot be converted to U/L"),
    (of_alt(5, code="ell"), QUANTITY, "(ALT) is in ell, which is not a unit that Flipset knows; send U/L"),
    (of_alt(5), QUANTITY, "(ALT) must give its unit in UCUM, as system and code; the model wants U/L"),
    (of_alt("5", code="U/L"), f"{QUANTITY}.value", "must be a number, not text: send it without quotes"),
    (
        {"subject": {"reference": "Patient/someone-else"}},
        ".subject",
        "is not the Patient of this Bundle; send a Bundle about one person",
    ),
    ({"effectiveDateTime": "yesterday"}, "", NO_TIME),
    ({"effectiveDateTime": "2024-11-01T08:00:00"}, "", NO_TIME),
    ({"status": None}, ".status", "must be text"),
    (
        {"referenceRange": [{"low": {"value": 9}, "high": {"value": 3}}]},
        ".referenceRange[0]",
        "(ALT) low is above high",
    ),
    (
        {"referenceRange": [{"high": {"value": 40, "comparator": "<"}}]},
        ".referenceRange[0]",
        "(ALT) has a range that ends with a comparator; give the number where it ends",
    ),
    # A number without a unit is no activity, and true is no number of units.
    ({"valueQuantity": None, "valueInteger": 42}, "", NO_QUANTITY),
    ({"valueQuantity": None, "valueBoolean": True}, "", NO_QUANTITY),
    ({"valueQuantity": None, "valueRange": {"low": {"value": 3}}}, "", NO_QUANTITY),
    ({"modifierExtension": [{"url": "http://example.org/absent"}]}, ".modifierExtension", UNKNOWN_MEANING),
    (
        {"component": [{"code": {}, "modifierExtension": [{"url": "http://example.org/absent"}]}]},
        ".component[0].modifierExtension",
        UNKNOWN_MEANING,
    ),
    ({"implicitRules": "http://example.org/rules"}, ".implicitRules", UNKNOWN_MEANING),
    (
        {"referenceRange": [{"low": {"value": 9}, "modifierExtension": [{"url": "http://example.org/absent"}]}]},
        ".referenceRange[0].modifierExtension",
        UNKNOWN_MEANING,
    ),
    (of_alt(-5, code="U/L"), "", "(ALT) is negative, and no range of it reaches below zero"),
    (
        {**of_alt(-5, code="U/L"), "referenceRange": [{"high": {"value": 3}}]},
        "",
        "(ALT) is negative, and no range of it reaches below zero",
    ),
    (
        {"focus": [{"reference": "Patient/unborn"}]},
        ".focus",
        "is not the subject; send Observations that are about the Patient",
    ),
    (
        {"subject": {"identifier": {"value": "4711"}, "display": "somebody"}},
        ".subject",
        "has no reference, so nobody can tell who it is; point at the Patient",
    ),
    ({"effectiveDateTime": "\u0662\u0660\u0662\u0666-11-01"}, "", NO_TIME),
]


@pytest.mark.parametrize(("changes", "field", "message"), UNUSABLE)
def test_an_observation_that_cannot_be_used_is_named(
    service: Service, changes: dict[str, Any], field: str, message: str
):
    made = plain(**changes)
    assert refused(service, made.bundle) == {f"{place_of_alt(made)}{field}": message}


WHAT_CHANGES = {
    "modifierExtension": [{"url": "http://example.org/absent"}],
    "implicitRules": "http://example.org/rules",
}


@pytest.mark.parametrize("name", WHAT_CHANGES)
def test_what_changes_the_meaning_of_the_rest_is_refused_wherever_it_is_read(service: Service, name: str):
    made, changed = plain(), {name: WHAT_CHANGES[name]}
    bundle = made.bundle
    patient = next(i for i, entry in enumerate(made.entries) if entry["resource"]["resourceType"] == "Patient")
    made.entries[patient]["resource"].update(changed)
    assert refused(service, bundle) == {f"entry[{patient}].resource.{name}": UNKNOWN_MEANING}
    del made.entries[patient]["resource"][name]
    assert refused(service, {**bundle, **changed}) == {name: UNKNOWN_MEANING}
    for place in (f"entry[{patient}]", place_of_alt(made).removesuffix(".resource")):
        entry = made.entries[int(place[6:-1])]
        entry.update(changed)
        assert refused(service, bundle) == {f"{place}.{name}": UNKNOWN_MEANING}
        del entry[name]
    # Of what is not read, nothing is.
    made.entries.append({"resource": {"resourceType": "Condition", **changed}, **changed})
    assert read(service, bundle)


def test_a_history_is_refused(service: Service):
    """Its entries also tell what was deleted since."""
    bundle = {**plain().bundle, "type": "history"}
    bundle["entry"].append({"request": {"method": "DELETE", "url": "Observation/alt"}})
    assert refused(service, bundle) == {"type": PAST}


def test_nothing_is_measured_in_the_future(service: Service):
    def dated(**ahead: int) -> Made:
        return plain(effectiveDateTime=(datetime.now(UTC) + timedelta(**ahead)).isoformat(timespec="seconds"))

    assert read(service, dated(minutes=1).bundle)
    for made in (dated(minutes=30), dated(days=400)):
        (message,) = refused(service, made.bundle).values()
        assert "still to come" in message
    # Where the sun rises first, it may be tomorrow already; the day after is not.
    for days, may_be in ((0, True), (2, False)):
        day = (datetime.now(UTC) + timedelta(days=days)).date().isoformat()
        made = plain(effectiveDateTime=day)
        assert read(service, made.bundle) if may_be else refused(service, made.bundle)
    # What has no value is passed over, as ever.
    planned = plain()
    planned.entries.append({"resource": {**alt(dated(days=9)), "valueQuantity": None}})
    assert read(service, planned.bundle)


def test_what_may_be_negative_may_be_so_with_a_range_that_says_it(service: Service):
    made = plain(**of_alt(-1, code="U/L"), referenceRange=[{"low": {"value": -2}, "high": {"value": 3}}])
    assert read(service, made.bundle).request.instance["ALT"] == -1


def test_a_missing_code_is_named(service: Service):
    made = plain(status="entered-in-error")
    reason = "is missing: the Bundle has no valid Observation with a value and the LOINC code 1742-6"
    assert refused(service, made.bundle) == {"instance.ALT": reason}


def test_two_values_of_the_same_time_cannot_be_told_apart(service: Service):
    made = plain()
    made.entries.append({"resource": {**alt(made), "valueQuantity": {"value": 1, "code": "U/L", "system": UCUM}}})
    (message,) = refused(service, made.bundle).values()
    assert "which has the same time" in message


@pytest.mark.parametrize("time", ["2024", "2024-11", "2024-11-01"])
def test_a_day_a_month_or_a_year_is_not_put_before_or_behind_a_time_in_it(service: Service, time: str):
    made = plain()
    other = {**alt(made), "effectiveDateTime": time, "valueQuantity": {"value": 1, "code": "U/L", "system": UCUM}}
    made.entries.append({"resource": other})
    reason = f"(ALT) may be earlier or later than {place_of_alt(made)}, and differs"
    told = refused(service, made.bundle)
    assert told == {f"entry[{len(made.entries) - 1}].resource": f"{reason}; say when more exactly, or leave one out"}
    made.entries[-1]["resource"] = {**alt(made), "effectiveDateTime": time}
    assert read(service, made.bundle)


def test_a_day_is_not_put_before_the_evening_before_it_by_the_clock_of_that_place(service: Service):
    """20:00 in New York is 01:00 of the next day in UTC, which a day has no share in."""
    made = plain(effectiveDateTime="2024-11-01")
    evening, midnight = "2024-10-31T20:00:00-05:00", "2024-11-02T00:30:00+02:00"
    other = {**alt(made), "id": "other", "valueQuantity": {"value": 1, "code": "U/L", "system": UCUM}}
    made.entries.append({"resource": {**other, "effectiveDateTime": evening}})
    assert list(refused(service, made.bundle)) == [place_of_alt(made)]
    made.entries[-1]["resource"]["effectiveDateTime"] = midnight
    assert read(service, made.bundle).request.instance["ALT"] == 1


def versions(made: Made, **changes: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The Observation of ALT, and a later version of it with these changes, which stands before it."""
    alt(made)["meta"] = {"lastUpdated": "2024-11-02T00:00:00Z"}
    earlier = alt(made)
    later = {**earlier, "meta": {"lastUpdated": "2024-11-02T00:00:01Z"}, **changes}
    made.entries.insert(0, {"resource": later})
    return earlier, later


@pytest.mark.parametrize("changes", [{}, {"code": {"text": "taken back"}, "valueQuantity": None}])
def test_a_version_that_is_withdrawn_takes_the_earlier_ones_along(service: Service, changes: dict[str, Any]):
    made = plain(**of_alt(60, code="U/L"))
    earlier, later = versions(made, status="entered-in-error", **changes)
    assert list(refused(service, made.bundle)) == ["instance.ALT"]
    later["status"] = "unknown"
    assert list(refused(service, made.bundle)) == ["instance.ALT"]
    # What was put right afterwards holds.
    earlier["meta"]["lastUpdated"] = "2024-11-02T00:00:02Z"
    assert read(service, made.bundle).request.instance["ALT"] == 60


def test_of_two_versions_the_later_one_holds_even_if_it_puts_the_time_back(service: Service):
    made = plain()
    _, later = versions(made, effectiveDateTime="2024-10-01", **of_alt(1, code="U/L"))
    assert read(service, made.bundle).request.instance["ALT"] == 1
    # Another Observation may be updated later than that, and still be older.
    made.entries[0]["resource"] = {**later, "id": "other"}
    assert read(service, made.bundle).request.instance["ALT"] != 1


@pytest.mark.parametrize("updated", [None, "2024-11-02T00:00:00Z", "yesterday"])
def test_a_withdrawn_version_that_nobody_can_order_is_named(service: Service, updated: str | None):
    made = plain()
    _, later = versions(made, status="entered-in-error")
    later["meta"] = {"lastUpdated": updated}
    (message,) = refused(service, made.bundle).values()
    assert message.startswith("is there in another version too")
    # Versions of what the model does not read are nobody's business here.
    later.update(code={"text": "a pulse"}, id="pulse")
    made.entries.append({"resource": {**later, "status": "final"}})
    assert read(service, made.bundle)


def test_nobody_has_an_age_in_a_month(service: Service):
    made = plain()
    for entry in made.entries:
        if entry["resource"]["resourceType"] == "Observation":
            entry["resource"]["effectiveDateTime"] = "2024-06"
    assert set(read(service, made.bundle).request.context) == {"sex"}


def test_a_patient_without_a_name_cannot_be_the_one_of_the_observations(service: Service):
    made = plain()
    patient = next(entry["resource"] for entry in made.entries if entry["resource"]["resourceType"] == "Patient")
    del patient["id"]
    assert place_of_alt(made) + ".subject" in refused(service, made.bundle)


def test_a_second_patient_is_refused(service: Service):
    made = plain()
    made.entries.append({"resource": {"resourceType": "Patient", "id": "other"}})
    (message,) = refused(service, made.bundle).values()
    assert message == "is a second Patient; send a Bundle about one person"


def test_the_same_patient_may_be_there_twice(service: Service):
    made = plain()
    patient = next(entry["resource"] for entry in made.entries if entry["resource"]["resourceType"] == "Patient")
    address = f"https://ehr.example.org/fhir/Patient/{patient['id']}"
    made.entries.append({"fullUrl": address, "resource": dict(patient)})
    alt(made)["subject"] = {"reference": address}
    assert read(service, made.bundle).person.reference == f"Patient/{patient['id']}"
    # The same id elsewhere, other facts, or no name at all: it may be somebody else.
    elsewhere = {"fullUrl": "https://other.example.org/Patient/1", "resource": dict(patient)}
    older, unnamed = {"resource": {**patient, "birthDate": "1901"}}, {"resource": {**patient, "id": None}}
    for other in (elsewhere, older, unnamed):
        (place,) = refused(service, {**made.bundle, "entry": [*made.entries, other]})
        assert place == f"entry[{len(made.entries)}].resource"


@pytest.mark.parametrize(
    ("birth_date", "age"),
    [("1984-11-01", 40), ("1984-11-02", 39), ("1984", None), ("1984-12", 39), ("1984-11", None), ("2030-01-01", None)],
)
def test_the_age_is_that_at_the_observation(service: Service, birth_date: str, age: int | None):
    made = plain()
    patient = next(entry["resource"] for entry in made.entries if entry["resource"]["resourceType"] == "Patient")
    patient["birthDate"] = birth_date
    assert read(service, made.bundle).request.context.get("age") == age


def test_absolute_references_and_full_urls_mean_the_same_patient(service: Service):
    made = plain()
    patient = next(entry for entry in made.entries if entry["resource"]["resourceType"] == "Patient")
    patient["fullUrl"] = "urn:uuid:0c3151bd-1cbf-4d64-b04d-cd9187a4c6e0"
    for reference in (
        patient["fullUrl"],
        f"https://ehr.example.org/fhir/Patient/{patient['resource']['id']}/_history/2",
    ):
        alt(made)["subject"] = {"reference": reference}
        read(service, made.bundle)


def test_the_same_id_on_another_server_is_somebody_else(service: Service):
    made = plain()
    patient = next(entry for entry in made.entries if entry["resource"]["resourceType"] == "Patient")
    name = f"fhir/Patient/{patient['resource']['id']}"
    patient["fullUrl"] = f"https://ehr.example.org/{name}"
    alt(made)["subject"] = {"reference": f"https://ehr.example.org/{name}/_history/2"}
    assert read(service, made.bundle)
    alt(made)["subject"] = {"reference": f"https://other.example.org/{name}"}
    assert list(refused(service, made.bundle)) == [f"{place_of_alt(made)}.subject"]


def test_a_fixed_range_is_not_replaced(service: Service):
    """What a model's policy fixes stays; an Observation does not lift it."""
    model = service.model("hcv")
    policy = model.model.policy.model_copy(update={"normal_ranges": "fixed"})
    object.__setattr__(model.model, "policy", policy)
    own = [{"low": {"value": 3}, "high": {"value": 9}, "appliesTo": [{"coding": [{"system": GENDER, "code": "male"}]}]}]
    try:
        found = read(service, plain(referenceRange=[*own, {"high": {"value": 9}}]).bundle)
        assert not found.request.normal_ranges
        assert {source.range for source in found.sources} == {"registry"}
    finally:
        object.__setattr__(model.model, "policy", model.model.policy.model_copy(update={"normal_ranges": "free"}))


def test_references_in_a_circle_are_followed_by_nobody(service: Service):
    made = plain()
    expected = read(service, made.bundle).request
    itself = [{"reference": f"Observation/{alt(made).setdefault('id', 'alt')}"}]
    alt(made).update(hasMember=itself, derivedFrom=itself, contained=[{**alt(made)}])
    assert read(service, made.bundle).request == expected


HOSTILE: list[Callable[[dict[str, Any]], Any]] = [
    lambda bundle: {**bundle, "entry": [{"resource": bundle}] * 3},
    lambda bundle: {**bundle, "entry": [None]},
    lambda bundle: {**bundle, "entry": {"a": 1}},
    lambda bundle: {**bundle, "entry": [{"resource": [1]}]},
    lambda bundle: {**bundle, "resourceType": "Patient"},
    lambda bundle: {**bundle, "entry": [{"resource": {"resourceType": "Observation", "code": {"coding": 7}}}]},
    lambda bundle: {**bundle, "entry": [{"resource": {"resourceType": "Patient", "gender": "m"}}]},
    lambda bundle: {**bundle, "entry": [{"resource": {"resourceType": "Patient", "birthDate": "0000-00-00"}}]},
]


@pytest.mark.parametrize("spoil", HOSTILE)
def test_no_bundle_is_more_than_refused(service: Service, spoil: Callable[[dict[str, Any]], Any]):
    assert refused(service, spoil(plain().bundle))


def test_numbers_that_would_fill_the_memory_are_read_as_they_are_rounded(service: Service):
    made = plain(valueQuantity={"value": 12345678, "code": "ukat/L", "system": UCUM})
    text = json.dumps(made.bundle)
    for number in ("1e-999999999", "0." + "1" * 100_000):
        bundle = read_body(text.replace("12345678", number).encode(), Bundle)
        began = time.process_time()
        read_bundle(bundle, service.model("hcv"), ANYONE)
        assert time.process_time() - began < 60


def test_an_assessment_names_no_digest_of_a_model_that_lives_elsewhere(service: Service):
    request = CounterfactualsRequest.model_validate(made_bundle(25_100_000).request)
    with service.answering(request, service.model("hcv")) as answer:
        plans = run_through(first_plans(answer, 1))
    model = plans.question.model
    assert f", sha256 {model.sha256}" in risk_assessment(plans, None)["method"]["text"]
    digest = model.sha256
    object.__setattr__(model, "sha256", None)
    try:
        assert risk_assessment(plans, None)["method"]["text"].endswith(f"model hcv {model.version}")
    finally:
        object.__setattr__(model, "sha256", digest)


def test_an_answer_of_a_plain_request_points_at_nobody(service: Service):
    request = CounterfactualsRequest.model_validate(made_bundle(25_100_000).request)
    with service.answering(request, service.model("hcv")) as answer:
        resource = risk_assessment(run_through(first_plans(answer, 1)), None)
    RiskAssessment.model_validate(resource)
    assert resource["subject"] == {"display": "the person of the request"}
    assert "basis" not in resource
