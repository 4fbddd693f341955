"""How many rows a graph takes at a time, by how long it takes for them."""

from collections.abc import Callable

# A call should take no longer than about this, so that the search can check its clock.
BATCH_SECONDS = 0.05
# With more rows the network's layers no longer fit the processor's cache.
MOST_BATCH_ROWS = 4**6
# A call that takes no longer than this may run on the event loop.
PROMPT_SECONDS = 0.002
MOST_PROMPT_ROWS = 4**5


def batch_rows_for(seconds: Callable[[int], float]) -> int:
    """The largest power of four whose rows fit the time of a batch, given the time that so many rows take.

    So coarse a step makes it the same from one start to the next, and with it the number of calls.
    """
    rows = 1
    while rows < MOST_BATCH_ROWS and 4 * seconds(rows) <= BATCH_SECONDS:
        rows *= 4
    return rows


def prompt_rows_for(seconds: Callable[[int], float]) -> int:
    """The largest power of four, up to a thousand, whose rows are scored promptly."""
    prompt, rows = 0, 1
    while rows <= MOST_PROMPT_ROWS and seconds(rows) <= PROMPT_SECONDS:
        prompt, rows = rows, rows * 4
    return prompt
