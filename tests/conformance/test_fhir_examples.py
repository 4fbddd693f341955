"""The clinic's door against a laboratory's report that HL7 published, from its package on npm."""

import json
from pathlib import Path
from typing import Any

import pytest

from app.adapters.catalog import catalog_of
from app.adapters.files.snapshots import take_snapshot
from app.answering.service import Service
from app.asking.callers import ANYONE
from app.asking.parsing import read_body
from app.asking.refusals import InvalidRequest
from app.clinic.reading import read_bundle
from app.clinic.resources import Bundle
from app.settings import Settings
from tests.clients import node
from tests.clinic.test_bundles import UCUM
from tests.support.live_server import ROOT

PACKAGE = "hl7.fhir.r4.examples@4.0.1"
LABELLED = {"CHE": ("2098-2", 7.0, "kU/L"), "CHOL": ("14647-2", 5.0, "mmol/L")}


@pytest.fixture(scope="module")
def service() -> Service:
    folders = ROOT / "models", ROOT / "normal_ranges"
    settings = Settings(models_dir=folders[0], normal_ranges_dir=folders[1])
    return Service(settings, catalog_of(take_snapshot(*folders, locales_dir=ROOT / "locales")))


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of HL7's examples of R4."""
    node.needs("npm")
    folder = tmp_path_factory.mktemp("hl7")
    node.run("npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", PACKAGE, folder=folder)
    found = folder / "node_modules/hl7.fhir.r4.examples"
    assert found.is_dir()
    return found


@pytest.fixture
def report(published: Path) -> dict[str, Any]:
    """The general health panel of a made-up patient, and the patient."""
    bundle, patient = (json.loads((published / f"{name}.json").read_text()) for name in ("Bundle-ghp", "Patient-pat2"))
    return {**bundle, "entry": [*bundle["entry"], {"resource": patient}]}


def read(service: Service, bundle: Any) -> Any:
    return read_bundle(read_body(json.dumps(bundle).encode(), Bundle), service.model("hcv"), ANYONE)


def observation(code: str, value: float, unit: str) -> dict[str, Any]:
    return {
        "resourceType": "Observation",
        "status": "final",
        "code": {"coding": [{"system": "http://loinc.org", "code": code}]},
        "subject": {"reference": "Patient/pat2"},
        "valueQuantity": {"value": value, "unit": unit, "system": UCUM, "code": unit},
    }


def test_what_a_published_report_lacks_is_named(service: Service, report: dict[str, Any]):
    """Creatinine stands there in mmol/L as plain text, which is no unit of UCUM to rely on."""
    with pytest.raises(InvalidRequest) as refused:
        read(service, report)
    reasons = {error.field: error.message for error in refused.value.errors}
    unit = "(CREA) must give its unit in UCUM, as system and code; the model wants umol/L"
    assert set(reasons) == {
        "instance.CHE",
        "instance.CHOL",
        "entry[30].resource.valueQuantity",
        "entry[30].resource.referenceRange[0]",
    }
    assert reasons["entry[30].resource.valueQuantity"] == unit


def test_a_published_report_is_read_as_it_stands(service: Service, report: dict[str, Any]):
    """All else of it: what it does not say is added."""
    creatinine = report["entry"][30]["resource"]
    for quantity in (creatinine["valueQuantity"], *creatinine["referenceRange"][0].values()):
        quantity.update(system=UCUM, code=quantity["unit"])
    report["entry"] += [{"resource": observation(*said)} for said in LABELLED.values()]
    found = read(service, report)
    published = {"ALB": 42, "ALP": 108, "ALT": 54, "AST": 30, "BIL": 7, "CREA": 90, "GGT": 35, "PROT": 67}
    assert dict(found.request.instance) == {**published, **{name: said[1] for name, said in LABELLED.items()}}
    assert found.request.context["sex"] == "other"
    held = found.request.normal_ranges
    assert (held["ALT"].low, held["ALT"].high, held["CREA"].high) == (0, 45, 110)
    assert found.person.reference == "Patient/pat2"
