"""A PostgreSQL server of our own, in a folder of its own, from Debian's package or whatever is on the PATH."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest

from tests.support.live_server import reserved_port
from tests.support.waiting import PATIENCE, eventually

INSTALLED = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda file: int(file.parts[4]))
INITDB = str(INSTALLED[-1]) if INSTALLED else shutil.which("initdb")
OWNER = "postgres"
# A test wants no records on a disk that outlives the machine.
OPTIONS = ("-c", "fsync=off", "-c", "unix_socket_directories=", "-c", "listen_addresses=127.0.0.1")


@dataclass
class Postgres:
    """A running server, and as many databases as one asks for."""

    port: int
    folder: Path
    process: "subprocess.Popen[bytes] | None" = None
    _numbers: Iterator[int] = field(default_factory=count)

    def new_database(self) -> str:
        """The address of an empty database."""
        import psycopg  # noqa: PLC0415  # where there is none, no test comes here

        name = f"records_{next(self._numbers)}"
        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return self.address(name)

    def address(self, database: str) -> str:
        return f"postgresql://{OWNER}@127.0.0.1:{self.port}/{database}"

    def dump(self, address: str) -> bytes:
        command = [_program("pg_dump"), address]
        return subprocess.run(command, check=True, capture_output=True).stdout

    def start(self) -> None:
        command = _as_owner([_program("postgres"), "-D", str(self.folder), "-p", str(self.port), *OPTIONS])
        with (self.folder.parent / "log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        ready = [_program("pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        eventually(lambda: subprocess.run(ready, check=False).returncode == 0)

    def kill(self) -> None:
        """As kill -9 does, all of its processes at once: each has a group of its own, and would go on for a while."""
        assert self.process is not None
        server = self.process.pid
        # So that it starts no other meanwhile.
        os.kill(server, signal.SIGSTOP)
        children = Path(f"/proc/{server}/task/{server}/children").read_text().split()
        for each in (*children, server):
            with suppress(ProcessLookupError):
                os.kill(int(each), signal.SIGKILL)
        self.process.wait(PATIENCE)
        # A server does not start while one of the last one's processes holds its memory.
        eventually(lambda: all(map(_has_ended, children)))


@contextmanager
def postgres(inside: Path | None = None) -> Iterator[Postgres]:
    """A server for the tests, in a folder if one is named; they are skipped where there is none to start."""
    if INITDB is None:
        pytest.skip("PostgreSQL is not installed")
    pytest.importorskip("psycopg", reason="the packages of the group records-postgres are not installed")
    with tempfile.TemporaryDirectory(dir=inside) as above, reserved_port() as port:
        folder = Path(above) / "data"
        if os.getuid() == 0:
            owner = pwd.getpwnam(OWNER)
            os.chown(above, owner.pw_uid, owner.pw_gid)
        options = ["-D", str(folder), "-U", OWNER, "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C"]
        subprocess.run(_as_owner([INITDB, *options]), check=True, capture_output=True, cwd=above)
        server = Postgres(port, folder)
        server.start()
        try:
            yield server
        finally:
            if server.process is not None and server.process.poll() is None:
                server.kill()


def _has_ended(process: str) -> bool:
    """Gone, or with nothing left but its number, for which nobody has asked yet."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def _as_owner(command: list[str]) -> list[str]:
    """PostgreSQL does not run as root."""
    return (
        ["setpriv", f"--reuid={OWNER}", f"--regid={OWNER}", "--init-groups", *command] if os.getuid() == 0 else command
    )


def _program(name: str) -> str:
    assert INITDB is not None
    return str(Path(INITDB).with_name(name))
