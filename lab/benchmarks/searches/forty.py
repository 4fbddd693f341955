"""Forty movable features and more answers than anyone can read: how many come in ten seconds."""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter

import numpy as np

from lab.benchmarks.figures import Figure, agreed
from lab.benchmarks.models import names
from lab.benchmarks.requests.asking import Answered, request
from lab.benchmarks.workshop import Workshop
from lab.paper.questions.posing import Posed, Truths, subsets_of_size, without_one
from lab.paper.questions.row_judge import RowJudge

# Up to this size it is looked whether every answer is there: 658,008 subsets of 5 of 40.
CHECKED_SIZE = 5
BATCH = 16_384
POINTS = 60


@dataclass
class Watch:
    """Notes when each answer came, and how many features it changes."""

    began: float = field(default_factory=perf_counter)
    moments: array = field(default_factory=lambda: array("d"))
    sizes: array = field(default_factory=lambda: array("B"))

    def __call__(self, line: str) -> None:
        self.moments.append(perf_counter() - self.began)
        self.sizes.append(line.count('"direction":'))


def figures(workshop: Workshop) -> Iterator[Figure]:
    wide, seconds = workshop.sizes.wide, workshop.sizes.race_seconds
    model = f"five-of-{wide}"
    counts: dict[str, list[int]] = {"auto": [], "cemsp": [], "published": []}
    courses: dict[str, list[tuple[float, int]]] = {}
    for _ in workshop.track(range(workshop.sizes.races), "forty: ten seconds each"):
        for engine in ("auto", "cemsp"):
            answered, watch = _asked(workshop, model, engine)
            counts[engine].append(len(watch.sizes))
            courses[engine] = _course(watch.moments)
            if engine == "auto":
                _check_order(answered, watch)
                exact = _check_exact(workshop.judge(model), answered, watch)
        moments = _raced(workshop, model, answered.posed)
        counts["published"].append(len(moments))
        courses["published"] = _course(moments)
    for engine, asked in (("auto", 100), ("cemsp", 8)):
        details = {
            "answers": {side: median(found) for side, found in counts.items() if side in (engine, "published")},
            "course": {side: course for side, course in courses.items() if side in (engine, "published")},
            **(exact if engine == "auto" else {}),
        }
        ratio = median(counts[engine]) / median(counts["published"])
        title = f"{engine}, {wide} movable, {seconds:g} s: answers against published"
        yield Figure(f"forty.{engine}", title, "at least", asked, ratio, "times as many", details)


def _asked(workshop: Workshop, model: str, engine: str) -> tuple[Answered, Watch]:
    limits = {
        "engine": engine,
        "deadline_ms": round(workshop.sizes.race_seconds * 1000),
        "max_model_rows": 20_000_000,
    }
    body = request(dict.fromkeys(names(workshop.sizes.wide), 0), limits=limits)
    watch = Watch()
    return workshop.asker.ask(model, body, watch), watch


def _raced(workshop: Workshop, model: str, posed: Posed) -> Sequence[float]:
    """When each answer of the published search came."""
    moments = array("d")
    other = workshop.published(model, posed)
    began = perf_counter()
    for _ in other.answers():
        moments.append(perf_counter() - began)
        if moments[-1] > workshop.sizes.race_seconds:
            break
    return moments


def _course(moments: Sequence[float]) -> list[tuple[float, int]]:
    """How many answers there were by when, at a few points."""
    places = np.unique(np.geomspace(1, len(moments), POINTS).astype(int))
    return [(round(max(moments[place - 1], 1e-5), 5), int(place)) for place in places]


def _check_order(answered: Answered, watch: Watch) -> None:
    """Smallest first as far as the answer calls itself complete; only larger ones come after."""
    exact = answered.summary["complete_up_to"]
    sizes = np.array(watch.sizes)
    within = sizes[sizes <= exact]
    agreed(bool(np.all(sizes[: len(within)] <= exact)), "auto: the exact sizes come first")
    agreed(bool(np.all(np.diff(within.astype(int)) >= 0)), "auto: the smallest come first")


def _check_exact(judge: RowJudge, answered: Answered, watch: Watch) -> dict[str, int]:
    """As many answers of each size as there are, up to the size that the summary names."""
    size = min(answered.summary["complete_up_to"], CHECKED_SIZE)
    agreed(size > 0, "auto: some size is exact")
    found = np.bincount(np.array(watch.sizes), minlength=size + 1)
    for each in range(1, size + 1):
        agreed(int(found[each]) == _minimal(judge, answered.posed, each), f"auto: all answers of {each} changes")
    return {"complete_up_to": answered.summary["complete_up_to"], "checked_up_to": size}


def _minimal(judge: RowJudge, posed: Posed, size: int) -> int:
    """How many subsets of this size turn the answer and need every member; the model is monotone."""

    def turning(subsets: Truths) -> Truths:
        parts = [posed.rows(subsets[start : start + BATCH]) for start in range(0, len(subsets), BATCH)]
        scores = np.concatenate([judge.scores(part) for part in parts])
        return np.asarray(scores[:, 1] > scores[:, 0])

    subsets = subsets_of_size(len(posed.targets), size)
    subsets = subsets[turning(subsets)]
    if not len(subsets):
        return 0
    spare = [turning(smaller) for smaller in without_one(subsets)]
    return int(np.sum(~np.any(spare, axis=0)))
