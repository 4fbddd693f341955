"""Traces, as a collector receives them from a real server."""

import os
import subprocess
import sys
from typing import Any

import pytest

from tests.live.asking import PERSON, ask
from tests.live.collector import Collector, attributes, collector
from tests.support.live_server import PATIENCE, ROOT, live_server
from tests.support.waiting import eventually

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"
WITHOUT_PACKAGES = """
import sys

import pytest
sys.modules["opentelemetry.sdk"] = None
sys.modules["opentelemetry.exporter"] = None
"""


def spans_of(received: Collector) -> list[Any]:
    """Those that belong to our trace: others are of requests that only waited for the server."""
    return [span for span in received.spans if span.trace_id.hex() == TRACE]


def test_a_request_is_a_span_with_its_parts():
    with collector() as received:
        environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": received.url, "OTEL_BSP_SCHEDULE_DELAY": "100"}
        with live_server(environment=environment) as server, server.client() as client:
            client.headers["traceparent"] = f"00-{TRACE}-{PARENT}-01"
            client.headers["tracestate"] = "vendor=4711"
            ask(client, {"instance": PERSON})
            ask(client, {"instance": {}})
            eventually(lambda: len(spans_of(received)) == 5)
        spans = sorted(spans_of(received), key=lambda span: span.start_time_unix_nano)
    requests = [span for span in spans if span.parent_span_id.hex() == PARENT]
    assert [span.name for span in requests] == ["POST /v1/models/{model}/counterfactuals"] * 2
    assert [attributes(span)["http.response.status_code"] for span in requests] == [200, 422]
    assert attributes(requests[1])["error.type"] == "invalid-request"
    assert not any(span.trace_state for span in spans)
    parts = [span for span in spans if span.parent_span_id == requests[0].span_id]
    assert [span.name for span in parts] == ["pose", "search"]
    for span in parts:
        within = (requests[0].start_time_unix_nano, span.start_time_unix_nano, span.end_time_unix_nano)
        assert list(within) == sorted(within)
        assert span.end_time_unix_nano <= requests[0].end_time_unix_nano
    assert attributes(parts[1]) == {
        "flipset.model": "synthetic",
        "flipset.engine": "lattice",
        "flipset.outcome": "found",
        "flipset.stopped_by": "none",
        "flipset.count": 3,
        "flipset.model_rows": 16,
    }


@pytest.mark.slow
def test_what_is_left_is_sent_at_the_end():
    with collector() as received:
        environment = {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"{received.url}/v1/traces"}
        with live_server(environment=environment, workers="2") as server, server.client() as client:
            client.get("/v1/models")
            server.terminate()
            server.process.wait(timeout=PATIENCE)
        assert "GET /v1/models" in {span.name for span in received.spans}
        resource = attributes(received.requests[0].resource_spans[0].resource)
    assert resource["service.name"] == "flipset"


@pytest.mark.slow
def test_a_collector_that_is_not_there_does_no_harm():
    environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_BSP_SCHEDULE_DELAY": "50"}
    with live_server(environment=environment) as server, server.client() as client:
        assert ask(client, {"instance": PERSON}).status_code == 200
        server.terminate()
        server.process.wait(timeout=PATIENCE)


def test_nothing_is_loaded_where_nobody_asks_for_traces():
    script = "import sys, app.main, app.settings; app.main.create_app(app.settings.Settings()); print(*sys.modules)"
    clean = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, cwd=ROOT, env=clean, capture_output=True, text=True
    )
    assert "opentelemetry.trace" in done.stdout.split()
    assert "opentelemetry.sdk" not in done.stdout.split()


@pytest.mark.slow
def test_lacking_packages_are_named_and_the_service_goes_on():
    environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}
    with live_server(environment=environment, first=WITHOUT_PACKAGES) as server:
        assert server.logs(r"\"opentelemetry-sdk>=")


@pytest.mark.slow
def test_what_cannot_be_sent_is_said():
    for variable, value in (("OTEL_TRACES_EXPORTER", "zipkin"), ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")):
        environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", variable: value}
        with live_server(environment=environment) as server:
            assert server.logs(f"No traces are sent: {variable} must be")
