"""The reasons that a run finds are those of /reasons, for people answered together and for people answered alone."""

import json
import time
from typing import Any

import pytest

from app.adapters.catalog import load_catalog
from app.answering.service import Service
from app.answering.under_way import Admitted
from app.asking.schemas import CounterfactualsRequest
from app.core.turns import run_through
from app.settings import Settings
from app.writing.reasons import reasons_json
from lab.benchmarks.registers.register import register
from tests.cohorts.solving.solving import job, solved
from tests.support.live_server import ROOT
from tests.support.scale import scaled

FOLDERS = ROOT / "models", ROOT / "normal_ranges"
RULES: dict[str, dict[str, Any]] = {
    "mortgage": {"constraints": {"immutable": ["pirat", "chist"]}},
    "hcv": {"constraints": {"max_changes": 2, "immutable": ["AST"]}},
}
CONTEXT = {"mortgage": (), "hcv": ("sex", "age")}


@pytest.fixture(scope="module")
def service() -> Service:
    settings = Settings(models_dir=FOLDERS[0], normal_ranges_dir=FOLDERS[1])
    return Service(settings, load_catalog(*FOLDERS))


def told(service: Service, model: str, body: dict[str, Any]) -> Any:
    with service.admit(Admitted(time.perf_counter())) as admitted:
        asked = CounterfactualsRequest.model_validate(body)
        return json.loads(reasons_json(run_through(service.reasoning(asked, service.model(model), admitted))))


@pytest.mark.parametrize("model", RULES)
def test_the_reasons_of_a_run_are_those_of_the_service(service: Service, model: str):
    """Rules that leave many no way out play no part."""
    people = register(model, scaled(40), 25, refused=True)
    asked = job(model, *FOLDERS, RULES[model], CONTEXT[model], reasons=True)
    found = solved(asked, people).people.to_pylist()
    for row, person in zip(people.to_pylist(), found, strict=True):
        body = {
            "instance": {feature.name: row[feature.name] for feature in service.model(model).model.features},
            "context": {name: row[name] for name in CONTEXT[model]},
            **RULES[model],
        }
        expected = told(service, model, body)
        assert expected["outcome"] in ("found", "none")
        assert person["reasons"] == [reason["feature"] for reason in expected["reasons"]]
    assert solved(asked, people, alone=True).people.column("reasons").to_pylist() == [one["reasons"] for one in found]
    assert {one["outcome"] for one in found} == {"found", "no_recourse"}


def test_a_favourable_decision_has_no_reasons_and_an_unproved_one_neither(service: Service):
    people = register("mortgage", 60, 26)
    found = solved(job("mortgage", *FOLDERS, reasons=True), people).people.to_pylist()
    assert all((one["reasons"] is None) == (one["outcome"] == "already_favourable") for one in found)
    few = {"limits": {"max_model_rows": 2, "engine": "lattice"}}
    refused = register("mortgage", 10, 27, refused=True)
    unproved = solved(job("mortgage", *FOLDERS, few, reasons=True), refused).people.to_pylist()
    assert all(one["reasons"] is None for one in unproved if not one["complete"])
    assert not all(one["complete"] for one in unproved)


def test_a_run_that_was_not_asked_has_no_such_column():
    assert "reasons" not in solved(job("mortgage", *FOLDERS), register("mortgage", 3, 1)).people.schema.names
