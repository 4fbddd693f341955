"""The tables of the page, as lines of Markdown; each ends with a sentence on what its numbers rest on."""

from collections.abc import Mapping, Sequence

from lab.paper.report.published_figures import EXACT_WITH_THEIR_MODELS, PUBLISHED, PublishedFigures
from lab.paper.report.titles import INCONSISTENCY, METHODS, METRICS, data_set, methods_of, number, people, sigmas_of
from lab.paper.results import Agreement, DataSetResults, Mean, MethodResults, Robustness


def table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table in Markdown, the first column to the left and the others to the right."""
    rule = "|---|" + "---:|" * (len(heading) - 1)
    return [_line(heading), rule, *map(_line, rows)]


def mean_cell(mean: Mean | None, missing: str, paper: float | None = None) -> str:
    """`mean [low, high] (people)`, with the published figure below it where there is one."""
    if mean is None or mean.value is None or mean.low is None or mean.high is None:
        shown = missing
    else:
        shown = f"{number(mean.value)} [{number(mean.low)}, {number(mean.high)}] ({mean.people})"
    return shown if paper is None else f"{shown}<br>paper {number(paper)}"


def quality_lines(results: DataSetResults) -> list[str]:
    """The methods against the measures."""
    published = PUBLISHED.get((results.name, results.registry), {})
    heading = ["method", *(metric.heading for metric in METRICS.values()), "cut short"]
    rows = []
    for method in methods_of([results]):
        found, paper = results.methods[method], _paper_metrics(published, method)
        cells = [mean_cell(found.metrics.get(name), title.missing, paper.get(name)) for name, title in METRICS.items()]
        rows.append([METHODS[method].title, *cells, f"{found.cut_short:,}"])
    return [*table(heading, rows), "", _quality_rests_on(results, with_paper=bool(published))]


def robustness_lines(results: DataSetResults, *, with_paper: bool = True) -> list[str]:
    """Inconsistency after retraining and at each strength of the noise, with what was undefined."""
    published = PUBLISHED.get((results.name, results.registry), {}) if with_paper else {}
    sigmas = sigmas_of([results])
    heading = ["method", "retrained", *(f"noise, sigma {sigma:g}" for sigma in sigmas)]
    rows = [
        [METHODS[method].title, *_robustness_cells(results.methods[method], sigmas, published.get(method))]
        for method in methods_of([results])
    ]
    rests = (
        f"{INCONSISTENCY.title} {_way()} of two sets of answers, in standardised units: a mean over people with its "
        "95 % interval and, in brackets, how many people it rests on. A pair of sets of which one is empty has none: "
        "it is counted as undefined and is not part of the mean."
    )
    known = EXACT_WITH_THEIR_MODELS.get((results.name, results.registry))
    beside = [] if known is None or not with_paper else ["", _known(known)]
    return [*table(heading, rows), "", rests, *beside]


def agreement_lines(results: Sequence[DataSetResults]) -> list[str]:
    """The published search against the definition, data set by data set."""
    heading = ["data set", "who", "asked", "same answer", "minimal sets missed", "answers not minimal", "not monotone"]
    rows = [
        [_named(one), who, *_agreement_cells(agreement)]
        for one in results
        for who, agreement in (("those asked about", one.agreement), ("everyone refused", one.everyone))
    ]
    rests = (
        "Each person counts once for each network that refuses them. Everyone refused are all rows of the data, where "
        "these are many some of them at random; those asked about are the people of the other tables. The "
        "minimal sets are those of the definition, found by going through the subsets; not monotone is whoever breaks "
        "the assumption of the published search that one more change into the normal range never hurts."
    )
    return [*table(heading, rows), "", rests]


def _agreement_cells(agreement: Agreement) -> list[str]:
    return [
        f"{agreement.asked:,}",
        _share(agreement.same, agreement.asked),
        _share(agreement.missed, agreement.true),
        _share(agreement.wrong, agreement.returned),
        _share(agreement.not_monotone, agreement.asked),
    ]


def _robustness_cells(found: MethodResults, sigmas: Sequence[float], paper: PublishedFigures | None) -> list[str]:
    noise = {} if paper is None else paper.noise
    cells = [_robustness_cell(found.changes.retrained, None if paper is None else paper.retrained)]
    tried = [(found.changes.noise.get(sigma), noise.get(sigma)) for sigma in sigmas]
    return cells + ["not run" if noisy is None else _robustness_cell(noisy, anchor) for noisy, anchor in tried]


def _robustness_cell(found: Robustness, paper: float | None) -> str:
    shown = mean_cell(found.inconsistency, INCONSISTENCY.missing)
    undefined = f"<br>{found.undefined:,} of {found.pairs:,} undefined" if found.undefined else ""
    return f"{shown}{undefined}" if paper is None else f"{shown}{undefined}<br>paper {number(paper)}"


def _quality_rests_on(results: DataSetResults, *, with_paper: bool) -> str:
    accuracies = ", ".join(f"{accuracy:.3f}" for accuracy in results.accuracies)
    models = "1 model" if len(results.accuracies) == 1 else f"{len(results.accuracies)} models"
    words = (
        f"{_named(results)}: {models} (test accuracy {accuracies}), {people(results.people)} asked about, of whom "
        f"{results.without_recourse:,} have no counterfactual; {number(results.mean_answers)} answers each in the "
        "mean. A cell is a mean over people with its 95 % interval (bootstrap) and, in brackets, how many people have "
        "a value. Cut short is how many answers ran into the time limit."
    )
    paper = (
        " Paper, where it stands, is the figure of the paper's authors, for their own models and people; their "
        "Diversity is left out, since it multiplies by the deviation instead of dividing by it."
    )
    return words + paper if with_paper else words


def _known(figures: PublishedFigures) -> str:
    noise = ", ".join(f"{number(value)} at sigma {sigma:g}" for sigma, value in figures.noise.items())
    return (
        "For orientation, every minimal set found with the authors' own models and people: inconsistency "
        f"{number(figures.retrained)} after retraining; {noise}."
    )


def _paper_metrics(published: Mapping[str, PublishedFigures], method: str) -> Mapping[str, float]:
    return published[method].metrics if method in published else {}


def _named(results: DataSetResults) -> str:
    return f"{data_set(results)} (`{results.registry}`)"


def _way() -> str:
    return f"({INCONSISTENCY.better} is better)"


def _share(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,} ({part / whole:.1%})" if whole else "none"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
