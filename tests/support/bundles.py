"""Bundles made from requests that are known: other units, panels, several dates, amendments, ranges, duplicates.

The arithmetic is written out here once more, so that the two can be held against each other.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

LOINC, UCUM = "http://loinc.org", "http://unitsofmeasure.org"
MEANING = "http://terminology.hl7.org/CodeSystem/referencerange-meaning"
GENDER = "http://hl7.org/fhir/administrative-gender"
# For each feature its codes; and units with what a number in them is multiplied by.
CODES = {
    "ALB": ("1751-7",), "ALP": ("6768-6",), "ALT": ("1742-6",), "AST": ("1920-8",), "BIL": ("14631-6", "1975-2"),
    "CHE": ("2098-2",), "CHOL": ("14647-2", "2093-3"), "CREA": ("14682-9", "2160-0"), "GGT": ("2324-2",),
    "PROT": ("2885-2",),
}  # fmt: skip
_ACTIVITY = {"U/L": Fraction(1), "ukat/L": Fraction(60), "nkat/L": Fraction("0.06"), "kU/L": Fraction(1000)}
_MASS = {"g/L": Fraction(1), "g/dL": Fraction(10), "mg/dL": Fraction("0.01")}
UNITS = {
    **dict.fromkeys(("ALP", "ALT", "AST", "GGT"), _ACTIVITY),
    **dict.fromkeys(("ALB", "PROT"), _MASS),
    "BIL": {"umol/L": Fraction(1), "mmol/L": Fraction(1000), "mg/dL": Fraction(10_000) / Fraction("584.66")},
    "CHE": {"kU/L": Fraction(1), "U/L": Fraction("0.001"), "U/mL": Fraction(1)},
    "CHOL": {"mmol/L": Fraction(1), "umol/L": Fraction("0.001"), "mg/dL": Fraction(10) / Fraction("386.65")},
    "CREA": {"umol/L": Fraction(1), "mmol/L": Fraction(1000), "mg/dL": Fraction(10_000) / Fraction("113.12")},
}
USUAL = {
    "ALB": 40, "ALP": 80, "ALT": 60, "AST": 60, "BIL": 20, "CHE": 8, "CHOL": 5, "CREA": 80, "GGT": 60, "PROT": 72,
}  # fmt: skip


@dataclass
class Made:
    """A Bundle, and the plain request that it amounts to; or the place of the Observation that must be refused."""

    entries: list[dict[str, Any]] = field(default_factory=list)
    request: dict[str, Any] = field(default_factory=lambda: {"instance": {}, "context": {}, "normal_ranges": {}})
    refused: str | None = None

    @property
    def bundle(self) -> dict[str, Any]:
        return {"resourceType": "Bundle", "type": "collection", "entry": self.entries}


def decimal(rng: np.random.Generator, around: Fraction) -> tuple[float, Fraction]:
    """A number with few digits, not far from another, and what it is exactly."""
    number = float(f"{float(around) * rng.uniform(0.3, 2.5):.4g}")
    return number, Fraction(repr(number))


def shortest(number: Fraction) -> float:
    """The nearest number, which JSON writes without a point where it is whole."""
    nearest = float(number)
    return int(nearest) if nearest.is_integer() else nearest


def made_bundle(seed: int, *, simple: bool = False) -> Made:
    rng = np.random.default_rng(seed)
    made = Made()
    year, sex = int(rng.integers(1930, 2006)), str(rng.choice(["male", "female"]))
    patient = {"resourceType": "Patient", "id": f"p{seed}", "gender": sex, "birthDate": f"{year}-06-15"}
    made.request["context"] = {"sex": sex, "age": 2024 - year}
    panel: list[dict[str, Any]] = []
    for feature in CODES:
        measured, unit = _measured(rng, made, feature)
        made.entries.append(_entry(rng, measured, "2024-11-01T08:00:00Z"))
        if not simple:
            _elaborate(rng, made, feature, measured, unit, sex, panel)
    if panel:
        made.entries.append(_entry(rng, {"code": _coded("24325-3"), "component": panel}, "2024-11-01T08:00:00Z"))
    _fill(rng, made, patient)
    return made


def _fill(rng: np.random.Generator, made: Made, patient: dict[str, Any]) -> None:
    """Put the Observations in any order, with the Patient and others that do not matter between them."""
    kept = made.entries[int(made.refused)] if made.refused is not None else None
    others = [
        {"resource": {"resourceType": "Condition", "subject": {"reference": f"Patient/{patient['id']}"}}},
        {"resource": {**_observation(rng, {"code": _coded("8867-4")}, "2024-11-02"), "valueQuantity": {"value": 70}}},
        {"resource": patient},
    ]
    mixed = [*made.entries, *others]
    made.entries = [mixed[place] for place in rng.permutation(len(mixed))]
    for index, entry in enumerate(made.entries):
        resource = entry["resource"]
        if resource["resourceType"] == "Observation":
            resource["subject"] = {"reference": f"Patient/{patient['id']}"}
            resource["id"] = f"o{index}"
    if kept is not None:
        made.refused = f"entry[{next(i for i, entry in enumerate(made.entries) if entry is kept)}].resource"


def _measured(rng: np.random.Generator, made: Made, feature: str) -> tuple[dict[str, Any], str]:
    unit = str(rng.choice(list(UNITS[feature])))
    factor = UNITS[feature][unit]
    number, exactly = decimal(rng, USUAL[feature] / factor)
    made.request["instance"][feature] = number if factor == 1 else shortest(exactly * factor)
    quantity = {"value": number, "system": UCUM, "code": unit}
    return {"code": _coded(str(rng.choice(CODES[feature]))), "valueQuantity": quantity}, unit


def _elaborate(  # all that one feature is made of
    rng: np.random.Generator,
    made: Made,
    feature: str,
    measured: dict[str, Any],
    unit: str,
    sex: str,
    panel: list[dict[str, Any]],
) -> None:
    """Make the last Observation harder to read, or add others beside it."""
    if rng.random() < 0.25:
        _add_range(rng, made, feature, measured, unit, sex)
        made.entries[-1]["resource"].update(measured)
    if rng.random() < 0.2:
        made.entries.pop()
        panel.append(measured)
        return
    kind = int(rng.integers(0, 12))
    old = {**measured, "valueQuantity": {"value": 9999, "system": UCUM, "code": unit}}
    match kind:
        case 0:  # an earlier value
            made.entries.append(_entry(rng, old, "2024-10-31T23:59:59Z"))
        case 1:  # the same time elsewhere on earth, an hour earlier
            made.entries.append(_entry(rng, old, "2024-11-01T08:00:00+01:00"))
        case 2:  # what was entered in error, or is not there yet, however late
            status = str(rng.choice(["entered-in-error", "cancelled", "preliminary", "registered", "unknown"]))
            made.entries.append(_entry(rng, old, "2024-11-09", status))
        case 3:  # an amendment of the same time, updated later
            made.entries[-1]["resource"].update(status="amended", meta={"lastUpdated": "2024-11-03T00:00:00Z"})
            before = _entry(rng, old, "2024-11-01T08:00:00Z")
            before["resource"]["meta"] = {"lastUpdated": "2024-11-02T00:00:00Z"}
            made.entries.append(before)
        case 4:  # a duplicate
            made.entries.append({"resource": dict(made.entries[-1]["resource"])})
        case 5:  # later, but without a value
            absent = {"code": measured["code"], "dataAbsentReason": {"text": "haemolysed"}}
            made.entries.append(_entry(rng, absent, "2024-11-09"))
        case 6 if made.refused is None and rng.random() < 0.1:
            made.entries[-1]["resource"]["valueQuantity"] = {**measured["valueQuantity"], "comparator": "<"}
            made.refused = str(len(made.entries) - 1)
        case 7 if made.refused is None and rng.random() < 0.1:
            made.entries[-1]["resource"]["valueQuantity"] = {"value": 1, "system": UCUM, "code": "[IU]/L"}
            made.refused = str(len(made.entries) - 1)


def _add_range(
    rng: np.random.Generator, made: Made, feature: str, measured: dict[str, Any], unit: str, sex: str
) -> None:
    """The laboratory's own range, after others that are for someone else or mean something else."""
    low, exact_low = decimal(rng, Fraction(USUAL[feature], 2) / UNITS[feature][unit])
    high, exact_high = low * 2, 2 * exact_low
    own: dict[str, Any] = {"high": {"value": high, "system": UCUM, "code": unit}}
    own["low"] = {"value": low} if rng.random() < 0.5 else {"value": low, "system": UCUM, "code": unit}
    if rng.random() < 0.5:
        own["appliesTo"] = [{"coding": [{"system": GENDER, "code": sex}]}]
    if rng.random() < 0.5:
        own["age"] = {"low": {"value": 18, "system": UCUM, "code": "a"}}
    another = "male" if sex == "female" else "female"
    wrong = {"low": {"value": 1}, "high": {"value": 2}}
    others = [
        {**wrong, "appliesTo": [{"coding": [{"system": GENDER, "code": another}]}]},
        {**wrong, "age": {"high": {"value": 17, "system": UCUM, "code": "a"}}},
        {**wrong, "age": {"high": {"value": 30, "system": UCUM, "code": "d"}}},
        {**wrong, "type": {"coding": [{"system": MEANING, "code": "therapeutic"}]}},
        {"text": "as the physician says"},
    ]  # fmt: skip
    before = [others[place] for place in rng.permutation(len(others))[: int(rng.integers(0, 4))]]
    measured["referenceRange"] = [*before, own]
    factor = UNITS[feature][unit]
    ends = {"low": low, "high": high} if factor == 1 else {
        "low": float(exact_low * factor), "high": float(Fraction(repr(high)) * factor)
    }  # fmt: skip
    made.request["normal_ranges"][feature] = ends
    assert Fraction(repr(high)) == exact_high


def _coded(code: str) -> dict[str, Any]:
    return {"coding": [{"system": "http://example.org/local", "code": "x"}, {"system": LOINC, "code": code}]}


def _observation(
    rng: np.random.Generator, measured: dict[str, Any], time: str, status: str | None = None
) -> dict[str, Any]:
    chosen = status or str(rng.choice(["final", "amended", "corrected"]))
    return {"resourceType": "Observation", "status": chosen, "effectiveDateTime": time, **measured}


def _entry(rng: np.random.Generator, measured: dict[str, Any], time: str, status: str | None = None) -> dict[str, Any]:
    return {"resource": _observation(rng, measured, time, status)}
