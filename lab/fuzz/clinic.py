"""What a clinic would send, and what it would not: Bundles and hooks with places changed, and tokens that are none."""

import json
from random import Random
from typing import Any

from lab.fuzz.bodies import changed_bytes, changed_structure

LOINC, UCUM = "http://loinc.org", "http://unitsofmeasure.org"
CODES = {
    "1751-7": "g/L", "6768-6": "U/L", "1742-6": "U/L", "1920-8": "U/L", "1975-2": "mg/dL", "2098-2": "kU/L",
    "14647-2": "mmol/L", "14682-9": "umol/L", "2324-2": "U/L", "2885-2": "g/L",
}  # fmt: skip
# What may stand anywhere in a resource.
NAMES = (
    "resourceType", "entry", "resource", "code", "coding", "valueQuantity", "referenceRange", "component", "subject",
    "effectiveDateTime", "Observation", "Patient", "Bundle", "final", "1742-6", "2024-11-18", "U/L", "a",
    "10*999999999", "1e-999999999", "../../etc/passwd",
)  # fmt: skip
TOKENS = (
    "",
    "Bearer",
    "Bearer x",
    "Bearer a.b.c",
    "Bearer eyJhbGciOiJub25lIn0.e30.",
    "Basic eA==",
    "Bearer " + "a" * 4_000,
)
# What may stand in a prefetch in place of an entry.
ENTRIES = (
    None, 7, "x", [], [[]], {}, {"resource": None}, {"resource": [1]}, {"resource": {}}, {"fullUrl": 7},
    {"resource": {"resourceType": "Observation"}}, {"resource": {"resourceType": ["Patient"]}},
    {"resource": {"resourceType": "Observation", "code": {"coding": [None]}, "component": [7]}},
    {"resource": {"resourceType": "Patient", "id": "p"}, "modifierExtension": {}, "implicitRules": []},
)  # fmt: skip


def clinical(rng: Random) -> tuple[str, tuple[tuple[str, str], ...], bytes]:
    """A path, headers and a body."""
    bundle = _bundle(rng)
    if rng.random() < 0.6:
        work = rng.choice(("counterfactuals", "reasons", "subsets"))
        accept = rng.choice(("*/*", "application/json", "application/fhir+json"))
        headers = (("accept", accept), ("content-type", "application/fhir+json"))
        return f"/v1/models/{rng.choice(('hcv', 'hcv', 'mortgage'))}/{work}", headers, _changed(rng, bundle)
    headers = (("authorization", rng.choice(TOKENS)), ("content-type", "application/json"))
    path = rng.choice(("hcv", "hcv", "hcv@2", "mortgage", "hcv/feedback", "x"))
    hook = _hook(bundle)
    if rng.random() < 0.3:
        return f"/cds-services/{path}", headers, json.dumps(_with_odd_entries(rng, hook)).encode()
    return f"/cds-services/{path}", headers, _changed(rng, hook)


def _changed(rng: Random, body: dict[str, Any]) -> bytes:
    if rng.random() < 0.2:
        return json.dumps(body).encode()
    return changed_bytes(rng, body) if rng.random() < 0.2 else changed_structure(rng, body, NAMES)


def _bundle(rng: Random) -> dict[str, Any]:
    person = {"resourceType": "Patient", "id": "p", "gender": "female", "birthDate": "1980-02-29"}
    entries = [{"resource": person}, *({"resource": _observation(rng, code, unit)} for code, unit in CODES.items())]
    return {"resourceType": "Bundle", "type": "collection", "entry": entries}


def _observation(rng: Random, code: str, unit: str) -> dict[str, Any]:
    quantity = {"value": round(rng.uniform(1, 120), 1), "system": UCUM, "code": unit}
    return {
        "resourceType": "Observation",
        "id": code,
        "status": "final",
        "code": {"coding": [{"system": LOINC, "code": code}]},
        "subject": {"reference": "Patient/p"},
        "effectiveDateTime": "2024-11-18T09:30:00Z",
        "valueQuantity": quantity,
        "referenceRange": [{"low": {"value": 1}, "high": {"value": 60}}] if rng.random() < 0.3 else [],
    }


def _hook(bundle: dict[str, Any]) -> dict[str, Any]:
    person, *observations = bundle["entry"]
    sent = {"patient": person["resource"], "observations": {**bundle, "entry": observations}}
    context = {"userId": "Practitioner/u", "patientId": "p"}
    return {"hook": "patient-view", "hookInstance": "h", "context": context, "prefetch": sent}


def _with_odd_entries(rng: Random, hook: dict[str, Any]) -> dict[str, Any]:
    prefetch = hook["prefetch"]
    entries = prefetch["observations"]["entry"]
    for _ in range(rng.randint(1, 3)):
        entries.insert(rng.randrange(len(entries) + 1), rng.choice(ENTRIES))
    if rng.random() < 0.1:
        prefetch[rng.choice(list(prefetch))] = rng.choice(ENTRIES)
    return hook
