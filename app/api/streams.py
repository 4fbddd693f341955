"""Sending an answer while it is found: the search runs in a thread, and waits for the reader."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Executor

from app.api.answers import Answer
from app.api.forms import Form, Line

# What is ready goes out together: a line at a time would cost more than the search.
FLUSH_SECONDS = 0.02
FLUSH_CHARACTERS = 64 * 1024
# The first line waits this long for the rest, so that a small answer is one piece.
START_SECONDS = 0.01
# A reader hears of a long search at least this often; the contract says 10 s.
PROGRESS_SECONDS = 9.0


async def stream(
    answer: Answer, form: Form, searchers: Executor, ready: str, rest: Iterator[Line | None]
) -> AsyncIterator[bytes]:
    """What is ready, and the framed lines of the rest of an answer, in pieces that were ready together."""
    loop = asyncio.get_running_loop()
    due = loop.time() + START_SECONDS
    # The search runs ahead of what has been sent: progress speaks of the latter.
    told = answer.complete_up_to
    finished = False
    while not finished:
        step = loop.run_in_executor(searchers, gather, rest, form, FLUSH_SECONDS)
        while not step.done():
            await asyncio.wait([step], timeout=max(0.0, due - loop.time()))
            if not step.done():
                yield (ready or form.frame(answer.progress(told))).encode()
                ready, due = "", loop.time() + PROGRESS_SECONDS
        pieces, finished = step.result()
        ready += pieces
        told = answer.complete_up_to
        if not ready and loop.time() >= due:
            ready = form.frame(answer.progress(told))
        if ready:
            yield ready.encode()
            ready, due = "", loop.time() + PROGRESS_SECONDS


def gather(rest: Iterator[Line | None], form: Form, seconds: float) -> tuple[str, bool]:
    """Search on for so long, or until there is enough to send, or nothing more to find."""
    pieces: list[str] = []
    size = 0
    until = time.perf_counter() + seconds
    for line in rest:
        if line is not None:
            piece = form.frame(line)
            pieces.append(piece)
            size += len(piece)
        if size >= FLUSH_CHARACTERS or time.perf_counter() >= until:
            return "".join(pieces), False
    return "".join(pieces), True
