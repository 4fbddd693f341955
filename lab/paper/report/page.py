"""What the comparison leaves behind: a page with its tables and figures, and all numbers as JSON."""

import json
from collections.abc import Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from lab.paper.report import alt_texts, figures
from lab.paper.report.published_figures import EXACT_WITH_THEIR_MODELS, PUBLISHED
from lab.paper.report.subsets import Lattice
from lab.paper.report.tables import agreement_lines, quality_lines, robustness_lines
from lab.paper.report.titles import data_set
from lab.paper.report.use_case import UseCase, use_case_lines
from lab.paper.report.verdicts import verdicts
from lab.paper.results import DataSetResults, with_same_seed

HASSE = "subsets"
SAME_SEED = "-same-seed"
ROBUST = "robust"


def page(
    results: Sequence[DataSetResults], folder: Path, lattice: Lattice | None = None, use_case: UseCase | None = None
) -> Path:
    """Write results.md, results.json and the figures into the folder; the page's path is given back."""
    folder.mkdir(parents=True, exist_ok=True)
    figures.quality(results, folder)
    lines = [*_opening(), *_quality(results), *_robustness(results, folder), *_same_seed(results, folder)]
    lines += _agreement(results)
    if lattice is not None:
        figures.hasse(folder, HASSE, lattice.features, lattice.subsets)
        lines += _subsets(lattice)
    if use_case is not None:
        lines += ["", "## One person under constraints", "", *use_case_lines(use_case)]
    content = {"data_sets": results, "paper": _paper(), "lattice": lattice, "use_case": use_case}
    text = json.dumps(plain(content), indent=1, allow_nan=False)
    (folder / "results.json").write_text(text + "\n", encoding="utf-8")
    written = folder / "results.md"
    written.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return written


def plain(value: Any) -> Any:
    """Dataclasses, mappings and sets as JSON can hold them; a key that is a number is written shortly."""
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {f"{key:g}" if isinstance(key, float) else str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Set):
        return sorted(plain(item) for item in value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(item) for item in value]
    return value


def _opening() -> list[str]:
    return [
        "# The comparison: how good the answers are, and whether they stay",
        "",
        "What the methods are, and what is measured: section 5 of the CEMSP paper. An arrow says which way is better.",
        "All numbers, for programs: [results.json](results.json).",
    ]


def _quality(results: Sequence[DataSetResults]) -> list[str]:
    lines = ["", "## The answers", "", *_image("quality", alt_texts.quality(results))]
    lines += ["", "In all figures the thin lines across the ends of bars and points are 95 % intervals."]
    for one in results:
        lines += ["", f"### {data_set(one)}, ranges `{one.registry}`", "", *quality_lines(one)]
    return lines


def _robustness(results: Sequence[DataSetResults], folder: Path) -> list[str]:
    lines = ["", "## Whether they stay the same", ""]
    lines += [
        "All but the first three methods draw at random. Here they draw anew on either side of a change, as in the "
        "paper: what moves is due to the change and to chance.",
        "",
        *_changes(results, folder, ""),
    ]
    for one in results:
        lines += ["", f"### {data_set(one)}, ranges `{one.registry}`, after a change", "", *robustness_lines(one)]
    return lines


def _same_seed(results: Sequence[DataSetResults], folder: Path) -> list[str]:
    """The same for someone who keeps the seed of the methods that draw at random."""
    same = [with_same_seed(one) for one in results]
    lines = ["", "## Whether they stay the same, with the same seed", ""]
    lines += [
        "Here every method draws the same on either side of a change: what moves is due to the change alone.",
        "",
        *_changes(same, folder, SAME_SEED),
    ]
    for one in same:
        title = f"### {data_set(one)}, ranges `{one.registry}`, after a change, with the same seed"
        lines += ["", title, "", *robustness_lines(one, with_paper=False)]
    return lines


def _changes(results: Sequence[DataSetResults], folder: Path, suffix: str) -> list[str]:
    """The verdicts and the two figures."""
    retraining, noise = f"retraining{suffix}", f"noise{suffix}"
    figures.retraining(results, folder, retraining)
    figures.noise(results, folder, noise)
    return [
        verdicts(results),
        "",
        *_robust_verdicts(results),
        "These are means over the people for whom each is defined; the intervals take the five networks as given. "
        "Overlapping intervals leave it open which of two is lower: they do not use that both were asked about the "
        "same people.",
        "",
        *_image(retraining, alt_texts.retraining(results)),
        "",
        *_image(noise, alt_texts.noise(results)),
        "",
        "The scale of inconsistency goes by powers of ten, and evenly from the lowest of them down to 0.",
    ]


def _robust_verdicts(results: Sequence[DataSetResults]) -> list[str]:
    """The same of plans that hold, where they were asked for."""
    return [verdicts(results, ROBUST), ""] if all(ROBUST in one.methods for one in results) else []


def _agreement(results: Sequence[DataSetResults]) -> list[str]:
    return ["", "## The published search against the definition", "", *agreement_lines(results)]


def _subsets(lattice: Lattice) -> list[str]:
    return [
        "",
        "## All subsets of one person's changes",
        "",
        *_image(HASSE, alt_texts.subsets(lattice)),
        "",
        f"This is {lattice.name}. Each of the {len(lattice.subsets)} subsets was scored by the model; minimal and "
        "maximal are told from these scores alone, by their definitions.",
    ]


def _image(name: str, words: str) -> list[str]:
    return [f"![{words}]({name}.svg)", "", f"Also as [{name}.png]({name}.png)."]


def _paper() -> dict[str, Any]:
    """What the tables call paper, by data set and method, and what is set beside it for orientation."""
    return {
        "figures": [
            {"name": name, "registry": registry, "methods": methods} for (name, registry), methods in PUBLISHED.items()
        ],
        "exact_with_their_models": [
            {"name": name, "registry": registry, "exact": exact}
            for (name, registry), exact in EXACT_WITH_THEIR_MODELS.items()
        ],
    }
