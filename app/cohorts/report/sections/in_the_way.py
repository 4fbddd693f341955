"""What stands in the way: the features that every way out needs, and the rules and ranges that leave none."""

from collections.abc import Mapping

from app.adapters.files.names import counted
from app.cohorts.report.constraint_words import words_of
from app.cohorts.report.counting.figures import Figures
from app.cohorts.report.counting.intervals import Part
from app.cohorts.report.counting.people import Obstacles
from app.cohorts.report.drawing.bars import Bar, bars
from app.cohorts.report.elements import beside, heading, note, paragraph, section, table
from app.cohorts.report.markup import Content, Markup, element, joined
from app.cohorts.report.run import Run
from app.cohorts.report.wording import number, people, percent_of

MOST_DRAWN = 10
MOST_LISTED = 50
FEATURES_HEAD = ["Feature", "In every answer", "Share", "In at least one", "Share"]


def in_the_way(figures: Figures) -> Markup:
    return section("way", "4. What stands in the way", *_features(figures), *_without(figures))


def _features(figures: Figures) -> list[Content]:
    tally = figures.features
    title = heading("Features that have to change")
    if not tally.people:
        return [title, paragraph("Nobody has a way out, so no feature is part of one.")]
    titles = titles_of(figures.run)
    known = {name: place for place, name in enumerate(dict.fromkeys([*titles, *sorted(tally.some)]))}
    names = sorted(known, key=lambda name: (-tally.every[name], -tally.some[name], known[name]))
    rows = [_feature_row(figures, name, titles.get(name, "")) for name in names[:MOST_LISTED]]
    more = len(names) - len(rows)
    return [
        title,
        paragraph(
            f"Of the {people(tally.people)} with a way out: for how many every answer changes a feature, so that "
            "there is no way around it, and for how many at least one answer does. In the figure the full bar is "
            "every answer, its frame at least one."
        ),
        beside(
            _feature_bars(figures, names[:MOST_DRAWN], titles),
            table("features", "Features in the answers", FEATURES_HEAD, rows),
        ),
        note(f"{counted(more, 'more feature changes', 'more features change')} no more often.") if more else None,
        *_caveats(figures),
    ]


def _feature_row(figures: Figures, name: str, title: str) -> list[Content]:
    tally = figures.features
    every, some = Part(tally.every[name], tally.people), Part(tally.some[name], tally.people)
    label = joined(element("code", name), " ", title) if title and title != name else element("code", name)
    return [label, number(every.some), percent_of(every), number(some.some), percent_of(some)]


def _feature_bars(figures: Figures, names: list[str], titles: Mapping[str, str]) -> Markup:
    tally = figures.features
    drawn = [name for name in names if tally.some[name]]
    rows = []
    for name in drawn:
        every, some = Part(tally.every[name], tally.people), Part(tally.some[name], tally.people)
        rows.append(Bar(titles.get(name) or name, every.share, f"{_short(every)} / {_short(some)}", "ink", some.share))
    seen = "; ".join(f"{row.label}: {row.words.replace('/', 'in every answer,')} in at least one" for row in rows)
    title = "Share of people who change a feature in every answer (full), or in at least one (frame)"
    return bars("features", title, seen, rows)


def _short(part: Part) -> str:
    return f"{100 * part.share:.0f} %"


def titles_of(run: Run) -> dict[str, str]:
    """The features of the model in its order, with their titles; as far as run.json tells them."""
    features = run.facts.get("features")
    entries = [entry for entry in features if isinstance(entry, dict)] if isinstance(features, list) else []
    return {str(entry["name"]): str(entry.get("title") or "") for entry in entries if entry.get("name")}


def _caveats(figures: Figures) -> list[Markup]:
    found, answered = figures.people.all.everyone().found, figures.features.people
    parts = []
    if figures.people.found_in_part:
        parts.append(
            note(
                f"For {people(figures.people.found_in_part)} among them answers may be missing (section 7): for "
                "them, every answer means every answer that was found."
            )
        )
    if found != answered:
        parts.append(note(f"{people(found)} have a way out, but the answers of {number(answered)} are in the tables."))
    return parts


def _without(figures: Figures) -> list[Content]:
    obstacles, without = figures.people.obstacles, figures.people.all.everyone().no_recourse
    title = heading("Why there is no way out")
    if not without:
        return [title, paragraph("Nobody is without a way out.")]
    kinds = [
        ("Rules: without some of them there would be a way", "constraints"),
        ("Ranges: no changes into the ranges turn the decision", "ranges"),
        ("Not known", None),
    ]
    parts = [(label, Part(obstacles.reasons[kind], without)) for label, kind in kinds]
    rows = [Bar(label, part.share, percent_of(part), "bad") for label, part in parts]
    seen = "; ".join(f"{row.label}: {row.words}" for row in rows)
    cells = [(label, number(part.some), percent_of(part)) for label, part in parts]
    caption = f"Why {people(without)} {'has' if without == 1 else 'have'} no way out"
    return [
        title,
        beside(bars("why", caption, seen, rows), table("why", caption, ["Reason", "People", "Share"], cells)),
        *(_items(figures.run, obstacles) if obstacles.reasons["constraints"] else []),
    ]


def _items(run: Run, obstacles: Obstacles) -> list[Markup]:
    held = obstacles.reasons["constraints"]
    items = sorted(
        {*obstacles.alone, *obstacles.together},
        key=lambda item: (-obstacles.alone[item], -obstacles.together[item], item),
    )
    rows = [_item_row(run, obstacles, item) for item in items[:MOST_LISTED]]
    return [
        heading("Rules that would open a way"),
        paragraph(
            f"Of the {people(held)} whom rules leave no way, giving up one rule is enough for "
            f"{number(obstacles.freed_by_one)}. For each rule: how many people need to give up only this rule, and how "
            "many only together with others. A person counts for every rule that would do."
        ),
        table("rules", "Rules to give up", ["Rule", "Alone is enough", "Only with others"], rows),
        note(f"{number(len(items) - MOST_LISTED)} more rules are left out here.")
        if len(items) > MOST_LISTED
        else Markup(""),
    ]


def _item_row(run: Run, obstacles: Obstacles, item: str) -> list[Content]:
    words = words_of(run, item)
    label = joined(words, " " if words else "", element("code", item))
    return [label, number(obstacles.alone[item]), number(obstacles.together[item])]
