"""What every door shares: the settings, what is served, the threads that search, and the answers under way."""

import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from datetime import UTC, datetime
from typing import Any

from app.adapters.catalog import Catalog, check_features
from app.adapters.graphs.runs import Runs
from app.adapters.machine.heap import Trimmer
from app.adapters.reloads import Reloads
from app.adapters.rules.formulas import FormulaLimits
from app.adapters.rules.registries import Registry
from app.answering.answer import Answer
from app.answering.in_use import CatalogInUse, ModelInUse
from app.answering.on_the_loop import TurnOnTheLoop
from app.answering.predictions import Predictions, predicting
from app.answering.reasons import Reasons, find_reasons
from app.answering.shares import Lanes, Shares
from app.answering.subsets import scoring_subsets
from app.answering.under_way import Admitted, Place, UnderWay
from app.answering.watchdog import MARGIN_SECONDS, Watchdog
from app.asking.posing.question import Purpose, Question
from app.asking.posing.understanding import understand
from app.asking.prepared import PreparedModels
from app.asking.reading import check_extents
from app.asking.refusals import Busy, FieldError, InvalidRequest, ModelTooSlow, Stopping
from app.asking.schemas import CounterfactualsRequest, LimitsBody, PredictionsRequest
from app.core.budget import Budget, Interrupted, Limits, Stopped
from app.core.facts import Moment
from app.core.memory import Pool
from app.core.robust.asked import Order
from app.core.search.all_subsets import Subset
from app.core.turns import run_through
from app.settings import Settings

# Of a request that sets no limit of rows, `auto` turns to the solver after so many: about half a second.
ROWS_BY_SIZE = 2_000_000
# How many plans an answer in another order may hold until the search ends.
MOST_SORTED = 10_000
# Those of a request that may hold any number of entries.
OBJECTS = ("instance", "context", "normal_ranges", "guide", "weights")


