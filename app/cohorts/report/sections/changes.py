"""How much a way out asks for: the changes of the smallest answer, and how many answers there are to choose from."""

from collections.abc import Iterator, Sequence

from app.cohorts.report.counting.figures import Figures
from app.cohorts.report.counting.histogram import Tally
from app.cohorts.report.counting.holding import HOLDS, HoldingTally
from app.cohorts.report.counting.intervals import Part, wilson
from app.cohorts.report.drawing.bars import Bar, bars
from app.cohorts.report.elements import beside, heading, note, paragraph, section, table
from app.cohorts.report.markup import Content, Markup
from app.cohorts.report.wording import interval, number, people, percent_of, unbroken

# From so many on, changes are counted together.
MANY = 10
ANSWERS = [(1, 1), (2, 2), (3, 3), (4, 5), (6, 10), (11, 20), (21, 50), (51, 100), (101, 1000), (1001, None)]


def changes(figures: Figures) -> Markup:
    tally = figures.people
    content: list[Content] = [paragraph("Nobody has a way out, so there is nothing to count.")]
    if tally.changes.total:
        content = [
            heading("Changes in the smallest answer"),
            *_told(tally.changes, "changes", _sizes(tally.changes)),
            heading("Answers a person can choose from"),
            *_told(tally.answers, "answers", ANSWERS),
            *_holding(figures.holding),
        ]
        if tally.found_in_part:
            content.append(
                note(
                    f"For {people(tally.found_in_part)} there may be more answers: their search was stopped, or ended "
                    "on an assumption (section 7)."
                )
            )
    return section("changes", "5. How many changes, how many answers", *content)


def _told(tally: Tally, what: str, ranges: Sequence[tuple[int, int | None]]) -> list[Markup]:
    title = f"People by number of {what}"
    counts = [(_label(low, high), Part(tally.between(low, high), tally.total)) for low, high in ranges]
    counts = list(_without_empty_ends(counts))
    longest = max(part.share for _, part in counts)
    drawn = [
        Bar(f"{label} {what[:-1] if label == '1' else what}", part.share, percent_of(part)) for label, part in counts
    ]
    seen = "; ".join(f"{row.label}: {row.words}" for row in drawn)
    rows = [(label, number(part.some), percent_of(part)) for label, part in counts]
    return [
        paragraph(f"Median {tally.median():g}, mean {tally.mean():.2f}, of {people(tally.total)} with a way out."),
        beside(
            bars(what, title, seen, drawn, longest),
            table(what, title, [what.capitalize(), "People", "Share"], rows),
        ),
    ]


def _holding(tally: HoldingTally | None) -> list[Markup]:
    """Whether plans hold, if the run tells that of anybody."""
    if tally is None or not tally.known.count:
        return []
    parts = [("The first plan holds", tally.by_the_first), ("At least one plan holds", tally.by_any)]
    rows = [(words, number(part.some), percent_of(part), unbroken(interval(wilson(part)))) for words, part in parts]
    return [
        heading("Plans that hold"),
        paragraph(
            f"A plan holds if the model favours it in at least {HOLDS:.0%} of repeated measurements. This was told of "
            f"{people(tally.known.count)}: the first plan of {percent_of(tally.by_the_first)} holds."
        ),
        table("holding", "People whose plans hold", ["Plans", "People", "Share", "95 % interval"], rows),
    ]


def _sizes(tally: Tally) -> list[tuple[int, int | None]]:
    last = min(max(tally.counts), MANY)
    exact: list[tuple[int, int | None]] = [(size, size) for size in range(1, last + 1)]
    return [*exact, (MANY + 1, None)]


def _without_empty_ends(counts: Sequence[tuple[str, Part]]) -> Iterator[tuple[str, Part]]:
    """From the first that anybody is in to the last."""
    taken = [place for place, (_, part) in enumerate(counts) if part.some]
    yield from counts[taken[0] : taken[-1] + 1]


def _label(low: int, high: int | None) -> str:
    if high is None:
        return f"more than {number(low - 1)}"
    return number(low) if low == high else f"{number(low)} to {number(high)}"
