"""What was learned, as one page in the style of the report on a register."""

from collections.abc import Sequence

from app.cohorts.report.counting.intervals import Interval, Part, wilson
from app.cohorts.report.drawing.whiskers import Whisker, whiskers
from app.cohorts.report.elements import beside, document, note, paragraph, section, table
from app.cohorts.report.markup import Content, Markup, element, lines
from app.cohorts.report.wording import interval, number, percent
from app.learning.choices import Told
from app.learning.logit import Hardness
from app.learning.suggesting import suggested_weights

CLAIM = "What people chose among the plans they were offered, and what became of them."


def page(model: str, told: Told, hardness: Sequence[Hardness]) -> str:
    title = f"Learned from records: {model}"
    main = [_hardness(hardness), _declined(told), _overridden(told), _achieved(told)]
    closing = " Nothing changes by itself: weights are yours to set."
    return document(title, main, top=_tiles(told), claim=CLAIM, closing=closing)


def _tiles(told: Told) -> Markup:
    tiles = [(told.records, "recorded answers"), (len(told.choices), "people who chose a plan")]
    entries = [element("li", element("strong", number(count)), " ", words) for count, words in tiles]
    return element("ul", lines(*entries), class_="tiles")


def _hardness(hardness: Sequence[Hardness]) -> Markup:
    weights = suggested_weights(hardness)
    rows = [
        Whisker(each.feature, f"{each.value:.2f}", Interval(each.value, each.low, each.high), each.low > 0)
        for each in hardness
    ]
    seen = "Each change with its estimate and 95 % interval; the line marks a change that is no obstacle."
    figure = whiskers("hardness-figure", "How hard each change is", seen, rows, 0.0, lambda mark: f"{mark:g}")
    cells = [
        (
            each.feature,
            f"{each.value:.2f}",
            f"{each.low:.2f} to {each.high:.2f}",
            number(each.offers),
            f"{weights[each.feature]:g}",
        )
        for each in hardness
    ]
    head = ("change", "hardness", "95 % interval", "choices", "suggested weight")
    said = "A conditional logit over the plans offered: a plan is chosen with a chance in proportion to exp(-hardness)."
    counts = table("hardness-table", "How hard each change is", head, cells)
    return section("hardness", "How hard changes are", paragraph(said), beside(figure, counts))


def _declined(told: Told) -> Markup:
    ordered = sorted(told.declined.items(), key=lambda entry: (-entry[1], entry[0]))
    rows = [(name, reason.replace("_", " "), number(count)) for (name, reason), count in ordered]
    shown: Content = note("No plan was declined.")
    if rows:
        shown = table("declined-table", "Changes of declined plans", ("change", "reason", "times"), rows)
    return section("declined", "What was declined, and why", shown)


def _overridden(told: Told) -> Markup:
    ordered = sorted(told.overridden.items(), key=lambda entry: (-entry[1], entry[0]))
    rows = [(name, number(count), percent(count / told.records)) for name, count in ordered]
    shown: Content = note("No request replaced a range.")
    if rows:
        head = ("feature", "requests", "of all")
        shown = table("overridden-table", "Ranges that requests replaced", head, rows)
    return section("overridden", "Ranges that requests replaced", shown)


def _achieved(told: Told) -> Markup:
    rows = []
    for size in sorted(told.achieved.keys() | told.failed.keys()):
        part = Part(told.achieved[size], told.achieved[size] + told.failed[size])
        share = wilson(part)
        rows.append((number(size), number(part.some), number(part.of), percent(share.value), interval(share)))
    shown: Content = note("Nobody has told yet what was achieved.")
    if rows:
        head = ("changes", "achieved", "tried to the end", "share", "95 % interval")
        shown = table("achieved-table", "Plans that were achieved, all of them predicted to succeed", head, rows)
    return section("achieved", "Achieved, against predicted", shown)
