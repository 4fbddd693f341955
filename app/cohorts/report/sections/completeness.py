"""How far the answers are all there are."""

from app.adapters.files.names import counted
from app.cohorts.report.counting.figures import Figures
from app.cohorts.report.counting.intervals import Part
from app.cohorts.report.counting.people import ASSUMED, Completeness
from app.cohorts.report.drawing.bars import Bar, bars
from app.cohorts.report.elements import beside, note, paragraph, section, table
from app.cohorts.report.markup import Content, Markup
from app.cohorts.report.wording import number, people, percent_of

STOPS = {
    ASSUMED: "Ended on the assumption that one more change never hurts",
    "deadline": "Stopped by the time allowed",
    "max_model_rows": "Stopped by the number of model rows allowed",
    "max_counterfactuals": "Stopped by the number of answers asked for",
    "shutdown": "Stopped by the end of the service",
}


def completeness(figures: Figures) -> Markup:
    counts = figures.people.completeness
    content: list[Content] = [paragraph("Nobody was refused, so nothing was searched.")]
    if counts.people:
        content = [_said(counts), _kinds(counts), _guarantees(counts)]
    return section("completeness", "7. How complete the answers are", *content)


def _said(counts: Completeness) -> Markup:
    exact = Part(counts.exact, counts.people)
    if exact.some == exact.of:
        return paragraph(f"The answers of all {people(exact.of)} refused are exact and complete.", class_="said")
    return paragraph(
        f"Of the {people(exact.of)} refused, the answers of {number(exact.some)} ({percent_of(exact)}) are exact and "
        "complete.",
        class_="said",
    )


def _kinds(counts: Completeness) -> Markup:
    stops = sorted(counts.others.items(), key=lambda stop: (-stop[1], stop[0]))
    kinds = [("Exact and complete", counts.exact, "all")]
    for stop, count in stops:
        kinds.append((STOPS.get(stop, f"Stopped: {stop}"), count, _least(counts.least_complete[stop])))
    parts = [(label, Part(count, counts.people), upto) for label, count, upto in kinds]
    classes = ["good", *["frame"] * (len(parts) - 1)]
    drawn = [
        Bar(label, part.share, percent_of(part), class_)
        for (label, part, _), class_ in zip(parts, classes, strict=True)
    ]
    seen = "; ".join(f"{row.label}: {row.words}" for row in drawn)
    rows = [(label, number(part.some), percent_of(part), upto) for label, part, upto in parts]
    title = "How the searches of the refused ended"
    head = ["End", "People", "Share", "Complete up to"]
    return beside(bars("ends", title, seen, drawn), table("ends", title, head, rows))


def _least(size: int) -> str:
    return f"at least all of up to {counted(size, 'change', 'changes')}"


def _guarantees(counts: Completeness) -> Markup | None:
    if counts.exact == counts.people:
        return None
    return note(
        "Every answer in the tables is right and minimal, however its search ended. A search that was stopped, or that "
        "ended on the assumption that one more change never hurts, may have missed larger ones."
    )
