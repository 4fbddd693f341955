"""The real command on hcv and its second version: what it writes, what it prints, and what it refuses."""

import json
import pty
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lab.benchmarks.registers.register import register
from tests.cohorts.running import cohort, drift, environment, files, read
from tests.support import loans
from tests.support.live_server import FLIPSET, live_server

HCV = ("--context", "sex,age", "--id", "person")
ROWS = 400
SPOILT = {17, 333}
FEATURES = {
    "hcv": ("ALB", "ALP", "ALT", "AST", "BIL", "CHE", "CHOL", "CREA", "GGT", "PROT"),
    "mortgage": ("pirat", "hirat", "lvrat", "chist", "mhist", "phist", "unemp", "selfemp", "condomin", "hschool"),
}


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Half of them refused; two rows spoilt."""
    table = pa.concat_tables([register("hcv", ROWS // 2, 1, refused=True), register("hcv", ROWS // 2, 2)])
    values = [None if row in SPOILT else value for row, value in enumerate(table["AST"].to_pylist(), start=1)]
    file = tmp_path_factory.mktemp("people") / "people.parquet"
    pq.write_table(table.set_column(table.schema.get_field_index("AST"), "AST", pa.array(values)), file)
    return file


@pytest.fixture(scope="module")
def compared(people: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of a comparison, and what the command printed."""
    out = tmp_path_factory.mktemp("compared") / "out"
    done = drift("hcv", "hcv@2", people, "--out", out, *HCV, "--workers", 1, "--partition-rows", 150)
    return out, done.stdout


def test_each_version_says_what_it_says_alone(people: Path, compared: tuple[Path, str], tmp_path: Path):
    told = read(compared[0], "people")
    for version, model in (("old", "hcv"), ("new", "hcv@2")):
        cohort(model, people, "--out", tmp_path / version, *HCV)
        alone = read(tmp_path / version, "people")
        assert alone["row"].to_pylist() == told["row"].to_pylist()
        for name in ("label", "score", "outcome", "count", "fewest_changes", "complete", "reason"):
            assert told[f"{version}_{name}"].to_pylist() == alone[name].to_pylist()
    plans, alone = read(compared[0], "counterfactuals"), read(tmp_path / "old", "counterfactuals")
    assert plans.select(["row", "person", "rank", "changes", "cost"]).equals(
        alone.select(["row", "person", "rank", "changes", "cost"])
    )
    assert plans["old_score"].to_pylist() == alone["score"].to_pylist()
    assert [reject["row"] for reject in read(compared[0], "rejects").to_pylist()] == sorted(SPOILT)
    assert read(compared[0], "rejects").equals(read(tmp_path / "new", "rejects"))


@pytest.mark.parametrize("model", ["hcv", pytest.param("mortgage", marks=pytest.mark.slow)])
def test_a_plan_holds_if_the_service_says_so_of_the_changed_person(model: str, tmp_path: Path):
    table = register(model, 200, 21, refused=True)
    pq.write_table(table, tmp_path / "people.parquet")
    out, options = tmp_path / "out", HCV if model == "hcv" else ("--id", "person")
    drift(model, f"{model}@2", tmp_path / "people.parquet", "--out", out, *options)
    plans, rows, changed = read(out, "counterfactuals").to_pylist(), table.to_pylist(), []
    for plan in plans:
        person = {name: rows[plan["row"] - 1][name] for name in FEATURES[model]}
        changed.append({**person, **{change["feature"]: change["to"] for change in plan["changes"]}})
    with live_server() as server, server.client() as client:
        body = {"instances": changed}
        said = client.post(f"/v1/models/{model}@2/predictions", json=body).json()["predictions"]
    assert [(plan["holds"], plan["new_label"]) for plan in plans] == [
        (prediction["favourable"], prediction["label"]) for prediction in said
    ]
    assert {plan["holds"] for plan in plans} == {True, False}


@pytest.mark.parametrize("options", [("--workers", 2, "--chunk-rows", 37), ("--workers", 1)], ids=str)
def test_the_same_bytes_come_out_however_it_is_worked_off(
    options: tuple[object, ...], people: Path, compared: tuple[Path, str], tmp_path: Path
):
    done = drift("hcv", "hcv@2", people, "--out", tmp_path / "out", *HCV, "--partition-rows", 150, *options)
    assert files(tmp_path / "out") == files(compared[0])
    assert done.stdout == compared[1]


@pytest.mark.slow
def test_a_stopped_comparison_continues_and_a_finished_one_is_told_again(
    people: Path, compared: tuple[Path, str], tmp_path: Path
):
    out = tmp_path / "out"
    command = ("hcv", "hcv@2", people, "--out", out, *HCV, "--partition-rows", 150)
    drift(*command)
    (out / "people/part-00001.parquet").unlink()
    record = json.loads((out / "run.json").read_text())
    (out / "run.json").write_text(json.dumps({**record, "finished": False}))
    assert drift(*command).stdout == compared[1]
    assert files(out) == files(compared[0])
    again = drift(*command)
    assert (again.stdout, "is already finished" in again.stderr) == (compared[1], True)


