"""Made-up runs: people told in a few words each, written as a run writes them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from app.cohorts.tables import schemas

FACTS: dict[str, Any] = {
    "flipset": "1.2.3",
    "finished": True,
    "model": {
        "name": "loans",
        "title": "Loans of a made-up bank",
        "version": "1.0.0",
        "sha256": "ab" * 32,
        "favourable": ["approved"],
        "threshold": 0.5,
    },
    "registry": {"name": "bank", "version": "2026-11"},
    "features": [
        {"name": "debt", "title": "Debt payments to income", "unit": "1"},
        {"name": "loan", "title": "Loan to property value", "unit": "1"},
        {"name": "late", "title": "Late payments", "unit": None},
    ],
    "request": {"constraints": {"immutable": ["late"], "max_changes": 2}},
}


@dataclass(frozen=True)
class Person:
    """One person: what was found, as sets of features that change together, and anything that is unlike the usual."""

    outcome: str = "found"
    answers: Sequence[str] = ()
    kept: Mapping[str, Any] = field(default_factory=dict)
    score: float = 0.25
    best_score: float | None = 0.75
    reason: str | None = None
    in_the_way: Sequence[Sequence[str]] | None = None
    complete: bool = True
    complete_up_to: int = 3
    stopped_by: str | None = None
    guarantee: str = "exact"
    # In which share of the measurements each answer holds, if the run tells it.
    shares: Sequence[float | None] = ()
    # The features that the decision rests on; a run tells them if anybody has any, an empty list included.
    reasons: Sequence[str] | None = None


def favourable(**kept: Any) -> Person:
    return Person("already_favourable", kept=kept, score=0.9, best_score=None)


def found(*answers: str, **kept: Any) -> Person:
    """Somebody with these answers: `found("debt", "loan late")` has two, the second of two changes."""
    return Person(answers=answers, kept=kept)


def without(*in_the_way: str, **kept: Any) -> Person:
    """Somebody without recourse: by rules, of which any of these sets may go, or by the ranges."""
    sets = [items.split() for items in in_the_way]
    reason = "constraints" if sets else "ranges"
    return Person("no_recourse", kept=kept, reason=reason, in_the_way=sets or None, best_score=0.4)


def unknown(**kept: Any) -> Person:
    return Person("unknown", kept=kept, best_score=None, complete=False, complete_up_to=1, stopped_by="deadline")


def write_run(
    folder: Path,
    people: Sequence[Person],
    rejects: Sequence[tuple[str, str]] = (),
    *,
    kept: Mapping[str, pa.DataType] | None = None,
    parts: int = 1,
    score: str = "float32",
    **facts: Any,
) -> Path:
    """Write a run with people in several parts, and rejects (field and reason) in the first."""
    columns = {name: pa.string() for person in people[:1] for name in person.kept} if kept is None else kept
    carried = [pa.field(name, kind) for name, kind in columns.items()]
    tables = schemas(
        np.dtype(score), carried, stability=any(person.shares for person in people), reasons=_has_reasons(people)
    )
    told = {**FACTS, "rows": len(people) + len(rejects), "people": len(people), "rejects": len(rejects)}
    for name in ("people", "counterfactuals", "rejects"):
        (folder / name).mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps({**told, **facts}))
    numbered = list(enumerate(people, start=1))
    size = -(-len(people) // parts) or 1
    for part in range(parts):
        here = numbered[part * size : (part + 1) * size]
        name = f"part-{part:05}.parquet"
        _write(folder / "people" / name, [_row(row, one, columns) for row, one in here], tables.people)
        _write(
            folder / "counterfactuals" / name,
            [a for row, one in here for a in _answers(row, one)],
            tables.counterfactuals,
        )
        refused = [_reject(at, *told) for at, told in enumerate(rejects, start=len(people) + 1)] if part == 0 else []
        _write(folder / "rejects" / name, refused, tables.rejects)
    return folder


def _has_reasons(people: Sequence[Person]) -> bool:
    return any(person.reasons is not None for person in people)


def _write(file: Path, rows: list[dict[str, Any]], schema: pa.Schema) -> None:
    pq.write_table(pa.Table.from_pylist(rows, schema), file)


def _row(row: int, person: Person, columns: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "row": row,
        "person": f"p{row}",
        **{name: person.kept.get(name) for name in columns},
        "label": "denied",
        "score": person.score,
        "outcome": person.outcome,
        "count": len(person.answers),
        "fewest_changes": min((len(answer.split()) for answer in person.answers), default=None),
        "best_score": person.best_score,
        "complete": person.complete,
        "complete_up_to": person.complete_up_to,
        "stopped_by": person.stopped_by,
        "guarantee": person.guarantee,
        "engine": "lattice",
        "reason": person.reason,
        "in_the_way": person.in_the_way,
        "reasons": person.reasons,
    }


def _answers(row: int, person: Person) -> list[dict[str, Any]]:
    return [
        {
            "row": row,
            "person": f"p{row}",
            "rank": rank,
            "changes": [{"feature": name, "from": 1.0, "to": 2.0} for name in answer.split()],
            "cost": float(len(answer.split())),
            "score": person.best_score,
            "label": "approved",
            **({"stability": person.shares[rank - 1]} if person.shares else {}),
        }
        for rank, answer in enumerate(person.answers, start=1)
    ]


def _reject(row: int, field_: str, reason: str) -> dict[str, Any]:
    fields = [field_] if field_ else []
    return {"row": row, "file": "people.csv", "line": row + 1, "person": None, "fields": fields, "reason": reason}
