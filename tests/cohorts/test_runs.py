"""Runs of the real command: the same bytes however they are worked off, and whatever is killed on the way."""

import json
import signal
import subprocess
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from lab.benchmarks.registers.register import register
from tests.cohorts.processes import command_of, kill, most_dumped, wait_for, workers
from tests.cohorts.running import TABLES, cohort, environment, files, read
from tests.support.live_server import FLIPSET
from tests.support.waiting import PATIENCE, eventually

HCV = ("--context", "sex,age", "--id", "person")
# The engine cemsp goes person by person.
SLOWLY = {"limits": {"engine": "cemsp"}}
ROWS = 3_000
# Nobody in the second half is answered for before the test says so: until then, no run is over.
HELD = """
import pathlib, time
from app.cohorts.solving import solver as solving
solve = solving.Solver.solve
def held(self, chunk):
    while chunk.first > 1_500 and not pathlib.Path(__file__).with_name("go").exists():
        time.sleep(0.02)
    return solve(self, chunk)
solving.Solver.solve = held
"""


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two thirds of them refused, a few rows spoilt."""
    folder = tmp_path_factory.mktemp("people")
    table = pa.concat_tables([register("hcv", 2_000, 1, refused=True), register("hcv", 1_000, 2)])
    spoilt = table["AST"].to_pylist()
    spoilt[17] = spoilt[2_500] = None
    table = table.set_column(table.schema.get_field_index("AST"), "AST", pa.array(spoilt))
    pq.write_table(table, folder / "people.parquet", row_group_size=700)
    (folder / "slowly.json").write_text(json.dumps(SLOWLY))
    return folder


@pytest.fixture(scope="module")
def answers(people: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One worker, one chunk a partition."""
    out = tmp_path_factory.mktemp("answers") / "answers"
    cohort("hcv", people / "people.parquet", "--out", out, *HCV, "--workers", 1, "--partition-rows", 800)
    return out


