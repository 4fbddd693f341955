"""People whom a model refuses, with thirty features that can move: to the medians of those who are well."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from lab.through.asking import Told, ask, service_of
from lab.through.models import Data, breast_cancer, serve


def people(data: Data) -> Iterator[tuple[int, dict[str, Any]]]:
    """Requests of those who are ill, each with its row."""
    guide = data.guide
    for place, row in enumerate(data.rows):
        if not data.favourable[place]:
            instance = dict(zip(data.names, map(float, row), strict=True))
            yield place, {"instance": instance, "registry": None, "guide": guide}


def refused(folder: Path, kind: str, count: int) -> Iterator[Told]:
    """The answers for the first people whom a model of this kind refuses."""
    data = breast_cancer()
    serve(folder / kind, data, (kind,))
    service = service_of(folder / kind)
    told = (ask(service, kind, body) for _, body in people(data))
    return islice((each for each in told if not each.favourable), count)
