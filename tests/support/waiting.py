"""Waiting for a state, never for a time that should suffice."""

import time
from collections.abc import Callable
from typing import TypeVar

# Only a defect takes so long, however busy the machine is.
PATIENCE = 300


T = TypeVar("T")


def eventually(look: Callable[[], T], why: Callable[[], object] = lambda: "it never came", most: float = PATIENCE) -> T:
    """The first thing seen that counts as true."""
    until = time.monotonic() + most
    while not (seen := look()):
        assert time.monotonic() < until, why()
        time.sleep(0.02)
    return seen
