"""Several versions of one Observation in a Bundle: only the latest says what holds."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from app.asking.reading import Errors
from app.clinic.resources import Bundle
from app.clinic.times import BadTime, instant_of

# Others are not there yet, withdrawn, or wrong.
VALID = frozenset(("final", "amended", "corrected"))
UNTOLD = (
    "is there in another version too, which does not hold, and nobody can tell which is the later one; "
    "give both meta.lastUpdated, or leave one out"
)

Resource = Mapping[str, Any]


def current_observations(bundle: Bundle, is_read: Callable[[Resource], bool], errors: Errors) -> Iterator[int]:
    """The places of what is read, without versions that a later one replaces, be that valid or withdrawn."""
    versions: dict[str, list[int]] = defaultdict(list)
    resources = [entry.resource or {} for entry in bundle.entry]
    for place, resource in enumerate(resources):
        if resource.get("resourceType") == "Observation":
            name = resource.get("id")
            versions[name if isinstance(name, str) else f"#{place}"].append(place)
    outdated: set[int] = set()
    for places in versions.values():
        if len(places) > 1 and any(is_read(resources[place]) for place in places):
            outdated.update(_outdated(places, resources, errors))
    for place, resource in enumerate(resources):
        if resource.get("resourceType") == "Observation" and place not in outdated and is_read(resource):
            yield place


def _outdated(places: Sequence[int], resources: Sequence[Resource], errors: Errors) -> set[int]:
    times = {place: _updated(resources[place]) for place in places}
    latest = max((time for time in times.values() if time is not None), default=None)
    rest = [place for place, time in times.items() if time is None or time == latest]
    valid = [place for place in rest if resources[place].get("status") in VALID]
    if valid and len(valid) < len(rest):
        errors.add(f"entry[{valid[0]}].resource", UNTOLD)
    return set(places) - set(rest)


def _updated(resource: Resource) -> datetime | None:
    meta = resource.get("meta")
    written = meta.get("lastUpdated") if isinstance(meta, dict) else None
    try:
        return instant_of(written) if isinstance(written, str) else None
    except BadTime:
        return None
