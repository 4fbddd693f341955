"""The paths of KServe's protocols. They have documents of their own, and are not in ours."""

from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from app.api.bodies import Handler, ParsedRequest, StrictRoute
from app.api.dependencies import TheModel, TheService, WorkRoute, service_of
from app.api.kserve.explaining import explain, infer, predict
from app.api.kserve.schemas import V1Request, V2Request
from app.api.kserve.tensors import description, server
from app.api.problems import TABLE, problem_response
from app.asking.refusals import Stopping, UnknownModel, told

v1 = APIRouter(route_class=WorkRoute, prefix="/v1/models", include_in_schema=False)


@v1.post("/{model}:explain")
async def explain_v1(model: TheModel, body: V1Request, request: Request) -> Response:
    assert isinstance(request, ParsedRequest)
    return await explain(request, body, model, service_of(request))


@v1.post("/{model}:predict")
async def predict_v1(model: TheModel, body: V1Request, request: Request) -> Response:
    assert isinstance(request, ParsedRequest)
    return await predict(request, body, model, service_of(request))


# The protocol knows one status for whatever is wrong with a body.
WRONG = (HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.UNSUPPORTED_MEDIA_TYPE)


def error_response(error: Exception) -> Response:
    """What is refused, as the protocol has it: an `error`, and 400 for whatever is wrong with a request."""
    refused = problem_response(error)
    headers = {name: value for name, value in refused.headers.items() if name in ("retry-after", "www-authenticate")}
    status = HTTPStatus.BAD_REQUEST if refused.status_code in WRONG else refused.status_code
    return JSONResponse({"error": told(error)[0]}, status, headers)


class InTheProtocolsWords(StrictRoute):
    """A route that answers in the protocol's words when it refuses."""

    def get_route_handler(self) -> Handler:
        handle = super().get_route_handler()

        async def answer(request: Request) -> Response:
            try:
                return await handle(request)
            except tuple(TABLE) as error:
                return error_response(error)

        return answer


class InferenceRoute(InTheProtocolsWords, WorkRoute):
    """The same for work."""


inference = APIRouter(route_class=InferenceRoute, prefix="/v2/models/{model}", include_in_schema=False)
descriptions = APIRouter(route_class=InTheProtocolsWords, prefix="/v2", include_in_schema=False)


@inference.post("/infer")
@inference.post("/versions/{version}/infer")
async def infer_v2(model: TheModel, body: V2Request, request: Request) -> Response:
    assert isinstance(request, ParsedRequest)
    _check_version(model, request.path_params.get("version"))
    return await infer(request, body, model, service_of(request))


@descriptions.get("")
@descriptions.get("/")
async def server_v2() -> dict[str, Any]:
    return server()


@descriptions.get("/health/live")
async def live() -> dict[str, bool]:
    return {"live": True}


@descriptions.get("/health/ready")
async def ready(service: TheService) -> dict[str, bool]:
    if service.stopping:
        raise Stopping
    return {"ready": True}


@descriptions.get("/models/{model}")
@descriptions.get("/models/{model}/versions/{version}")
async def model_v2(model: TheModel, version: str | None = None) -> dict[str, Any]:
    _check_version(model, version)
    return description(model.model)


@descriptions.get("/models/{model}/ready")
@descriptions.get("/models/{model}/versions/{version}/ready")
async def model_ready(model: TheModel, version: str | None = None) -> dict[str, Any]:
    _check_version(model, version)
    return {"name": model.model.name, "ready": True}


def _check_version(chosen: TheModel, version: str | None) -> None:
    if version is not None and version != chosen.model.version:
        raise UnknownModel(f"{chosen.model.name}/{version}", [f"{chosen.model.name}/{chosen.model.version}"])
