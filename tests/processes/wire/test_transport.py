"""A client that does not read: what is meant for it is thrown away, and the connection ends."""

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
import uvloop

from app.processes.wire.transport import LEAST_READ, LOOKS, BoundedTransport, Patience
from tests.support.live_server import PATIENCE

LOOPS = [asyncio.new_event_loop, uvloop.new_event_loop]
LONG = b"x" * 2**24


class Sending(asyncio.Protocol):
    """Does what it is told with its transport, and says when the connection has ended."""

    def __init__(self, patience: Patience, act: Callable[["Sending"], None]) -> None:
        self._patience = patience
        self._act = act
        self.unread = 0
        self.lost = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: Any) -> None:
        self.transport = BoundedTransport(transport, self._patience, self._count)
        self._act(self)

    def pause_writing(self) -> None:
        self.transport.watch()

    def resume_writing(self) -> None:
        self.transport.unwatch()

    def connection_lost(self, exc: Exception | None) -> None:
        self.transport.lost()
        self.lost.set_result(exc)

    def _count(self) -> None:
        self.unread += 1


def write(sending: Sending) -> None:
    sending.transport.write(LONG)


def write_and_close(sending: Sending) -> None:
    sending.transport.write(LONG)
    sending.transport.close()


def write_little_and_close(sending: Sending) -> None:
    sending.transport.expects_more = True
    sending.transport.pause_reading()
    sending.transport.write(b"answer")
    sending.transport.close()


async def connect(patience: Patience, act: Callable[[Sending], None]) -> tuple[Sending, socket.socket]:
    loop = asyncio.get_running_loop()
    made: list[Sending] = []

    def make() -> Sending:
        made.append(Sending(patience, act))
        return made[-1]

    server = await loop.create_server(make, "127.0.0.1", 0)
    end = socket.create_connection(server.sockets[0].getsockname())
    end.setblocking(False)
    while not made or not hasattr(made[0], "transport"):
        await asyncio.sleep(0)
    server.close()
    return made[0], end


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("act", [write, write_and_close])
def test_an_answer_that_nobody_reads_ends_the_connection(loop: Any, act: Callable[[Sending], None]):
    async def run() -> int:
        sending, end = await connect(Patience(write=0.2), act)
        with end:
            await asyncio.wait_for(sending.lost, PATIENCE)
        return sending.unread

    with asyncio.Runner(loop_factory=loop) as runner:
        assert runner.run(run()) == 1


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("act", [write, write_and_close])
def test_an_answer_that_is_read_arrives(loop: Any, act: Callable[[Sending], None]):
    async def run() -> tuple[int, int]:
        sending, end = await connect(Patience(write=PATIENCE), act)
        received = 0
        with end:
            while received < len(LONG):
                received += len(await asyncio.get_running_loop().sock_recv(end, 2**20))
        await asyncio.wait_for(sending.lost, PATIENCE)
        return received, sending.unread

    with asyncio.Runner(loop_factory=loop) as runner:
        assert runner.run(run()) == (len(LONG), 0)


@pytest.mark.parametrize("loop", LOOPS)
def test_the_last_answer_reaches_a_client_that_still_sends(loop: Any):
    """Closed at once, with unread bytes, the connection would be reset, and the answer with it."""

    async def run() -> bytes:
        sending, end = await connect(Patience(linger=PATIENCE), write_little_and_close)
        with end:
            await asyncio.get_running_loop().sock_sendall(end, LONG)
            answer = await asyncio.get_running_loop().sock_recv(end, 2**16)
            assert await asyncio.get_running_loop().sock_recv(end, 1) == b""
        await asyncio.wait_for(sending.lost, PATIENCE)
        return answer

    with asyncio.Runner(loop_factory=loop) as runner:
        assert runner.run(run()) == b"answer"


@pytest.mark.parametrize("loop", LOOPS)
def test_nobody_may_send_for_ever_after_the_last_answer(loop: Any):
    async def run() -> None:
        sending, end = await connect(Patience(linger=0.2), write_little_and_close)
        with end, suppress(ConnectionError):
            while not sending.lost.done():
                await asyncio.get_running_loop().sock_sendall(end, b"x")
                await asyncio.sleep(0.01)
        await asyncio.wait_for(sending.lost, PATIENCE)

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(run())


class Reader(asyncio.Transport):
    """Takes so many bytes each time that somebody looks."""

    def __init__(self, takes: int) -> None:
        super().__init__()
        self._takes = takes
        self._left = 100 * LEAST_READ
        self.looks = 0
        self.is_aborted = False

    def write(self, data: Any) -> None: ...

    def get_write_buffer_size(self) -> int:
        self.looks += 1
        self._left = max(0, self._left - self._takes)
        return self._left

    def abort(self) -> None:
        self.is_aborted = True


@pytest.mark.parametrize(("takes", "suffices"), [(LEAST_READ, True), (LEAST_READ // LOOKS // 2, False), (0, False)])
def test_a_slow_reader_is_not_one_that_is_gone(takes: int, suffices: bool):
    async def run() -> bool:
        reader = Reader(takes)
        transport = BoundedTransport(reader, Patience(write=0.05), lambda: None)
        transport.watch()
        while reader.looks < 3 * LOOKS and not reader.is_aborted:
            await asyncio.sleep(0.001)
        transport.unwatch()
        return reader.is_aborted

    assert asyncio.run(run()) is not suffices


class Recording(asyncio.Transport):
    """Takes down what is written to it, call by call."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[bytes | str] = []

    def write(self, data: Any) -> None:
        self.calls.append(data)

    def is_closing(self) -> bool:
        return "closed" in self.calls

    def close(self) -> None:
        self.calls.append("closed")

    abort = close

    def get_write_buffer_size(self) -> int:
        return 0


def recorded(act: Callable[[BoundedTransport], None]) -> list[bytes | str]:
    """What reaches the transport inside, one turn of the event loop after this."""

    async def run() -> list[bytes | str]:
        inner = Recording()
        transport = BoundedTransport(inner, Patience(), lambda: None)
        act(transport)
        await asyncio.sleep(0)
        transport.lost()
        return inner.calls

    return asyncio.run(run())


def test_what_is_written_in_one_turn_goes_out_in_one_call():
    def answer(transport: BoundedTransport) -> None:
        transport.write(b"head ")
        transport.write(b"body")

    assert recorded(answer) == [b"head body"]


def test_what_is_written_goes_out_before_the_connection_closes():
    def answer(transport: BoundedTransport) -> None:
        transport.write(b"answer")
        transport.close()

    assert recorded(answer) == [b"answer", "closed"]


def test_nothing_is_written_to_a_connection_that_has_ended():
    def answer(transport: BoundedTransport) -> None:
        transport.write(b"answer")
        transport.abort()

    assert recorded(answer) == ["closed"]
