"""A log that is read late, or never: who logs does not wait for it."""

import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.observing.log_lines import IN_ONE_PIECE, LogLines
from app.observing.logs import Handler, JsonFormatter
from tests.support.live_server import live_server
from tests.support.waiting import PATIENCE, eventually

MOST = 200_000


class Pipe:
    """A pipe that is read when it is asked for."""

    def __init__(self) -> None:
        self.end, self.descriptor = os.pipe()

    def lines(self, last: str) -> list[str]:
        """All lines up to one that ends so."""
        read = b""
        while not read.endswith(f"{last}\n".encode()):
            read += os.read(self.end, 2**16)
        return read.decode().splitlines()


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    made = Pipe()
    yield made
    os.close(made.descriptor)
    os.close(made.end)


def test_lines_are_written_in_their_order(pipe: Pipe):
    lines = LogLines(pipe.descriptor)
    sent = [f"{number} {'x' * (number % 50)}" for number in range(5_000)] + ["last"]
    assert all(lines.put(f"{line}\n".encode()) for line in sent)
    assert pipe.lines("last") == sent


def test_a_line_that_is_longer_than_a_piece_is_written_whole(pipe: Pipe):
    lines = LogLines(pipe.descriptor)
    sent = ["short", "x" * 3 * IN_ONE_PIECE, "short", "last"]
    assert all(lines.put(f"{line}\n".encode()) for line in sent)
    assert pipe.lines("last") == sent


def test_who_logs_does_not_wait_for_who_reads(pipe: Pipe):
    """Lines are dropped while nobody reads, and are counted; the log says how many and where."""
    lines, dropped = LogLines(pipe.descriptor, MOST), []
    lines.on_dropped = lambda: dropped.append(1)
    logger, handler = logging.Logger("any"), Handler(lines)
    handler.setFormatter(JsonFormatter())
    logger.addHandler(handler)
    count = 0
    while len(dropped) < 100:
        logger.info("line", extra={"facts": {"number": count}})
        count += 1
    with ThreadPoolExecutor() as threads:
        reading = threads.submit(pipe.lines, '"last"}')
        lines.flush(PATIENCE)
        logger.info("last")
        read = [json.loads(line) for line in reading.result()]
    expected = 0
    for line in read[:-1]:
        expected += line.get("dropped", 0)
        if "number" in line:
            assert line["number"] == expected
            expected += 1
    assert (expected, sum(line.get("dropped", 0) for line in read)) == (count, len(dropped))
    assert {line["level"] for line in read if "dropped" in line} == {"warning"}


def test_the_last_lines_of_a_process_are_written():
    # The second that is waited for is none on a machine that stands still meanwhile.
    code = f"from app.observing.log_lines import LogLines; LogLines.flush.__defaults__ = ({PATIENCE},)\n"
    code += "import logging; from app.observing.logs import Handler; logging.getLogger().addHandler(Handler())\n"
    code += "for number in range(2_000): logging.warning('%d', number)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stderr.split() == [str(number) for number in range(2_000)]


def test_a_log_that_was_closed_stops_nobody():
    end, descriptor = os.pipe()
    os.close(end)
    lines = LogLines(descriptor)
    lines.put(b"lost\n")
    lines.flush(60)
    os.close(descriptor)


# Each of its processes writes into a pipe that nobody reads.
UNREAD = "import os; os.dup2(os.pipe()[1], 2)"


def test_a_server_whose_log_nobody_reads_goes_on():
    with live_server(first=UNREAD) as server, server.client() as client:
        for _ in range(600):
            assert client.get("/livez").status_code == 200
        assert "flipset_log_lines_dropped_total 0.0" in client.get("/metrics").text
        server.terminate()
        assert eventually(lambda: server.process.poll() is not None)
