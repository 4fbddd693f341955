"""Those who leave, dawdle or attack. Nobody expects an answer for them; the others must not notice."""

import asyncio
from collections.abc import Sequence
from random import Random

from lab.fuzz.inputs import Examples, make_input
from lab.soak.clients import Ground
from lab.soak.questions import Question
from lab.soak.wire import Connection, Cut
from tests.support.live_server import ROOT

HUGE = 8 * 2**20
ATTACK_SECONDS = 5


async def leave_early(ground: Ground, questions: Sequence[Question], seed: int) -> None:
    """Ask, and be gone before the first byte, or in the middle of the stream."""
    rng = Random(seed)
    while ground.goes_on:
        connection = await _connected(ground)
        if connection is None:
            continue
        try:
            connection.writer.write(rng.choice(questions).request)
            await connection.writer.drain()
            if rng.random() < 0.5:
                await asyncio.sleep(rng.choice([0, 0.001, 0.02]))
                ground.tally.count("leaves before the first byte", "done")
            else:
                reply = await connection.head()
                ground.tally.status("leaves in mid-stream", reply.status, reply.headers)
                await connection.reader.read(rng.choice([1, 1000, 100_000]))
        except (OSError, asyncio.IncompleteReadError):
            ground.tally.count("leaves in mid-stream", "cut")
        connection.leave()
        await asyncio.sleep(0.05)


async def read_slowly(ground: Ground, questions: Sequence[Question], seed: int) -> None:
    """Take a little at a time of a large answer, for a while."""
    rng = Random(seed)
    while ground.goes_on:
        connection = await _connected(ground, buffer=2**12)
        if connection is None:
            continue
        try:
            connection.writer.write(rng.choice(questions).request)
            reply = await connection.head()
            ground.tally.status("slow reader", reply.status, reply.headers)
            for _ in range(rng.randint(20, 100)):
                if not ground.goes_on or not await connection.reader.read(2**12):
                    break
                await asyncio.sleep(0.1)
        except (OSError, asyncio.IncompleteReadError):
            ground.tally.count("slow reader", "cut")
        connection.leave()


async def never_read(ground: Ground, questions: Sequence[Question], seed: int) -> None:
    """Ask again and again for what is long, and read nothing, until the server gives up."""
    rng = Random(seed)
    while ground.goes_on:
        connection = await _connected(ground, buffer=2**12)
        if connection is None:
            continue
        transport = connection.writer.transport
        assert isinstance(transport, asyncio.ReadTransport)
        transport.pause_reading()
        for _ in range(100):
            connection.writer.write(rng.choice(questions).request)
        while ground.goes_on and not transport.is_closing():
            # The connection is closed under what is still to be written, sooner or later.
            connection.writer.write(b"\r\n")
            await asyncio.sleep(0.2)
        ground.tally.count("never reads", "given up" if ground.goes_on else "left")
        connection.leave()


async def send_slowly(ground: Ground, questions: Sequence[Question], seed: int) -> None:
    """A few bytes of the request at a time; some never come to its end, some say nothing at all."""
    rng = Random(seed)
    while ground.goes_on:
        connection = await _connected(ground)
        if connection is None:
            continue
        request = rng.choice(questions).request
        ends_at = rng.choice([0, 10, len(request) // 2, len(request)])
        try:
            for at in range(0, ends_at, 40):
                connection.writer.write(request[at : min(at + 40, ends_at)])
                await connection.writer.drain()
                await asyncio.sleep(0.1)
                if not ground.goes_on:
                    break
            if ends_at == len(request) and ground.goes_on:
                reply = await connection.head()
                ground.tally.status("slow sender", reply.status, reply.headers)
            else:
                await asyncio.sleep(rng.uniform(0, 5))
                ground.tally.count("half-open" if ends_at == 0 else "slow sender", "left")
        except (OSError, asyncio.IncompleteReadError):
            ground.tally.count("slow sender", "cut")
        connection.leave()


async def attack(ground: Ground, seed: int) -> None:
    """Garbage, wrong methods, huge heads, bodies and trailers, lengths that lie, and what the fuzz thinks of."""
    rng, examples = Random(seed), Examples(ROOT / "models")
    while ground.goes_on:
        connection = await _connected(ground)
        if connection is None:
            continue
        kind, request = _hostile(rng, examples)
        try:
            reply = await connection.ask(request, ATTACK_SECONDS)
            ground.tally.status(kind, reply.status, reply.headers)
        except Cut:
            ground.tally.count(kind, "cut")
        except TimeoutError:
            # Some of it is no request yet, and the server waits for the rest.
            ground.tally.count(kind, "no answer")
        connection.leave()
        await asyncio.sleep(rng.choice([0, 0.02, 0.1]))


def _hostile(rng: Random, examples: Examples) -> tuple[str, bytes]:
    post = b"POST /v1/models/hcv/counterfactuals HTTP/1.1\r\nHost: soak\r\nContent-Type: application/json\r\n"
    match rng.randrange(20):
        case 0:
            return "garbage", rng.randbytes(rng.choice([1, 100, 10_000])) + b"\r\n\r\n"
        case 1:
            return "huge head", b"GET / HTTP/1.1\r\nHost: soak\r\nX: " + b"x" * 2**20 + b"\r\n\r\n"
        case 2:
            body = rng.choice([b"[" * HUGE, b'{"instance":"' + b"x" * HUGE + b'"}', b" " * HUGE])
            return "huge body", post + b"Content-Length: %d\r\n\r\n" % len(body) + body
        case 3:
            return "wrong method", b"DELETE /v1/models/hcv/counterfactuals HTTP/1.1\r\nHost: soak\r\n\r\n"
        case 4:
            return "lying length", post + b"Content-Length: 5\r\n\r\n" + b"{" * 500
        case 5:
            # So short that the server can read it at once.
            return "long head", b"GET / HTTP/1.1\r\nHost: soak\r\nX: " + b"x" * 100_000 + b"\r\n\r\n"
        case 6:
            trailers = rng.choice([b"X: x\r\n" * (HUGE // 6), b"X: " + b"x" * HUGE + b"\r\n"])
            return "huge trailers", post + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n" + trailers + b"\r\n"
        case 7:
            return "bad chunks", post + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n"
    asked = make_input(examples, 7, rng.randrange(10**6))
    # Only the body: what odd heads do is the fuzz's own business.
    return "fuzz", post + b"Content-Length: %d\r\n\r\n" % len(asked.body) + asked.body


async def _connected(ground: Ground, buffer: int | None = None) -> Connection | None:
    try:
        return await Connection.to(ground.port, buffer)
    except OSError:
        ground.tally.count("rude clients", "no connection")
        await asyncio.sleep(0.1)
        return None
