"""A watchdog: ends the runs of a model that go on when their request's time is over.

A model is quick when it is tried, and may still go round in circles for certain values. A search looks at its clock
between two runs only, so that somebody else must end a run that does not return.
"""

import time
from threading import Thread
from weakref import ReferenceType, ref

from app.adapters.graphs.runs import Runs
from app.answering.on_the_loop import MOST_ON_THE_LOOP_SECONDS, TurnOnTheLoop

TICK_SECONDS = 0.05
# A search ends itself after the batch at its deadline; only if it does not is its run ended.
MARGIN_SECONDS = 0.25


class Watchdog:
    """One for each service; its thread ends with it."""

    def __init__(self) -> None:
        self._watched: dict[Runs, TurnOnTheLoop | None] = {}
        self._looked = time.perf_counter()
        Thread(target=_look_again_and_again, args=(ref(self),), name="watchdog", daemon=True).start()

    def watch(self, deadline: float, turn: TurnOnTheLoop | None = None) -> Runs:
        """Runs that are ended some time after the deadline, or with their turn on the event loop.

        The caller must end them.
        """
        runs = Runs(deadline + MARGIN_SECONDS)
        self._watched[runs] = turn
        return runs

    def end_all(self) -> None:
        for runs in list(self._watched):
            runs.end()

    def look(self) -> None:
        now = time.perf_counter()
        # Where this thread itself was kept from its work, so was everything else: nobody is to blame.
        was_paused = now - self._looked > MOST_ON_THE_LOOP_SECONDS
        self._looked = now
        for runs, turn in self._watched.copy().items():
            if runs.are_ended:
                del self._watched[runs]
            elif (turn is not None and not was_paused and turn.end_if_late(now)) or now > runs.until:
                runs.end()


def _look_again_and_again(watchdog: "ReferenceType[Watchdog]") -> None:
    while True:
        time.sleep(TICK_SECONDS)
        found = watchdog()
        if found is None:
            return
        found.look()
        del found
