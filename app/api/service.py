"""What the routes share: the settings, the catalog, the threads that search, and the answers under way."""

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from app.adapters.catalog import Catalog, check_features
from app.adapters.formulas import FormulaLimits
from app.adapters.models import Model
from app.adapters.registries import Registry
from app.adapters.runs import Runs
from app.api.answers import Answer
from app.api.errors import Busy, FieldError, InvalidRequest, ModelTooSlow, Stopping, UnknownModel, UnknownRegistry
from app.api.pairs import Pairs
from app.api.posing import Question, understand
from app.api.predictions import predict
from app.api.promptness import is_prompt_to_pose
from app.api.reading import check_extents
from app.api.reloads import Reloads
from app.api.schemas import CounterfactualsRequest, LimitsBody, PredictionsRequest
from app.api.subsets import subsets_json
from app.api.watchdog import MARGIN_SECONDS, Watchdog
from app.core.budget import Interrupted, Limits, StopFlag, Stopped
from app.settings import Settings

# Those of a request that may hold any number of entries.
OBJECTS = ("instance", "context", "normal_ranges", "guide", "weights")


@dataclass(frozen=True, slots=True)
class Loaded:
    """What is served, since when, and what was made of it for requests: switched together, by one reference."""

    catalog: Catalog
    pairs: Pairs
    since: datetime

    def model(self, name: str) -> Model:
        if name not in self.catalog.models:
            raise UnknownModel(name, self.catalog.models)
        return self.catalog.models[name]

    def registry(self, name: str) -> Registry:
        if name not in self.catalog.registries:
            raise UnknownRegistry(name, self.catalog.registries)
        return self.catalog.registries[name]


class HeldUp(Exception):
    """A run that was to be quick was not, while everybody waited; it must be begun again in a thread."""


