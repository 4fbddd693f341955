"""Those who ask as they should: all of their answers are compared with those of the idle server."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from lab.soak.questions import Question, is_comparable, is_whole, timeless
from lab.soak.tally import Tally
from lab.soak.wire import Connection, Cut


@dataclass
class Ground:
    """What all clients share."""

    port: int
    until: float
    tally: Tally
    expected: dict[Question, bytes]
    may_be_cut: bool

    @property
    def goes_on(self) -> bool:
        return time.monotonic() < self.until


async def expected_answers(port: int, questions: Sequence[Question]) -> dict[Question, bytes]:
    """What the server says while it has nothing else to do."""
    connection, answers = await Connection.to(port), {}
    for question in questions:
        reply = await connection.ask(question.request)
        if reply.status != 200 or not is_comparable(reply.body):
            raise RuntimeError(f"the idle server does not answer {question.path}: {reply.status} {reply.body[:300]!r}")
        answers[question] = timeless(bytes(reply.body))
    await connection.close()
    return answers


async def ask_on(ground: Ground, questions: Sequence[Question], seed: int, rest: float = 0.0) -> None:
    """Ask one question after the other on one connection, and hold each answer against the idle server's."""
    rng, connection, used = Random(seed), None, False
    while ground.goes_on:
        question = rng.choice(questions)
        began = time.monotonic()
        try:
            connection = connection or await Connection.to(ground.port)
            reply = await connection.ask(question.request)
        except Cut as cut:
            if used and not cut.began:
                # A server may close a connection that nobody used for a while, just when somebody does again.
                ground.tally.count(question.kind, "idle connection closed")
            else:
                judge_cut(ground, question, cut.received)
            connection, used = None, False
            continue
        except (OSError, TimeoutError) as error:
            ground.tally.count(question.kind, "no connection")
            if not ground.may_be_cut:
                ground.tally.fail(f"{question.kind}: {type(error).__name__} {question.path}")
            connection, used = None, False
            continue
        used = True
        if question.kind == "small search":
            ground.tally.times.append(time.monotonic() - began)
        ground.tally.status(question.kind, reply.status, reply.headers)
        if reply.status == 200:
            _judge(ground, question, bytes(reply.body))
        else:
            # As it was told.
            await asyncio.sleep(min(float(reply.headers.get("retry-after", 1)), 1.0))
        await asyncio.sleep(rest)
    if connection is not None:
        await connection.close()


def _judge(ground: Ground, question: Question, body: bytes) -> None:
    if not is_comparable(body):
        ground.tally.count(question.kind, "deadline")
    elif timeless(body) == ground.expected[question]:
        ground.tally.count(question.kind, "equal")
    else:
        ground.tally.fail(
            f"{question.kind}: another answer than the idle server's: {_difference(ground, question, body)}"
        )


def judge_cut(ground: Ground, question: Question, received: bytes) -> None:
    """What came until the cut is the beginning of the right answer, and has no last line."""
    ground.tally.count(question.kind, "cut")
    if not ground.may_be_cut:
        ground.tally.fail(f"{question.kind}: cut, and nobody was killed")
    if not question.path.endswith("/counterfactuals"):
        return
    if received and is_whole(question, received):
        ground.tally.fail(f"{question.kind}: cut, and yet with a last line")
    end = b"\n\n" if question.accept == "text/event-stream" else b"\n"
    whole = received[: received.rfind(end) + len(end)] if end in received else b""
    if question.accept != "application/json" and not ground.expected[question].startswith(timeless(whole)):
        ground.tally.fail(f"{question.kind}: cut, and what came before is wrong")


def _difference(ground: Ground, question: Question, body: bytes) -> str:
    said, expected = timeless(body), ground.expected[question]
    at = next((at for at, pair in enumerate(zip(said, expected, strict=False)) if pair[0] != pair[1]), len(said))
    return f"{question.path} {question.accept}: {said[at - 60 : at + 80]!r} for {expected[at - 60 : at + 80]!r}"
