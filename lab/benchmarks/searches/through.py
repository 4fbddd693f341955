"""What is proved by seeing through the model, and how fast: beside ONNX Runtime, and at thirty movable features."""

from collections.abc import Iterator
from statistics import median
from typing import Any

from app.answering.events import Summary
from lab.benchmarks.figures import Figure
from lab.benchmarks.searches.lattice import Contest, contested
from lab.benchmarks.workshop import Workshop
from lab.paper.questions.posing import subsets_up_to

SHARES = {"logistic": 1.0, "xgboost": 1.0, "lightgbm": 0.95, "forest": 0.95}
# The answers of a network are complete up to this many changes at the least.
CHANGES = 8


def figures(workshop: Workshop) -> Iterator[Figure]:
    width = workshop.sizes.lattice
    title = f"through, {width} movable, complete, 150 boosted trees: against ONNX Runtime alone"
    every = subsets_up_to(width, width)
    ours, alone, details = contested(
        workshop, Contest("trees", title, f"trees-{width}", width, 100, every, {}, engine="through")
    )
    yield Figure("through.trees", title, "at least", 100, alone / ours, "times faster", details)
    for kind, asked in SHARES.items():
        summaries = _thirty(workshop, kind)
        title = f"through, 30 movable, {kind}, {len(summaries)} people: share complete and exact"
        yield Figure(
            f"through.{kind}", title, "at least", asked, _exact(summaries), "of the people", _details(summaries)
        )
    summaries = _thirty(workshop, "network")
    title = f"through, 30 movable, network 30-64-64-2, {len(summaries)} people: complete up to"
    settled = min(each.complete_up_to for each in summaries)
    details = {"share_complete_and_exact": _exact(summaries), **_details(summaries)}
    yield Figure("through.network", title, "at least", CHANGES, settled, "changes", details)


def _thirty(workshop: Workshop, kind: str) -> list[Summary]:
    # Here, because it needs the trainers, and `make test` reads this module without.
    from lab.through.people import refused  # noqa: PLC0415

    told = refused(workshop.folder / "through", kind, workshop.sizes.thirty)
    return [each.summary for each in workshop.track(told, f"through: 30 movable, {kind}") if each.summary is not None]


def _exact(summaries: list[Summary]) -> float:
    return sum(each.complete and each.guarantee == "exact" for each in summaries) / len(summaries)


def _details(summaries: list[Summary]) -> dict[str, Any]:
    searches, answers = [each.elapsed_ms.search for each in summaries], [each.count for each in summaries]
    return {
        "people": len(summaries),
        "search_ms": {"median": median(searches), "most": max(searches)},
        "answers": {"median": median(answers), "most": max(answers)},
    }