def test_lines_name_everybody_who_is_affected_and_count_the_others(compared: tuple[Path, str]):
    out, printed = compared
    start, *persons, summary = map(json.loads, printed.splitlines())
    assert (start["old"]["name"], start["new"]["name"]) == ("hcv", "hcv@2")
    told = read(out, "people").to_pylist()
    unchanged = {"still_approved", "keeps_way_out", "no_way_out", "unknown"}
    affected = [person for person in told if person["kind"] not in unchanged or person["broken"]]
    assert [person["row"] for person in persons] == [person["row"] for person in affected]
    assert all(
        person.items() <= {"type": "person", **row}.items() for person, row in zip(persons, affected, strict=True)
    )
    assert {name: count for name, count in summary["kinds"].items() if count} == Counter(row["kind"] for row in told)
    plans = read(out, "counterfactuals").to_pylist()
    broken = Counter(plan["row"] for plan in plans if not plan["holds"])
    assert broken == {row["row"]: row["broken"] for row in told if row["broken"]}
    assert (summary["rows"], summary["people"], summary["rejects"]) == (ROWS, ROWS - len(SPOILT), len(SPOILT))
    assert (summary["counterfactuals"], summary["broken_plans"]) == (len(plans), broken.total())
    assert summary["people_with_broken_plans"] == len(broken)
    only = [row for row in told if row["broken"] and row["broken"] == row["old_count"]]
    assert summary["people_with_only_broken_plans"] == len(only)
    assert (summary["old_incomplete"], summary["new_incomplete"]) == (0, 0)


def test_a_terminal_gets_a_table(people: Path, compared: tuple[Path, str]):
    out, printed = compared
    command = ["drift", "hcv", "hcv@2", people, "--out", out, *HCV, "--partition-rows", 150]
    shown = in_a_terminal(*command)
    summary = json.loads(printed.splitlines()[-1])
    assert "hcv 1.0.0 -> hcv@2 2.0.0: 400 rows, 398 people, 2 rejected" in shown
    for words, kind in (("loses the way out", "loses_way_out"), ("newly approved", "newly_approved")):
        assert re.search(rf"{words} +{summary['kinds'][kind]} ", shown)
    assert f"Plans of hcv: {summary['counterfactuals']}. hcv@2 does not approve {summary['broken_plans']}" in shown
    first = shown[shown.index("broken plans") :].splitlines()[1]
    assert "loses the way out" in first


def in_a_terminal(*arguments: object) -> str:
    """What the command prints on a terminal, without its colours."""
    ours, theirs = pty.openpty()
    command = [FLIPSET, *map(str, arguments)]
    own = {**environment(), "COLUMNS": "160", "LINES": "50", "TERM": "dumb"}
    with subprocess.Popen(command, env=own, stdout=theirs, stderr=subprocess.DEVNULL) as running:
        with open(ours, "rb", buffering=0) as screen:  # noqa: PTH123  # it is a number, not a path
            import os  # noqa: PLC0415

            os.close(theirs)
            content = b""
            try:
                while more := screen.read(4096):
                    content += more
            except OSError:
                # The other end is closed.
                pass
        assert running.wait(timeout=300) == 0
    return re.sub(r"\x1b\[[0-9;]*m", "", content.decode()).replace("\r\n", "\n")


def test_a_search_that_ended_early_is_told(people: Path, tmp_path: Path):
    limited = ("--max-counterfactuals", 1)
    done = drift("hcv", "hcv@2", people, "--out", tmp_path / "out", *HCV, *limited)
    assert json.loads(done.stdout.splitlines()[-1])["old_incomplete"] > 0
    shown = in_a_terminal("drift", "hcv", "hcv@2", people, "--out", tmp_path / "out", *HCV, *limited)
    assert "the answer of hcv is not complete: it may have more plans than were checked" in shown


