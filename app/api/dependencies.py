"""From a request to an answer that can begin: everything that may fail, in order, before the first byte."""

from collections.abc import Iterator
from typing import Annotated

from fastapi import Body, Depends, Request

from app.adapters.models import Model
from app.adapters.registries import Registry
from app.api.answers import Answer
from app.api.examples import openapi_examples
from app.api.forms import Form, choose_form
from app.api.schemas import CounterfactualsRequest
from app.api.service import Service


def service(request: Request) -> Service:
    found = request.app.state.service
    assert isinstance(found, Service)
    return found


TheService = Annotated[Service, Depends(service)]


def model(model: str, service: TheService) -> Model:
    return service.model(model)


def registry(registry: str, service: TheService) -> Registry:
    return service.registry(registry)


TheModel = Annotated[Model, Depends(model)]
TheRegistry = Annotated[Registry, Depends(registry)]


def form(request: Request) -> Form:
    return choose_form(",".join(request.headers.getlist("accept")))


Asked = Annotated[CounterfactualsRequest, Body(openapi_examples=openapi_examples())]


def answer(body: Asked, model: TheModel, service: TheService) -> Iterator[Answer]:
    """An answer that can begin; when the client leaves, its search is told to stop."""
    begun = service.answer(body, model)
    try:
        yield begun
    finally:
        service.end(begun)


TheForm = Annotated[Form, Depends(form)]
TheAnswer = Annotated[Answer, Depends(answer)]
