"""Sending an answer while it is found: the search runs in a thread, and waits for the reader."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Executor

from app.answering.answer import Answer
from app.answering.events import Event
from app.asking.refusals import Busy

# What is sent of an event, if anything.
Present = Callable[[Event | None], str]

# What is ready goes out together: a line at a time would cost more than the search.
FLUSH_SECONDS = 0.02
FLUSH_CHARACTERS = 64 * 1024
# The first line waits this long for the rest, so that a small answer is one piece.
START_SECONDS = 0.01
# A reader hears of a long search at least this often; the contract says 10 s.
PROGRESS_SECONDS = 9.0
# A search that waits for memory asks again this often, and takes no turns meanwhile.
WAIT_SECONDS = 0.05
# A search ends at its deadline. On a machine that keeps it from its work it may be late, but no later than this.
LATE_SECONDS = 60.0


async def stream(
    answer: Answer, present: Present, searchers: Executor, ready: str, events: Iterator[Event | None]
) -> AsyncIterator[bytes]:
    """What is ready, and what is sent of all further events, in pieces that were ready together.

    The last piece ends with a summary or an error, whatever happens meanwhile.
    """
    try:
        async for piece in _pieces(answer, present, searchers, ready, events):
            yield piece
    except Exception as error:  # noqa: BLE001  # the answer has begun: to tell of it is all that is left
        yield present(answer.failed(error)).encode()


async def _pieces(
    answer: Answer, present: Present, searchers: Executor, ready: str, events: Iterator[Event | None]
) -> AsyncIterator[bytes]:
    """The same; `Busy` if the search is too late, which goes on in its thread until it notices."""
    loop = asyncio.get_running_loop()
    due = loop.time() + START_SECONDS
    latest = loop.time() + answer.seconds_left + LATE_SECONDS
    # The search runs ahead of what has been sent: progress speaks of the latter.
    told = answer.complete_up_to
    finished = False
    while not finished:
        if answer.is_waiting:
            await asyncio.sleep(WAIT_SECONDS)
        step = loop.run_in_executor(searchers, gather, answer, present, FLUSH_SECONDS, events)
        while not step.done():
            await asyncio.wait([step], timeout=max(0.0, min(due, latest) - loop.time()))
            if not step.done():
                if loop.time() >= latest:
                    raise Busy
                yield (ready or present(answer.progress(told))).encode()
                ready, due = "", loop.time() + PROGRESS_SECONDS
        pieces, finished = step.result()
        ready += pieces
        told = answer.complete_up_to
        if not ready and loop.time() >= due:
            ready = present(answer.progress(told))
        if ready:
            yield ready.encode()
            ready, due = "", loop.time() + PROGRESS_SECONDS


def gather(answer: Answer, present: Present, seconds: float, events: Iterator[Event | None]) -> tuple[str, bool]:
    """Search on for so long, or until there is enough to send, or nothing more to find, or others must go first."""
    pieces: list[str] = []
    size = 0
    until = time.perf_counter() + seconds
    for event in events:
        piece = present(event)
        pieces.append(piece)
        size += len(piece)
        if size >= FLUSH_CHARACTERS or answer.is_waiting or time.perf_counter() >= until:
            return "".join(pieces), False
    return "".join(pieces), True
