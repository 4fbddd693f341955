"""What methods, measures and data sets are called, and how a method looks: one place for figures and tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from lab.paper.results import DataSetResults

Better = Literal["higher", "lower"]
ARROWS: Mapping[Better, str] = {"higher": "↑", "lower": "↓"}


@dataclass(frozen=True)
class MethodTitle:
    """A method's names, and the colour, hatch, marker and dashes that tell it apart, each of them alone."""

    title: str
    short: str
    colour: str
    hatch: str
    marker: str
    dashes: str


@dataclass(frozen=True)
class MetricTitle:
    """A measure's name, which way is better, and why it may be missing."""

    title: str
    better: Better
    missing: str
    unit: str = ""

    @property
    def heading(self) -> str:
        """The name with its arrow."""
        return f"{self.title}{f', {self.unit}' if self.unit else ''} {ARROWS[self.better]}"


# The colours of Okabe and Ito; their yellow is lost on white paper, so grey stands in for it. Indigo is Tol's.
METHODS: Mapping[str, MethodTitle] = {
    "exact": MethodTitle("CEMSP exact (Flipset)", "Exact", "#0072B2", "", "o", "-"),
    "robust": MethodTitle("CEMSP exact, robust (Flipset)", "Robust", "#332288", "oooo", "h", "-"),
    "published": MethodTitle("CEMSP as published", "Published", "#56B4E9", "////", "s", "--"),
    "growing_spheres": MethodTitle("Growing Spheres", "Spheres", "#E69F00", "....", "^", "-."),
    "plain_cf": MethodTitle("PlainCF", "PlainCF", "#D55E00", "\\\\\\\\", "v", ":"),
    "cf_proto": MethodTitle("CFProto", "CFProto", "#CC79A7", "xxxx", "D", "--"),
    "dice": MethodTitle("DiCE", "DiCE", "#009E73", "----", "P", "-."),
    "dice_ml": MethodTitle("DiCE (dice-ml)", "dice-ml", "#999999", "++++", "X", ":"),
    "sns": MethodTitle("SNS", "SNS", "#000000", "", "*", "-"),
}

NO_ANSWER = "no answers"
ONE_ANSWER = "fewer than two answers"
METRICS: Mapping[str, MetricTitle] = {
    "sparsity": MetricTitle("Sparsity", "higher", NO_ANSWER),
    "aps": MetricTitle("APS", "lower", NO_ANSWER),
    "diversity": MetricTitle("Diversity", "higher", ONE_ANSWER),
    "c_diversity": MetricTitle("C-diversity", "higher", ONE_ANSWER),
    "valid": MetricTitle("Valid", "higher", NO_ANSWER),
    "minimal_found": MetricTitle("Minimal sets found", "higher", "none to find"),
    "returned_minimal": MetricTitle("Answers that are minimal", "higher", NO_ANSWER),
    "milliseconds": MetricTitle("Time", "lower", "not measured", "ms"),
}
INCONSISTENCY = MetricTitle("Inconsistency", "lower", "undefined")

DATA_SETS: Mapping[str, str] = {"hcv": "HCV", "thyroid": "Thyroid", "synthetic": "Synthetic"}


def data_set(results: DataSetResults) -> str:
    """A data set's name in words."""
    return DATA_SETS.get(results.name, results.name)


def people(count: int) -> str:
    return "1 person" if count == 1 else f"{count:,} people"


def methods_of(results: Sequence[DataSetResults]) -> list[str]:
    """Every method that any data set has, in the order of the table above."""
    found = {method for one in results for method in one.methods}
    if unknown := found - METHODS.keys():
        raise ValueError(f"methods without a title: {', '.join(sorted(unknown))}")
    return [method for method in METHODS if method in found]


def sigmas_of(results: Sequence[DataSetResults]) -> list[float]:
    """Every strength of the noise that any method was tried with."""
    return sorted({sigma for one in results for method in one.methods.values() for sigma in method.changes.noise})


def number(value: float) -> str:
    """Two or three digits: more than most of these means are good for."""
    steps = ((1000, ",.0f"), (100, ".0f"), (10, ".1f"), (1, ".2f"), (0.01, ".3f"), (0.001, ".4f"))
    form = next((form for bound, form in steps if abs(value) >= bound), ".2g")
    return f"{value:{form}}"
