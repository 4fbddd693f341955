"""Traces for OpenTelemetry, where its own environment variables ask for them. Nothing of it is loaded otherwise.

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
from app.api.exchanges import Exchange

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span

logger = logging.getLogger("flipset")

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
# At the end, what is still to be sent has so long; a collector that does not answer must not hold up a stop.
FLUSH_SECONDS = 2.0


class Tracing:
    """Tells of each request when it has ended: what was asked, how long it was posed and searched, what came out."""

    def __init__(self, provider: "TracerProvider") -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("flipset", __version__)
        self._propagator = TraceContextTextMapPropagator()

    def begin(self, exchange: Exchange, headers: Any) -> "Span":
        """The span of a request that has just come in, in the trace that it says it belongs to."""
        # Not tracestate, which is the caller's own text and would be passed on.
        sent = {name.decode(): value.decode("latin-1") for name, value in headers if name == b"traceparent"}
        span = self._tracer.start_span(
            exchange.method, context=self._propagator.extract(sent), kind=SpanKind.SERVER, start_time=time.time_ns()
        )
        exchange.trace_id = f"{span.get_span_context().trace_id:032x}"
        return span

    def end(self, exchange: Exchange, span: "Span") -> None:
        now = time.time_ns()

        def at(moment: float) -> int:
            return now - round((exchange.ended - moment) * 1e9)

        if exchange.posing_began is not None:
            self._part(span, "pose", at(exchange.posing_began), at(exchange.posed or exchange.ended))
        if exchange.posed is not None:
            searched = at(exchange.searched or exchange.ended)
            self._part(span, "search", at(exchange.posed), searched, _search_attributes(exchange))
        span.update_name(f"{exchange.method} {exchange.route}")
        span.set_attributes(_request_attributes(exchange))
        if exchange.status is not None and exchange.status >= 500:
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


def _request_attributes(exchange: Exchange) -> dict[str, Any]:
    facts = {
        "http.request.method": exchange.method,
        "http.route": exchange.route,
        "http.response.status_code": exchange.status,
        "error.type": exchange.problem,
        "flipset.request_id": exchange.request_id,
        "flipset.model": exchange.model,
        "flipset.key_id": exchange.key_id,
        "flipset.disconnected": exchange.disconnected,
    }
    return {name: value for name, value in facts.items() if value is not None}


def _search_attributes(exchange: Exchange) -> dict[str, Any]:
    account = exchange.account
    if account is None:
        return {}
    return {
        "flipset.model": exchange.model or "",
        "flipset.engine": account.engine,
        "flipset.outcome": account.outcome,
        "flipset.stopped_by": account.stopped_by or "none",
        "flipset.count": account.count,
        "flipset.model_rows": account.model_rows,
    }


def tracing_from_environment() -> Tracing | None:
    """What the standard variables ask for; where it cannot be had, a warning says why, and the service goes on."""
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
        # These may be set for everything on a machine: no reason not to serve.
        logger.warning(
            'No traces are sent: OTEL_ variables ask for them, but they need pip install "flipset[tracing]".'
        )
        return None
    named = {"service.name": os.environ.get("OTEL_SERVICE_NAME") or "flipset", "service.version": __version__}
    provider = TracerProvider(resource=Resource.create(named), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return Tracing(provider)
