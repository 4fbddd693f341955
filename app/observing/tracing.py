"""Traces for OpenTelemetry, if its own environment variables ask for them. Otherwise nothing of it is loaded.

FastAPI's own telemetry stays off: its spans carry paths and query strings as they were sent.
"""

import logging
import os
import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from opentelemetry.trace import SpanKind, Status, StatusCode, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from app import __version__
from app.adapters.machine.optional_groups import how_to_install
from app.observing.observed_requests import ObservedRequest

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span

logger = logging.getLogger("flipset")

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
# At a stop, the remaining spans have this long: a collector that does not answer must not delay it.
FLUSH_SECONDS = 2.0


class Tracing:
    """Sends a span for each request when it has ended: the route, how long posing and searching took, the outcome."""

    def __init__(self, provider: "TracerProvider") -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("flipset", __version__)
        self._propagator = TraceContextTextMapPropagator()

    def begin(self, observed: ObservedRequest, headers: Any) -> "Span":
        """The span of a request that has just come in, in the trace that it says it belongs to."""
        # Not tracestate, which is the caller's own text and would be passed on.
        sent = {name.decode(): value.decode("latin-1") for name, value in headers if name == b"traceparent"}
        span = self._tracer.start_span(
            observed.method, context=self._propagator.extract(sent), kind=SpanKind.SERVER, start_time=time.time_ns()
        )
        observed.trace_id = f"{span.get_span_context().trace_id:032x}"
        return span

    def end(self, observed: ObservedRequest, span: "Span") -> None:
        now = time.time_ns()

        def at(moment: float) -> int:
            return now - round((observed.ended - moment) * 1e9)

        if observed.posing_began is not None:
            self._part(span, "pose", at(observed.posing_began), at(observed.posed or observed.ended))
        if observed.posed is not None:
            searched = at(observed.searched or observed.ended)
            self._part(span, "search", at(observed.posed), searched, _search_attributes(observed))
        span.update_name(f"{observed.method} {observed.route}")
        span.set_attributes(_request_attributes(observed))
        if observed.status is not None and observed.status >= 500:
            span.set_status(Status(StatusCode.ERROR))
        span.end(now)

    def _part(
        self, parent: "Span", name: str, began: int, ended: int, attributes: Mapping[str, Any] | None = None
    ) -> None:
        context = set_span_in_context(parent)
        self._tracer.start_span(name, context=context, attributes=attributes, start_time=began).end(ended)

    def close(self) -> None:
        ending = threading.Thread(target=self._provider.shutdown, daemon=True)
        ending.start()
        ending.join(FLUSH_SECONDS)


def _request_attributes(observed: ObservedRequest) -> dict[str, Any]:
    facts = {
        "http.request.method": observed.method,
        "http.route": observed.route,
        "http.response.status_code": observed.status,
        "error.type": observed.problem,
        "flipset.request_id": observed.request_id,
        "flipset.model": observed.model,
        "flipset.key_id": observed.key_id,
        "flipset.disconnected": observed.disconnected,
    }
    return {name: value for name, value in facts.items() if value is not None}


def _search_attributes(observed: ObservedRequest) -> dict[str, Any]:
    figures = observed.figures
    if figures is None:
        return {}
    return {
        "flipset.model": observed.model or "",
        "flipset.engine": figures.engine,
        "flipset.outcome": figures.outcome,
        "flipset.stopped_by": figures.stopped_by or "none",
        "flipset.count": figures.count,
        "flipset.model_rows": figures.model_rows,
    }


def tracing_from_environment() -> Tracing | None:
    """The tracing that the standard variables ask for. If it is not available, logs a warning and returns None."""
    exporter = os.environ.get("OTEL_TRACES_EXPORTER", "").strip().lower()
    disabled = os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    if disabled or exporter == "none" or not (exporter or any(os.environ.get(name) for name in ENDPOINTS)):
        return None
    protocol = os.environ.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") or os.environ.get("OTEL_EXPORTER_OTLP_PROTOCOL")
    if exporter not in ("", "otlp"):
        logger.warning("No traces are sent: OTEL_TRACES_EXPORTER must be otlp or none.")
    elif protocol not in (None, "", "http/protobuf"):
        logger.warning("No traces are sent: OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf.")
    else:
        return _exporting()
    return None


def _exporting() -> Tracing | None:
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    except ModuleNotFoundError:
        # The variables may be set for a whole machine: that is no reason not to serve.
        logger.warning("No traces are sent: OTEL_ variables ask for them, but they need %s", how_to_install("tracing"))
        return None
    named = {"service.name": os.environ.get("OTEL_SERVICE_NAME") or "flipset", "service.version": __version__}
    provider = TracerProvider(resource=Resource.create(named), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return Tracing(provider)
