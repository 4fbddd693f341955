"""What the processes take from the machine: no core dump, few files, and no more shared memory than there is."""

import os
import resource
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cohorts.processes import most_dumped
from tests.live.asking import workers_of
from tests.support.live_server import FLIPSET, PATIENCE, ROOT, live_server

# As where somebody has allowed core dumps for everything that runs on the machine.
ALLOW_DUMPS = "import resource as r; r.setrlimit(r.RLIMIT_CORE, (r.getrlimit(r.RLIMIT_CORE)[1],) * 2)"


def test_no_process_leaves_a_core_dump():
    """It would hold the values of instances."""
    with live_server(first=ALLOW_DUMPS, workers="2") as server:
        for process in (server.process.pid, *workers_of(server)):
            assert most_dumped(process) == ["0", "0"]


def limited_to(files: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))


@pytest.mark.parametrize("files", [24, 27])
def test_too_few_open_files_are_told_at_once(files: int):
    environment = {**os.environ, "FLIPSET_PORT": "0", "FLIPSET_WORKERS": "2"}
    done = subprocess.run(
        [FLIPSET, "serve"],
        cwd=ROOT,
        env=environment,
        preexec_fn=limited_to(files),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "Flipset cannot start:",
        f"it may open only {files} files (ulimit -n), and needs 64 or more",
    ]


# The second worker cannot be started, as where the machine has no room for another process.
NO_SECOND = """
import multiprocessing.popen_spawn_posix as p
launch, workers = p.Popen._launch, []
def launch_one(self, process):
    if process._target.__name__ == "subprocess_started":
        workers.append(process)
        if len(workers) == 2:
            raise OSError(11, "Resource temporarily unavailable")
    launch(self, process)
p.Popen._launch = launch_one
"""


@pytest.mark.slow
def test_a_parent_that_cannot_start_its_workers_ends_and_leaves_nobody_behind(tmp_path: Path):
    (tmp_path / "sitecustomize.py").write_text(NO_SECOND)
    environment = {**os.environ, "FLIPSET_PORT": "0", "FLIPSET_WORKERS": "2", "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [FLIPSET, "serve"], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    # What it started holds its output open: here all of it has ended.
    assert done.returncode == 1
    # A thread writes the log, so its last line may come after this one.
    assert "Flipset cannot start a worker: Resource temporarily unavailable" in done.stderr.splitlines()


@pytest.mark.slow
def test_a_worker_that_cannot_be_replaced_is_tried_again():
    """The second start fails: the first worker is gone by then, and the service must come back."""
    with live_server(first=NO_SECOND) as server, server.client() as client:
        (worker,) = workers_of(server, 1)
        os.kill(worker, signal.SIGKILL)
        workers_of(server, 2)
        assert client.get("/livez").status_code == 200
        assert server.logs("could not be started (Resource temporarily unavailable)")


# In a name space of its own the shared memory can be as small as Docker's --shm-size makes it.
MOUNT = 'mount -t tmpfs -o size=64k tmpfs /dev/shm && exec "$0" "$@"'
TINY = ["unshare", "--map-root-user", "--mount", "sh", "-c", MOUNT]


@pytest.mark.slow
def test_shared_memory_that_is_too_small_is_left_alone(tmp_path: Path):
    """The counters of the workers would end them with SIGBUS."""
    if subprocess.run([*TINY, "true"], check=False, capture_output=True).returncode:
        pytest.skip("this machine allows no mounts of one's own")
    with live_server(command=[*TINY, FLIPSET, "serve"], environment={"TMPDIR": str(tmp_path)}, workers="2") as server:
        workers = workers_of(server)
        with server.client() as client:
            for _ in range(20):
                assert client.get("/v1/models").status_code == 200
            assert "flipset_requests_total" in client.get("/metrics").text
        assert server.logs("do not count together in /dev/shm: less than 4 MB are free")
        assert set(server.workers()) == workers
        assert [file.name[:8] for file in tmp_path.iterdir()] == ["flipset-"]
