"""Random problems with random mixes of all kinds of constraints."""

from dataclasses import replace

import numpy as np

from tests.support.brute_force import Case, Written, feasible_sets, movable
from tests.support.networks import Network, random_case

BINARY = {
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "xor": lambda a, b: a != b,
    "implies": lambda a, b: not a or b,
    "iff": lambda a, b: a == b,
}
SYMBOLS = {"and": "&", "or": "|", "xor": "^", "implies": "->", "iff": "<->"}
COUNTS = {"at_most": lambda n, k: n <= k, "at_least": lambda n, k: n >= k, "exactly": lambda n, k: n == k}


def constrained_case(seed: int, *, monotone: bool = False) -> tuple[Case, Network]:
    """A person with 1 to 10 movable features and one to four constraints that can be met together."""
    for attempt in range(1_000):
        case, network = random_case(seed * 1_000 + attempt, monotone=monotone)
        case = with_constraints(np.random.default_rng((seed, attempt)), case)
        if 1 <= len(movable(case)) <= 10 and feasible_sets(case):
            return case, network
    raise AssertionError(f"no problem for seed {seed}")


def with_constraints(rng: np.random.Generator, case: Case) -> Case:
    for _ in range(int(rng.integers(1, 5))):
        case = _with_one_more(rng, case)
    return case


def _with_one_more(rng: np.random.Generator, case: Case) -> Case:
    width = len(case.values)
    some = tuple(int(i) for i in rng.permutation(width)[: int(rng.integers(1, 4))])
    match int(rng.integers(0, 9)):
        case 0:
            return replace(case, immutable=tuple({*case.immutable, some[0]}))
        case 1:
            way = str(rng.choice(["increase", "decrease"]))
            return replace(case, directions={**case.directions, some[0]: way})
        case 2:
            return replace(case, max_step={**case.max_step, some[0]: float(rng.integers(0, 4))})
        case 3 if len(some) > 1:
            return replace(case, causal=[*case.causal, (some[0], some[1:])])
        case 4:
            return replace(case, correlated=[*case.correlated, some])
        case 5:
            return replace(case, exclusive=[*case.exclusive, some])
        case 6:
            return replace(case, required=tuple({*case.required, some[0]}))
        case 7:
            return replace(case, max_changes=int(rng.integers(0, width + 1)))
    return replace(case, formulas=[*case.formulas, random_formula(rng, width)])


def random_count(rng: np.random.Generator, width: int, depth: int = 3) -> Written:
    """A count of counts and of other expressions, in which names mostly come more than once."""
    name = str(rng.choice(list(COUNTS)))
    parts = [
        random_count(rng, width, depth - 1)
        if depth > 1 and rng.random() < 0.5
        else random_formula(rng, width, depth - 1)
        for _ in range(int(rng.integers(2, 6)))
    ]
    number = int(rng.integers(0, len(parts) + 1))
    return Written(
        f"{name}({number}, {', '.join(part.text for part in parts)})",
        lambda changed: COUNTS[name](sum(part.says(changed) for part in parts), number),
    )


def random_formula(rng: np.random.Generator, width: int, depth: int = 3) -> Written:
    """An expression with its brackets written out, so that its meaning does not lean on any precedence."""
    kind = int(rng.integers(0, 5)) if depth else 0
    if kind <= 1:
        i = int(rng.integers(0, width))
        return Written(f"f{i}" if rng.random() < 0.8 else f'"f{i}"', lambda changed: i in changed)
    if kind == 2:
        part = random_formula(rng, width, depth - 1)
        return Written(f"{rng.choice(['not ', '!'])}({part.text})", lambda changed: not part.says(changed))
    if kind == 3:
        name = str(rng.choice(list(BINARY)))
        one, other = random_formula(rng, width, depth - 1), random_formula(rng, width, depth - 1)
        sign = name if rng.random() < 0.5 else SYMBOLS[name]
        return Written(
            f"({one.text}) {sign} ({other.text})",
            lambda changed: bool(BINARY[name](one.says(changed), other.says(changed))),
        )
    name = str(rng.choice(list(COUNTS)))
    parts = [random_formula(rng, width, depth - 1) for _ in range(int(rng.integers(1, 4)))]
    number = int(rng.integers(0, len(parts) + 1))
    return Written(
        f"{name}({number}, {', '.join(part.text for part in parts)})",
        lambda changed: COUNTS[name](sum(part.says(changed) for part in parts), number),
    )
