"""How it ended for the people, and the share without recourse among the refused, in all and by group."""

from app.cohorts.report.counting.comparisons import FEW, group_name
from app.cohorts.report.counting.figures import Figures
from app.cohorts.report.counting.intervals import Part, wilson
from app.cohorts.report.counting.people import GroupTally, Outcomes
from app.cohorts.report.drawing.bars import Bar, bars
from app.cohorts.report.drawing.whiskers import Whisker, whiskers
from app.cohorts.report.elements import beside, heading, note, paragraph, section, table
from app.cohorts.report.markup import Markup
from app.cohorts.report.sections.about import group_columns
from app.cohorts.report.wording import NONE, interval, number, people, percent, percent_of, unbroken

HEAD = ["Group", "People", "Refused", "Way out", "No way out", "Not known", "Share without", "95 % interval"]


def outcomes(figures: Figures) -> Markup:
    counts = figures.people.all.everyone()
    return section(
        "outcomes",
        "2. Outcomes",
        *(_everyone(counts) if counts.people else [paragraph("There is nobody in this run.")]),
        *_by_group(figures, counts),
    )


def _everyone(counts: Outcomes) -> list[Markup]:
    kinds = [
        ("Favourable as they are", counts.already_favourable, "calm"),
        ("Refused, with a way out", counts.found, "good"),
        ("Refused, no way out", counts.no_recourse, "bad"),
        ("Refused, not known", counts.unknown, "frame"),
    ]
    shares = [(label, count, percent_of(Part(count, counts.people)), class_) for label, count, class_ in kinds]
    seen = "; ".join(f"{label}: {words}" for label, _, words, _ in shares)
    drawn = [Bar(label, count / counts.people, words, class_) for label, count, words, class_ in shares]
    rows = [(label, number(count), words) for label, count, words, _ in shares]
    return [
        beside(
            bars("all", "Outcomes of all people", seen, drawn),
            table("all", "Outcomes of all people", ["Outcome", "People", "Share"], [*rows, _total(counts)]),
        ),
        *_without(counts),
    ]


def _total(counts: Outcomes) -> tuple[str, str, str]:
    return "All", number(counts.people), percent(1.0)


def _without(counts: Outcomes) -> list[Markup]:
    """The one number that matters most, and how sure it is."""
    if not counts.refused:
        return [paragraph("Nobody was refused, so nobody needs a way out.")]
    if not counts.without.of:
        return [paragraph(f"None of the searches of the {people(counts.refused)} refused came to a result.")]
    found = wilson(counts.without)
    whom = "whose search came to a result " if counts.unknown else ""
    said = (
        f"Of the {people(counts.without.of)} refused {whom}{percent(found.value)} have no way out "
        f"({number(counts.no_recourse)}; 95 % interval {interval(found)})."
    )
    return [paragraph(said, class_="said"), *_not_known(counts)]


def _not_known(counts: Outcomes) -> list[Markup]:
    if not counts.unknown:
        return []
    least, most = Part(counts.no_recourse, counts.refused), Part(counts.no_recourse + counts.unknown, counts.refused)
    return [
        note(
            f"For {people(counts.unknown)} it is not known: the search ended before it found a way out or proved that "
            f"there is none. They are counted separately. If all of them had a way out, {percent_of(least)} of all "
            f"refused would have none; if none of them had, {percent_of(most)}."
        )
    ]


def _by_group(figures: Figures, counts: Outcomes) -> list[Markup]:
    parts = group_columns(figures)
    for place, tally in enumerate(figures.people.groups):
        parts += [heading(f"By {tally.grouping.column}"), _column(f"group-{place}", tally, counts)]
    if figures.people.groups and counts.people:
        parts.append(
            note(
                "The share without counts only the refused whose search came to a result. Its interval is Wilson's: "
                "if the people were a random sample, it would hold the true share 95 times in 100. "
                f"Fewer than {FEW} refused (drawn with a dashed line) say little."
            )
        )
    return parts


def _column(name: str, tally: GroupTally, counts: Outcomes) -> Markup:
    column = tally.grouping.column
    groups = [(group_name(tally.grouping.labels[place]), tally.outcomes(place)) for place in tally.groups()]
    rows = [_row(label, group) for label, group in (*groups, ("All", counts))]
    numbers = table(name, f"Outcomes by {column}", HEAD, rows)
    known = [(label, group) for label, group in groups if group.without.of]
    if not known:
        return numbers
    drawn = [
        Whisker(label, percent_of(group.without), wilson(group.without), few=group.refused < FEW)
        for label, group in known
    ]
    title = f"Share of the refused without a way out, by {column}"
    seen = "; ".join(f"{row.label}: {row.words}, interval {interval(row.estimate)}" for row in drawn)
    overall = counts.without.share
    return beside(
        whiskers(
            name, title, f"{seen}. The upright line is the share of all.", drawn, overall, lambda at: f"{100 * at:g} %"
        ),
        numbers,
    )


def _row(label: str, group: Outcomes) -> tuple[str, ...]:
    return (
        label,
        number(group.people),
        number(group.refused),
        number(group.found),
        number(group.no_recourse),
        number(group.unknown),
        percent_of(group.without),
        unbroken(interval(wilson(group.without))) if group.without.of else NONE,
    )
