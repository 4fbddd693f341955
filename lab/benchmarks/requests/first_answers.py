"""How soon the first answer comes among forty movable features, against the first hundred of the published search."""

from collections.abc import Iterator
from itertools import islice
from statistics import median
from time import perf_counter

from lab.benchmarks.figures import Figure, agreed, milliseconds
from lab.benchmarks.models import names
from lab.benchmarks.requests.asking import request
from lab.benchmarks.workshop import Workshop


def figures(workshop: Workshop) -> Iterator[Figure]:
    wide = workshop.sizes.wide
    yield _figure(workshop, "cemsp", f"five-of-{wide}", 3)
    # Where any four suffice the lattice has an answer before the solver is needed.
    yield _figure(workshop, "auto", f"four-of-{wide}", 10)


def _figure(workshop: Workshop, engine: str, model: str, asked: float) -> Figure:
    body = request(dict.fromkeys(names(workshop.sizes.wide), 0), limits={"engine": engine, "max_counterfactuals": 1})
    count = workshop.sizes.first_answers
    ours, published = [], []
    for _ in workshop.track(range(workshop.sizes.repeats), f"first answer: {engine}"):
        answered = workshop.asker.ask(model, body)
        agreed(answered.first is not None, f"{engine}: there is a first answer")
        ours.append(answered.first or 0.0)
        other = workshop.published(model, answered.posed)
        began = perf_counter()
        found = list(islice(other.answers(), count))
        published.append(perf_counter() - began)
        agreed(len(found) == count, "published: there are enough answers")
    details = {"ours_ms": milliseconds(ours), "published_ms": milliseconds(published), "published_answers": count}
    title = f"first answer, {workshop.sizes.wide} movable, {engine}: against published's first {count}"
    ratio = 100 * median(ours) / median(published)
    return Figure(f"first.{engine}", title, "at most", asked, ratio, "% of the time", details)
