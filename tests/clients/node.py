"""node and npm, where they are installed."""

import fcntl
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.live_server import ROOT

PACKAGE = ROOT / "clients/typescript"
NO_NODE = "no node is found here; install Debian's packages nodejs and npm"


def needs(*programs: str) -> None:
    """Skip a test, and say so, where one of these programs is not installed."""
    if any(shutil.which(program) is None for program in programs):
        pytest.skip(NO_NODE)


def run(*command: str, folder: Path = PACKAGE, **options: Any) -> str:
    """What a command prints that succeeds."""
    done = _done(command, folder, options)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def run_whatever(*command: str, folder: Path = PACKAGE, **options: Any) -> str:
    """What a command prints, whether it succeeds or not."""
    return _done(command, folder, options).stdout


def _done(command: tuple[str, ...], folder: Path, options: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, **options)


def install() -> Path:
    """Where the compiler and the generator are, once one process has installed them, while others wait."""
    needs("node", "npm")
    modules = PACKAGE / "node_modules"
    with PACKAGE.joinpath("package.json").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        if not (modules / ".package-lock.json").exists():
            run("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts")
    return modules / ".bin"
