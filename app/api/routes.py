"""The paths, each of which only delegates."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from app.api.around.access import key_of
from app.api.bodies import ParsedRequest, StrictRoute
from app.api.dependencies import (
    Asked,
    TheModel,
    TheRegistry,
    TheService,
    WorkRoute,
    check_is_for_all,
    permitted,
    service_of,
)
from app.api.describing.shared import Health
from app.api.describing.whole import SeveralPredictions, SinglePrediction
from app.api.languages import in_language, language_of
from app.api.listings import (
    ExampleList,
    ModelDetails,
    ModelList,
    RegistryDetails,
    describe_model,
    describe_registry,
    list_examples,
    list_models,
)
from app.api.openapi import COUNTERFACTUALS, METRICS, PROBLEMS, REASONS, SUBSETS
from app.api.readiness import Readiness, Verbose, readiness
from app.api.responding import respond, respond_with_predictions, respond_with_reasons, respond_with_subsets
from app.asking.refusals import Stopping
from app.asking.schemas import PredictionsRequest
from app.observing.metrics import CONTENT_TYPE

health = APIRouter(route_class=StrictRoute, tags=["health"])
listings = APIRouter(route_class=StrictRoute, prefix="/v1", tags=["models and ranges"], responses=PROBLEMS["listings"])
work = APIRouter(route_class=WorkRoute, prefix="/v1/models/{model}", tags=["answers"], responses=PROBLEMS["work"])


@health.head("/livez", include_in_schema=False)
@health.get("/livez", summary="The process is alive")
async def livez() -> Health:
    return Health(status="alive")


@health.head("/readyz", include_in_schema=False)
@health.get("/readyz", summary="Every model and registry is loaded", responses=PROBLEMS["ready"])
async def readyz(service: TheService, request: Request, verbose: Verbose = None) -> Health | Readiness:
    if service.stopping:
        raise Stopping
    if verbose in (None, "false", "0"):
        return Health(status="ready")
    check_is_for_all(request)
    return readiness(service)


@health.get("/metrics", summary="What has been counted, for Prometheus", **METRICS)
def metrics(service: TheService, request: Request) -> Response:
    check_is_for_all(request)
    page = request.app.state.metrics.page(service.catalog.models.values(), service.reloads)
    return Response(page, headers={"Content-Type": CONTENT_TYPE})


@listings.get("/models", summary="The models")
def models(service: TheService, request: Request, response: Response) -> ModelList:
    catalog = service.catalog
    language = language_of(request, catalog)
    in_language(response, language)
    return list_models(permitted(catalog, key_of(request)).values(), language)


@listings.get(
    "/models/{model}", summary="One model: features, units, ranges, classes, versions", responses=PROBLEMS["named"]
)
def model(model: TheModel, request: Request, response: Response) -> ModelDetails:
    language = language_of(request, model.catalog)
    in_language(response, language)
    return describe_model(model.model, model.catalog, key_of(request), language)


@listings.get(
    "/models/{model}/examples", summary="Example requests that come with a model", responses=PROBLEMS["named"]
)
def examples(model: TheModel) -> ExampleList:
    return list_examples(model.model)


@listings.get("/normal-ranges/{registry}", summary="One registry of normal ranges", responses=PROBLEMS["named"])
def registry(registry: TheRegistry, service: TheService, request: Request, response: Response) -> RegistryDetails:
    language = language_of(request, service.catalog)
    in_language(response, language)
    return describe_registry(registry, language)


@work.post("/counterfactuals", summary="Every minimal set of changes that turns the decision", **COUNTERFACTUALS)
async def counterfactuals(model: TheModel, body: Asked, request: Request) -> Response:
    assert isinstance(request, ParsedRequest)
    return await respond(request, body, model, service_of(request))


@work.post("/predictions", summary="What the model says", response_model=SinglePrediction | SeveralPredictions)
async def predictions(model: TheModel, body: PredictionsRequest, request: Request) -> Response:
    assert isinstance(request, ParsedRequest)
    return await respond_with_predictions(request, body, model, service_of(request))


@work.post("/subsets", summary="All subsets of the movable features, for a picture of them", **SUBSETS)
async def subsets(model: TheModel, body: Asked, request: Request) -> Response:
    assert isinstance(request, ParsedRequest)
    return await respond_with_subsets(request, body, model, service_of(request))


@work.post("/reasons", summary="What the decision rests on: at most four reasons", **REASONS)
async def reasons(model: TheModel, body: Asked, request: Request) -> Response:
    assert isinstance(request, ParsedRequest)
    return await respond_with_reasons(request, body, model, service_of(request))