@pytest.fixture(scope="module")
def slow_answers(people: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("answers") / "slow"
    cohort(*slowly(people, out))
    return out


def slowly(people: Path, out: Path, *more: object) -> list[object]:
    request = ("--request", people / "slowly.json")
    return [
        "hcv",
        people / "people.parquet",
        "--out",
        out,
        *HCV,
        *request,
        "--partition-rows",
        300,
        "--workers",
        2,
        *more,
    ]


RAY = ["--engine", "ray", "--workers", 2]
WAYS = [
    ["--workers", 2, "--chunk-rows", 97],
    *(
        pytest.param(way, marks=pytest.mark.slow)
        for way in (["--workers", 2], ["--chunk-rows", 1_000], RAY, [*RAY, "--shared"])
    ),
]


@pytest.mark.parametrize("options", WAYS, ids=str)
def test_the_same_bytes_come_out_however_it_is_worked_off(
    options: list[object], people: Path, answers: Path, tmp_path: Path
):
    out = tmp_path / "out"
    cohort("hcv", people / "people.parquet", "--out", out, *HCV, "--partition-rows", 800, *options)
    assert files(out) == files(answers)
    assert len(files(out)) == 3 * 4


@pytest.mark.slow
def test_other_partitions_hold_the_same_rows_in_the_same_order(people: Path, answers: Path, tmp_path: Path):
    cohort("hcv", people / "people.parquet", "--out", tmp_path / "out", *HCV, "--partition-rows", 1_234)
    for table in TABLES:
        assert read(tmp_path / "out", table).equals(read(answers, table))


@pytest.mark.slow
def test_other_formats_hold_the_same_people(people: Path, answers: Path, tmp_path: Path):
    table = pq.read_table(people / "people.parquet")
    pyarrow.csv.write_csv(table, tmp_path / "people.csv")
    lines = [json.dumps(row) for row in table.to_pylist()]
    (tmp_path / "people.ndjson").write_text("\n".join(lines) + "\n")
    for name in ("people.csv", "people.ndjson"):
        out = tmp_path / f"from-{name}"
        cohort("hcv", tmp_path / name, "--out", out, *HCV, "--partition-rows", 800)
        assert read(out, "counterfactuals").equals(read(answers, "counterfactuals"))
        # What is carried over from a file of text is text.
        theirs, ours = (read(each, "people").drop(["age"]) for each in (out, answers))
        assert theirs.equals(ours)
        assert [(r["row"], r["reason"]) for r in read(out, "rejects").to_pylist()] == [
            (r["row"], r["reason"]) for r in read(answers, "rejects").to_pylist()
        ]


def test_every_row_is_counted_and_the_record_says_what_was_asked(answers: Path):
    record = json.loads((answers / "run.json").read_text())
    assert record["finished"]
    assert (record["rows"], record["people"], record["rejects"]) == (ROWS, ROWS - 2, 2)
    assert sum(record["outcomes"].values()) == ROWS - 2
    assert [reject["row"] for reject in read(answers, "rejects").to_pylist()] == [18, 2_501]
    assert record["model"]["name"] == record["registry"]["name"] == "hcv"
    assert len(record["input"][0]["sha256"]) == len(record["model"]["sha256"]) == 64
    assert record["command"][:3] == ["flipset", "cohort", "hcv"]


def started(folder: Path, *arguments: object) -> subprocess.Popen[str]:
    """A run that stands still half-way, until there is a file `go` in the folder."""
    (folder / "sitecustomize.py").write_text(HELD)
    command, own = [FLIPSET, "cohort", *map(str, arguments)], {**environment(), "PYTHONPATH": str(folder)}
    return subprocess.Popen(command, env=own, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def kill_run(run: subprocess.Popen[str], folder: Path) -> None:
    """And let its workers notice it, which have its output open."""
    run.kill()
    run.wait()
    (folder / "go").touch()
    run.communicate()


def has_written(out: Path, partitions: int) -> bool:
    return len(list(out.glob("people/part-*.parquet"))) >= partitions


@pytest.mark.slow
@pytest.mark.parametrize("engine", [("local",), ("ray",), ("ray", "--shared")], ids=str)
def test_a_worker_that_is_killed_costs_time_and_no_answer(
    engine: tuple[str, ...], people: Path, slow_answers: Path, tmp_path: Path
):
    out = tmp_path / "out"
    run = started(tmp_path, *slowly(people, out, "--engine", *engine, "--chunk-rows", 100))
    wait_for(lambda: has_written(out, 1), run)
    # Both are there, and prepared: a core dump would hold the values of people.
    wait_for(lambda: [most_dumped(worker) for worker in workers(run)] == [["0", "0"]] * 2, run)
    kill(workers(run)[0])
    (tmp_path / "go").touch()
    _, said = run.communicate(timeout=PATIENCE)
    assert run.returncode == 0, said
    assert files(out) == files(slow_answers)


@pytest.mark.slow
def test_a_run_that_is_killed_goes_on_where_it_stopped(people: Path, slow_answers: Path, tmp_path: Path):
    out = tmp_path / "out"
    run = started(tmp_path, *slowly(people, out))
    wait_for(lambda: has_written(out, 2), run)
    below = workers(run)
    kill_run(run, tmp_path)
    written = {file: file.stat().st_mtime_ns for file in out.glob("people/part-*.parquet")}
    assert 2 <= len(written) < 10
    assert not json.loads((out / "run.json").read_text())["finished"]
    # What was being written when the power went.
    (out / "people" / "part-00009.parquet.unfinished").write_bytes(b"PAR1")
    cohort(*slowly(people, out))
    assert {file: file.stat().st_mtime_ns for file in written} == written
    assert files(out) == files(slow_answers)
    theirs, ours = (json.loads((each / "run.json").read_text()) for each in (out, slow_answers))
    assert {**theirs, "command": None} == {**ours, "command": None}
    # Nobody goes on working for a run that is gone.
    eventually(lambda: not [each for each in below if "forkserver" in command_of(each)])


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_run_that_is_stopped_says_how_to_go_on(
    number: int, code: int, people: Path, slow_answers: Path, tmp_path: Path
):
    out = tmp_path / "out"
    run = started(tmp_path, *slowly(people, out))
    wait_for(lambda: has_written(out, 1), run)
    run.send_signal(number)
    _, said = run.communicate(timeout=PATIENCE)
    assert run.returncode == 128 + number
    assert "Run the same command to continue" in said
    assert "Traceback" not in said
    cohort(*slowly(people, out))
    assert files(out) == files(slow_answers)


@pytest.mark.slow
def test_a_folder_is_not_mixed_with_another_run(people: Path, answers: Path, tmp_path: Path):
    done = cohort(
        "hcv",
        people / "people.parquet",
        "--out",
        answers,
        *HCV,
        "--partition-rows",
        800,
        "--max-counterfactuals",
        5,
        "--request",
        people / "slowly.json",
        check=False,
    )
    assert done.returncode == 1
    assert "holds another run, which differs in request" in done.stderr
    again = cohort("hcv", people / "people.parquet", "--out", answers, *HCV, "--partition-rows", 800)
    assert "is already finished" in again.stdout


@pytest.mark.slow
def test_two_runs_do_not_write_into_one_folder(people: Path, tmp_path: Path):
    out = tmp_path / "out"
    run = started(tmp_path, *slowly(people, out))
    wait_for((out / "run.json").exists, run)
    done = cohort(*slowly(people, out), check=False)
    kill_run(run, tmp_path)
    assert done.returncode == 1
    assert "another run is writing here" in done.stderr
