"""The processes of a run, found as a person with `ps` would find them."""

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.support.waiting import eventually


def descendants(process: int) -> list[int]:
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name stands in brackets, and may hold anything.
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found, open_ = [], [process]
    while open_:
        parent = open_.pop()
        children = [child for child, its in parents.items() if its == parent]
        found += children
        open_ += children
    return found


def command_of(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def workers(run: subprocess.Popen[str]) -> list[int]:
    """The processes that answer: those that the fork server has made, or Ray's actors."""
    below = descendants(run.pid)
    servers = [each for each in below if "multiprocessing.forkserver" in command_of(each)]
    forked = [each for each in servers if any(each in descendants(other) for other in servers)]
    return forked + [each for each in below if command_of(each).startswith("ray::MapWorker")]


def wait_for(what: Callable[[], object], run: subprocess.Popen[str]) -> None:
    def has_come() -> object:
        assert run.poll() is None, run.communicate()
        return what()

    eventually(has_come)


def kill(process: int) -> None:
    os.kill(process, signal.SIGKILL)


def most_dumped(process: int) -> list[str]:
    """The soft and the hard limit of a core dump of this process."""
    lines = Path(f"/proc/{process}/limits").read_text().splitlines()
    (found,) = (line for line in lines if line.startswith("Max core file size"))
    return found.split()[4:6]
