"""Which files have answered, and by which rules: to the last bit, in every answer."""

import hashlib
from pathlib import Path

import httpx

from app import __version__
from tests.live.asking import ask, lines_of
from tests.support.live_server import ROOT, live_server
from tests.support.loans import PERSON, write_loans

CONSTRAINTS = {"immutable": ["late"], "max_step": {"debt": 20}, "causal": [{"cause": "debt", "effects": ["late"]}]}


def sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def test_start_names_every_file_that_has_answered(client: httpx.Client):
    example = client.get("/v1/models/hcv/examples").json()["examples"][0]["request"]
    start = lines_of(ask(client, example, "hcv"))[0]
    assert start["model"] == {
        "name": "hcv",
        "version": "1.0.0",
        "sha256": sha256(ROOT / "models/hcv/model.onnx"),
        "description_sha256": sha256(ROOT / "models/hcv/model.toml"),
    }
    assert start["normal_ranges"]["sha256"] == sha256(ROOT / "normal_ranges/hcv.toml")
    assert start["service"] == {"name": "flipset", "version": __version__}
    predicted = client.post("/v1/models/hcv/predictions", json={"instance": example["instance"]}).json()
    assert predicted["model"] == start["model"]
    assert client.get("/v1/models/hcv").json()["description_sha256"] == start["model"]["description_sha256"]
    registry = client.get("/v1/normal-ranges/hcv").json()
    assert registry["sha256"] == start["normal_ranges"]["sha256"]
    assert lines_of(ask(client, {**example, "registry": None}, "hcv"))[0]["normal_ranges"] is None


def test_start_names_the_rules_in_force(tmp_path: Path):
    write_loans(tmp_path)
    registry = tmp_path / "ranges/loans.toml"
    registry.write_text(registry.read_text() + '[constraints]\nmax_changes = 3\nformulas = ["home or years"]\n')
    with live_server(tmp_path / "models", tmp_path / "ranges") as server, server.client() as client:
        rules = lines_of(ask(client, {"instance": PERSON, "constraints": CONSTRAINTS}, "loans"))[0]["rules"]
        free = lines_of(ask(client, {"instance": PERSON, "registry": None}, "loans"))[0]["rules"]
    assert {rule["item"]: rule["rule"] for rule in rules} == {
        "registry:max_changes": 3,
        "registry:formulas[0]": "home or years",
        "immutable[0]": "late",
        "max_step.debt": 20,
        "causal[0]": {"cause": "debt", "effects": ["late"]},
    }
    assert free == []
