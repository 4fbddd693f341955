"""Asks one thing over and over, or several in turn, on several kept-alive connections, and counts.

A process of its own, which does as little as it can with an answer, so that it is the server that is measured.
Reads a `Load` as JSON from its input and writes {"answers", "seconds", "processor_seconds"} to its output.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import cycle
from time import perf_counter, process_time

HEAD_END = b"\r\n\r\n"
# How much longer than asked for a run may take before it is given up.
PATIENCE = 300


@dataclass(frozen=True)
class Load:
    """What to ask of whom, and for how long."""

    port: int
    path: str
    bodies: Sequence[str]
    accept: str
    seconds: float
    connections: int = 8
    most: int = 1_000_000

    def requests(self) -> list[bytes]:
        return [self._request(body.encode()) for body in self.bodies]

    def _request(self, body: bytes) -> bytes:
        head = f"POST {self.path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nAccept: {self.accept}\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        return head.encode() + body


class BadAnswer(Exception):
    """Not a 200, or not HTTP/1.1 as a server speaks it."""


class Responses:
    """Finds the end of each answer in what a connection sends: by its length, or in chunks."""

    def __init__(self) -> None:
        self._received = b""
        self._at = 0
        self._length: int | None = None

    def complete(self, data: bytes) -> bool:
        """Whether this ends an answer."""
        self._received += data
        if not self._at and not self._read_head():
            return False
        ended = self._chunks_end() if self._length is None else len(self._received) - self._at >= self._length
        if ended:
            self._received, self._at = b"", 0
        return ended

    def _read_head(self) -> bool:
        end = self._received.find(HEAD_END)
        if end < 0:
            return False
        head = self._received[:end].lower()
        if not head.startswith(b"http/1.1 200 "):
            raise BadAnswer(self._received[:500].decode(errors="replace"))
        self._at = end + len(HEAD_END)
        _, found, rest = head.partition(b"content-length:")
        self._length = int(rest.partition(b"\r\n")[0]) if found else None
        return True

    def _chunks_end(self) -> bool:
        """Step over every chunk that is there in full; the last is empty."""
        while (line := self._received.find(b"\r\n", self._at)) >= 0:
            size = int(self._received[self._at : line].partition(b";")[0], 16)
            end = line + 2 + size + 2
            if len(self._received) < end:
                return False
            if size == 0:
                return True
            self._at = end
        return False


class Connection(asyncio.Protocol):
    """Asks again as soon as it has its answer, until the time is over."""

    def __init__(self, run: "Run") -> None:
        self._run = run
        self._responses = Responses()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(next(self._run.requests))

    def data_received(self, data: bytes) -> None:
        try:
            complete = self._responses.complete(data)
        except (BadAnswer, ValueError) as error:
            self._run.fail(error)
            return
        if complete and self._run.goes_on():
            self._transport.write(next(self._run.requests))

    def connection_lost(self, error: Exception | None) -> None:
        self._run.fail(error or BadAnswer("the server closed the connection"))


class Run:
    """All connections together."""

    def __init__(self, load: Load) -> None:
        self.requests = cycle(load.requests())
        self.ended = asyncio.get_running_loop().create_future()
        self._most = load.most
        self.answers = 0
        self.began = self.last = perf_counter()
        self._processor = process_time()
        self._until = self.began + load.seconds

    def goes_on(self) -> bool:
        """Count an answer; whether there is to be another."""
        self.answers += 1
        self.last = perf_counter()
        going = self.last < self._until and self.answers < self._most
        if not going and not self.ended.done():
            self.ended.set_result(None)
        return going

    def told(self) -> dict[str, float]:
        spent = process_time() - self._processor
        return {"answers": self.answers, "seconds": self.last - self.began, "processor_seconds": spent}

    def fail(self, error: Exception) -> None:
        if not self.ended.done():
            self.ended.set_exception(error)


async def run(load: Load) -> dict[str, float]:
    loop = asyncio.get_running_loop()
    running = Run(load)
    opened = [
        await loop.create_connection(lambda: Connection(running), "127.0.0.1", load.port)
        for _ in range(load.connections)
    ]
    try:
        await asyncio.wait_for(running.ended, load.seconds + PATIENCE)
    finally:
        for transport, _ in opened:
            transport.abort()
    return running.told()


def rate(load: Load) -> float:
    """Answers a second, asked for by a process of its own."""
    told = counted(load)
    return told["answers"] / told["seconds"]


def counted(load: Load) -> dict[str, float]:
    """What such a process has counted."""
    command = [sys.executable, "-m", "lab.benchmarks.requests.load"]
    done = subprocess.run(command, input=json.dumps(asdict(load)), capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the load of {load.path} failed: {done.stderr[-1000:]}")
    told: dict[str, float] = json.loads(done.stdout)
    return told


if __name__ == "__main__":
    print(json.dumps(asyncio.run(run(Load(**json.load(sys.stdin))))))
