"""The four-fifths ratio: how often each group has the favourable decision, beside the group that has it most often."""

from collections.abc import Sequence

from app.cohorts.report.counting.comparisons import FEW
from app.cohorts.report.counting.fifths import FOUR_FIFTHS, Ratio, ratios_of
from app.cohorts.report.counting.figures import Figures
from app.cohorts.report.counting.people import GroupTally
from app.cohorts.report.drawing.whiskers import Whisker, whiskers
from app.cohorts.report.elements import beside, heading, paragraph, section, table, warning
from app.cohorts.report.markup import Content, Markup
from app.cohorts.report.wording import NONE, number, percent_of, ratio, ratios, unbroken

HEAD = ["Group", "People", "Favourable", "Share", "Ratio", "95 % interval", "Mark"]
CAUTION = (
    "the rule is one of thumb, from US guidelines on hiring (29 CFR 1607.4(D)); it is no test of credit law or of "
    "medicine, and no legal determination. A ratio does not tell its cause, and one of four fifths or more does not "
    f"rule out unfair treatment. Fewer than {FEW} people on either side say little."
)
HOLDING = (
    "In this run plans are required to hold, and so are decisions: one that the model makes in someone's favour counts "
    "here only if it is known to hold as well."
)


def four_fifths(figures: Figures) -> Markup:
    tallies = figures.people.groups
    content: list[Content] = [
        paragraph(
            "Decisions as the model makes them, before anybody changes anything: the share of each group with the "
            "favourable decision, divided by the largest such share of any group with at least "
            f"{FEW} people, or of any group if none has so many. A ratio under four fifths (0.8) is a usual sign to "
            "look closer. It is marked ▼ if its whole interval is under."
        ),
        warning(CAUTION),
    ]
    if _must_hold(figures.run.facts_of("request").get("robustness")):
        content.insert(1, paragraph(HOLDING))
    for place, tally in enumerate(tallies):
        content += [heading(f"By {tally.grouping.column}"), *_column(f"fifths-{place}", tally)]
    if not tallies:
        content = [paragraph("No column was compared.")]
    return section("fifths", "8. Four fifths: favourable decisions by group", *content)


def _must_hold(asked: object) -> bool:
    """Whether the run counts no decision as favourable that does not hold."""
    return isinstance(asked, dict) and (asked.get("require") is not None or asked.get("more") == "require")


def _column(name: str, tally: GroupTally) -> list[Content]:
    found = ratios_of(tally)
    held = [one for one in found if one.ratio is not None]
    if not held:
        return [paragraph("There is nothing to compare: fewer than two groups, or nobody with a favourable decision.")]
    most, column = held[0], tally.grouping.column
    first = (most.most_name, number(most.most.of), number(most.most.some), percent_of(most.most), "1", NONE, "the most")
    rows = [first, *map(_row, found)]
    return [
        beside(_figure(name, column, held), table(name, f"Favourable decisions by {column}", HEAD, rows)),
    ]


def _row(one: Ratio) -> tuple[str, ...]:
    part = one.favourable
    shares = one.name, number(part.of), number(part.some), percent_of(part)
    if one.ratio is None:
        return (*shares, NONE, NONE, "nothing to compare")
    return (*shares, ratio(one.ratio.value), unbroken(ratios(one.ratio)), _mark(one))


def _mark(one: Ratio) -> str:
    few = ", few people" if one.few else ""
    if not one.clear:
        return unbroken("○ not clear") + few
    return unbroken("▼ under" if one.is_under else "four fifths or more") + few


def _figure(name: str, column: str, held: Sequence[Ratio]) -> Markup:
    rows = [
        Whisker(one.name, ratio(one.ratio.value), one.ratio, one.clear and one.is_under, one.few)
        for one in held
        if one.ratio is not None
    ]
    seen = "; ".join(f"{row.label}: {row.words}, interval {ratios(row.estimate)}" for row in rows)
    return whiskers(
        name,
        f"Favourable decisions by {column}, as a ratio to “{held[0].most_name}”",
        f"{seen}. The upright line is four fifths; a full diamond is a ratio whose interval lies under it.",
        rows,
        FOUR_FIFTHS,
        lambda at: f"{at:g}",
    )
