"""Runs of the real command: the same bytes however they are worked off, and whatever is killed on the way."""

import json
import signal
import subprocess
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from benchmarks.registers.register import register
from tests.cohorts.processes import command_of, kill, wait_for, workers
from tests.cohorts.running import TABLES, cohort, environment, files, read
from tests.live_server import FLIPSET

HCV = ("--context", "sex,age", "--id", "person")
# The engine cemsp goes person by person, so that there is time to kill somebody.
SLOWLY = {"limits": {"engine": "cemsp"}}
ROWS = 3_000


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


WAYS = [
    ["--workers", 2],
    ["--workers", 2, "--chunk-rows", 97],
    ["--chunk-rows", 1_000],
    ["--engine", "ray", "--workers", 2],
]


@pytest.mark.parametrize("options", WAYS, ids=str)
def test_the_same_bytes_come_out_however_it_is_worked_off(
    options: list[object], people: Path, answers: Path, tmp_path: Path
):
    out = tmp_path / "out"
    cohort("hcv", people / "people.parquet", "--out", out, *HCV, "--partition-rows", 800, *options)
    assert files(out) == files(answers)
    assert len(files(out)) == 3 * 4


def test_other_partitions_hold_the_same_rows_in_the_same_order(people: Path, answers: Path, tmp_path: Path):
    cohort("hcv", people / "people.parquet", "--out", tmp_path / "out", *HCV, "--partition-rows", 1_234)
    for table in TABLES:
        assert read(tmp_path / "out", table).equals(read(answers, table))


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


def started(*arguments: object) -> subprocess.Popen[str]:
    command = [FLIPSET, "cohort", *map(str, arguments)]
    return subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def has_written(out: Path, partitions: int) -> bool:
    return len(list(out.glob("people/part-*.parquet"))) >= partitions


@pytest.mark.parametrize("engine", ["local", "ray"])
def test_a_worker_that_is_killed_costs_time_and_no_answer(
    engine: str, people: Path, slow_answers: Path, tmp_path: Path
):
    out = tmp_path / "out"
    run = started(*slowly(people, out, "--engine", engine, "--chunk-rows", 100))
    wait_for(lambda: has_written(out, 1), run)
    before = workers(run)
    assert len(before) == 2
    kill(before[0])
    _, said = run.communicate(timeout=300)
    assert run.returncode == 0, said
    assert files(out) == files(slow_answers)


def test_a_run_that_is_killed_goes_on_where_it_stopped(people: Path, slow_answers: Path, tmp_path: Path):
    out = tmp_path / "out"
    run = started(*slowly(people, out))
    wait_for(lambda: has_written(out, 2), run)
    below = workers(run)
    run.kill()
    run.communicate()
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
    assert not [each for each in below if "forkserver" in command_of(each)]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_run_that_is_stopped_says_how_to_go_on(
    number: int, code: int, people: Path, slow_answers: Path, tmp_path: Path
):
    out = tmp_path / "out"
    run = started(*slowly(people, out))
    wait_for(lambda: has_written(out, 1), run)
    run.send_signal(number)
    _, said = run.communicate(timeout=60)
    assert run.returncode == 128 + number
    assert "the same command goes on from there" in said
    assert "Traceback" not in said
    cohort(*slowly(people, out))
    assert files(out) == files(slow_answers)


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
    assert "holds another run, which differs in: request" in done.stderr
    again = cohort("hcv", people / "people.parquet", "--out", answers, *HCV, "--partition-rows", 800)
    assert "is finished already" in again.stdout


def test_two_runs_do_not_write_into_one_folder(people: Path, tmp_path: Path):
    out = tmp_path / "out"
    run = started(*slowly(people, out))
    wait_for((out / "run.json").exists, run)
    done = cohort(*slowly(people, out), check=False)
    run.kill()
    run.communicate()
    assert done.returncode == 1
    assert "another run writes here" in done.stderr
