"""What the records of one model tell: the plans that people were offered, and what became of them."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from app.adapters.records.record import Feedback, Record

# Whoever says one of these has chosen the plan.
CHOSEN = ("accepted", "tried", "achieved", "failed")


@dataclass(frozen=True, slots=True)
class Choice:
    """A person chose one of several plans: the features that each changes, and which it was."""

    plans: tuple[frozenset[str], ...]
    chosen: int


@dataclass(slots=True)
class Told:
    """All that was told of the answers of one model."""

    records: int = 0
    choices: list[Choice] = field(default_factory=list)
    # Of declined plans: by feature and reason. Of ranges that requests replaced: by feature.
    declined: Counter[tuple[str, str]] = field(default_factory=Counter)
    overridden: Counter[str] = field(default_factory=Counter)
    # Of plans that people acted on, by the number of changes.
    achieved: Counter[int] = field(default_factory=Counter)
    failed: Counter[int] = field(default_factory=Counter)


def told_by(records: Iterable[tuple[Record, list[Feedback]]], model: str) -> Told:
    """What the records of a model tell. A person chooses once: only the first choice of a subject counts."""
    told, people = Told(), set[str]()
    for record, feedback in records:
        held = record.personal
        if record.model != model or held is None:
            continue
        told.records += 1
        told.overridden.update(json.loads(held.request).get("normal_ranges", {}).keys())
        plans = tuple(frozenset(change["feature"] for change in json.loads(plan)["changes"]) for plan in held.plans)
        _count(told, plans, feedback)
        choice = _choice(plans, feedback)
        who = held.subject or record.id
        if choice is not None and who not in people:
            people.add(who)
            told.choices.append(choice)
    return told


def _count(told: Told, plans: tuple[frozenset[str], ...], feedback: list[Feedback]) -> None:
    for each in feedback:
        if each.plan > len(plans):
            continue
        plan = plans[each.plan - 1]
        if each.outcome == "declined":
            told.declined.update((name, each.reason or "other") for name in plan)
        elif each.outcome == "achieved":
            told.achieved[len(plan)] += 1
        elif each.outcome == "failed":
            told.failed[len(plan)] += 1


def _choice(plans: tuple[frozenset[str], ...], feedback: list[Feedback]) -> Choice | None:
    """The plan that was chosen, if it was one, and others were there to choose from."""
    chosen = {each.plan for each in feedback if each.outcome in CHOSEN}
    if len(chosen) != 1 or len(plans) < 2:
        return None
    (plan,) = chosen
    return Choice(plans, plan - 1) if plan <= len(plans) else None
