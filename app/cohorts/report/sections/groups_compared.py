"""Groups held against each other: does one have recourse less often?"""

from collections.abc import Sequence

from app.adapters.files.names import counted
from app.cohorts.report.counting.comparisons import FEW, Comparison, compare, different_ones
from app.cohorts.report.counting.figures import Figures
from app.cohorts.report.counting.intervals import Interval
from app.cohorts.report.counting.people import GroupTally
from app.cohorts.report.drawing.whiskers import Whisker, whiskers
from app.cohorts.report.elements import beside, bullets, heading, paragraph, section, table, warning
from app.cohorts.report.markup import Content, Markup, element
from app.cohorts.report.wording import MINUS, NONE, number, percent_of, signed_points, unbroken

HEAD = ["Group", "Refused", "Share without", "All others", "Difference, points", "95 % interval", "Mark"]


def groups_compared(figures: Figures) -> Markup:
    tallies = figures.people.groups
    content: list[Content] = [*_columns(tallies)] if tallies else [_no_columns(figures)]
    return section("groups", "3. Groups compared", *content)


def _no_columns(figures: Figures) -> Markup:
    kept = [field.name for field in figures.run.kept()]
    if not kept:
        return paragraph("The run has kept no column to group by.")
    return paragraph("No column was compared; name one with --by: ", ", ".join(kept), ".")


def _columns(tallies: Sequence[GroupTally]) -> list[Markup]:
    compared = [compare(tally) for tally in tallies]
    made = sum(len(different_ones(one)) for one in compared)
    parts = [
        paragraph(
            "Each group of a column against all others of it: by how many percentage points the share without a way "
            "out, among the refused, is larger or smaller. If the 95 % interval excludes zero, it is "
            "marked: ▲ more, or ▼ fewer."
        ),
        *([] if not made else [_caution(made)]),
    ]
    for place, (tally, comparisons) in enumerate(zip(tallies, compared, strict=True)):
        parts += [
            heading(f"By {tally.grouping.column}"),
            *_column(f"compared-{place}", tally.grouping.column, comparisons),
        ]
    return [*parts, *_whatever_the_unknown(compared)]


def _caution(made: int) -> Markup:
    chance = (
        f" {counted(made, 'comparison is', 'comparisons are')} made here; were there no differences at all, about one "
        "in twenty would be marked by chance."
    )
    return warning(
        "a difference does not tell its cause. Groups differ in their values, their ranges and much that nobody "
        "wrote down; a difference is a reason to look closer, and neither proves unfair treatment nor rules it out. "
        f"Fewer than {FEW} refused on either side say little.",
        chance,
    )


def _column(name: str, column: str, comparisons: Sequence[Comparison]) -> list[Markup]:
    held = [one for one in comparisons if one.difference is not None]
    if not held:
        return [
            paragraph("There is nothing to compare: fewer than two groups have anybody refused whose outcome is known.")
        ]
    numbers = table(name, f"Share without a way out by {column}, compared", HEAD, map(_row, comparisons))
    sentences = bullets(_told(one) for one in different_ones(comparisons))
    return [sentences, beside(_figure(name, column, held), numbers)]


def _whatever_the_unknown(compared: Sequence[Sequence[Comparison]]) -> list[Markup]:
    """People with an unknown outcome are left out and could change a comparison: the bounds of the differences."""
    held = [[one for one in comparisons if one.difference is not None] for comparisons in compared]
    if not any(one.has_unknown for comparisons in held for one in comparisons):
        return []
    head = ["Group", "Not known", "Least difference, points", "Greatest difference, points"]
    tables = [
        table(
            f"unknown-{place}", f"Differences by {some[0].column}, whatever the unknown are", head, map(_bounds, some)
        )
        for place, some in enumerate(held)
        if some
    ]
    return [
        heading("People with an unknown outcome"),
        paragraph(
            "The comparisons above leave out the refused with an unknown outcome. Whatever their outcomes are, the "
            "differences lie between these bounds. If the bounds lie on both sides of zero, the unknown outcomes "
            "could reverse what is said above."
        ),
        *tables,
    ]


def _bounds(one: Comparison) -> tuple[str, ...]:
    return one.name, number(one.group.unknown), *map(signed_points, one.bounds())


def _told(comparison: Comparison) -> Content:
    return element("strong", comparison.sentence()) if comparison.clear else comparison.sentence()


def _figure(name: str, column: str, held: Sequence[Comparison]) -> Markup:
    rows = [
        Whisker(one.name, f"{signed_points(one.difference.value)} points", one.difference, one.clear, one.few)
        for one in held
        if one.difference is not None
    ]
    seen = "; ".join(f"{row.label}: {row.words}, interval {_interval(row.estimate)}" for row in rows)
    return whiskers(
        name,
        f"Difference to all others by {column}",
        f"{seen}. The upright line is no difference; a full diamond is a difference whose interval excludes zero.",
        rows,
        0.0,
        lambda at: f"{100 * at:g}".replace("-", MINUS),
    )


def _row(one: Comparison) -> tuple[str, ...]:
    shares = one.name, number(one.group.refused), percent_of(one.group.without), percent_of(one.others.without)
    if one.difference is None:
        return (*shares, NONE, NONE, "nobody to compare")
    return (*shares, signed_points(one.difference.value), unbroken(_interval(one.difference)), _verdict(one))


def _interval(difference: Interval) -> str:
    return f"{signed_points(difference.low)} to {signed_points(difference.high)}"


def _verdict(one: Comparison) -> str:
    few = ", few people" if one.few else ""
    if not one.clear or one.difference is None:
        return unbroken("○ not clear") + few
    return unbroken("▲ more" if one.difference.value > 0 else "▼ fewer") + few
