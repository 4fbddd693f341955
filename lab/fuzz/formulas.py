"""Formulas by the grammar, and formulas that left it."""

import re
from collections.abc import Sequence
from random import Random

from lab.fuzz.values import some_text

JOINTS = ["and", "or", "xor", "implies", "iff", "&", "|", "^", "->", "<->", "AND", "Or"]
COUNTS = ["at_most", "at_least", "exactly", "AT_MOST"]
STRAY = [
    "(", ")", ",", "not", "!", "\"", "'", "\\", "at_most(", "exactly()", "at_least(1)", "- >", "<-", "<->", "=", "==",
    "&&", "||", "~", "1",
    "0", "99999999999999999999", "-1", "1.5", "A.B", "_", "İ", "ﬁ", "\u00a0", "\u2003", "\u200b", "\x00", "\ud800",
    "#", ";", "\n", "()",
    "__import__('os')", "A" * 300,
]  # fmt: skip


def formula(rng: Random, names: Sequence[str], depth: int = 3) -> str:
    """A formula that can be read."""
    if depth == 0 or rng.random() < 0.3:
        name = rng.choice(names)
        return name if name.isidentifier() and rng.random() < 0.8 else f'"{name}"'
    if rng.random() < 0.2:
        return f"{rng.choice(['not ', '!', 'NOT  '])}({formula(rng, names, depth - 1)})"
    if rng.random() < 0.2:
        parts = ", ".join(formula(rng, names, depth - 1) for _ in range(rng.randint(1, 4)))
        return f"{rng.choice(COUNTS)}({rng.randrange(5)}, {parts})"
    joint = f" {rng.choice(JOINTS)} "
    return f"({joint.join(formula(rng, names, depth - 1) for _ in range(rng.randint(2, 4)))})"


def odd_formula(rng: Random, names: Sequence[str]) -> str:
    """A formula that may or may not be one."""
    match rng.randrange(8):
        case 0:
            return some_text(rng)
        case 1:
            depth = rng.choice([10, 19, 20, 21, 25, 200, 3000])
            return "(" * depth + rng.choice(names) + ")" * (depth - rng.randrange(2))
        case 2:
            return "not " * rng.choice([1, 50, 500, 2400]) + rng.choice(names)
        case 3:
            return f" {rng.choice(JOINTS)} ".join(rng.choices(names, k=rng.choice([2, 30, 300, 1500])))
        case 4 | 5:
            return _shuffled(formula(rng, names), rng)
        case 6:
            text = formula(rng, names)
            at = rng.randrange(len(text) + 1)
            return text[:at] + rng.choice(STRAY) + text[at:]
    return formula(rng, names, rng.randint(1, 5))


def _shuffled(text: str, rng: Random) -> str:
    """Words and signs taken out, doubled, swapped, or replaced by others."""
    words = re.findall(r"\w+|\s+|[^\w\s]+", text)
    for _ in range(rng.randint(1, 4)):
        at, other = rng.randrange(len(words)), rng.randrange(len(words))
        match rng.randrange(4):
            case 0:
                words[at] = ""
            case 1:
                words[at] += words[other]
            case 2:
                words[at], words[other] = words[other], words[at]
            case 3:
                words[at] = rng.choice(STRAY)
    return "".join(words)
