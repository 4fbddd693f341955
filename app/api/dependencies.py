"""What a request names, looked up before any work. Not one of these may be a plain function: FastAPI would give each
a thread of its own, which costs more than they do.
"""

from typing import Annotated

from fastapi import Body, Depends, Request

from app.adapters.models import Model
from app.adapters.registries import Registry
from app.api.examples import openapi_examples
from app.api.schemas import CounterfactualsRequest
from app.api.service import Service


def service_of(request: Request) -> Service:
    found = request.app.state.service
    assert isinstance(found, Service)
    return found


async def service(request: Request) -> Service:
    return service_of(request)


# These ask the request themselves: FastAPI goes through a dependency again wherever it is named.
async def model(model: str, request: Request) -> Model:
    return service_of(request).model(model)


async def registry(registry: str, request: Request) -> Registry:
    return service_of(request).registry(registry)


TheService = Annotated[Service, Depends(service)]
TheModel = Annotated[Model, Depends(model)]
TheRegistry = Annotated[Registry, Depends(registry)]
Asked = Annotated[CounterfactualsRequest, Body(openapi_examples=openapi_examples())]
