"""What must hold at the end of a soak."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab.soak.running import Result

# How far the memory may have moved since minute one.
MEMORY_SHARE = 0.10
# Threads come and go with the pools; one of each more or less is no leak, one for each client would be.
SPARE_THREADS = 2
IDLE_SHARE = 0.05
MINUTE = 60


def flaws(result: "Result") -> Iterator[str]:
    """Every reason for which the soak has failed."""
    yield from result.tally.wrong
    yield from (f"the server's log holds {line!r}" for line in result.log_flaws)
    if not result.tally.answers:
        yield "not one answer was compared"
    yield from leaks(result)
    if result.plan.kill:
        if not result.back_after:
            yield "no worker was killed"
    elif result.plan.seconds >= MINUTE:
        yield from _growth(result)


def minute_one(result: "Result") -> float:
    """The memory around minute one; in a shorter run, after a third of it."""
    middle = min(MINUTE / result.plan.seconds, 0.34)
    return result.memory_between(middle * 0.8, middle * 1.2)


def at_the_end(result: "Result") -> float:
    return result.memory_between(0.92, 1.1)


def leaks(result: "Result") -> Iterator[str]:
    """What the workers still hold that they did not hold before."""
    if len(result.after) != result.plan.workers:
        yield f"{len(result.after)} workers are there where {result.plan.workers} should be"
    threads = max(held.threads for held in result.before.values()) + SPARE_THREADS
    files = max(held.files for held in result.before.values())
    for worker, held in result.after.items():
        if held.threads > threads:
            yield f"worker {worker} has {held.threads} threads; before it was at most {threads - SPARE_THREADS}"
        if held.files > files:
            yield f"worker {worker} has {held.files} open files; before it was at most {files}"
    if result.in_flight:
        yield f"{result.in_flight:g} searches are still in flight"
    if result.idle_share > IDLE_SHARE:
        yield f"the workers still use {result.idle_share:.0%} of a processor"


def _growth(result: "Result") -> Iterator[str]:
    first, last = minute_one(result), at_the_end(result)
    if not abs(last - first) <= MEMORY_SHARE * first:
        yield f"the memory was {first:.0f} MB around minute one and is {last:.0f} MB at the end"
