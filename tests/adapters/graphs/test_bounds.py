"""Plausible bounds in `model.toml`: a value outside is refused, or warned of."""

import json
from pathlib import Path

import httpx
import pytest

from app.adapters.catalog import load_catalog
from app.adapters.files.flaws import BrokenFiles
from tests.cohorts.running import cohort, read
from tests.support import loans
from tests.support.live_server import LiveServer, live_server

BOUNDS = 'name = "debt"\nbounds = {{ low = 0, high = 300, outside = "{}" }}'


def described(folder: Path, outside: str) -> None:
    loans.write_loans(folder)
    file = folder / "models/loans/model.toml"
    file.write_text(file.read_text().replace('name = "debt"', BOUNDS.format(outside)))


@pytest.fixture(params=["refuse", "warn"])
def server(request: pytest.FixtureRequest, tmp_path: Path):
    (tmp_path / "models/loans").mkdir(parents=True)
    described(tmp_path, request.param)
    with live_server(tmp_path / "models", tmp_path / "ranges") as started:
        yield request.param, started


def test_a_value_outside_is_refused_or_warned_of(server: tuple[str, LiveServer]):
    outside, started = server
    with started.client() as client:
        _check(client, outside)


def _check(client: httpx.Client, outside: str) -> None:
    person = {**loans.PERSON, "debt": 400}
    answer = client.post("/v1/models/loans/counterfactuals", json={"instance": person})
    told = "is not plausible: 0 to 300 % is. Check the value and its unit"
    if outside == "refuse":
        assert answer.status_code == 422
        assert answer.json()["errors"] == [{"field": "instance.debt", "message": told}]
        assert "400" not in answer.text.replace('"status":422', "")
    else:
        start = json.loads(answer.text.splitlines()[0])
        assert [feature.get("warning") for feature in start["features"]] == [told, None, None, None]
    listed = client.get("/v1/models/loans").json()["features"]
    assert listed[0]["bounds"] == {"low": 0, "high": 300, "outside": outside}
    assert listed[1]["bounds"] is None
    inside = client.post("/v1/models/loans/counterfactuals", json={"instance": loans.PERSON})
    assert inside.status_code == 200
    assert "warning" not in inside.text


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("bounds = { low = 3, high = 1 }", "low must be below high"),
        ("bounds = {}", "bounds must have low, high or both"),
        ('bounds = { low = 3, outside = "drop" }', "bounds.outside"),
    ],
)
def test_bounds_that_make_no_sense_are_refused_at_load(tmp_path: Path, written: str, reason: str):
    (tmp_path / "models/loans").mkdir(parents=True)
    loans.write_loans(tmp_path)
    file = tmp_path / "models/loans/model.toml"
    file.write_text(file.read_text().replace('name = "debt"', f'name = "debt"\n{written}'))
    with pytest.raises(BrokenFiles) as broken:
        load_catalog(tmp_path / "models", tmp_path / "ranges")
    assert reason in str(broken.value)


def test_a_category_has_no_bounds(tmp_path: Path):
    (tmp_path / "models/loans").mkdir(parents=True)
    loans.write_loans(tmp_path)
    file = tmp_path / "models/loans/model.toml"
    file.write_text(file.read_text().replace('name = "home"', 'name = "home"\nbounds = { low = 3 }'))
    with pytest.raises(BrokenFiles, match="a category has no bounds"):
        load_catalog(tmp_path / "models", tmp_path / "ranges")


def test_a_register_rejects_with_the_reason(tmp_path: Path):
    (tmp_path / "models/loans").mkdir(parents=True)
    described(tmp_path, "refuse")
    people = tmp_path / "people.csv"
    people.write_text("debt,late,home,years\n48,3,rents,1\n400,3,rents,1\n")
    folders = {"models": tmp_path / "models", "ranges": tmp_path / "ranges"}
    cohort("loans", people, "--out", tmp_path / "out", "--workers", 1, **folders)
    (rejected,) = read(tmp_path / "out", "rejects").to_pylist()
    assert rejected["row"] == 2
    assert rejected["reason"] == "debt: is not plausible: 0 to 300 % is. Check the value and its unit"
    assert len(read(tmp_path / "out", "people")) == 1
