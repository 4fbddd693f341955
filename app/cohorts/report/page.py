"""The page: one self-contained file, with the same bytes for the same run."""

from app.cohorts.report.counting.comparisons import compare, different_ones
from app.cohorts.report.counting.fifths import ratios_of, those_under
from app.cohorts.report.counting.figures import Figures
from app.cohorts.report.counting.intervals import wilson
from app.cohorts.report.elements import bullets, document, warning
from app.cohorts.report.markup import Content, Markup, element, lines
from app.cohorts.report.sections.about import CLAIM, about, title_of
from app.cohorts.report.sections.changes import changes
from app.cohorts.report.sections.completeness import completeness
from app.cohorts.report.sections.four_fifths import four_fifths
from app.cohorts.report.sections.groups_compared import groups_compared
from app.cohorts.report.sections.in_the_way import in_the_way
from app.cohorts.report.sections.outcomes import outcomes
from app.cohorts.report.sections.reasons import reasons
from app.cohorts.report.sections.scores import scores
from app.cohorts.report.wording import interval, number, percent

CONTENTS = [
    ("about", "What this is about"),
    ("outcomes", "Outcomes"),
    ("groups", "Groups compared"),
    ("way", "What stands in the way"),
    ("changes", "How many changes"),
    ("scores", "Score before and after"),
    ("completeness", "How complete the answers are"),
    ("fifths", "Four fifths"),
    ("reasons", "Reasons by group"),
]


def page(figures: Figures) -> str:
    title = f"Recourse: {title_of(figures.run)}"
    parts = [about, outcomes, groups_compared, in_the_way, changes, scores, completeness, four_fifths, reasons]
    closing = " An answer describes the model; it does not claim a cause."
    main = [_contents(), *(part(figures) for part in parts)]
    return document(title, main, top=_short(figures), claim=CLAIM, closing=closing)


def _contents() -> Markup:
    entries = [element("li", element("a", words, href=f"#{name}")) for name, words in CONTENTS]
    return element("nav", element("ol", lines(*entries)), aria_label="Contents")


def _short(figures: Figures) -> Markup:
    """The few numbers for a reader in a hurry."""
    counts = figures.people.all.everyone()
    tiles = [
        _tile(number(counts.people), "people"),
        _tile(number(counts.refused), "refused by the model"),
        _tile(number(counts.found), "of them with a way out"),
        _tile(number(counts.no_recourse), "without any"),
    ]
    if counts.unknown:
        tiles.append(_tile(number(counts.unknown), "not known"))
    if counts.without.of:
        share = wilson(counts.without)
        tiles.append(_tile(percent(share.value), f"of the refused have no way out (95 % interval {interval(share)})"))
    part = (
        None
        if figures.run.finished
        else warning("this run is not finished; all numbers cover only part of the people.")
    )
    return lines(part, element("ul", lines(*tiles), class_="tiles"), _differences(figures))


def _tile(figure: str, words: str) -> Markup:
    return element("li", element("strong", figure), " ", words)


def _differences(figures: Figures) -> Content:
    """Clear differences between groups that are not small: every reader must see them."""
    made = [one for tally in figures.people.groups for one in different_ones(compare(tally))]
    clear = [one.sentence() for one in made if one.clear and not one.few]
    clear += [one.sentence() for tally in figures.people.groups for one in those_under(ratios_of(tally))]
    if not made and not clear:
        return None
    if not clear:
        return element("p", "There is no clear difference between the compared groups.")
    return lines(
        element("p", "Clear differences between groups (sections 3 and 8, with their cautions):"), bullets(clear)
    )
