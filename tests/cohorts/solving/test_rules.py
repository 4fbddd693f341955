"""A register is held to a model's rules and policy like any single person."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cohorts.running import TABLES, cohort, read
from tests.live.answers.test_policies import write_ruled as write_policed
from tests.live.answers.test_rules import RULES, write_ruled
from tests.support.loans import PERSON


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """Some are answered for together, and some alone: a missing value is nothing that a crowd knows of."""
    write_ruled(tmp_path)
    several = [{**PERSON, "debt": 40 + 8 * step, "late": None if step % 3 == 0 else step % 4} for step in range(12)]
    pq.write_table(pa.Table.from_pylist(several), tmp_path / "people.parquet")
    return tmp_path


@pytest.mark.slow
def test_a_register_is_answered_by_the_model_s_rules(people: Path):
    """As if every request had asked for them; they are named as what they are, and the record holds them."""
    folders = {"models": people / "models", "ranges": people / "ranges"}
    (people / "rules.json").write_text(json.dumps(RULES))
    cohort("ruled", people / "people.parquet", "--out", people / "ruled", **folders)
    cohort(
        "loans", people / "people.parquet", "--out", people / "asked", "--constraints", people / "rules.json", **folders
    )
    asked, ruled = ({table: read(people / out, table) for table in TABLES} for out in ("asked", "ruled"))
    assert ruled["counterfactuals"].equals(asked["counterfactuals"])
    assert ruled["people"]["outcome"].equals(asked["people"]["outcome"])
    assert set(ruled["people"]["outcome"].to_pylist()) == {"found", "no_recourse"}
    relaxed = [path for sets in ruled["people"]["in_the_way"].to_pylist() if sets for path in sets[0]]
    assert relaxed
    assert all(path.startswith("model:") for path in relaxed)
    record = json.loads((people / "ruled/run.json").read_text())
    assert record["model"]["constraints"] == RULES


@pytest.mark.slow
def test_a_register_is_held_to_the_model_s_policy(tmp_path: Path):
    write_policed(tmp_path)
    pq.write_table(pa.Table.from_pylist([PERSON] * 3), tmp_path / "people.parquet")
    folders = {"models": tmp_path / "models", "ranges": tmp_path / "ranges"}
    (tmp_path / "free.json").write_text('{"registry": null}')
    (tmp_path / "strict.json").write_text('{"registry": "strict"}')
    asked = ("ruled", tmp_path / "people.parquet", "--out", tmp_path / "out", "--request")
    refused = cohort(*asked, tmp_path / "free.json", check=False, **folders)
    assert refused.returncode == 1
    assert "registry: is not one that this model allows; name 'loans' or 'strict'" in refused.stderr
    cohort(*asked, tmp_path / "strict.json", **folders)
    record = json.loads((tmp_path / "out/run.json").read_text())
    assert record["model"]["policy"]["registries"] == ["loans", "strict"]
    assert record["registry"]["name"] == "strict"
