"""What the model says before and after: of those with a way out, and of those whom the ranges leave none."""

from app.cohorts.report.counting.comparisons import group_name
from app.cohorts.report.counting.figures import Figures
from app.cohorts.report.counting.histogram import BINS, COLUMNS, Histogram
from app.cohorts.report.counting.people import GroupTally
from app.cohorts.report.drawing.columns import Panel, columns
from app.cohorts.report.elements import beside, heading, note, paragraph, section, table
from app.cohorts.report.markup import Content, Markup
from app.cohorts.report.wording import number, people, score


def scores(figures: Figures) -> Markup:
    before, after = figures.people.all.before, figures.people.all.after
    content: list[Content] = [paragraph("Nobody has a way out, so there is no score after it.")]
    if before.total(0):
        said = (
            f"Of the {people(before.total(0))} with a way out: the score as they are, and that of their best answer. "
            f"The median goes from {score(before.median(0))} to {score(after.median(0))}."
        )
        content = [
            paragraph(said),
            _distributions(figures, "scores", before, after, "with the best answer"),
            *_by_group(figures),
        ]
    return section("scores", "6. Score before and after", *content, *_closest(figures), _how())


def _distributions(figures: Figures, name: str, before: Histogram, after: Histogram, then: str) -> Markup:
    panels = [
        Panel(f"As they are (median {score(before.median(0))})", _shares(before), "calm"),
        Panel(f"{then.capitalize()} (median {score(after.median(0))})", _shares(after), "ink"),
    ]
    title = f"Scores as they are and {then}"
    seen = f"Two distributions on one scale. {panels[0].label}; {panels[1].label}. The table has the numbers."
    low, high = before.scale
    edges = [low + (high - low) * place / COLUMNS for place in range(COLUMNS + 1)]
    rows = [
        (f"{edges[place]:.4g} to {edges[place + 1]:.4g}", number(first), number(second))
        for place, (first, second) in enumerate(zip(before.columns(0), after.columns(0), strict=True))
        if first or second
    ]
    return beside(
        columns(name, title, seen, panels, before.scale, _threshold(figures, before)),
        table(name, title, ["Score", "As they are", then.capitalize()], rows),
    )


def _shares(histogram: Histogram) -> list[float]:
    total = histogram.total(0) or 1
    return [count / total for count in histogram.columns(0)]


def _threshold(figures: Figures, histogram: Histogram) -> tuple[float, str] | None:
    threshold = figures.run.facts_of("model").get("threshold")
    if not isinstance(threshold, int | float) or not histogram.scale.low <= threshold <= histogram.scale.high:
        return None
    return float(threshold), f"threshold {threshold:g}"


def _by_group(figures: Figures) -> list[Markup]:
    """Where there are two groups or more."""
    parts: list[Markup] = []
    for place, tally in enumerate(figures.people.groups):
        rows = _group_rows(tally)
        if len(rows) > 1:
            head = [tally.grouping.column, "With a way out", "Median as they are", "Median with the best answer"]
            parts.append(table(f"scores-{place}", f"Median scores by {tally.grouping.column}", head, rows))
    return [heading("By group"), *parts] if parts else []


def _group_rows(tally: GroupTally) -> list[tuple[str, ...]]:
    return [
        (
            group_name(tally.grouping.labels[place]),
            number(tally.before.total(place)),
            score(tally.before.median(place)),
            score(tally.after.median(place)),
        )
        for place in tally.groups()
        if tally.before.total(place)
    ]


def _closest(figures: Figures) -> list[Content]:
    before, after = figures.people.closest_before, figures.people.closest_after
    if not before.total(0) or not after.total(0):
        return []
    return [
        heading("How close the others come"),
        paragraph(
            f"Of the {people(before.total(0))} whom the ranges leave no way out: the score as they are, and the best "
            "that changes into the ranges reach within the rules."
        ),
        _distributions(figures, "closest", before, after, "with the closest changes"),
    ]


def _how() -> Markup:
    return note(f"Medians are read from {number(BINS)} steps of the scale, so they are right to one step.")
