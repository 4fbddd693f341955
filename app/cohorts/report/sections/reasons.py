"""The reasons for the decisions: which features they rest on, of all refused people and by group."""

from collections.abc import Mapping
from typing import Any

from app.adapters.files.names import counted
from app.cohorts.report.counting.comparisons import FEW, group_name
from app.cohorts.report.counting.figures import Figures
from app.cohorts.report.counting.intervals import newcombe
from app.cohorts.report.counting.reasons import GroupReasons, ReasonTally, Stated
from app.cohorts.report.drawing.bars import Bar, bars
from app.cohorts.report.elements import beside, heading, note, paragraph, section, table
from app.cohorts.report.markup import Content, Markup, element, joined
from app.cohorts.report.run import Run
from app.cohorts.report.sections.in_the_way import titles_of
from app.cohorts.report.wording import JOINED, NONE, number, people, percent_of, unbroken

HEAD = ["Feature", "What a notice states", "Code", "A reason for", "Share", "The first for", "Share"]


def reasons(figures: Figures) -> Markup:
    tally = figures.reasons
    if tally is None:
        content: list[Content] = [paragraph("The run has no reasons: they are found with --reasons.")]
    elif not tally.everyone.known:
        content = [paragraph("The reasons are not known for any decision."), *_unknown(tally)]
    else:
        content = _content(figures, tally)
    return section("reasons", "9. Reasons for the decisions, by group", *content)


def _content(figures: Figures, tally: ReasonTally) -> list[Content]:
    names = _ordered(figures.run, tally.everyone)
    parts: list[Content] = [
        paragraph(
            f"Of the {people(tally.everyone.known)} refused whose reasons are known: for how many each feature is "
            "among the at most four reasons, and for how many it is the first. A reason is a feature outside its range "
            "that is in at least one minimal set of changes that would turn the decision, all rules set aside: what "
            "nobody can change can still be a reason. In the figure the full bar is the first reason, its frame "
            "any reason."
        ),
        beside(_drawn(figures.run, tally.everyone, names), table("stated", "Reasons", HEAD, _rows(figures, names))),
        *_unknown(tally),
    ]
    for place, group in enumerate(tally.groups):
        parts += [heading(f"By {group.grouping.column}"), *_by_group(f"stated-{place}", figures.run, group, names)]
    return parts


def _unknown(tally: ReasonTally) -> list[Content]:
    if not tally.unknown:
        return []
    return [
        note(f"The reasons of {people(tally.unknown)} more are not known: it is not proved that all sets were found.")
    ]


def _ordered(run: Run, all_: Stated) -> list[str]:
    known = list(dict.fromkeys([*titles_of(run), *sorted(all_.named)]))
    places = {name: place for place, name in enumerate(known)}
    return sorted(all_.named, key=lambda name: (-all_.named[name], -all_.first.get(name, 0), places[name]))


def _rows(figures: Figures, names: list[str]) -> list[list[Content]]:
    assert figures.reasons is not None
    stated, texts = figures.reasons.everyone, figures.run.facts_of("reasons")
    return [
        [
            _label(figures.run, name),
            _words(_text(texts, name, "text")),
            _text(texts, name, "code"),
            number(stated.part(name).some),
            percent_of(stated.part(name)),
            number(stated.part_first(name).some),
            percent_of(stated.part_first(name)),
        ]
        for name in names
    ]


def _text(texts: Mapping[str, Any], name: str, key: str) -> str:
    entry = texts.get(name)
    return str(entry[key]) if isinstance(entry, dict) and entry.get(key) else NONE


def _words(text: str) -> Markup:
    return element("span", text, class_="words")


def _label(run: Run, name: str) -> Content:
    title = titles_of(run).get(name, "")
    return joined(element("code", name), " ", title) if title and title != name else element("code", name)


def _drawn(run: Run, stated: Stated, names: list[str]) -> Markup:
    titles, rows = titles_of(run), []
    for name in names:
        first, any_ = stated.part_first(name), stated.part(name)
        words = f"{100 * first.share:.0f} % / {100 * any_.share:.0f} %"
        rows.append(Bar(titles.get(name) or name, first.share, words, "ink", any_.share))
    seen = "; ".join(f"{row.label}: {row.words.replace('/', 'as the first reason,')} as any" for row in rows)
    return bars(
        "stated", "Share of the refused for whom a feature is the first reason (full), or any (frame)", seen, rows
    )


def _by_group(name: str, run: Run, group: GroupReasons, names: list[str]) -> list[Content]:
    column, places = group.grouping.column, group.groups()
    if len(places) < 2:
        return [paragraph("There is nothing to compare: fewer than two groups have known reasons.")]
    held = {group_name(group.grouping.labels[place]): group.stated[place] for place in places}
    everyone = _sum(list(held.values()))
    head = ["Reason", *(f"{label} ({number(stated.known)})" for label, stated in held.items())]
    rows = [[_label(run, each), *(_cell(each, stated, everyone) for stated in held.values())] for each in names]
    made = len(names) * (1 if len(held) == 2 else len(held))
    return [
        table(name, f"Share of the refused of each {column} with a reason", head, rows),
        note(
            "▲ more often, ▼ less often than of all others: the 95 % interval of the difference (Newcombe's) leaves "
            f"out zero, and at least {FEW} refused are on either side. "
            f"{counted(made, 'comparison is', 'comparisons are')} made here; about one in twenty would be marked by "
            "chance. A difference does not tell its cause."
        ),
    ]


def _sum(parts: list[Stated]) -> Stated:
    names = dict.fromkeys(name for part in parts for name in part.named)
    return Stated(
        sum(part.known for part in parts), {name: sum(part.named.get(name, 0) for part in parts) for name in names}
    )


def _cell(name: str, stated: Stated, everyone: Stated) -> str:
    others = everyone.others(stated)
    share = percent_of(stated.part(name))
    if min(stated.known, others.known) < FEW:
        return unbroken(share)
    difference = newcombe(stated.part(name), others.part(name))
    mark = "" if not difference.excludes_nought else f"{JOINED}{'▲' if difference.value > 0 else '▼'}"
    return unbroken(f"{share}{mark}")