MISTAKES = {
    "no such model": (["hcv", "hcv@3"], "There is no model"),
    "twice": (["hcv", "hcv"], "hcv is named twice: name the model in use, and its next version"),
    "other features": (["hcv", "mortgage"], "mortgage has no feature ALB, ALP, ALT"),
    "a column of ours": (["hcv", "hcv@2", "--keep", "kind=sex"], "rename it: --keep its_kind=sex"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_before_anything_is_done(name: str, people: Path, tmp_path: Path):
    (old, new, *options), words = MISTAKES[name]
    done = drift(old, new, people, "--out", tmp_path / "out", *options, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_refusal_of_one_version_names_it(tmp_path: Path):
    for name in ("loans", "loans@2"):
        loans.write_loans(tmp_path, name)
    toml = tmp_path / "models/loans@2/model.toml"
    toml.write_text(toml.read_text().replace("approved", "granted"))
    (tmp_path / "people.csv").write_text("debt,late,home,years\n48,3,rents,1\n")
    (tmp_path / "request.json").write_text('{"target": {"classes": ["approved"]}}')
    folders: dict[str, Any] = {"models": tmp_path / "models", "ranges": tmp_path / "ranges"}
    arguments = ("loans", "loans@2", tmp_path / "people.csv", "--out", tmp_path / "out")
    done = drift(*arguments, "--request", tmp_path / "request.json", check=False, **folders)
    assert done.returncode == 1
    assert done.stderr.startswith("loans@2: ")
    assert "target.classes" in done.stderr


def test_what_differs_between_features_is_told(tmp_path: Path):
    for name in ("loans", "loans@2"):
        loans.write_loans(tmp_path, name)
    toml = tmp_path / "models/loans@2/model.toml"
    changed = {'unit = "%"': "", '"rents", "owns"': '"owns", "rents"', "default = 1\nmissing_codes = [-9]": ""}
    for before, after in changed.items():
        assert before in toml.read_text()
        toml.write_text(toml.read_text().replace(before, after))
    # A range of debt would have to fit the units of both.
    (tmp_path / "ranges/loans.toml").write_text(
        'title = "Loans"\nversion = "1"\n[features.late]\nranges = [{ high = 0.5 }]\n'
    )
    (tmp_path / "people.csv").write_text("debt,late,home,years\n")
    folders: dict[str, Any] = {"models": tmp_path / "models", "ranges": tmp_path / "ranges"}
    done = drift("loans", "loans@2", tmp_path / "people.csv", "--out", tmp_path / "out", check=False, **folders)
    assert done.stderr == (
        "loans and loans@2 cannot be compared: debt differs in unit; late differs in missing_codes and "
        "whether it may be missing; home differs in categories.\n"
    )


def test_no_value_of_a_person_is_in_what_is_said(tmp_path: Path):
    (tmp_path / "people.csv").write_text(
        "person,ALB,ALP,ALT,AST,BIL,CHE,CHOL,CREA,GGT,PROT\nx,46,68,secret,75,16,10,5,72,59,82\n"
    )
    done = drift("hcv", "hcv@2", tmp_path / "people.csv", "--out", tmp_path / "out", "--id", "person", check=False)
    assert done.returncode == 1
    assert "All rows were rejected" in done.stderr
    [reject] = read(tmp_path / "out", "rejects").to_pylist()
    assert reject["reason"] == "ALT: must be a number, not text"
    assert "secret" not in done.stdout + done.stderr + (tmp_path / "out/run.json").read_text()


@pytest.mark.slow
def test_a_folder_belongs_to_one_kind_of_run(people: Path, compared: tuple[Path, str], tmp_path: Path):
    done = cohort("hcv", people, "--out", compared[0], *HCV, "--partition-rows", 150, check=False)
    assert (done.returncode, "differs in model, registry" in done.stderr) == (1, True)
    report = cohort(compared[0], command="cohort-report", check=False)
    assert (report.returncode, "is not the folder of a run of flipset cohort" in report.stderr) == (1, True)
    cohort("hcv", people, "--out", tmp_path / "answers", *HCV)
    done = drift("hcv", "hcv@2", people, "--out", tmp_path / "answers", *HCV, check=False)
    assert (done.returncode, "differs in model, registry" in done.stderr) == (1, True)


@pytest.mark.slow
def test_an_input_without_rows_has_tables_that_can_be_read(tmp_path: Path):
    (tmp_path / "people.csv").write_text("ALB,ALP\n")
    done = drift("hcv", "hcv@2", tmp_path / "people.csv", "--out", tmp_path / "out")
    assert [read(tmp_path / "out", table).num_rows for table in ("people", "counterfactuals", "rejects")] == [0, 0, 0]
    assert json.loads(done.stdout.splitlines()[-1])["people"] == 0


@pytest.mark.slow
def test_ray_writes_the_same_bytes(people: Path, compared: tuple[Path, str], tmp_path: Path):
    ray = ("--engine", "ray", "--workers", 2)
    drift("hcv", "hcv@2", people, "--out", tmp_path / "out", *HCV, "--partition-rows", 150, *ray)
    assert files(tmp_path / "out") == files(compared[0])


DEADLY = """
import os
from app.cohorts.solving import solver as solving
results = solving.Solver.results
def deadly(self, chunk):
    if chunk.first <= 42 < chunk.first + chunk.rows:
        os._exit(9)
    return results(self, chunk)
solving.Solver.results = deadly
"""


@pytest.mark.slow
def test_a_row_of_which_every_process_dies_is_rejected_and_all_others_are_compared(people: Path, tmp_path: Path):
    (tmp_path / "sitecustomize.py").write_text(DEADLY)
    command = [FLIPSET, "drift", "hcv", "hcv@2", people, "--out", tmp_path / "out", *HCV, "--workers", "1"]
    own = {**environment(), "PYTHONPATH": str(tmp_path)}
    subprocess.run(list(map(str, command)), env=own, capture_output=True, check=True, timeout=300)
    assert read(tmp_path / "out", "rejects")["row"].to_pylist() == sorted({42, *SPOILT})
    assert read(tmp_path / "out", "people").num_rows == ROWS - 1 - len(SPOILT)
