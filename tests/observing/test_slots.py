"""The places that processes count in, held and given up."""

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from app.observing import slots
from app.observing.slots import NoSharedFolder, Slot, clear_dead_slots, shared_folder

HOLD = """
import sys
import tempfile
from pathlib import Path
from app.observing.slots import Slot
slot = Slot(Path(sys.argv[1]))
print(slot.number(), flush=True)
sys.stdin.read()
"""


def holder(folder: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", HOLD, str(folder)]
    return subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def number(process: "subprocess.Popen[str]") -> int:
    assert process.stdout is not None
    return int(process.stdout.readline())


def test_a_new_process_takes_the_place_of_a_dead_one(tmp_path: Path):
    with holder(tmp_path) as first, holder(tmp_path) as second:
        held = {number(first): first, number(second): second}
        assert set(held) == {0, 1}
        held[0].kill()
        held[0].wait()
        with holder(tmp_path) as third:
            assert number(third) == 0
            third.kill()
        held[1].kill()


def test_what_a_dead_process_had_in_flight_is_forgotten_and_nothing_else(tmp_path: Path):
    for name in ("gauge_livesum_0.db", "counter_0.db", "gauge_livesum_1.db", "counter_1.db"):
        (tmp_path / name).touch()
    (tmp_path / "1.lock").touch()
    with holder(tmp_path) as living:
        assert number(living) == 0
        (tmp_path / "gauge_livesum_0.db").touch()
        clear_dead_slots(tmp_path)
        assert {file.name for file in tmp_path.glob("*.db")} == {"gauge_livesum_0.db", "counter_0.db", "counter_1.db"}
        living.kill()


def test_a_process_that_comes_back_makes_a_folder_that_has_vanished(tmp_path: Path):
    folder = tmp_path / "gone"
    with holder(folder) as process:
        assert number(process) == 0
        assert folder.stat().st_mode & 0o077 == 0
        process.kill()


def test_one_process_may_hold_several(tmp_path: Path):
    """As in a test: a second app in the same process does not count into the files of the first."""
    first, second = Slot(tmp_path), Slot(tmp_path)
    assert (first.number(), second.number()) == (0, 1)


def test_the_folder_is_nobody_else_s_and_goes_away():
    with shared_folder(2) as folder:
        assert folder.stat().st_mode & 0o077 == 0
        (folder / "counter_0.db").touch()
    assert not folder.exists()


def test_it_is_in_the_temporary_folder_where_there_is_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(slots, "PREFERRED", tmp_path / "nowhere")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with shared_folder(2) as folder:
        assert folder.parent == tmp_path
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(NoSharedFolder, match="FLIPSET_WORKERS"), shared_folder(2):
        pass


def test_no_folder_has_room_for_more_processes_than_any_disk():
    with pytest.raises(NoSharedFolder, match="FLIPSET_WORKERS"), shared_folder(10**9):
        pass
