"""The front door: puts the service together. Wiring only."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import HTMLResponse, JSONResponse, Response
from fastapi.telemetry import TelemetryConfig
from starlette.middleware.cors import CORSMiddleware
from starlette.staticfiles import StaticFiles

from app import __version__
from app.adapters.catalog import catalog_of
from app.adapters.files.snapshots import take_snapshot
from app.adapters.keys.key_rates import KeyRates, counts_at
from app.adapters.keys.key_ring import KeyRing
from app.adapters.machine.shared import Shared
from app.adapters.records.opening import store_at
from app.adapters.reloads import Served
from app.answering.service import Service
from app.api import problems, routes
from app.api.around.access import Access
from app.api.around.headers import AnswerHeaders
from app.api.around.observed import Observed
from app.api.around.prefix import Prefix
from app.api.cds_hooks import routes as cds_hooks
from app.api.cds_hooks.tokens import token_check
from app.api.dependencies import Shortcut
from app.api.kserve import routes as kserve
from app.api.openapi import with_lines
from app.api.page import add_page, docs_policy
from app.api.records import routes as records
from app.observing.logs import LINES, quieten
from app.observing.metrics import Metrics
from app.observing.tracing import tracing_from_environment
from app.paths import CDS_SERVICES
from app.recording.archiving import archive
from app.recording.recorder import Recorder
from app.settings import Settings

DESCRIPTION = "Every minimal set of changes that turns a model's decision."
# Its spans carry paths and query strings as they were sent, and its log the texts of errors: app/observing/tracing.py.
NO_TELEMETRY: TelemetryConfig = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}


def create_app(settings: Settings, served: Served | None = None, shared: Shared | None = None) -> FastAPI:
    """Make the app that serves every model and registry; `BrokenFiles` if one cannot be served.

    `served` has already been tried; without it, the app reads the folders of the settings. `shared` is what the
    processes of one service share.
    """
    shared = shared or Shared()
    metrics = Metrics(shared.folder)
    LINES.on_dropped = metrics.line_dropped
    if served is None:
        snapshot = take_snapshot(settings.models_dir, settings.normal_ranges_dir, locales_dir=settings.locales_dir)
        service = Service(settings, catalog_of(snapshot), watch=metrics.searching)
    else:
        service = Service(settings, catalog_of(served.snapshot), served.since, metrics.searching)
        service.reloads = served.reloads
        snapshot = served.snapshot
    archive(snapshot, settings)
    recorder = None if settings.records is None else Recorder(store_at(settings.records), settings)
    if recorder is not None:
        recorder.writer.count = metrics.recorded
        if recorder.events is not None:
            recorder.events.count = metrics.record_told
    tracing = tracing_from_environment()
    counts = None if settings.rates is None else counts_at(settings.rates)
    rates = KeyRates(shared.meter, counts, must_share=settings.rates_lost == "refuse")

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[dict[str, Any]]:
        quieten(asyncio.get_running_loop())
        yield {"connection_counts": metrics}
        service.close()
        await rates.close()
        if recorder is not None:
            recorder.close()
        if tracing is not None:
            tracing.close()

    app = FastAPI(
        title="Flipset",
        version=__version__,
        description=DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        # FastAPI's own route would encode the document for every request: 3 ms of the event loop.
        openapi_url=None,
        lifespan=lifespan,
        # A redirect would repeat the Host header of the request, which anyone may write.
        redirect_slashes=False,
        telemetry=NO_TELEMETRY,
    )
    app.state.service = service
    app.state.metrics = metrics
    app.state.recorder = recorder
    problems.install(app)
    # In the order of matching: the most frequent paths come first. The routes of `work` are added directly, because
    # FastAPI wraps the routes of an included router.
    app.router.routes.extend(routes.work.routes)
    app.router.routes.extend((*kserve.v1.routes, *kserve.inference.routes))
    app.include_router(kserve.descriptions)
    app.include_router(cds_hooks.discovery)
    app.router.routes.extend(cds_hooks.services.routes)
    app.state.tokens = token_check(settings.cds_clients_file, shared.tokens)
    app.include_router(routes.health)
    app.include_router(routes.listings)
    app.include_router(records.records)
    app.include_router(records.public)
    _add_openapi(app, settings.root_path)
    _add_documentation(app, settings.root_path)
    add_page(app, settings.root_path, keeps_records=settings.records is not None)
    _add_middleware(app, settings, rates)
    # Added last, and so around all others: what they refuse has its id and is counted too.
    app.add_middleware(Observed, metrics=metrics, tracing=tracing, log_clients=settings.log_clients)
    return app


def _add_middleware(app: FastAPI, settings: Settings, rates: KeyRates) -> None:
    """Add the layers from the inside out: the last one sees a request first."""
    app.add_middleware(Shortcut, routes=routes.work.routes)
    if settings.keys_file is not None:
        ring = KeyRing(settings.keys_file)
        ring.look()
        elsewhere = None if settings.cds_clients_file is None else CDS_SERVICES
        app.add_middleware(Access, ring=ring, rates=rates, elsewhere=elsewhere)
    if settings.cors_origins:
        # Outside of the keys: a browser's preflight request carries no key.
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "X-Request-ID"],
            expose_headers=["Flipset-Record", "Retry-After", "X-Request-ID"],
        )
    app.add_middleware(AnswerHeaders)
    if settings.root_path:
        app.add_middleware(Prefix, prefix=settings.root_path)


def _add_openapi(app: FastAPI, prefix: str) -> None:
    make_document = app.openapi

    def document() -> dict[str, Any]:
        return app.openapi_schema or with_lines(make_document())

    app.openapi = document  # type: ignore[method-assign]  # the way FastAPI documents to extend the document

    @cache
    def encoded() -> bytes:
        servers = {"servers": [{"url": prefix}]} if prefix else {}
        return bytes(JSONResponse({**document(), **servers}).body)

    @app.head("/openapi.json", include_in_schema=False)
    @app.get("/openapi.json", include_in_schema=False)
    async def described() -> Response:
        return Response(encoded(), media_type=JSONResponse.media_type)


def _add_documentation(app: FastAPI, prefix: str) -> None:
    """Swagger UI from the files of the package fastapi-swagger, so that it needs no internet."""
    app.mount("/docs/files", StaticFiles(packages=[("fastapi_swagger", "resources")]))
    page = get_swagger_ui_html(
        openapi_url=f"{prefix}/openapi.json",
        title="Flipset",
        swagger_js_url=f"{prefix}/docs/files/swagger-ui-bundle.js",
        swagger_css_url=f"{prefix}/docs/files/swagger-ui.css",
        swagger_favicon_url=f"{prefix}/docs/files/favicon-32x32.png",
        # Swagger UI would otherwise send the document's address to a validator on the internet.
        swagger_ui_parameters={"validatorUrl": None},
    )
    page.headers["Content-Security-Policy"] = docs_policy(bytes(page.body).decode())

    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return page
