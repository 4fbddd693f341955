"""What the page is about: the model, the run, its people, and the rows that could not be read."""

from collections.abc import Mapping
from typing import Any

from app.adapters.files.names import counted
from app.cohorts.report.constraint_words import rules_of
from app.cohorts.report.counting.figures import Figures
from app.cohorts.report.elements import bullets, facts, heading, paragraph, section, table, warning
from app.cohorts.report.markup import Content, Markup, element, joined
from app.cohorts.report.run import Run
from app.cohorts.report.wording import NONE, listed, number, people

MOST_REASONS = 10
MOST_ITEMS = 50
CLAIM = "What the model would say, not what will happen."


def about(figures: Figures) -> Markup:
    run, model = figures.run, figures.run.facts_of("model")
    counts = figures.people.all.everyone()
    return section(
        "about",
        "1. What this is about",
        paragraph(
            element("strong", CLAIM),
            " Each person's values were put to a model. For everyone whom it refused, Flipset looked for every "
            "smallest set of changes, each into a normal range, that turns the decision. A person for whom there is "
            "none has no recourse: no way out that the ranges and the rules allow. All of this describes the model; "
            "it does not claim a cause.",
        ),
        facts(
            [
                ("Model", _named(model)),
                ("Version", joined(element("code", str(model["version"]))) if model.get("version") else None),
                ("Favourable", _favourable(model)),
                ("Normal ranges", _registry(run.facts_of("registry"))),
                ("People", people(counts.people)),
                ("Rows that could not be read", number(figures.rejects.rows)),
                ("Made by", f"Flipset {run.facts['flipset']}" if run.facts.get("flipset") else None),
                ("SHA-256 of the model", _code(model.get("sha256"))),
                ("SHA-256 of model.toml", _code(model.get("description_sha256"))),
                ("SHA-256 of the ranges", _code(run.facts_of("registry").get("sha256"))),
                ("SHA-256 of run.json", _code(run.digest)),
            ]
        ),
        *_balance(figures),
        *_rules(run),
        *_rejects(figures),
    )


def title_of(run: Run) -> str:
    model = run.facts_of("model")
    return str(model.get("title") or model.get("name") or "a model")


def _named(thing: Mapping[str, Any]) -> str | None:
    """Title and name, as far as they are known, and not the same twice."""
    title, name = thing.get("title"), thing.get("name")
    if not (title or name):
        return None
    return f"{title} ({name})" if title and name and title != name else str(title or name)


def _registry(registry: Mapping[str, Any]) -> str:
    named, version = _named(registry), registry.get("version")
    if named is None:
        return "none: values move to what the request gave"
    return f"{named}, version {version}" if version else named


def _favourable(model: Mapping[str, Any]) -> str | None:
    classes, threshold = model.get("favourable"), model.get("threshold")
    if not isinstance(classes, list) or not classes:
        return None
    wanted = " or ".join(map(str, classes))
    return f"{wanted}, where it wins" if threshold is None else f"{wanted}, with a score of at least {threshold}"


def _code(text: Any) -> Markup | None:
    return element("code", str(text)) if text else None


def _balance(figures: Figures) -> list[Markup]:
    """Warns if people whom run.json counts are missing from the tables."""
    run, held = figures.run, (figures.people.all.everyone().people, figures.rejects.rows)
    if not run.finished:
        rows = run.facts.get("rows")
        # How many rows there are in all may be known before they are all done.
        of = f" of {number(rows)}" if isinstance(rows, int) and rows > sum(held) else ""
        left = counted(run.halves, "part that is half written is", "parts that are half written are")
        halves = f" {left} left out." if run.halves else ""
        return [warning(f"this run is not finished; the page shows {number(sum(held))}{of} rows.{halves}")]
    told = run.facts.get("people"), run.facts.get("rejects")
    if None in told or told == held:
        return []
    said = f"run.json counts {told[0]} people and {told[1]} rejects, but the tables hold {held[0]} and {held[1]}"
    return [warning(f"{said}. Some of the tables were changed after the run.")]


def _rules(run: Run) -> list[Markup]:
    rules = list(rules_of(run))
    if not rules:
        return []
    entries: list[Content] = [_rule(item, words) for item, words in rules[:MOST_ITEMS]]
    more = [f"and {number(len(rules) - MOST_ITEMS)} more"] if len(rules) > MOST_ITEMS else []
    return [heading("Rules that held for everyone"), bullets([*entries, *more])]


def _rule(item: str, words: str) -> Markup:
    return joined(words, " (" if words else "", element("code", item), ")" if words else "")


def _rejects(figures: Figures) -> list[Markup]:
    rejects = figures.rejects
    if not rejects.rows:
        return []
    ordered = sorted(rejects.reasons.items(), key=lambda entry: (-entry[1], entry[0]))
    rows = [(reason, fields or NONE, number(count)) for (fields, reason), count in ordered[:MOST_REASONS]]
    rest = rejects.other + sum(count for _, count in ordered[MOST_REASONS:])
    left = [("all other reasons", NONE, number(rest))] if rest else []
    return [
        heading("Rows that could not be read"),
        paragraph(
            f"{counted(rejects.rows, 'row is', 'rows are')} in no other number on this page. The table rejects has "
            "each."
        ),
        table("reasons", "Most frequent reasons", ["Reason", "Fields", "Rows"], [*rows, *left]),
    ]


def group_columns(figures: Figures) -> list[Markup]:
    """Which columns make groups, how numbers were cut, and which columns were left out."""
    cuttings = [tally.grouping.cutting for tally in figures.people.groups if tally.grouping.cutting]
    out = [f"Not compared, because of too many values: {listed(figures.left_out)}."] if figures.left_out else []
    return [paragraph(words, class_="help") for words in (*cuttings, *out)]
