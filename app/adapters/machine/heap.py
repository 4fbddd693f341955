"""How the C library keeps memory."""

import ctypes
import sys
from functools import cache
from queue import SimpleQueue
from threading import Thread
from typing import Any

# Of mallopt, from malloc.h.
M_ARENA_MAX = -8
ARENAS = 2


def keep_few_arenas() -> None:
    """Make all threads share few heaps, on Linux with glibc; call it before threads start.

    By default each thread takes one of eight heaps per processor, and memory that a large answer frees in one heap is
    of no use to the others: under a mixed load (`make soak`), memory grew by a third in minutes. Now it stays level.
    """
    if (set_option := _of_the_c_library("mallopt")) is not None:
        set_option(M_ARENA_MAX, ARENAS)


def give_back() -> None:
    """Give memory that is free back to the system, on Linux with glibc.

    The C library keeps what lies below anything that is still used: of a large search that has ended, nearly all.
    """
    if (trim := _of_the_c_library("malloc_trim")) is not None:
        trim(0)


class Trimmer:
    """Gives memory back in a thread of its own, since that takes a moment.

    You may call `ask` anywhere, even where the garbage collector runs: a `SimpleQueue` allows that.
    """

    def __init__(self) -> None:
        self._asked: SimpleQueue[bool] = SimpleQueue()
        Thread(target=self._work, name="heap", daemon=True).start()

    def ask(self) -> None:
        self._asked.put(True)

    def end(self) -> None:
        self._asked.put(False)

    def _work(self) -> None:
        while self._asked.get():
            give_back()


@cache
def _of_the_c_library(name: str) -> Any:
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None
