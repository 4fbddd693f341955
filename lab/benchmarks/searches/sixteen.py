"""Sixteen movable features and about 4,000 answers: complete, against the published search."""

from collections.abc import Iterator
from statistics import median
from time import perf_counter

from lab.benchmarks.figures import Figure, agreed, milliseconds
from lab.benchmarks.models import names
from lab.benchmarks.requests.asking import request
from lab.benchmarks.workshop import Workshop
from lab.paper.every_subset import EverySubset


def figures(workshop: Workshop) -> Iterator[Figure]:
    width = workshop.sizes.many_answers
    model = f"five-of-{width}"
    body = request(dict.fromkeys(names(width), 0))
    lines: list[str] = []
    first = workshop.asker.ask(model, body, lines.append)
    every = EverySubset(first.posed, workshop.judge(model))
    agreed({first.columns(line) for line in lines} == every.minimal, "our answers, and every subset")

    repeats = workshop.sizes.repeats
    asked = [workshop.asker.ask(model, body) for _ in range(repeats)]
    # It takes so long that once is enough: between two halves of ours.
    other = workshop.published(model, first.posed)
    for _ in workshop.track(range(1), f"{width} movable: published"):
        began = perf_counter()
        found = list(other.answers())
        published = perf_counter() - began
    asked += [workshop.asker.ask(model, body) for _ in range(repeats)]
    agreed(set(found) == every.minimal, "published, and every subset")

    for part, wanted in (("search", 1500), ("total", 300)):
        ours = [getattr(answered, part) for answered in asked]
        details = {"ours_ms": milliseconds(ours), "published_ms": published * 1000, "answers": len(lines)}
        title = f"{width} movable, {len(lines)} answers: {part} against published"
        ratio = published / median(ours)
        yield Figure(f"sixteen.{part}", title, "at least", wanted, ratio, "times faster", details)
