"""The command line of the records."""

import json
from contextlib import closing
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import Result
from typer.testing import CliRunner

from app.adapters.records.opening import ready_store
from app.adapters.records.record import Feedback
from app.cli.flipset import cli
from tests.live.asking import PERSON
from tests.onboarding.commands import flipset
from tests.support.live_server import ROOT
from tests.support.recorded import recorded
from tests.support.records import new_record

FOLDERS = {"FLIPSET_MODELS_DIR": str(ROOT / "models"), "FLIPSET_NORMAL_RANGES_DIR": str(ROOT / "normal_ranges")}


@pytest.fixture
def records(address: str) -> str:
    with closing(ready_store(address)) as store:
        store.append([new_record("p-1", at=1000), new_record("p-1", model="thyroid"), new_record("p-2")])
    return address


def run(address: str, *arguments: str) -> Result:
    return CliRunner().invoke(cli, ["records", *arguments], env={"FLIPSET_RECORDS": address, **FOLDERS})


def test_records_are_listed_shown_and_exported(records: str):
    rows = run(records, "list").stdout.splitlines()
    assert [row.split()[2] for row in rows] == ["model", "hcv", "thyroid", "hcv"]
    assert len(run(records, "list", "--subject", "p-1", "--model", "hcv").stdout.splitlines()) == 2
    assert len(run(records, "list", "--most", "1").stdout.splitlines()) == 2
    name = rows[2].split()[0]
    shown = json.loads(run(records, "show", name).stdout)
    assert (shown["id"], shown["model"], shown["subject"]) == (name, "thyroid", "p-1")
    exported = [json.loads(line) for line in run(records, "export").stdout.splitlines()]
    assert exported[1] == shown
    missing = run(records, "show", "nobody")
    assert (missing.exit_code, missing.stderr) == (1, "There is no record with this id.\n")


def test_records_are_exported_as_parquet(records: str, tmp_path: Path):
    with closing(ready_store(records)) as store:
        first = next(store.all())
        store.give_feedback(Feedback(first.id, 1, "declined", "too_costly", 5))
        store.erase("p-2")
    file = tmp_path / "records.parquet"
    assert run(records, "export", "--parquet", str(file)).stdout == f"Written: {file}, 3 records\n"
    rows = pq.read_table(file).to_pylist()
    exported = [json.loads(line) for line in run(records, "export").stdout.splitlines()]
    for row, record in zip(rows, exported, strict=True):
        assert (row["id"], row["seq"], row["hash"]) == (record["id"], record["seq"], record["hash"])
        assert row["at"].isoformat(timespec="milliseconds") == record["at"]
        assert json.loads(row["sealed"]) == record["sealed"]
        assert row["subject"] == record["subject"]
        assert (row["request"] and json.loads(row["request"])) == record["request"]
        assert (row["plans"] and [json.loads(plan) for plan in row["plans"]]) == record["plans"]
    assert [(told["plan"], told["reason"]) for told in rows[0]["feedback"]] == [(1, "too_costly")]
    assert rows[2]["plans"] is None
    assert rows[2]["erased_at"] is not None
    nowhere = run(records, "export", "--parquet", str(tmp_path / "no/folder.parquet"))
    assert (nowhere.exit_code, nowhere.stderr) == (1, f"{tmp_path}/no/folder.parquet: No such file or directory\n")
    assert [each.name for each in tmp_path.iterdir() if "part" in each.name] == []


def test_records_are_erased_purged_and_verified(records: str):
    whole = run(records, "verify").stdout
    assert "The chain is whole: 3 records" in whole
    kept = whole.split()[-1]
    assert run(records, "verify", "--hash", kept).stdout == whole
    unknown = run(records, "verify", "--hash", "0" * 63 + "1")
    assert (unknown.exit_code, unknown.stdout) == (1, "")
    assert "No record has that hash" in unknown.stderr
    assert run(records, "erase", "p-1").stdout == "Erased: 2 records\n"
    assert "How old?" in run(records, "purge").stderr
    assert run(records, "purge", "--days", "1").stdout == "Purged: 1 record\n"
    assert "The chain is whole: 2 records" in run(records, "verify").stdout
    with closing(ready_store(records)) as store, store.writing() as session:
        session.execute("UPDATE records SET at = 5")
    changed = run(records, "verify")
    assert changed.exit_code == 1
    assert changed.stderr.count("at is not what is sealed") == 2


def test_records_are_replayed_and_audited(address: str):
    with recorded(address) as made:
        names = [made.ask("synthetic", {"instance": PERSON}) for _ in range(3)]
        made.written()
    assert run(address, "replay", names[0]).stdout == "The answer is the same.\n"
    assert run(address, "audit", "--sample", "100%").stdout == "3 replayed, 3 the same\n"
    assert run(address, "audit", "--sample", "0.000000001%").stdout.startswith("0 replayed, 0 the same: ")
    assert "must be a share" in run(address, "audit", "--sample", "much").stderr
    with closing(ready_store(address)) as store, store.writing() as session:
        session.execute("UPDATE personal SET plans = ? WHERE record_id = ?", ["[]", names[1]])
        session.execute("UPDATE personal SET request = ? WHERE record_id = ?", ["{}", names[2]])
    differs = run(address, "audit", "--sample", "100%")
    assert differs.exit_code == 1
    assert f"{names[1]}: lines is not what is sealed" in differs.stderr
    assert f"{names[2]}: request is not what is sealed" in differs.stderr
    assert differs.stdout == "3 replayed, 1 the same\n"
    assert run(address, "replay", names[2]).exit_code == 1
    with closing(ready_store(address)) as store, store.writing() as session:
        session.execute("DELETE FROM personal WHERE record_id = ?", [names[0]])
    erased = run(address, "replay", names[0])
    assert (erased.exit_code, "The values of this record were erased." in erased.stderr) == (1, True)


def test_a_store_that_cannot_be_used_is_told(tmp_path: Path):
    unset = CliRunner().invoke(cli, ["records", "list"], env={"FLIPSET_RECORDS": None})
    assert unset.stderr == "Which store? Set FLIPSET_RECORDS, or name it with --store.\n"
    wrong = CliRunner().invoke(cli, ["records", "list", "--store", "mysql://x"])
    assert "must look like sqlite:///records.db" in wrong.stderr
    lost = run(f"sqlite:///{tmp_path}/no/such/folder/r.db", "list")
    assert lost.exit_code == 1
    assert "cannot be reached or written to" in lost.stderr


def test_a_database_that_is_away_is_one_line_without_the_password(tmp_path: Path):
    pytest.importorskip("psycopg")
    done = flipset(tmp_path, "records", "list", "--store", "postgresql://me:s3cret@127.0.0.1:1/x")
    assert (done.returncode, "s3cret" in done.stderr) == (1, False)
    assert done.stderr.splitlines() == ["FLIPSET_RECORDS: postgresql://127.0.0.1/x: cannot be reached or written to"]
