"""Metrics for Prometheus. Every name begins with flipset_, and no label holds text from a client."""

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
from app.adapters.graphs.models import Model
from app.adapters.reloads import Reloads
from app.observing.observed_requests import ObservedRequest, SearchFigures
from app.observing.slots import Slot, clear_dead_slots, keep

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4
# As nginx does: the client left before there was a status to send.
CLIENT_LEFT = "499"
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)

MetricType = TypeVar("MetricType", Counter, Histogram)


class _Family(Generic[MetricType]):
    """A metric with labels that caches its children: the library's own lookup takes ten times as long."""

    def __init__(self, metric: MetricType, folder: Path | None) -> None:
        self._metric: MetricType = metric
        self._folder = folder
        self._children: dict[tuple[str, ...], MetricType] = {}

    def __call__(self, *labels: str) -> MetricType:
        child = self._children.get(labels)
        if child is None:
            # The first child of a metric makes a file.
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
        # Files have no such metrics, and both variants must export the same.
        disable_created_metrics()
        self._registry = CollectorRegistry()
        self._create()

    def _create(self) -> None:
        own = self._registry if self._folder is None else CollectorRegistry()

        def counter(name: str, text: str, *labels: str) -> _Family[Counter]:
            return _Family(Counter(f"flipset_{name}", text, labels, registry=own), self._folder)

        def seconds(name: str, text: str, *labels: str) -> _Family[Histogram]:
            return _Family(Histogram(f"flipset_{name}", text, labels, registry=own, buckets=SECONDS), self._folder)

        def total(name: str, text: str) -> Counter:
            return Counter(f"flipset_{name}", text, registry=own)

        def level(name: str, text: str) -> Gauge:
            return Gauge(f"flipset_{name}", text, registry=own, multiprocess_mode="livesum")

        self._requests = counter("requests", "Requests that have ended", "method", "route", "status")
        self._request_seconds = seconds("request_seconds", "From the arrival of a request to its last byte", "route")
        self._requests_in_flight = level("requests_in_flight", "Requests that have not ended yet")
        self._refused = counter("refused", "Requests that were refused, by problem", "reason")
        self._disconnected = total("disconnected", "Clients that left before the last byte of their answer")
        self._connections = level("connections", "Connections that are open")
        self._full = counter(
            "connections_full", "Connections that found no room, by the limit and the result", "limit", "result"
        )
        self._unread = total("unread", "Connections closed because the client did not read its answer")
        self._records = counter("records", "Records of answers, by whether they were written or lost", "result")
        self._record_events = counter("record_events", "Events of records, by whether they were sent", "result")
        self._dropped_lines = total("log_lines_dropped", "Log lines dropped because nobody read the log")
        self._searches = counter(
            "searches", "Searches that have ended, without refusals", "model", "engine", "outcome", "stopped_by"
        )
        self._proofs = counter(
            "proofs", "Searches that have ended, by what the proof of their answer rests on", "model", "by"
        )
        self._search_seconds = seconds("search_seconds", "Time spent searching, without sending", "engine")
        self._first_answer_seconds = seconds(
            "time_to_first_answer_seconds", "From the arrival of a request to its first counterfactual", "engine"
        )
        self._searches_in_flight = level("searches_in_flight", "Searches that have not ended yet")
        self._waited = total("searches_waited", "Searches that had to wait for memory")
        self._counterfactuals = counter("counterfactuals", "Counterfactuals that were found", "model")
        self._model_rows = counter("model_rows", "Rows that a model has scored", "model")
        self._model_seconds = counter("model_seconds", "Time spent inside a model", "model")

    def begin(self) -> None:
        self._requests_in_flight.inc()

    def connected(self, count: int) -> None:
        """`count` connections are open in this process."""
        self._connections.set(count)

    def full(self, limit: str, result: str) -> None:
        """A limit was reached: the new connection was `refused`, or another one `gave_way`."""
        self._full(limit, result).inc()

    def unread(self) -> None:
        """A connection was ended because its client did not read."""
        self._unread.inc()

    def recorded(self, result: str, count: int) -> None:
        """So many records were `written` or `lost`."""
        self._records(result).inc(count)

    def record_told(self, result: str) -> None:
        """The event of a record was `sent` or `dropped`."""
        self._record_events(result).inc()

    def line_dropped(self) -> None:
        """A line of the log was dropped."""
        self._dropped_lines.inc()

    def searching(self, count: int) -> None:
        """`count` answers are in progress in this process."""
        self._searches_in_flight.set(count)

    def end(self, observed: ObservedRequest) -> None:
        """Count a request that has ended, however it did; the one place where anything is counted."""
        self._requests_in_flight.dec()
        status = CLIENT_LEFT if observed.status is None else str(observed.status)
        self._requests(observed.method, observed.route, status).inc()
        self._request_seconds(observed.route).observe(observed.seconds)
        if observed.problem is not None:
            self._refused(observed.problem).inc()
        if observed.disconnected:
            self._disconnected.inc()
        if observed.model is not None:
            if observed.figures is not None:
                self._end_search(observed.model, observed.figures)
            elif observed.model_rows:
                self._scored(observed.model, observed.model_rows, observed.model_seconds)

    def _end_search(self, model: str, figures: SearchFigures) -> None:
        self._searches(model, figures.engine, figures.outcome, figures.stopped_by or "none").inc()
        self._proofs(model, figures.proved_by or "none").inc()
        self._search_seconds(figures.engine).observe(figures.search_seconds)
        if figures.waited_for_memory:
            self._waited.inc()
        if figures.first_answer_seconds is not None:
            self._first_answer_seconds(figures.engine).observe(figures.first_answer_seconds)
            self._counterfactuals(model).inc(figures.count)
        self._scored(model, figures.model_rows, figures.model_seconds)

    def _scored(self, model: str, rows: int, seconds: float) -> None:
        self._model_rows(model).inc(rows)
        self._model_seconds(model).inc(seconds)

    def page(self, models: Iterable[Model], reloads: Reloads) -> bytes:
        """All metrics in Prometheus's text format, including what is served now."""
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
    """Metrics that describe the present state: made when they are asked for."""

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
        family.add_metric([model.name, model.version, (model.sha256 or "elsewhere")[:12]], 1)
    return family


def _reloads(reloads: Reloads) -> CounterMetricFamily:
    """Reloads, which the parent counts. Every process knows the same number, so they are not summed."""
    family = CounterMetricFamily("flipset_reloads", "Reloads of models and registries", labels=["result"])
    family.add_metric(["loaded"], reloads.loaded)
    family.add_metric(["refused"], reloads.refused)
    return family


def _share(folder: Path) -> Slot:
    """Make this process keep its counters in files of that folder, for all processes to read."""
    slot = Slot(folder)
    # Where the library looks for the folder, whenever it makes a counter.
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
    values.ValueClass = values.MultiProcessValue(slot.number)
    return slot
