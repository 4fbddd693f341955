"""What a request names, looked up before any work. Not one of these may be a plain function: FastAPI would give each
a thread of its own, which costs more than they do.
"""

from typing import Annotated

from fastapi import Body, Depends, Request

from app.adapters.keys import Key
from app.adapters.models import Model
from app.adapters.registries import Registry
from app.api.access import key_of
from app.api.errors import NotAllowed, UnknownModel
from app.api.examples import openapi_examples
from app.api.exchanges import exchange
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
    found, key = service_of(request), key_of(request)
    if key is None:
        chosen = found.model(model)
    elif not key.may_use(model):
        raise NotAllowed("model")
    elif model not in found.catalog.models:
        # On the key's list, but not served; what else there is is not for this key to know.
        raise UnknownModel(model, permitted(found, key))
    else:
        chosen = found.catalog.models[model]
    # Only what is served by that name: anything else is what somebody has written.
    exchange().model = chosen.name
    return chosen


async def registry(registry: str, request: Request) -> Registry:
    found, key = service_of(request), key_of(request)
    if key is not None and not key.is_for_all:
        allowed = permitted(found, key).values()
        if not any(registry in found.catalog.registries_for(model) for model in allowed):
            raise NotAllowed("registry")
    return found.registry(registry)


def check_is_for_all(request: Request) -> None:
    """What tells of every model is not for a key that may use only some."""
    key = key_of(request)
    if key is not None and not key.is_for_all:
        raise NotAllowed


def permitted(service: Service, key: Key | None) -> dict[str, Model]:
    """The models that a key may use; all of them where keys are off."""
    return {name: model for name, model in service.catalog.models.items() if key is None or key.may_use(name)}


TheService = Annotated[Service, Depends(service)]
TheModel = Annotated[Model, Depends(model)]
TheRegistry = Annotated[Registry, Depends(registry)]
Asked = Annotated[CounterfactualsRequest, Body(openapi_examples=openapi_examples())]
