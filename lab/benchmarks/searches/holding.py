"""What it costs to tell of every plan whether it holds: the hepatitis model, with the noise of its registry."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from lab.benchmarks.figures import Figure, agreed, milliseconds
from lab.benchmarks.people import people
from lab.benchmarks.requests.asking import Answered, Asker, request
from lab.benchmarks.workshop import Workshop

MODEL = "hcv"
CONTEXT = {"sex": "male", "age": 45}
# More than anyone has.
ALL_PLANS = 10_000


@dataclass
class Timed:
    """One patient, in seconds: the search, all of the answer without telling, and all of it with."""

    search: list[float] = field(default_factory=list)
    silent: list[float] = field(default_factory=list)
    told: list[float] = field(default_factory=list)

    @property
    def telling(self) -> float:
        return median(self.told) - median(self.silent)


def figures(workshop: Workshop) -> Iterator[Figure]:
    silent, telling = (Asker(workshop.models, workshop.ranges, stability_plans=plans) for plans in (0, ALL_PLANS))
    bodies = list(workshop.track(_bodies(workshop, silent), "holding: people with a way out"))
    plans = [_agreed(body, silent, telling) for body in workshop.track(bodies, "holding: the same plans")]
    timed = [_timed(workshop, body, silent, telling) for body in workshop.track(bodies, "holding: with and without")]
    searches, telling_too = [median(each.search) for each in timed], [each.telling for each in timed]
    details = {
        "people": len(bodies),
        "plans_of_a_person": median(plans),
        "search_ms": milliseconds(searches),
        "telling_ms": milliseconds(telling_too),
        "answer_without_ms": milliseconds([median(each.silent) for each in timed]),
        "ratio_of_all_together": sum(telling_too) / sum(searches),
    }
    ratio = median(above / search for above, search in zip(telling_too, searches, strict=True))
    title = f"hcv, {len(bodies)} people: telling whether every plan holds, against the search"
    yield Figure("holding.told", title, "at most", 2, ratio, "times the search", details)


def _bodies(workshop: Workshop, asker: Asker) -> Iterator[bytes]:
    wanted = workshop.sizes.people
    for person in people(workshop.data):
        body = request(person, context=CONTEXT)
        if asker.ask(MODEL, body).summary["outcome"] == "found":
            yield body
            wanted -= 1
        if not wanted:
            return


def _agreed(body: bytes, silent: Asker, telling: Asker) -> int:
    """How many plans there are: the same ones on both sides, and told of each."""
    plain, told = (_plans(asker, body) for asker in (silent, telling))
    agreed(all(plan.pop("stability")["draws"] == 100 for plan in told), "holding: every plan is told of")
    agreed(plain == told, "holding: the plans with and without telling")
    return len(told)


def _plans(asker: Asker, body: bytes) -> list[dict[str, Any]]:
    lines: list[str] = []
    asker.ask(MODEL, body, lines.append)
    return [json.loads(line) for line in lines]


def _timed(workshop: Workshop, body: bytes, silent: Asker, telling: Asker) -> Timed:
    timed = Timed()
    for _ in range(workshop.sizes.repeats):
        answered: Answered = silent.ask(MODEL, body)
        timed.search.append(answered.search)
        timed.silent.append(answered.total)
        timed.told.append(telling.ask(MODEL, body).total)
    return timed
