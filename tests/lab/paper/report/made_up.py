"""Made-up results for the tests of figures, tables and pages: the published numbers, with invented intervals."""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import numpy as np

from lab.paper.report.published_figures import PUBLISHED, SIGMAS, PublishedFigures
from lab.paper.report.subsets import Lattice, Subset
from lab.paper.report.use_case import Situation, UseCase, UseCaseFeature
from lab.paper.results import Agreement, Changes, DataSetResults, Mean, MethodResults, Robustness

NOBODY = Mean(None, None, None, 0)
AGREEMENT = Agreement(asked=20, same=8, true=74, missed=39, returned=55, wrong=20, not_monotone=18)
EVERYONE = Agreement(asked=400, same=199, true=900, missed=301, returned=640, wrong=41, not_monotone=333)


def about(value: float | None, people: int = 20, spread: float = 0.12) -> Mean:
    """A mean with an interval that reaches as far down as up."""
    return NOBODY if value is None else Mean(value, value * (1 - spread), value * (1 + spread), people)


def robustness(value: float | None, pairs: int = 20, undefined: int = 0) -> Robustness:
    return Robustness(about(value, min(20, pairs - undefined)), pairs, undefined)


def method(figures: PublishedFigures, share: float = 1.0) -> MethodResults:
    c_diversity = figures.metrics.get("c_diversity")
    metrics = {
        "sparsity": about(figures.metrics["sparsity"]),
        "aps": about(figures.metrics["aps"]),
        "diversity": about(None if c_diversity is None else 2.1 * c_diversity),
        "c_diversity": about(c_diversity),
        "valid": about(1.0, spread=0.0),
        "minimal_found": about(0.47),
        "returned_minimal": about(0.64),
        "milliseconds": about(4.8),
    }
    noise = {sigma: robustness(share * figures.noise[sigma], undefined=1) for sigma in SIGMAS}
    changes = Changes(robustness(share * figures.retrained, 190, 9), noise)
    # With the same seed on both sides half of it is left.
    halved = {sigma: robustness(share * figures.noise[sigma] / 2) for sigma in SIGMAS}
    same_seed = Changes(robustness(share * figures.retrained / 2), halved)
    return MethodResults(metrics, changes, same_seed, cut_short=0)


def data_set(name: str, registry: str, people: int = 20) -> DataSetResults:
    """All nine methods: what the paper does not have is made from what it has."""
    published = PUBLISHED[name, registry]
    methods = {"exact": method(published["published"], 0.8), "dice_ml": method(published["dice"], 0.7)}
    methods["robust"] = method(published["published"], 0.9)
    methods |= {key: method(figures) for key, figures in published.items()}
    return DataSetResults(name, registry, (0.97, 0.96), people, 6, 3.7, AGREEMENT, EVERYONE, methods)


def three() -> list[DataSetResults]:
    return [
        data_set("hcv", "hcv-paper-tight"),
        data_set("thyroid", "thyroid", 63),
        data_set("synthetic", "synthetic", 100),
    ]


def with_nothing() -> DataSetResults:
    """A data set on which nothing could be measured, and one method more was not run."""
    empty = Robustness(NOBODY, 20, 20)
    full = data_set("hcv", "hcv-paper-tight")
    changes = Changes(empty, dict.fromkeys(SIGMAS, empty))
    bare = MethodResults(dict.fromkeys(full.methods["exact"].metrics, NOBODY), changes, changes, 3)
    return replace(full, methods={key: bare for key in full.methods if key != "sns"})


def subsets(count: int, favourable: Callable[[frozenset[int]], bool]) -> tuple[Subset, ...]:
    positions = [frozenset(one) for size in range(count + 1) for one in combinations(range(count), size)]
    scores = np.random.default_rng(count).uniform(0, 0.5, len(positions)).tolist()
    pairs = zip(positions, scores, strict=True)
    return tuple(Subset(one, score + 0.5 * favourable(one), favourable(one)) for one, score in pairs)


def lattice(names: str = "ALT AST BIL CHE GGT") -> Lattice:
    """Somebody whom AST with BIL or CHE helps, or ALT with AST and GGT; not all of it together."""
    features = tuple(names.split())
    ways = ({1, 2}, {1, 3}, {0, 1, 4})
    everything = subsets(len(features), lambda one: any(way <= one for way in ways) and not {0, 2, 3} <= one)
    return Lattice("a made-up person", features, everything)


def use_case() -> UseCase:
    features = (
        UseCaseFeature("ALT", "U/l", 114.0, 10.0, 35.0, 35.0),
        UseCaseFeature("AST", "U/l", 75.0, None, 31.5, 31.5),
        UseCaseFeature("CHOL", "mmol/l", 5.2, 3.9, 5.2, None),
    )
    situations = (
        Situation("Without constraints", ({"AST": 31.5}, {"ALT": 35.0})),
        Situation("ALT stays as it is", ({"AST": 31.5},)),
        Situation("ALT and AST stay as they are", ()),
    )
    return UseCase("a made-up person", 0.012, features, situations)
