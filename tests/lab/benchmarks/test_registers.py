"""Registers of made-up people: the same every time, and like the data in what counts; the service refuses nobody."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from app.adapters.catalog import Catalog, load_catalog
from app.answering.service import Service
from app.settings import Settings
from lab.benchmarks.registers.drawing import BLOCK, MODELS
from lab.benchmarks.registers.files import UnknownEnding, write
from lab.benchmarks.registers.register import batches, register
from tests.support.answers import lines_of
from tests.support.live_server import ROOT

CONTEXT = {"hcv": ["age", "sex"], "thyroid": ["age", "sex"], "mortgage": ["region"], "synthetic": []}
# How many features can be moved, on average, of those in the data whom the model refuses.
MOVABLE = {"hcv": 3.82, "thyroid": 2.27, "mortgage": 3.02, "synthetic": 3.22}


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog(ROOT / "models", ROOT / "normal_ranges")


@pytest.fixture(scope="module")
def service(catalog: Catalog) -> Service:
    return Service(Settings(), catalog)


def ask(service: Service, model: str, person: dict) -> list[dict]:
    """All lines of the answer about a person of a register."""
    context = {name: person[name] for name in CONTEXT[model] if name != "region"}
    instance = {feature.name: person[feature.name] for feature in service.catalog.models[model].features}
    return lines_of(service, {"instance": instance, "context": context}, model)


def test_every_shipped_model_has_a_register(catalog: Catalog):
    # The versions of a model share its register.
    assert sorted(MODELS) == sorted({name.partition("@")[0] for name in catalog.models})


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("ending", ["parquet", "csv", "ndjson"])
def test_the_same_seed_gives_the_same_bytes(model: str, ending: str, tmp_path: Path):
    first, second = tmp_path / f"first.{ending}", tmp_path / f"second.{ending}"
    assert write(batches(model, 300, seed=7), first) == write(batches(model, 300, seed=7), second) == 300
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("model", MODELS)
def test_another_seed_gives_other_people(model: str):
    one, other = register(model, 300, seed=7), register(model, 300, seed=8)
    assert one["person"] == other["person"]
    different = [name for name in one.column_names if one[name] != other[name]]
    assert different == one.column_names[1:]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("refused", [False, True])
def test_a_person_does_not_depend_on_how_many_follow(model: str, refused: bool):
    few, many = (register(model, count, seed=7, refused=refused) for count in (500, BLOCK + 1))
    assert (few.num_rows, many.num_rows) == (500, BLOCK + 1)
    assert many.slice(0, 500).equals(few)


@pytest.mark.parametrize("model", MODELS)
def test_columns_are_named_and_typed_as_the_model_has_them(model: str, catalog: Catalog):
    people = register(model, 10, seed=7)
    features = catalog.models[model].features
    types = {"age": pa.int64(), "sex": pa.string(), "region": pa.string()}
    assert people.schema == pa.schema(
        [
            ("person", pa.string()),
            *((feature.name, pa.int64() if feature.whole else pa.float64()) for feature in features),
            *((name, types[name]) for name in CONTEXT[model]),
        ]
    )


@pytest.mark.parametrize("model", MODELS)
def test_every_person_has_an_identity_of_his_own(model: str):
    people = register(model, 2 * BLOCK, seed=7)["person"].to_pylist()
    assert len(set(people)) == 2 * BLOCK


@pytest.mark.parametrize("model", MODELS)
def test_about_as_many_are_refused_as_in_the_data(model: str, catalog: Catalog):
    """Within a quarter of the share; counted by the identities of the refused among the first 4,000."""
    figures = catalog.models[model].training["figures"]
    share = figures["refused"] / figures["rows"]
    refused = register(model, 4_000, seed=7, refused=True)["person"].to_pylist()
    drawn = sum(person <= f"{model}-0004000" for person in refused) / 4_000
    assert drawn == pytest.approx(share, rel=0.25)


@pytest.mark.parametrize("model", MODELS)
def test_the_refused_can_move_about_as_many_features_as_in_the_data(model: str, service: Service):
    refused = register(model, 300, seed=7, refused=True).to_pylist()
    starts = [ask(service, model, person)[0] for person in refused]
    assert all(not start["prediction"]["favourable"] for start in starts)
    movable = [sum(feature["movable"] for feature in start["features"]) for start in starts]
    assert np.mean(movable) == pytest.approx(MOVABLE[model], rel=0.15)


@pytest.mark.parametrize("model", MODELS)
def test_the_service_refuses_nobody(model: str, service: Service, tmp_path: Path):
    file = tmp_path / "people.ndjson"
    write(batches(model, 50, seed=7), file)
    people = [json.loads(line) for line in file.read_text().splitlines()]
    assert [ask(service, model, person)[-1]["type"] for person in people] == ["summary"] * 50


@pytest.mark.parametrize("model", ["hcv", "thyroid"])
def test_laboratory_values_are_above_nought_and_in_the_digits_of_a_laboratory(model: str):
    people = register(model, 20_000, seed=7).drop_columns(["person", "sex"])
    for name in people.column_names:
        values = people[name].to_numpy()
        assert 0 < values.min() <= values.max() < 1_500, name
        assert np.array_equal(values, values.round(2)), name
    assert people["age"].to_numpy().max() < 110


def test_applications_have_the_values_that_the_data_know():
    people = register("mortgage", 20_000, seed=7)
    different = {name: sorted(set(people[name].to_pylist())) for name in people.column_names}
    assert different["chist"] == [1, 2, 3, 4, 5, 6]
    assert different["mhist"] == [1, 2, 3, 4]
    assert all(different[name] == [0, 1] for name in ("phist", "selfemp", "condomin", "hschool"))
    assert all(0 <= different[name][0] <= different[name][-1] < 5 for name in ("pirat", "hirat", "lvrat"))


def test_regions_are_made_up_and_equally_often_refused():
    people = register("mortgage", 5_000, seed=7, refused=True)["region"]
    counts = {entry["values"]: entry["counts"] for entry in people.value_counts().to_pylist()}
    assert sorted(counts) == ["east", "north", "south", "west"]
    assert all(count == pytest.approx(1_250, rel=0.15) for count in counts.values())


def test_no_column_tells_of_a_protected_attribute():
    assert not {"afam", "single", "insurance"} & set(register("mortgage", 1, seed=7).column_names)


def test_the_formats_hold_the_same_people(tmp_path: Path):
    people = register("hcv", 5_000, seed=7)
    for ending in ("parquet", "csv", "ndjson"):
        write(batches("hcv", 5_000, seed=7), tmp_path / f"people.{ending}")
    assert parquet.read_table(tmp_path / "people.parquet").equals(people)
    assert csv.read_csv(tmp_path / "people.csv").cast(people.schema).equals(people)
    lines = (tmp_path / "people.ndjson").read_text().splitlines()
    assert pa.Table.from_pylist([json.loads(line) for line in lines], people.schema).equals(people)


def test_a_file_whose_format_is_not_known_is_not_written(tmp_path: Path):
    with pytest.raises(UnknownEnding):
        write(batches("hcv", 5, seed=7), tmp_path / "people.xlsx")
    assert not (tmp_path / "people.xlsx").exists()


def test_the_command_writes_a_register(tmp_path: Path):
    file = tmp_path / "people.parquet"
    arguments = ["thyroid", "20", "--seed", "7", "--out", str(file), "--refused"]
    command = [sys.executable, "-m", "lab.benchmarks.registers", *arguments]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    assert parquet.read_table(file).equals(register("thyroid", 20, seed=7, refused=True))


def test_the_fits_hold_figures_of_groups_and_no_rows():
    """Of a class at most a figure a column for every five people, or seven of the smallest."""
    fits = json.loads((ROOT / "lab/benchmarks/registers/fits.json").read_text())
    for fit in fits.values():
        assert sum(group["share"] for group in fit["classes"]) == pytest.approx(1, abs=1e-3)
        for group in fit["classes"]:
            assert len(group["columns"]) == len(group["correlations"]) == len(fit["columns"])
            assert len(group["scores"]) <= max(7, fit["people"] * group["share"] / 5)
