"""Two people of the data to look at: all subsets of one, another under constraints (the paper's figures 2 and 7)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.adapters.rules.constraints import ConstraintsEntry, read_constraints
from app.adapters.rules.formulas import FormulaLimits
from app.core.ranges import Status
from lab.paper.conditions import PLAIN
from lab.paper.methods import exact
from lab.paper.questions.datasets import Values
from lab.paper.questions.posing import all_subsets
from lab.paper.report.subsets import MOST, Lattice, Subset, minimal
from lab.paper.report.use_case import Situation, UseCase, UseCaseFeature
from lab.paper.study import Study, favours

# With fewer movable features there is not much to look at.
FEWEST = 4


@dataclass(frozen=True)
class Case:
    """Constraints by their words, and by some of their values the person who is shown under them."""

    situations: Mapping[str, Mapping[str, Any]]
    person: Mapping[str, float]


CASES: Mapping[str, Case] = {
    "hcv": Case(
        {
            "No constraint": {},
            "BIL cannot change": {"immutable": ["BIL"]},
            "Either ALT or AST changes, not both (what the paper calls correlated)": {"formulas": ["ALT xor AST"]},
            "ALT and AST change together or not at all (correlated, as section 4.3 defines it)": {
                "correlated": [["ALT", "AST"]]
            },
            "If AST changes, ALT is normal afterwards": {"causal": [{"cause": "AST", "effects": ["ALT"]}]},
        },
        # The patient of the paper's figure.
        {"ALB": 46, "ALT": 114, "AST": 75, "BIL": 16, "CREA": 72, "PROT": 82},
    ),
    "synthetic": Case(
        {
            "No constraint": {},
            "A cannot change": {"immutable": ["A"]},
            "Either B or C changes, not both": {"formulas": ["B xor C"]},
            "C and D change together or not at all": {"correlated": [["C", "D"]]},
            "If B changes, D is in its range afterwards": {"causal": [{"cause": "B", "effects": ["D"]}]},
        },
        {},
    ),
}


def lattice(studies: Sequence[Study]) -> Lattice | None:
    """All subsets of someone with few movable features: rather one who breaks the paper's assumption."""
    pictures = [_lattice(study, person) for study in studies for person in study.people]
    return max(filter(None, pictures), key=_interest, default=None)


def _lattice(study: Study, person: int) -> Lattice | None:
    trained = study.networks[PLAIN.network]
    values = study.values(PLAIN, person)
    posed = study.posed(values)
    if len(posed.targets) > MOST:
        return None
    subsets = all_subsets(len(posed.targets))
    scores = trained.judge.scores(posed.rows(subsets))
    return Lattice(
        f"row {person + 1} of {study.recipe.name}, with the ranges {study.recipe.registry}",
        tuple(study.recipe.features[position] for position in posed.targets),
        tuple(
            Subset(frozenset(np.flatnonzero(subset).tolist()), float(score[1]), bool(score[1] > score[0]))
            for subset, score in zip(subsets, scores, strict=True)
        ),
    )


def _interest(picture: Lattice) -> tuple[bool, bool, int, int]:
    """Enough to look at, not monotone before monotone, then many answers, then few boxes."""
    smallest, favourable = minimal(picture.subsets), {each.positions for each in picture.subsets if each.favourable}
    not_monotone = any(
        answer < each.positions and each.positions not in favourable for answer in smallest for each in picture.subsets
    )
    enough = len(picture.features) >= FEWEST
    return enough, not_monotone, len(smallest), -len(picture.features)


def use_case(studies: Sequence[Study]) -> UseCase | None:
    """One person under several constraints; from the hepatitis data where they are there, as in the paper."""
    known = {study.recipe.name: study for study in studies}
    return next((_use_case(known[name], case) for name, case in CASES.items() if name in known), None)


def _use_case(study: Study, case: Case) -> UseCase:
    person = _person(study, case.person)
    values = study.values(PLAIN, person)
    names = study.recipe.features
    score = study.networks[PLAIN.network].judge.scores(values[np.newaxis].astype(np.float32))[0, 1]
    return UseCase(
        f"row {person + 1} of {study.recipe.name}",
        float(score),
        tuple(_feature(study, name, value) for name, value in zip(names, values.tolist(), strict=True)),
        tuple(_situation(study, values, words, constraints) for words, constraints in case.situations.items()),
    )


def _person(study: Study, known: Mapping[str, float]) -> int:
    """The row with these values, if the network refuses it; else the first person with several ways out."""
    columns = [study.recipe.features.index(name) for name in known]
    same = (study.data.rows[:, columns] == np.array(list(known.values()))).all(axis=1)
    trained = study.networks[PLAIN.network]
    if known and same.any() and not favours(trained, study.data.rows[same])[0]:
        return int(np.flatnonzero(same)[0])
    several = (each for each in study.people if len(exact(trained, study.problem(study.values(PLAIN, each)))) > 2)
    return next(several, study.people[0])


def _feature(study: Study, name: str, value: float) -> UseCaseFeature:
    known = study.registry.features[name]
    normal = known.ranges[0].normal
    status = normal.status(value)
    target = None if status is Status.NORMAL else known.move_to.target(normal, status)
    return UseCaseFeature(name, known.unit or "", value, normal.low, normal.high, target)


def _situation(study: Study, values: Values, words: str, constraints: Mapping[str, Any]) -> Situation:
    trained = study.networks[PLAIN.network]
    items, mistakes = read_constraints(
        ConstraintsEntry.model_validate(constraints), trained.model.features, FormulaLimits()
    )
    assert not mistakes
    problem = study.problem(values, items)
    targets = {move.position: move.target for move in problem.moves}
    found = exact(trained, problem)
    return Situation(
        words, tuple({study.recipe.features[place]: targets[place] for place in sorted(each)} for each in found)
    )
