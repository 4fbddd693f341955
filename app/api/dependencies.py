"""What a request names, looked up before any work. Not one of these may be a plain function: FastAPI would give each
a thread of its own, which costs more than they do.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from typing import Annotated, Any

from fastapi import Body, Depends, Request
from fastapi.responses import Response
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Receive, Scope, Send

from app.adapters.catalog import Catalog
from app.adapters.graphs.models import Model
from app.adapters.keys.key import Key
from app.adapters.rules.registries import Registry
from app.answering.in_use import ModelInUse
from app.answering.service import Service
from app.answering.shares import Shares
from app.api.addresses import client_of
from app.api.around.access import key_of
from app.api.bodies import Handler, ParsedRequest, StrictRoute, read_further
from app.api.examples import openapi_examples
from app.api.problems import TABLE, problem_response
from app.asking.callers import Caller
from app.asking.policies import offered_registries
from app.asking.refusals import NotAllowed, OutOfScope, UnknownModel
from app.asking.schemas import CounterfactualsRequest
from app.clinic.reading import read_bundle
from app.clinic.resources import Bundle
from app.observing.observed_requests import observed_request


class WorkRoute(StrictRoute):
    """A route whose function takes a model, a body and the request. FastAPI describes it, and does not call it.

    Going through the dependencies, and the stacks that wait for what they leave open, took an eighth of the time of a
    small request.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._handle = self.get_route_handler()
        self.app = self._answer

    async def find(self, name: str, request: Request) -> ModelInUse:
        """The model of that name, for this caller."""
        return await model(name, request)

    def get_inner_handler(self) -> Handler:
        async def handle(request: Request) -> Response:
            assert isinstance(request, ParsedRequest)
            check_scope(request, "ask")
            found = await self.find(request.path_params["model"], request)
            if isinstance(request.parsed, Bundle):
                await _read_bundle(request, found)
            response: Response = await self.endpoint(found, request.parsed, request)
            return response

        return handle

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The request counts with its client's others from here to the last byte of the answer."""
        key: Key | None = scope.get("state", {}).get("key")
        shares: Shares = scope["app"].state.service.shares
        with ExitStack() as held:
            try:
                held.enter_context(shares.one_more(client_of(scope), None if key is None else key.searches))
                response = await self._handle(Request(scope, receive, send))
            except tuple(TABLE) as error:
                response = problem_response(error)
            await response(scope, receive, send)


async def _read_bundle(request: ParsedRequest, chosen: ModelInUse) -> None:
    """Put the request that a Bundle amounts to in its place."""
    reading = partial(read_bundle, request.parsed, chosen, Caller.of(key_of(request), chosen.model.name))
    request.bundle = await read_further(request, service_of(request), reading)
    request.parsed, request.content = request.bundle.request, request.bundle.text.encode()


class Shortcut:
    """The innermost layer: takes a request for work to its route, past the layers that FastAPI has further inside."""

    def __init__(self, app: ASGIApp, routes: Sequence[BaseRoute]) -> None:
        self._app = app
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        for route in self._routes:
            match, found = route.matches(scope)
            if match is Match.FULL:
                scope.update(found)
                await route.handle(scope, receive, send)
                return
        await self._app(scope, receive, send)


def service_of(request: Request) -> Service:
    found = request.app.state.service
    assert isinstance(found, Service)
    return found


async def service(request: Request) -> Service:
    return service_of(request)


# These ask the request themselves: FastAPI goes through a dependency again wherever it is named.
async def model(model: str, request: Request) -> ModelInUse:
    in_use, key = service_of(request).in_use, key_of(request)
    if key is not None and not key.may_use(model):
        raise NotAllowed("model")
    if key is not None and model not in in_use.catalog.models:
        # On the key's list, but not served; what else there is is not for this key to know.
        raise UnknownModel(model, permitted(in_use.catalog, key))
    chosen = in_use.model(model)
    # Only what is served by that name: anything else is what somebody has written.
    observed_request().model = chosen.model.name
    return chosen


async def registry(registry: str, request: Request) -> Registry:
    in_use, key = service_of(request).in_use, key_of(request)
    if key is not None and not key.is_for_all:
        allowed = permitted(in_use.catalog, key).values()
        if not any(registry in _offered(model, in_use.catalog, key) for model in allowed):
            raise NotAllowed("registry")
    return in_use.registry(registry)


def _offered(model: Model, catalog: Catalog, key: Key) -> list[str]:
    return offered_registries(model, catalog, Caller.of(key, model.name).policies)


def check_is_for_all(request: Request) -> None:
    """What tells of every model is not for a key that may use only some."""
    key = key_of(request)
    if key is not None and not key.is_for_all:
        raise NotAllowed


def check_scope(request: Request, scope: str) -> None:
    """`OutOfScope` if the request came with a key that is not for this; where keys are off, all is allowed."""
    key = key_of(request)
    if key is not None and scope not in key.scopes:
        raise OutOfScope(scope)


def permitted(catalog: Catalog, key: Key | None) -> dict[str, Model]:
    """The models that a key may use; all of them where keys are off."""
    return {name: model for name, model in catalog.models.items() if key is None or key.may_use(name)}


TheService = Annotated[Service, Depends(service)]
TheModel = Annotated[ModelInUse, Depends(model)]
TheRegistry = Annotated[Registry, Depends(registry)]
Asked = Annotated[CounterfactualsRequest, Body(openapi_examples=openapi_examples())]
