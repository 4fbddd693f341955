"""A watchdog: ends the runs of a model that go on when their request's time is over.

A model is quick when it is tried, and may still go round in circles for certain values. A search looks at its clock
between two runs only, so that somebody else must end a run that does not return.
"""

import time
from math import inf
from threading import Lock, Thread
from weakref import ReferenceType, ref

from app.adapters.runs import Runs

TICK_SECONDS = 0.05
# A search ends itself after the batch at its deadline; only if it does not is its run ended.
MARGIN_SECONDS = 0.25
# What is run while everybody waits takes a few milliseconds; if it takes so long, it is begun again in a thread.
MOST_WAITED_SECONDS = 0.25


class Watchdog:
    """One for each service; its thread ends with it."""

    def __init__(self) -> None:
        self._watched: set[Runs] = set()
        self._lock = Lock()
        self._looked = time.perf_counter()
        Thread(target=_look_again_and_again, args=(ref(self),), name="watchdog", daemon=True).start()

    def watch(self, deadline: float, everybody_waits: bool = False) -> Runs:
        """Runs that are ended some time after the deadline, or by whoever gets them; they must be ended at last."""
        runs = Runs(deadline + MARGIN_SECONDS)
        if everybody_waits:
            runs.waited_for_until = time.perf_counter() + MOST_WAITED_SECONDS
        self._watched.add(runs)
        return runs

    def nobody_waits(self, runs: Runs) -> bool:
        """From here on nobody else waits for these runs; whether they have held everybody up before."""
        with self._lock:
            runs.waited_for_until = inf
            return runs.held_everybody_up

    def end_all(self) -> None:
        for runs in list(self._watched):
            runs.end()

    def look(self) -> None:
        now = time.perf_counter()
        # Where this thread itself was kept from its work, so was everything else: nobody is to blame.
        was_paused = now - self._looked > MOST_WAITED_SECONDS
        self._looked = now
        with self._lock:
            for runs in list(self._watched):
                if runs.are_ended:
                    self._watched.discard(runs)
                elif now > runs.waited_for_until and not was_paused:
                    runs.held_everybody_up = True
                    runs.end()
                elif now > runs.until:
                    runs.end()


def _look_again_and_again(watchdog: "ReferenceType[Watchdog]") -> None:
    while True:
        time.sleep(TICK_SECONDS)
        found = watchdog()
        if found is None:
            return
        found.look()
        del found
