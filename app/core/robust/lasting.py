"""The search for plans that no further improvement breaks."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from app.core.facts import Engine, Explained, Explanation, Fact, Finished, Guarantee
from app.core.robust import more
from app.core.robust.more import KnownLattice
from app.core.search.engines import Search
from app.core.search.explaining import is_unconstrained
from app.core.search.oracle import Verdict
from app.core.turns import run_through


class LastingSearch(Search):
    """Asks about every feasible subset, whatever engine is named: only so is it known what breaks a plan."""

    _known: KnownLattice | None = None

    def judge_instance(self, together: bool) -> Verdict:
        """The instance is favourable only if no feasible set of changes turns that."""
        verdict = super().judge_instance(together)
        if self._judged is not None:
            self._known = more.known(self._problem, self._judged)
        if not verdict.favourable[0]:
            return verdict
        if self._known is None:
            self._known = run_through(more.ask(self._problem, self._oracle, self._budget))
        breaks = self._known.breaks_with(()) is not None
        return replace(verdict, favourable=np.array([not breaks]), decided=np.array([True])) if breaks else verdict

    def _searched(self, engine: Engine) -> Iterator[Fact]:
        explored = yield from more.explore(self._problem, self._oracle, self._budget, self._known)
        size = len(self._problem.moves) if explored.exhausted else explored.size
        yield Finished(Engine.LATTICE, Guarantee.EXACT, size, explored.stopped_by)

    def _explained(self, finished: Finished) -> Iterator[Fact]:
        """Without a constraint other sets are feasible, and so other sets break a plan: none is named to give up."""
        explanation = Explanation(complete=is_unconstrained(self._problem))
        yield Explained(explanation, finished.complete, self._oracle.best, None)
        yield finished
