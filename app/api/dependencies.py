"""What a request names, looked up before any work. Not one of these may be a plain function: FastAPI would give each
a thread of its own, which costs more than they do.
"""

from typing import Annotated

from fastapi import Body, Depends, Request

from app.adapters.models import Model
from app.adapters.registries import Registry
from app.api.examples import openapi_examples
from app.api.forms import Form, choose_form
from app.api.schemas import CounterfactualsRequest
from app.api.service import Service


async def service(request: Request) -> Service:
    return _service(request)


# The others ask the request itself: FastAPI goes through a dependency again wherever it is named.
async def model(model: str, request: Request) -> Model:
    return _service(request).model(model)


async def registry(registry: str, request: Request) -> Registry:
    return _service(request).registry(registry)


async def form(request: Request) -> Form:
    return choose_form(",".join(request.headers.getlist("accept")))


def _service(request: Request) -> Service:
    found = request.app.state.service
    assert isinstance(found, Service)
    return found


TheService = Annotated[Service, Depends(service)]
TheModel = Annotated[Model, Depends(model)]
TheRegistry = Annotated[Registry, Depends(registry)]
TheForm = Annotated[Form, Depends(form)]
Asked = Annotated[CounterfactualsRequest, Body(openapi_examples=openapi_examples())]
