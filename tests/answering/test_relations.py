"""Relations through the service: refused with their place, named in conflicts, and kept by every plan."""

import pytest

from app.adapters.catalog import load_catalog
from app.answering.service import Service
from app.asking.refusals import ConflictingConstraints, InvalidRequest
from app.settings import Settings
from tests.support.answers import lines_of
from tests.support.live_server import ROOT

APPLICANT = {
    "pirat": 0.42,
    "hirat": 0.34,
    "lvrat": 0.93,
    "chist": 5,
    "mhist": 2,
    "phist": 0,
    "unemp": 3.1,
    "selfemp": 0,
    "condomin": 1,
    "hschool": 1,
}


@pytest.fixture(scope="module")
def service() -> Service:
    settings = Settings(models_dir=ROOT / "models", normal_ranges_dir=ROOT / "normal_ranges")
    return Service(settings, load_catalog(settings.models_dir, settings.normal_ranges_dir))


def test_every_plan_keeps_the_relation(service: Service):
    request = {"instance": APPLICANT, "constraints": {"relations": ["pirat - hirat >= 0.08"]}}
    lines = lines_of(service, request, "mortgage")
    rows = [line["instance"] for line in lines if line["type"] == "counterfactual"]
    assert rows
    assert all(row["pirat"] - row["hirat"] >= 0.08 for row in rows)
    free = [line["instance"] for line in lines_of(service, {"instance": APPLICANT}, "mortgage") if "rank" in line]
    assert not all(row["pirat"] - row["hirat"] >= 0.08 for row in free)
    assert {"item": "relations[0]", "rule": "pirat - hirat >= 0.08"} in lines[0]["rules"]


def test_a_relation_is_part_of_a_conflict(service: Service):
    constraints = {"immutable": ["hirat"], "required": ["pirat"], "relations": ["hirat <= 0.9 * pirat"]}
    with pytest.raises(ConflictingConstraints) as refused:
        lines_of(service, {"instance": APPLICANT, "constraints": constraints}, "mortgage")
    fields = [error.field for error in refused.value.errors]
    assert fields == ["constraints.immutable[0]", "constraints.required[0]", "constraints.relations[0]"]


def test_a_relation_in_the_way_is_named(service: Service):
    request = {"instance": APPLICANT, "constraints": {"relations": ["pirat >= 0.4", "lvrat > 0.9"]}}
    summary = lines_of(service, request, "mortgage")[-1]
    assert summary["outcome"] == "no_recourse"
    assert [way["items"] for way in summary["no_recourse"]["relax"]][:2] == [["relations[0]"], ["relations[1]"]]


def test_a_relation_that_cannot_be_read_is_refused(service: Service):
    request = {"instance": APPLICANT, "constraints": {"relations": ["pirat <= hira"]}}
    with pytest.raises(InvalidRequest) as refused:
        lines_of(service, request, "mortgage")
    (error,) = refused.value.errors
    assert (error.field, error.place) == ("constraints.relations[0]", (1, 10))
