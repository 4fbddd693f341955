"""What a comparison has found: as tables for a person, or as JSON lines."""

import json
from collections.abc import Iterable, Iterator, Mapping
from heapq import nsmallest
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from app.adapters.files.names import counted
from app.cohorts.drift.kinds import Kind

# Nobody reads more in a terminal.
MOST_PEOPLE = 20

WORDS = {
    Kind.STILL_APPROVED: "approved by both",
    Kind.NEWLY_APPROVED: "newly approved",
    Kind.NEWLY_REFUSED: "newly refused",
    Kind.KEEPS_WAY_OUT: "refused by both: keeps a way out",
    Kind.LOSES_WAY_OUT: "refused by both: loses the way out",
    Kind.GAINS_WAY_OUT: "refused by both: gains a way out",
    Kind.NO_WAY_OUT: "refused by both: no way out with either",
    Kind.UNKNOWN: "refused by both: not known, a search ended early",
}
# Whom a terminal names first.
FIRST = (Kind.LOSES_WAY_OUT, Kind.NEWLY_REFUSED, Kind.KEEPS_WAY_OUT, Kind.UNKNOWN, Kind.GAINS_WAY_OUT)
# What the record counts, besides the kinds.
COUNTS = (
    "newly_refused_without_way_out",
    "counterfactuals",
    "broken_plans",
    "people_with_broken_plans",
    "people_with_only_broken_plans",
    "old_incomplete",
    "new_incomplete",
)


def json_lines(record: Mapping[str, Any], people: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """A line `start`, a line for each person who is affected, and a line `summary`."""
    yield _line({"type": "start", **{version: _version(record, version) for version in ("old", "new")}})
    yield from (_line({"type": "person", **person}) for person in people)
    rows = {name: record[name] for name in ("rows", "people", "rejects", "unreadable_files", "kinds", *COUNTS)}
    yield _line({"type": "summary", **rows})


def _line(content: Mapping[str, Any]) -> str:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def _version(record: Mapping[str, Any], version: str) -> dict[str, Any]:
    model, registry = record["model"][version], record["registry"][version]
    ranges = registry and {name: registry[name] for name in ("name", "version", "sha256")}
    return {**{name: model[name] for name in ("name", "version", "sha256")}, "normal_ranges": ranges}


def show(record: Mapping[str, Any], people: Iterable[Mapping[str, Any]], out: Path, console: Console) -> None:
    """Print how many people of each kind there are, what becomes of plans, and the first who are affected."""
    old, new = (record["model"][version] for version in ("old", "new"))
    console.print(Text(f"{old['name']} {old['version']} -> {new['name']} {new['version']}: {_rows(record)}\n"))
    console.print(_kinds(record))
    for line in _sentences(record):
        console.print(Text(line))
    first = nsmallest(MOST_PEOPLE + 1, people, key=_order)
    if first:
        console.print(_affected(first[:MOST_PEOPLE]))
    if len(first) > MOST_PEOPLE:
        console.print(Text(f"... and more, in {out / 'people'}."))
    console.print(Text(f"Written to {out}: people, counterfactuals, rejects, run.json."))


def _order(person: Mapping[str, Any]) -> tuple[int, int]:
    """Those first for whom it matters most."""
    return FIRST.index(person["kind"]) if person["kind"] in FIRST else len(FIRST), person["row"]


def _rows(record: Mapping[str, Any]) -> str:
    return f"{counted(record['rows'], 'row')}, {record['people']:,} people, {record['rejects']:,} rejected"


def _kinds(record: Mapping[str, Any]) -> Table:
    table = Table("people", box=None, pad_edge=False)
    table.add_column("", justify="right")
    table.add_column("share", justify="right")
    for kind, words in WORDS.items():
        count = record["kinds"][kind]
        table.add_row(words, f"{count:,}", f"{count / (record['people'] or 1):.1%}")
        if kind is Kind.NEWLY_REFUSED and count:
            table.add_row("  of them without a way out", f"{record['newly_refused_without_way_out']:,}", "")
    return table


def _sentences(record: Mapping[str, Any]) -> Iterator[str]:
    """What becomes of the plans, and which searches ended before they were complete."""
    old, new = (record["model"][version]["name"] for version in ("old", "new"))
    broken, plans = record["broken_plans"], record["counterfactuals"]
    yield f"\nPlans of {old}: {plans:,}. {new} does not approve {broken:,} of them, of {_whose(record)}."
    for name, version, hint in (
        (old, "old", "it may have more plans than were checked"),
        (new, "new", "it may have more ways out"),
    ):
        if count := record[f"{version}_incomplete"]:
            yield f"For {count:,} people the answer of {name} is not complete: {hint}."


def _whose(record: Mapping[str, Any]) -> str:
    people, left = record["people_with_broken_plans"], record["people_with_only_broken_plans"]
    return f"{people:,} people; for {left:,} of these no plan holds"


def _affected(people: Iterable[Mapping[str, Any]]) -> Table:
    table = Table("row", "person", "", "broken plans", box=None, pad_edge=False)
    for person in people:
        plans = f"{person['broken']:,} of {person['old_count']:,}" if person["old_count"] else ""
        table.add_row(f"{person['row']:,}", Text(person["person"]), WORDS[Kind(person["kind"])], plans)
    return table
