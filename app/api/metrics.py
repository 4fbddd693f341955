"""What is counted, for Prometheus. Every name begins with flipset_, and no label holds what a stranger has written."""

import os
import platform
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Generic, TypeVar

import onnxruntime
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, values
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from app import __version__
from app.adapters.models import Model
from app.api.exchanges import Account, Exchange
from app.api.reloads import Reloads
from app.api.slots import Slot, clear_dead_slots, keep

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4
# nginx's word for it: the client left before there was a status to send.
CLIENT_LEFT = "499"
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)

Kind = TypeVar("Kind", Counter, Histogram)


class _Family(Generic[Kind]):
    """A metric with labels, whose children are looked up once each: the library's own way takes ten times as long."""

    def __init__(self, metric: Kind, folder: Path | None) -> None:
        self._metric: Kind = metric
        self._folder = folder
        self._children: dict[tuple[str, ...], Kind] = {}

    def __call__(self, *labels: str) -> Kind:
        child = self._children.get(labels)
        if child is None:
            # The first of its kind makes a file.
            if self._folder is not None:
                keep(self._folder)
            child = self._children[labels] = self._metric.labels(*labels)
        return child


class Metrics:
    """The counters of one process; with a folder, of all the processes that share it."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._slot = None if folder is None else _share(folder)
        if folder is None:
            values.ValueClass = values.MutexValue
        # Both kinds of process then tell the same: with files there are none of these.
        disable_created_metrics()
        self._registry = CollectorRegistry()
        self._create()

    def _create(self) -> None:
        own = self._registry if self._folder is None else CollectorRegistry()

        def counter(name: str, text: str, *labels: str) -> _Family[Counter]:
            return _Family(Counter(f"flipset_{name}", text, labels, registry=own), self._folder)

        def seconds(name: str, text: str, *labels: str) -> _Family[Histogram]:
            return _Family(Histogram(f"flipset_{name}", text, labels, registry=own, buckets=SECONDS), self._folder)

        def level(name: str, text: str) -> Gauge:
            return Gauge(f"flipset_{name}", text, registry=own, multiprocess_mode="livesum")

        self._requests = counter("requests", "Requests that have ended", "method", "route", "status")
        self._request_seconds = seconds("request_seconds", "From the arrival of a request to its last byte", "route")
        self._requests_in_flight = level("requests_in_flight", "Requests that have not ended yet")
        self._refused = counter("refused", "Requests that were refused, by the problem they were sent", "reason")
        self._disconnected = Counter("flipset_disconnected", "Clients that left before their last byte", registry=own)
        self._searches = counter(
            "searches", "Searches that have ended, refusals aside", "model", "engine", "outcome", "stopped_by"
        )
        self._search_seconds = seconds("search_seconds", "Time spent searching, sending aside", "engine")
        self._first_answer_seconds = seconds(
            "time_to_first_answer_seconds", "From the arrival of a request to its first counterfactual", "engine"
        )
        self._searches_in_flight = level("searches_in_flight", "Searches taken on that have not ended yet")
        self._counterfactuals = counter("counterfactuals", "Counterfactuals that were found", "model")
        self._model_rows = counter("model_rows", "Rows that a model has scored", "model")
        self._model_seconds = counter("model_seconds", "Time spent inside a model", "model")

    def begin(self) -> None:
        self._requests_in_flight.inc()

    def searching(self, count: int) -> None:
        """So many answers are under way in this process."""
        self._searches_in_flight.set(count)

    def end(self, exchange: Exchange) -> None:
        """Count a request that has ended, however it did; the one place where anything is counted."""
        self._requests_in_flight.dec()
        status = CLIENT_LEFT if exchange.status is None else str(exchange.status)
        self._requests(exchange.method, exchange.route, status).inc()
        self._request_seconds(exchange.route).observe(exchange.seconds)
        if exchange.problem is not None:
            self._refused(exchange.problem).inc()
        if exchange.disconnected:
            self._disconnected.inc()
        if exchange.model is not None:
            if exchange.account is not None:
                self._end_search(exchange.model, exchange.account)
            elif exchange.model_rows:
                self._scored(exchange.model, exchange.model_rows, exchange.model_seconds)

    def _end_search(self, model: str, account: Account) -> None:
        self._searches(model, account.engine, account.outcome, account.stopped_by or "none").inc()
        self._search_seconds(account.engine).observe(account.search_seconds)
        if account.first_answer_seconds is not None:
            self._first_answer_seconds(account.engine).observe(account.first_answer_seconds)
            self._counterfactuals(model).inc(account.count)
        self._scored(model, account.model_rows, account.model_seconds)

    def _scored(self, model: str, rows: int, seconds: float) -> None:
        self._model_rows(model).inc(rows)
        self._model_seconds(model).inc(seconds)

    def page(self, models: Iterable[Model], reloads: Reloads) -> bytes:
        """All of it in Prometheus's text form, with what is served at this moment."""
        registry = CollectorRegistry()
        if self._folder is None:
            registry.register(self._registry)
        else:
            keep(self._folder)
            clear_dead_slots(self._folder)
            MultiProcessCollector(registry, str(self._folder))
        registry.register(_Infos([_build_info(), _model_info(models), _reloads(reloads)]))
        return generate_latest(registry)


class _Infos(Collector):
    """What is the case, rather than what has been counted: made when it is asked for."""

    def __init__(self, families: Sequence[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families


def _build_info() -> GaugeMetricFamily:
    family = GaugeMetricFamily("flipset_build_info", "What runs here", labels=["version", "python", "onnxruntime"])
    family.add_metric([__version__, platform.python_version(), onnxruntime.__version__], 1)
    return family


def _model_info(models: Iterable[Model]) -> GaugeMetricFamily:
    family = GaugeMetricFamily("flipset_model_info", "What is served", labels=["model", "version", "sha256"])
    for model in models:
        family.add_metric([model.name, model.version, model.sha256[:12]], 1)
    return family


def _reloads(reloads: Reloads) -> CounterMetricFamily:
    """Counted by the parent, and known to every process alike: no sum of theirs."""
    family = CounterMetricFamily("flipset_reloads", "Attempts to read models and registries anew", labels=["result"])
    family.add_metric(["loaded"], reloads.loaded)
    family.add_metric(["refused"], reloads.refused)
    return family


def _share(folder: Path) -> Slot:
    """Have this process count into files of that folder, where the others find them."""
    slot = Slot(folder)
    # Where the library looks for the folder, whenever it makes a counter.
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
    values.ValueClass = values.MultiProcessValue(slot.number)
    return slot
