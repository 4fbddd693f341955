"""What the command says: of mistakes, before anything is done; of rows that kill whoever answers; of nobody."""

import json
import os
import re
import subprocess
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from lab.benchmarks.registers.register import register
from tests.cohorts.running import TABLES, cohort, environment, files, read
from tests.support.live_server import FLIPSET

HCV = ("--context", "sex,age", "--id", "person")

# The process that answers for the person in this row is gone at once, as if the model had crashed it.
DEADLY = """
import os
from app.cohorts.solving import solver as solving
solve = solving.Solver.solve
def deadly(self, chunk):
    if chunk.first <= 42 < chunk.first + chunk.rows:
        os._exit(9)
    return solve(self, chunk)
solving.Solver.solve = deadly
"""


@pytest.fixture
def people(tmp_path: Path) -> Path:
    file = tmp_path / "people.parquet"
    pq.write_table(register("hcv", 60, 3), file)
    return file


def run_with(first: str, people: Path, out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """The command, whose processes each run some Python before anything else."""
    (people.parent / "sitecustomize.py").write_text(first)
    return subprocess.run(
        [FLIPSET, "cohort", "hcv", str(people), "--out", str(out), *HCV, *options],
        env={**environment(), "PYTHONPATH": str(people.parent)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.mark.slow
def test_a_row_of_which_every_process_dies_is_rejected_and_all_others_are_answered(people: Path, tmp_path: Path):
    out = tmp_path / "out"
    done = run_with(DEADLY, people, out, "--workers", "1")
    assert done.returncode == 0, done.stderr
    [reject] = read(out, "rejects").to_pylist()
    assert (reject["row"], "crashed its process" in reject["reason"]) == (42, True)
    assert read(out, "people")["row"].to_pylist() == [row for row in range(1, 61) if row != 42]


# Half of the first answer is sent, then the process is gone.
CUT_SHORT = """
import os, pathlib
from multiprocessing.connection import Connection
flag = pathlib.Path(__file__).with_name("once")
send = Connection._send
def cut_short(self, content, *more):
    if len(content) > 5_000 and not flag.exists():
        flag.touch()
        os.write(self.fileno(), content[: len(content) // 2])
        os._exit(9)
    return send(self, content, *more)
if "forkserver" in " ".join(__import__("sys").orig_argv):
    Connection._send = cut_short
"""


@pytest.mark.slow
def test_a_process_that_is_gone_in_the_middle_of_its_answer_costs_nothing(people: Path, tmp_path: Path):
    done = run_with(CUT_SHORT, people, tmp_path / "out", "--workers", "1")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "once").exists()
    cohort("hcv", people, "--out", tmp_path / "undisturbed", *HCV)
    assert files(tmp_path / "out") == files(tmp_path / "undisturbed")


@pytest.mark.slow
@pytest.mark.parametrize("end", ["raise MemoryError(f'of {10 + 7} bytes')", "import os; os._exit(9)"])
def test_where_no_process_can_start_nobody_is_rejected_for_it(end: str, people: Path, tmp_path: Path):
    first = f"""
from app.cohorts.solving import solver as solving
def start(self, job):
    {end}
solving.Solver.__init__ = start
"""
    out = tmp_path / "out"
    done = run_with(first, people, out)
    assert done.returncode == 1
    assert "starting a process that answers" in done.stderr
    assert "17 bytes" not in done.stderr
    assert not list(out.glob("*/part-*"))
    (tmp_path / "sitecustomize.py").unlink()
    cohort("hcv", people, "--out", out, *HCV)
    assert read(out, "people").num_rows == 60


@pytest.mark.slow
@pytest.mark.parametrize(
    ("one", "other", "differs"),
    [
        (["--max-counterfactuals", 1], ["--max-counterfactuals", 2], "limits"),
        (["--keep", "g=ALT"], ["--keep", "g=AST"], "columns"),
        (["--format", "parquet"], [], "format"),
    ],
)
def test_what_the_answers_depend_on_must_be_the_same_to_go_on(
    one: list[object], other: list[object], differs: str, people: Path, tmp_path: Path
):
    cohort("hcv", people, "--out", tmp_path / "out", *HCV, *one)
    done = cohort("hcv", people, "--out", tmp_path / "out", *HCV, *other, check=False)
    assert (done.returncode, f"differs in {differs}" in done.stderr) == (1, True)


@pytest.mark.slow
def test_a_run_that_was_killed_before_it_had_a_record_can_be_begun_again(people: Path, tmp_path: Path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "run.json.unfinished").write_text("{")
    cohort("hcv", people, "--out", out, *HCV)
    assert read(out, "people").num_rows == 60


@pytest.mark.slow
def test_columns_that_files_have_in_other_types_are_carried_over_as_text(people: Path, tmp_path: Path):
    folder = tmp_path / "folder"
    folder.mkdir()
    table = pq.read_table(people)
    pq.write_table(table.append_column("region", pa.array(range(60), pa.int64())), folder / "a.parquet")
    texts = table.append_column("region", pa.array([f"r{row}" for row in range(60)]))
    pyarrow.csv.write_csv(texts, folder / "b.csv")
    cohort("hcv", folder, "--out", tmp_path / "out", *HCV, "--keep", "region")
    regions = read(tmp_path / "out", "people")["region"].to_pylist()
    assert regions == [str(row) for row in range(60)] + [f"r{row}" for row in range(60)]


MISTAKES = {
    "no such model": (["nothing"], {}, "There is no model"),
    "no such file": (["hcv", "nowhere.csv"], {}, "nowhere.csv: no such file"),
    "no such feature": (
        ["hcv", None, "--column", "ATL=x"],
        {},
        "--column ATL: is not a feature of this model; did",
    ),
    "a column of ours": (
        ["hcv", None, "--keep", "score"],
        {},
        "rename it: --keep its_score=score",
    ),
    "broken constraints": (["hcv", None], {"immutable": ["ATL"]}, "constraints.immutable[0]: is not a feature"),
    "a broken formula": (["hcv", None], {"formulas": ["ALT xor"]}, "constraints.formulas[0]"),
    "a broken range": (["hcv", None, "--request", "own"], {}, "normal_ranges.ALT: low is above high"),
    "not constraints": (["hcv", None], [1], "must be a JSON object"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_before_anything_is_done(name: str, people: Path, tmp_path: Path):
    arguments, constraints, words = MISTAKES[name]
    (tmp_path / "rules.json").write_text(json.dumps(constraints))
    (tmp_path / "own.json").write_text('{"normal_ranges": {"ALT": {"low": 9, "high": 1}}}')
    known = {None: people, "own": tmp_path / "own.json"}
    given = [known.get(each, each) for each in [*arguments, *[None] * (2 - len(arguments))]]
    out = tmp_path / "out"
    done = cohort(*given, "--out", out, "--constraints", tmp_path / "rules.json", check=False)
    assert done.returncode == 1
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not out.exists() or not any(out.iterdir())


def test_a_place_that_cannot_be_written_to_is_told(people: Path, tmp_path: Path):
    (tmp_path / "out").write_text("")
    done = cohort("hcv", people, "--out", tmp_path / "out", *HCV, check=False)
    assert (done.returncode, done.stderr) == (1, f"--out {tmp_path / 'out'}: is a file; name a folder\n")


@pytest.mark.slow
def test_a_cluster_that_is_not_there_is_told_at_once(people: Path, tmp_path: Path):
    options = ("--engine", "ray", "--address", "127.0.0.1:1")
    done = cohort("hcv", people, "--out", tmp_path / "out", *HCV, *options, check=False)
    assert (done.returncode, "Ray does not answer at 127.0.0.1:1" in done.stderr) == (1, True)


def test_a_request_for_everybody_names_nobody(people: Path, tmp_path: Path):
    (tmp_path / "request.json").write_text('{"instance": {}}')
    done = cohort("hcv", people, "--out", tmp_path / "out", "--request", tmp_path / "request.json", check=False)
    assert (done.returncode, "instance: belongs to a person" in done.stderr) == (1, True)


@pytest.mark.slow
def test_columns_that_are_not_there_are_told_at_once_and_rejected_row_by_row(people: Path, tmp_path: Path):
    table = pq.read_table(people)
    renamed = ["ast_u_l" if name == "AST" else name for name in table.column_names]
    pq.write_table(table.rename_columns(renamed), people)
    done = cohort("hcv", people, "--out", tmp_path / "out", *HCV, check=False)
    assert done.returncode == 1
    assert "people.parquet: has no column 'AST'" in done.stderr
    assert {reject["reason"] for reject in read(tmp_path / "out", "rejects").to_pylist()} == {"AST: is missing"}
    (tmp_path / "mapping.json").write_text('{"AST": "ast_u_l"}')
    cohort("hcv", people, "--out", tmp_path / "by-option", *HCV, "--column", "AST=ast_u_l")
    cohort("hcv", people, "--out", tmp_path / "by-file", *HCV, "--mapping", tmp_path / "mapping.json")
    assert read(tmp_path / "by-option", "people").num_rows == 60
    assert files(tmp_path / "by-option") == files(tmp_path / "by-file")


@pytest.mark.slow
def test_what_the_ranges_ask_for_is_told(people: Path, tmp_path: Path):
    done = cohort("hcv", people, "--out", tmp_path / "out")
    assert "The normal ranges depend on age and sex. Name the columns: --context age,sex" in done.stderr


@pytest.mark.slow
def test_a_fact_that_no_range_knows_is_told_without_the_fact(people: Path, tmp_path: Path):
    table = pq.read_table(people)
    assert "no range names" not in cohort("hcv", people, "--out", tmp_path / "known", *HCV).stderr
    short = pa.array([sex[0] for sex in table["sex"].to_pylist()])
    pq.write_table(table.set_column(table.schema.get_field_index("sex"), "sex", short), people)
    said = cohort("hcv", people, "--out", tmp_path / "out", *HCV).stderr
    assert "sex: some rows have values that no range names; the ranges name female, male." in said


@pytest.mark.slow
def test_an_input_without_rows_has_answers_that_can_be_read(tmp_path: Path):
    (tmp_path / "people.csv").write_text("ALB,ALP\n")
    cohort("hcv", tmp_path / "people.csv", "--out", tmp_path / "out")
    assert [read(tmp_path / "out", table).num_rows for table in TABLES] == [0, 0, 0]


@pytest.mark.slow
def test_a_file_that_cannot_be_read_is_told_and_counts_as_one_row(people: Path, tmp_path: Path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.parquet").write_bytes(people.read_bytes())
    (folder / "b.parquet").write_bytes(people.read_bytes()[:-9])
    (folder / "c.csv").write_text("")
    done = cohort("hcv", folder, "--out", tmp_path / "out", *HCV)
    assert "2 files could not be read" in done.stderr
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert (record["rows"], record["people"], record["rejects"], record["unreadable_files"]) == (62, 60, 2, 2)


@pytest.mark.slow
def test_who_could_not_be_read_has_no_name_that_may_be_anothers(tmp_path: Path):
    header = "person,ALB,ALP,ALT,AST,BIL,CHE,CHOL,CREA,GGT,PROT\n"
    rows = "2,46,68,114,75,16,10,5,72,59,82\n3,46,68\n4,46,68,x,75,16,10,5,72,59,82\n"
    (tmp_path / "people.csv").write_text(header + rows)
    cohort("hcv", tmp_path / "people.csv", "--out", tmp_path / "out", "--id", "person")
    assert read(tmp_path / "out", "rejects")["person"].to_pylist() == [None, "4"]


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--id", "--keep", "--context", "--column"])
def test_a_column_that_is_nowhere_is_refused_before_anything_is_written(option: str, people: Path, tmp_path: Path):
    named = "ALT=aeg" if option == "--column" else "aeg"
    done = cohort("hcv", people, "--out", tmp_path / "out", option, named, check=False)
    assert done.returncode == 1
    assert f"{option} aeg: there is no such column; did you mean 'age'?" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_the_columns_of_a_file_are_told_in_its_order(people: Path, tmp_path: Path):
    done = cohort("hcv", people, "--out", tmp_path / "out", "--context", "zzz", check=False)
    assert f"known: {', '.join(pq.read_table(people).column_names)}" in done.stderr


@pytest.mark.slow
def test_columns_are_carried_over_and_named_as_they_are_asked_for(people: Path, tmp_path: Path):
    cohort("hcv", people, "--out", tmp_path / "out", *HCV, "--keep", "liver=ALT,CHE")
    told, given = read(tmp_path / "out", "people"), pq.read_table(people)
    assert told.column_names[2:6] == ["sex", "age", "liver", "CHE"]
    assert told["liver"].to_pylist() == given["ALT"].to_pylist()
    assert told["person"].to_pylist() == given["person"].to_pylist()


def test_without_ray_it_says_what_to_install(people: Path, tmp_path: Path):
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['ray'] = None\n")
    command = [FLIPSET, "cohort", "hcv", str(people), "--out", str(tmp_path / "out"), *HCV, "--engine", "ray"]
    done = subprocess.run(
        command, env={**environment(), "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert re.search(r'pip install "pyarrow>=[\d.]+" "ray\[data\]>=[\d.]+" "universal-pathlib>=[\d.]+"$', done.stderr)


def test_the_report_of_a_run_is_written(people: Path, tmp_path: Path):
    cohort("hcv", people, "--out", tmp_path / "out", *HCV)
    before = files(tmp_path / "out")
    report = subprocess.run(
        [FLIPSET, "cohort-report", str(tmp_path / "out"), "--by", "sex"],
        env=os.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    page = Path(report.stdout.strip())
    assert "By sex" in page.read_text()
    assert {name: content for name, content in files(tmp_path / "out").items() if name != page.name} == before