class Searchers(ThreadPoolExecutor):
    """Threads that know for which request they work, so that what they log names it."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return super().submit(copy_context().run, fn, *args, **kwargs)


def _nobody(count: int) -> None:
    """On the command line no one watches."""


class Service:
    """Answers requests that are data, for every door. One for each process.

    A request is admitted first, then posed or predicted with: whatever is refused is raised there, as `RequestError` or
    `ModelFailed`. `watch` receives the number of answers under way whenever it changes.
    """

    def __init__(
        self,
        settings: Settings,
        catalog: Catalog,
        since: datetime | None = None,
        watch: Callable[[int], None] = _nobody,
    ) -> None:
        self.settings = settings
        self.switch(catalog, datetime.now(UTC) if since is None else since)
        # What came of reading the files anew, the same in all processes.
        self.reloads = Reloads()
        self.searchers = Searchers(settings.search_threads, thread_name_prefix="search")
        # Apart from the searches, so that reading a long body delays none; and from everything else, health included.
        self.predictors = Searchers(settings.search_threads, thread_name_prefix="predict")
        self.lanes = Lanes(settings.search_threads)
        self.formula_limits = FormulaLimits(
            settings.max_items,
            settings.max_formulas,
            settings.max_formula_length,
            settings.max_formula_depth,
            settings.max_formula_literals,
        )
        self._under_way = UnderWay(settings.max_searches, watch)
        total, each = settings.total_search_memory_mb * 2**20, settings.search_memory_mb * 2**20
        self._trimmer = Trimmer()
        self.memory = Pool(total, each, freed=self._trimmer.ask)
        self.shares = Shares(settings.max_searches_per_client or max(1, settings.max_searches // 2))
        self._watchdog = Watchdog()

    @property
    def catalog(self) -> Catalog:
        return self.in_use.catalog

    @property
    def stopping(self) -> bool:
        return self._under_way.stopping

    def switch(self, catalog: Catalog, since: datetime) -> None:
        """Serve this from now on, from any thread; answers under way go on with what they began with."""
        check_features(catalog, self.settings.max_features)
        self.in_use = CatalogInUse(catalog, PreparedModels(catalog), since)

    def model(self, name: str) -> ModelInUse:
        return self.in_use.model(name)

    def registry(self, name: str) -> Registry:
        return self.in_use.registry(name)

    @contextmanager
    def answering(self, body: CounterfactualsRequest, chosen: ModelInUse) -> Iterator[Answer]:
        """The answer to a request that comes from no client, and so never finds the service busy."""
        with Place(self._under_way, Admitted(time.perf_counter())) as admitted:
            yield self.pose(body, chosen, admitted)

    def admit(self, request: Admitted) -> Place:
        """A request is under way while this lasts, and what it has begun ends with it; `Busy` if there is no room."""
        self._under_way.check_room()
        return Place(self._under_way, request)

    def pose(
        self, body: CounterfactualsRequest, chosen: ModelInUse, admitted: Admitted, turn: TurnOnTheLoop | None = None
    ) -> Answer:
        """Pose the question and score the instance: all that may be refused.

        In a `turn` on the event loop, `LoopHeldUp` where the model does not return.
        """
        return run_through(self.posing(body, chosen, admitted, turn))

    def posing(
        self, body: CounterfactualsRequest, chosen: ModelInUse, admitted: Admitted, turn: TurnOnTheLoop | None = None
    ) -> Generator[Moment, None, Answer]:
        """The same in turns: whether the constraints contradict each other may take a while to tell."""
        limits = self.limits(body.limits)
        if body.robustness is not None and body.robustness.order is not Order.SIZE:
            limits = limits._replace(max_counterfactuals=min(limits.max_counterfactuals or MOST_SORTED, MOST_SORTED))
        question = yield from self.understanding(body, chosen, admitted)
        runs = self._runs(admitted, admitted.arrived + limits.deadline_seconds, turn)
        try:
            answer = Answer(question, body.limits.engine, limits, self._budget(limits, admitted), runs)
        except Stopped:
            raise self._reason_to_stop(turn) from None
        yield from answer.settle()
        # Asked again: where a stop came meanwhile, there is still time to say so.
        if self.stopping:
            raise Stopping
        return answer

    def posing_again(
        self, body: CounterfactualsRequest, chosen: ModelInUse, admitted: Admitted, limits: Limits, purpose: Purpose
    ) -> Generator[Moment, None, Answer]:
        """Pose a question as it was posed before, with the limits of then, and as much time as any request may have."""
        seconds = max(limits.deadline_seconds, self.settings.max_deadline_ms / 1000)
        conflicts = self._budget(Limits(0, seconds / 4), admitted)
        steps = understand(body, *chosen, self.formula_limits, conflicts, admitted.caller, purpose)
        runs = self._runs(admitted, admitted.arrived + seconds)
        budget = self._budget(limits._replace(deadline_seconds=seconds), admitted)
        try:
            answer = Answer((yield from steps), body.limits.engine, limits, budget, runs)
        except Stopped:
            raise self._reason_to_stop() from None
        yield from answer.settle()
        return answer

    def understanding(
        self, body: CounterfactualsRequest, chosen: ModelInUse, admitted: Admitted, purpose: Purpose | None = None
    ) -> Generator[Moment, None, Question]:
        """The question of a request, in turns."""
        check_extents(body, OBJECTS, self.settings.max_features)
        seconds = self._seconds(body.limits)
        _check_not_late(admitted.arrived + seconds)
        # Looking for contradictions may take a while, but not all of the time that there is.
        conflicts = self._budget(Limits(0, seconds / 4), admitted)
        model, prepared = chosen
        purpose = purpose or Purpose(self.settings.stability_plans)
        return (yield from understand(body, model, prepared, self.formula_limits, conflicts, admitted.caller, purpose))

    def reasoning(
        self, body: CounterfactualsRequest, chosen: ModelInUse, admitted: Admitted
    ) -> Generator[Moment, None, Reasons]:
        """The reasons for a decision, in turns; the constraints are set aside, and so is all that is about plans."""
        limits = self.limits(body.limits)._replace(max_counterfactuals=None)
        asked = body.model_copy(update={"least": False})
        question = yield from self.understanding(asked, chosen, admitted, Purpose(rules_set_aside=True))
        runs = self._runs(admitted, admitted.arrived + limits.deadline_seconds)
        try:
            answer = Answer(question, body.limits.engine, limits, self._budget(limits, admitted), runs)
        except Stopped:
            raise self._reason_to_stop() from None
        return (yield from find_reasons(answer))

    def scoring_subsets(
        self, question: Question, limits: LimitsBody, admitted: Admitted
    ) -> Generator[Moment, None, list[Subset]]:
        """In turns, what the model says of every subset of the movable features: all of them by the deadline, or none.

        The other limits are those of a search, which this is not.
        """
        seconds, arrived = self._seconds(limits), admitted.arrived
        _check_not_late(arrived + seconds)
        runs = self._runs(admitted, arrived + seconds)
        try:
            return (yield from scoring_subsets(question, seconds, arrived, admitted.stop, runs))
        except Stopped:
            reason = self._reason_to_stop()
            raise _too_short(seconds) if isinstance(reason, ModelTooSlow) else reason from None

    def predicting(
        self, body: PredictionsRequest, chosen: ModelInUse, admitted: Admitted
    ) -> Generator[Moment, None, Predictions]:
        """What the model says. Its turns may take as long together as a request has that names no deadline."""
        seconds = self._seconds(LimitsBody())
        began = time.perf_counter()
        if began - admitted.arrived > seconds:
            # It queued past its deadline.
            raise Busy
        runs = self._runs(admitted, began + seconds)
        try:
            return (yield from predicting(body, chosen.model, runs, admitted.caller))
        except Interrupted:
            reason = self._reason_to_stop()
            if isinstance(reason, ModelTooSlow) and body.instances is not None:
                raise _too_many(seconds) from None
            raise reason from None

    def _budget(self, limits: Limits, admitted: Admitted) -> Budget:
        memory = self.memory.of_one(admitted.client)
        return Budget(limits, time.perf_counter, admitted.arrived, admitted.stop, memory)

    def _runs(self, admitted: Admitted, deadline: float, turn: TurnOnTheLoop | None = None) -> Runs:
        """Runs that end some time after the deadline, and with the request."""
        runs = self._watchdog.watch(deadline, turn)
        admitted.stop.also(runs.end)
        return runs

    def _reason_to_stop(self, turn: TurnOnTheLoop | None = None) -> Exception:
        if turn is not None:
            turn.leave()
        return Stopping() if self.stopping else ModelTooSlow()

    def stop(self) -> None:
        """Take no new work, and have every answer under way end with its last event."""
        self._under_way.stop()
        self._watchdog.end_all()

    def close(self) -> None:
        self.stop()
        self._trimmer.end()
        for threads in (self.searchers, self.predictors):
            threads.shutdown(wait=False, cancel_futures=True)

    def limits(self, body: LimitsBody) -> Limits:
        """The limits of a request, lowered to what the server allows."""
        settings = self.settings
        rows = min(body.max_model_rows or settings.default_model_rows, settings.max_model_rows)
        answers = [count for count in (body.max_counterfactuals, settings.max_counterfactuals) if count is not None]
        by_size = None if body.max_model_rows else ROWS_BY_SIZE
        return Limits(rows, self._seconds(body), min(answers, default=None), by_size)

    def _seconds(self, body: LimitsBody) -> float:
        return min(body.deadline_ms or self.settings.default_deadline_ms, self.settings.max_deadline_ms) / 1000


def _check_not_late(deadline: float) -> None:
    """A request whose turn comes only after its deadline has queued for too long."""
    if time.perf_counter() > deadline + MARGIN_SECONDS:
        raise Busy


def _too_many(seconds: float) -> InvalidRequest:
    return InvalidRequest([FieldError("instances", f"take longer than {seconds:g} s; send fewer per request")])


def _too_short(seconds: float) -> InvalidRequest:
    reason = f"ended after {seconds:g} s, before every subset was scored; raise it, or lock more features"
    return InvalidRequest([FieldError("limits.deadline_ms", f"{reason} with constraints.immutable")])
