"""What is proved by seeing through the model, and how fast: beside ONNX Runtime, and at thirty movable features."""

from collections.abc import Iterator
from statistics import median

from lab.benchmarks.figures import Figure
from lab.benchmarks.searches.lattice import Contest, contested
from lab.benchmarks.workshop import Workshop
from lab.paper.questions.posing import subsets_up_to

SHARES = {"logistic": 1.0, "xgboost": 1.0, "lightgbm": 0.95, "forest": 0.95}


def figures(workshop: Workshop) -> Iterator[Figure]:
    width = workshop.sizes.lattice
    title = f"through, {width} movable, complete, 150 boosted trees: against ONNX Runtime alone"
    every = subsets_up_to(width, width)
    ours, alone, details = contested(
        workshop, Contest("trees", title, f"trees-{width}", width, 100, every, {}, engine="through")
    )
    yield Figure("through.trees", title, "at least", 100, alone / ours, "times faster", details)
    yield from _thirty(workshop)


def _thirty(workshop: Workshop) -> Iterator[Figure]:
    # Here, because it needs the trainers, and `make test` reads this module without.
    from lab.through.people import refused  # noqa: PLC0415

    for kind, asked in SHARES.items():
        folder, count = workshop.folder / "through", workshop.sizes.thirty
        told = list(workshop.track(refused(folder, kind, count), f"through: 30 movable, {kind}"))
        summaries = [each.summary for each in told]
        share = sum(each.complete and each.guarantee == "exact" for each in summaries) / len(summaries)
        details = {
            "people": len(summaries),
            "search_ms": {
                "median": median(each.elapsed_ms.search for each in summaries),
                "most": max(each.elapsed_ms.search for each in summaries),
            },
            "answers": {
                "median": median(each.count for each in summaries),
                "most": max(each.count for each in summaries),
            },
        }
        title = f"through, 30 movable, {kind}, {len(summaries)} people: share complete and exact"
        yield Figure(f"through.{kind}", title, "at least", asked, share, "of the people", details)