class Searchers(ThreadPoolExecutor):
    """Threads that know for which request they work, so that what they log names it."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return super().submit(copy_context().run, fn, *args, **kwargs)


def _nobody(count: int) -> None:
    """On the command line no one watches."""


class Service:
    """One for each process. `watch` is told how many answers are under way, whenever that changes."""

    def __init__(
        self,
        settings: Settings,
        catalog: Catalog,
        since: datetime | None = None,
        watch: Callable[[int], None] = _nobody,
    ) -> None:
        self.settings = settings
        self._watch = watch
        self.switch(catalog, datetime.now(UTC) if since is None else since)
        # What came of reading the files anew, the same in all processes.
        self.reloads = Reloads()
        self.searchers = Searchers(settings.search_threads, thread_name_prefix="search")
        # Apart from the searches, which take short turns; and from the threads of everything else, health included.
        self.predictors = Searchers(settings.search_threads, thread_name_prefix="predict")
        self.stopping = False
        self.formula_limits = FormulaLimits(
            settings.max_items,
            settings.max_formulas,
            settings.max_formula_length,
            settings.max_formula_depth,
            settings.max_formula_literals,
        )
        self._under_way: set[StopFlag] = set()
        self._watchdog = Watchdog()

    @property
    def catalog(self) -> Catalog:
        return self.loaded.catalog

    def switch(self, catalog: Catalog, since: datetime) -> None:
        """Serve this from now on, from any thread; answers under way go on with what they began with."""
        check_features(catalog, self.settings.max_features)
        self.loaded = Loaded(catalog, Pairs(catalog), since)

    def model(self, name: str) -> Model:
        return self.loaded.model(name)

    def registry(self, name: str) -> Registry:
        return self.loaded.registry(name)

    def answer(self, body: CounterfactualsRequest, model: Model) -> Answer:
        """Pose the question and score the instance: all that may fail. The answer must be given to `end`."""
        stop = self._take_on()
        try:
            return self.pose(body, model, stop, time.perf_counter())
        except BaseException:
            self.release(stop)
            raise

    def admit(self) -> StopFlag:
        """Take on one more answer, if there is room: its flag, which must be given to `release`."""
        if len(self._under_way) >= self.settings.max_searches:
            raise Busy
        return self._take_on()

    def _take_on(self) -> StopFlag:
        if self.stopping:
            raise Stopping
        stop = StopFlag()
        self._under_way.add(stop)
        self._watch(len(self._under_way))
        return stop

    def poses_promptly(self, body: CounterfactualsRequest, model: Model) -> bool:
        """Whether `pose` is sure to take no more than a few milliseconds."""
        name = body.registry if body.names_registry else model.registry
        return is_prompt_to_pose(body, model, None if name is None else self.catalog.registries.get(name))

    def pose(
        self,
        body: CounterfactualsRequest,
        model: Model,
        stop: StopFlag,
        arrived: float,
        everybody_waits: bool = False,
        knows_all: bool = True,
    ) -> Answer:
        """The answer to a request that came in at that time, as far as it can be refused.

        Where everybody waits for it and the model does not return, `HeldUp`.
        """
        limits = self.limits(body.limits)
        question = self._understood(body, model, limits.deadline_seconds, arrived, knows_all)
        runs = self._watched(stop, arrived + limits.deadline_seconds, everybody_waits)
        try:
            answer = Answer(question, body.limits.engine, limits, time.perf_counter, arrived, stop, runs)
        except Stopped:
            raise self._reason_to_stop(runs) from None
        # Asked again: where a stop came meanwhile, there is still time to say so.
        if self.stopping:
            raise Stopping
        return answer

    def subsets(
        self, body: CounterfactualsRequest, model: Model, stop: StopFlag, arrived: float, knows_all: bool = True
    ) -> str:
        """What the model says of every subset of the movable features, as JSON: all of them by the deadline, or none.

        The other limits are those of a search, which this is not.
        """
        seconds = self.limits(body.limits).deadline_seconds
        question = self._understood(body, model, seconds, arrived, knows_all)
        runs = self._watched(stop, arrived + seconds)
        try:
            return subsets_json(question, seconds, arrived, stop, runs)
        except Stopped:
            reason = self._reason_to_stop(runs)
            raise _too_short(seconds) if isinstance(reason, ModelTooSlow) else reason from None

    def _understood(
        self, body: CounterfactualsRequest, model: Model, seconds: float, arrived: float, knows_all: bool
    ) -> Question:
        """The question of a request that came in at that time and has so many seconds."""
        check_extents(body, OBJECTS, self.settings.max_features)
        if time.perf_counter() > arrived + seconds + MARGIN_SECONDS:
            # Its turn comes only now: it was others whom it has waited for.
            raise Busy
        # The model is looked up again, with all that belongs to it: it may have been switched since.
        loaded = self.loaded
        model = loaded.model(model.name)
        # Looking for contradictions may take a while, but not all of the time that there is.
        until = arrived + seconds / 4
        return understand(
            body, model, loaded.pairs, self.formula_limits, lambda: until - time.perf_counter(), knows_all
        )

    def _watched(self, stop: StopFlag, deadline: float, everybody_waits: bool = False) -> Runs:
        """Runs that end some time after the deadline, and with the flag."""
        runs = self._watchdog.watch(deadline, everybody_waits)
        stop.also(runs.end)
        return runs

    def predict(self, body: PredictionsRequest, model: Model, stop: StopFlag, arrived: float) -> str:
        """What the model says, within the time that a request has if it names none, from when its turn has come."""
        seconds = self.limits(LimitsBody()).deadline_seconds
        began = time.perf_counter()
        if began - arrived > seconds:
            # It was others whom it has waited for.
            raise Busy
        runs = self._watched(stop, began + seconds)
        try:
            return predict(body, model, runs)
        except Interrupted:
            reason = self._reason_to_stop(runs)
            if isinstance(reason, ModelTooSlow) and body.instances is not None:
                raise _too_many(seconds) from None
            raise reason from None

    def leave_the_loop(self, answer: Answer) -> None:
        """Nobody waits for this answer any more but who asked; `HeldUp` if everybody has waited for too long."""
        if self._watchdog.nobody_waits(answer.runs):
            raise HeldUp

    def is_slow(self, model: Model) -> None:
        """It has held everybody up once, and gets no other opportunity."""
        self.model(model.name).scorer.prompt_rows = 0

    def _reason_to_stop(self, runs: Runs) -> Exception:
        if self._watchdog.nobody_waits(runs):
            return HeldUp()
        return Stopping() if self.stopping else ModelTooSlow()

    def end(self, answer: Answer) -> None:
        """The answer is sent, or nobody waits for it any more."""
        self.release(answer.stop)

    def release(self, stop: StopFlag) -> None:
        """What was admitted has come to its end."""
        stop.hoist()
        self._under_way.discard(stop)
        self._watch(len(self._under_way))

    def stop(self) -> None:
        """Take no new work, and have every answer under way end with its last line."""
        self.stopping = True
        for flag in list(self._under_way):
            flag.hoist()
        self._watchdog.end_all()

    def close(self) -> None:
        self.stop()
        for threads in (self.searchers, self.predictors):
            threads.shutdown(wait=False, cancel_futures=True)

    def limits(self, body: LimitsBody) -> Limits:
        """The limits of a request, lowered to what the server allows."""
        settings = self.settings
        rows = min(body.max_model_rows or settings.default_model_rows, settings.max_model_rows)
        deadline_ms = min(body.deadline_ms or settings.default_deadline_ms, settings.max_deadline_ms)
        answers = [count for count in (body.max_counterfactuals, settings.max_counterfactuals) if count is not None]
        return Limits(rows, deadline_ms / 1000, min(answers, default=None))


def _too_many(seconds: float) -> InvalidRequest:
    return InvalidRequest([FieldError("instances", f"take longer than {seconds:g} s; send fewer at a time")])


def _too_short(seconds: float) -> InvalidRequest:
    reason = f"is over after {seconds:g} s, before every subset is scored; allow more, or lock more features"
    return InvalidRequest([FieldError("limits.deadline_ms", f"{reason} with constraints.immutable")])
