"""The search for plans that no further improvement breaks."""

from collections.abc import Generator, Iterator
from dataclasses import replace

import numpy as np

from app.core.budget import Stopped
from app.core.facts import Engine, Explained, Explanation, Fact, Finished, Guarantee, Moment
from app.core.robust import more
from app.core.robust.more import KnownLattice
from app.core.search.engines import Search
from app.core.search.explaining import is_unconstrained
from app.core.search.verdict import Verdict


class LastingSearch(Search):
    """Asks about every feasible subset, whatever engine is named: only so is it known what breaks a plan."""

    _known: KnownLattice | None = None

    def judge_instance(self, together: bool) -> Verdict:
        verdict = super().judge_instance(together)
        if self._judged is not None:
            self._known = more.known(self._problem, self._judged)
        return verdict

    def settled(self, verdict: Verdict) -> Generator[Moment, None, Verdict]:
        """The instance is favourable only if no feasible set of changes turns that; and only if that is known."""
        if not verdict.favourable[0]:
            return verdict
        try:
            if self._known is None:
                self._known = yield from more.ask(self._problem, self._oracle, self._budget)
            lasts = self._known.breaks_with(()) is None
        except Stopped:
            lasts = False
        return verdict if lasts else replace(verdict, favourable=np.array([False]), decided=np.array([True]))

    def _searched(self, engine: Engine) -> Iterator[Fact]:
        explored = yield from more.explore(self._problem, self._oracle, self._budget, self._known)
        size = len(self._problem.moves) if explored.exhausted else explored.size
        yield Finished(Engine.LATTICE, Guarantee.EXACT, size, explored.stopped_by)

    def _explained(self, finished: Finished) -> Iterator[Fact]:
        """Without a constraint other sets are feasible, and so other sets break a plan: none is named to give up."""
        explanation = Explanation(complete=is_unconstrained(self._problem))
        yield Explained(explanation, finished.complete, self._oracle.best, None)
        yield finished
