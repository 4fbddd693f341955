"""The long form of /readyz: what has been loaded since when, and how the last reload went."""

from datetime import datetime
from typing import Annotated, Literal

from fastapi import Query

from app.adapters.files.flaws import Flaw
from app.adapters.reloads import Attempt, Reloads
from app.answering.service import Service
from app.api.describing.shared import Described, ModelIdentity, RegistryIdentity
from app.writing.json_pieces import model_identity, registry_identity

Verbose = Annotated[str | None, Query(description="true: also say what is loaded, since when, and of the last reload")]


class FlawOfFile(Described):
    """What was wrong with a file."""

    file: str
    field: str
    reason: str


class LastReload(Described):
    """When files were last read anew, what came of it, and what was wrong with them."""

    at: datetime
    result: Literal["loaded", "refused"]
    flaws: list[FlawOfFile]
    warnings: list[FlawOfFile]


class ReloadCounts(Described):
    """How often files were read anew since the start, by what came of it."""

    loaded: int
    refused: int


class Readiness(Described):
    """What is served, and since when."""

    status: Literal["ready"]
    since: datetime
    models: list[ModelIdentity]
    normal_ranges: list[RegistryIdentity]
    reloads: ReloadCounts
    last_reload: LastReload | None


def readiness(service: Service) -> Readiness:
    in_use, reloads = service.in_use, service.reloads
    return Readiness(
        status="ready",
        since=in_use.since,
        models=[ModelIdentity.model_validate(model_identity(model)) for model in in_use.catalog.models.values()],
        normal_ranges=[
            RegistryIdentity.model_validate(registry_identity(registry))
            for registry in in_use.catalog.registries.values()
        ],
        reloads=_counts(reloads),
        last_reload=None if reloads.last is None else _last(reloads.last),
    )


def _counts(reloads: Reloads) -> ReloadCounts:
    return ReloadCounts(loaded=reloads.loaded, refused=reloads.refused)


def _last(attempt: Attempt) -> LastReload:
    return LastReload(
        at=attempt.at,
        result=attempt.result,
        flaws=[_flaw(flaw) for flaw in attempt.flaws],
        warnings=[_flaw(warning) for warning in attempt.warnings],
    )


def _flaw(flaw: Flaw) -> FlawOfFile:
    # A file's name need not be text: half of a character cannot be sent.
    file = str(flaw.file).encode("utf-8", "backslashreplace").decode()
    return FlawOfFile(file=file, field=flaw.field, reason=flaw.reason)
