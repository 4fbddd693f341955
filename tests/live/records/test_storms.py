"""What becomes of records when workers and databases are killed under load, and when the disk is full."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import httpx
import pytest

from tests.live.asking import PERSON, ask, lines_of
from tests.support.live_server import ROOT, LiveServer, live_server
from tests.support.postgres import Postgres, postgres
from tests.support.scale import scaled
from tests.support.storms import Storm, check_whole, missing, storm
from tests.support.waiting import eventually

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """One small model, so that a server starts quickly."""
    folder = tmp_path_factory.mktemp("served")
    shutil.copytree(ROOT / "models/synthetic", folder / "models/synthetic")
    (folder / "ranges").mkdir()
    shutil.copy(ROOT / "normal_ranges/synthetic.toml", folder / "ranges")
    return folder / "models", folder / "ranges"


def tell(figures: str) -> None:
    """Shown with `pytest -s`."""
    print(figures)  # noqa: T201


def more_answers(told: Storm, count: int) -> None:
    until = len(told.answered) + count
    eventually(lambda: len(told.answered) >= until)


def kill_a_worker(server: LiveServer, rng: Random) -> None:
    """As kill -9 does; another one starts. The log names those that were killed before, too."""
    before = server.workers()
    os.kill(rng.choice([each for each in before if Path(f"/proc/{each}").exists()]), signal.SIGKILL)
    eventually(lambda: len(server.workers()) > len(before), server.log.read_text)


def test_of_killed_workers_every_required_record_is_in_the_store(address: str, folders: tuple[Path, Path]):
    rng = Random(0)  # noqa: S311  # nothing random here is a secret
    with live_server(*folders, records=address, records_required="true", workers="2") as server:
        eventually(lambda: len(server.workers()) == 2, server.log.read_text)
        with storm(server) as told:
            for _ in range(scaled(1) + 1):
                more_answers(told, scaled(20))
                kill_a_worker(server, rng)
            more_answers(told, scaled(20))
    assert missing(told, address) == set()
    assert all(recorded for _, recorded in told.answered.values())
    kept = check_whole(address, *folders)
    tell(f"required: {len(told.answered)} answered, {told.cut} cut, {kept} in the store")


def test_of_killed_workers_only_records_on_their_way_are_lost(address: str, folders: tuple[Path, Path]):
    rng = Random(1)  # noqa: S311  # nothing random here is a secret
    with live_server(*folders, records=address, workers="2") as server:
        eventually(lambda: len(server.workers()) == 2, server.log.read_text)
        kept: set[str] = set()
        with storm(server, seed=1) as told:
            for _ in range(scaled(1) + 1):
                more_answers(told, scaled(20))
                kept |= set(told.answered) - missing(told, address)
                kill_a_worker(server, rng)
            more_answers(told, scaled(20))
        lost = missing(told, address)
        assert kept
        assert not lost & kept
    check_whole(address, *folders)
    tell(f"not required: {len(told.answered)} answered, {told.cut} cut, {len(lost)} lost")


@pytest.mark.parametrize("required", ["true", "false"])
def test_of_a_killed_database_no_record_is_lost(database_server: Postgres, folders: tuple[Path, Path], required: str):
    address = database_server.new_database()
    with live_server(*folders, records=address, records_required=required, workers="2") as server:
        with storm(server, seed=2) as told:
            for _ in range(scaled(1)):
                more_answers(told, scaled(20))
                answered = len(told.answered)
                database_server.kill()
                if required == "true":
                    eventually(lambda: told.refused > 0)
                else:
                    eventually(lambda answered=answered: _says_so(told, answered))
                database_server.start()
                more_answers(told, scaled(20))
        eventually(lambda: missing(told, address) == set())
    kept = check_whole(address, *folders)
    said = sum(not recorded for _, recorded in told.answered.values())
    figures = f"{len(told.answered)} answered, of which {said} said their record may be missing, {told.refused} refused"
    tell(f"required={required}: {figures}, {kept} in the store")


def _says_so(told: Storm, since: int) -> bool:
    return any(not recorded for _, recorded in list(told.answered.values())[since:])


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Path]:
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=755", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("a small disk cannot be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_on_a_full_disk_answers_say_so_and_records_are_written_when_there_is_room(
    tmp_path: Path, folders: tuple[Path, Path]
):
    with small_disk(tmp_path / "disk", 1) as disk:
        address = f"sqlite:///{disk}/r.db"
        with live_server(*folders, records=address, record_all="true") as server, server.client() as client:
            names = ask_until_full(client)
            subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
            for name in names:
                eventually(lambda name=name: client.get(f"/v1/records/{name}").status_code == 200)
            assert lines_of(ask(client, {"instance": PERSON}))[-1]["recorded"] is True
        assert check_whole(address, *folders) == len(names) + 1


def test_a_database_on_a_full_disk_loses_no_record(folders: tuple[Path, Path]):
    with tempfile.TemporaryDirectory() as above, small_disk(Path(above) / "disk", 100) as disk:
        # The server runs as another user, who must get there.
        Path(above).chmod(0o755)
        check_full_database(disk, folders)


def check_full_database(disk: Path, folders: tuple[Path, Path]) -> None:
    with postgres(disk) as database:
        address = database.new_database()
        with live_server(*folders, records=address, record_all="true") as server, server.client() as client:
            ballast = disk / "ballast"
            with ballast.open("wb") as full:
                # Until nothing is left but a little.
                room = shutil.disk_usage(disk).free - 2**20
                full.write(b"x" * room)
            names = ask_until_full(client)
            ballast.unlink()
            # Where its log had no room, it ended by itself.
            if database.process is not None and database.process.poll() is not None:
                database.start()
            for name in names:
                eventually(lambda name=name: client.get(f"/v1/records/{name}").status_code == 200)
        assert check_whole(address, *folders) == len(names)


def ask_until_full(client: httpx.Client) -> list[str]:
    """The ids of records, up to the first answer that says that its own may be missing, and one more."""
    names: list[str] = []

    def is_full() -> bool:
        answer = ask(client, {"instance": {**PERSON, "A": -0.8 - len(names) / 1e6}})
        names.append(answer.headers["flipset-record"])
        return lines_of(answer)[-1]["recorded"] is False

    eventually(is_full)
    return names
