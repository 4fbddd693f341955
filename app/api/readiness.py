"""What /readyz tells whoever wants to know more: what is loaded since when, and how the last reload went."""

from datetime import datetime
from typing import Annotated, Literal

from fastapi import Query

from app.adapters.flaws import Flaw
from app.api.openapi import Described, RegistryIdentity
from app.api.predictions import ModelIdentity
from app.api.reloads import Attempt, Reloads
from app.api.service import Service

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
    loaded, reloads = service.loaded, service.reloads
    return Readiness(
        status="ready",
        since=loaded.since,
        models=[
            ModelIdentity(name=model.name, version=model.version, sha256=model.sha256)
            for model in loaded.catalog.models.values()
        ],
        normal_ranges=[
            RegistryIdentity(name=registry.name, version=registry.version)
            for registry in loaded.catalog.registries.values()
        ],
        reloads=_counts(reloads),
        last_reload=None if reloads.last is None else _last(reloads.last),
    )


def _counts(reloads: Reloads) -> ReloadCounts:
    return ReloadCounts(loaded=reloads.loaded, refused=reloads.refused)


def _last(attempt: Attempt) -> LastReload:
    return LastReload(at=attempt.at, result=attempt.result, flaws=[_flaw(flaw) for flaw in attempt.flaws])


def _flaw(flaw: Flaw) -> FlawOfFile:
    # A file's name need not be text: half of a character cannot be sent.
    file = str(flaw.file).encode("utf-8", "backslashreplace").decode()
    return FlawOfFile(file=file, field=flaw.field, reason=flaw.reason)
