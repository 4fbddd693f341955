"""Whether an answer costs the same among a thousand and among a hundred thousand."""

from collections.abc import Iterator
from math import comb
from statistics import median
from typing import Any

from lab.benchmarks.figures import Figure, agreed
from lab.benchmarks.models import names
from lab.benchmarks.requests.asking import EVERYTHING, request
from lab.benchmarks.workshop import Workshop


def figures(workshop: Workshop) -> Iterator[Figure]:
    counts = [comb(movable, 4) for movable in workshop.sizes.growing]
    times: dict[str, dict[int, list[float]]] = {part: {count: [] for count in counts} for part in ("search", "total")}
    for _ in workshop.track(range(workshop.sizes.repeats), "growth"):
        for movable, count in zip(workshop.sizes.growing, counts, strict=True):
            answered = workshop.asker.ask("any-four", _body(movable, max(workshop.sizes.growing)))
            agreed(answered.summary["count"] == count, "growth: every four of the movable features")
            times["search"][count].append(answered.search / count)
            times["total"][count].append(answered.total / count)
    for part, measured in times.items():
        yield _figure(part, {count: median(seconds) for count, seconds in measured.items()})


def _figure(part: str, medians: dict[int, float]) -> Figure:
    details: dict[str, Any] = {
        "microseconds_an_answer": {str(count): round(seconds * 1e6, 3) for count, seconds in medians.items()}
    }
    title = f"lattice, {min(medians):,} to {max(medians):,} answers: {part} for an answer, dearest to cheapest"
    ratio = max(medians.values()) / min(medians.values())
    return Figure(f"growth.{part}", title, "at most", 2, ratio, "times", details)


def _body(movable: int, width: int) -> bytes:
    """The lines are equally long whatever is movable: what is not to move is called normal where it stands."""
    normal = {name: {"low": 0} for name in names(width)[movable:]}
    return request(dict.fromkeys(names(width), 0), normal_ranges=normal, limits=EVERYTHING)
