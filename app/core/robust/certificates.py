"""Certificates of plans: proved for all that may be measured within three standard deviations, or broken by a row."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from app.core.budget import Stopped
from app.core.favourable import Bools, Favourable
from app.core.robust.certifying import Certifier
from app.core.robust.holding import Failure, Planned, Trials
from app.core.robust.noise import NoisyRows
from app.core.robust.reach import Reach
from app.core.subsets.masks import Indices
from app.core.through.over import SeenOver


class Prover(NamedTuple):
    """What proofs rest on: None if nothing is seen through, and only a measurement that breaks a plan is looked for."""

    seen: SeenOver | None
    favourable: Favourable


class Breaking(NamedTuple):
    """A measurement that breaks a plan: the values of the noisy features by position, and what the model says."""

    measured: Mapping[int, float]
    label: int
    score: np.floating[Any]


class Certificate(NamedTuple):
    """True if a plan holds for all that may be measured, false if `breaking` is known, None if neither."""

    certified: bool | None = None
    breaking: Breaking | None = None


UNKNOWN_OR_PROVED = (Certificate(), Certificate(certified=True))


class Certificates:
    """Certifies plans by the draws that they failed; with a prover, also by looking for other rows and by bounds."""

    def __init__(self, trials: Trials, noisy: NoisyRows, prover: Prover | None) -> None:
        self._trials = trials
        self._reach = Reach(noisy)
        self._certifier: Certifier | None = None
        if prover is not None:
            self._certifier = Certifier(trials.judged, prover.favourable, prover.seen, self._reach.whole)

    @property
    def within(self) -> Bools:
        """Which draws lie within three standard deviations."""
        return self._reach.within

    def of(self, planned: Planned, failures: list[Failure | None]) -> list[Certificate]:
        """The certificates of plans, given a draw within reach that each has failed."""
        failures, proved = list(failures), [False] * len(failures)
        with suppress(Stopped):
            self._look_on(planned, failures, proved)
        return [
            UNKNOWN_OR_PROVED[proved[plan]]
            if failure is None
            else Certificate(certified=False, breaking=self._breaking(failure, planned.values[plan]))
            for plan, failure in enumerate(failures)
        ]

    def _look_on(self, planned: Planned, failures: list[Failure | None], proved: list[bool]) -> None:
        """What no draw has shown: add rows that break plans, and what is proved."""
        left = [plan for plan, failure in enumerate(failures) if failure is None]
        if self._certifier is None or not left:
            return
        found = self._certifier.certify(*self._reach.boxes(planned.rows[left], planned.values[left]))
        broken = [row for row in found.breaking if row is not None]
        verdict = self._trials.judged(np.stack(broken)) if broken else None
        shown = 0
        for place, plan in enumerate(left):
            proved[plan], row = found.proved[place], found.breaking[place]
            if row is not None and verdict is not None:
                failures[plan] = Failure(row, verdict.label_of(shown), verdict.score[shown])
                shown += 1

    def _breaking(self, failure: Failure, values: Indices) -> Breaking:
        return Breaking(self._reach.measured(failure.row, values), failure.label, failure.score)
