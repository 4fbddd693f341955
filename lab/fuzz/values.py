"""Values that do not belong where they are put, and JSON that can hold them all."""

import json
from collections.abc import Sequence
from random import Random
from typing import Any


class Written(str):
    """JSON as it stands, which need not be valid."""


NUMBERS = [
    "0", "-0", "-0.0", "1", "-1", "1.5", "1e-320", "5e-324", "1e308", "1.7976931348623157e308", "1e309", "-1e999",
    "1e400",
    "9007199254740993", "18446744073709551616", "-9223372036854775809", "0.1e1", "1E+2", "1.0000000000000000000001",
    "3.4028235e38", "3.5e38", "1e-46", "123456789.123456789", "9" * 400, "9" * 401, "-" + "9" * 5000, "0." + "1" * 3000,
    "NaN", "Infinity", "-Infinity", "01", "+1", "1.", ".5", "0x10", "1_000", "1e", "--1",
]  # fmt: skip
TEXTS = [
    '""', '" "', '"A"', '"ALT"', '"nearest"', '"midpoint"', '"increase"', '"auto"', '"cemsp"', '"lattice"',
    '"healthy"', '"null"',
    '"-1"', '"NaN"', '"\\u0000"', '"\\ud800"', '"\\udfff\\ud800"', '"a\\ud83d"', '"\\ud83d\\ude00"', '"Ä"', '"ß"',
    '"İ"', '"ﬀ"',
    '"\\u202e"', '"\\ufeff"', '"\\u2028"', '"\\n"', '"\\t"', '"\\""', '"\\\\"', '"${jndi:x}"', '"{{7*7}}"', '"%s%n"',
    '"../../etc"',
    '"<script>"', '"__class__"', '"__proto__"', '"\\x00"', '"\\u12"', "'A'", '"open',
]  # fmt: skip
OTHERS = [
    "null", "true", "false", "[]", "{}", "[[]]", "[{}]", "[null]", '{"": null}', '{"low": 1}', '{"low": 2, "high": 1}',
    '{"margin": 1e308}', '{"value": 0}', '{"margin": -1}', '{"allowed": []}', '{"allowed": ["x", "x"]}',
    '{"cause": "A"}',
    "undefined", "", ",", "//", "/* */ 1", "b''", "None", "True",
]  # fmt: skip


def some_value(rng: Random, names: Sequence[str]) -> Any:
    """A value of any kind: numbers at the edge, texts that mean something elsewhere, names, what is no JSON at all."""
    match rng.randrange(12):
        case 0 | 1 | 2:
            return Written(rng.choice(NUMBERS))
        case 3 | 4:
            return Written(rng.choice(TEXTS))
        case 5 | 6:
            return Written(rng.choice(OTHERS))
        case 7:
            return rng.choice(names)
        case 8:
            return rng.uniform(-1000, 1000)
        case 9:
            return some_text(rng)
        case 10:
            return [some_value(rng, names) for _ in range(rng.randrange(4))]
    return {rng.choice(names): some_value(rng, names) for _ in range(rng.randrange(3))}


def some_text(rng: Random) -> str:
    """Characters from anywhere, halves of them included."""
    planes = [(0, 0x7F), (0x80, 0x2FF), (0x300, 0x3000), (0xD800, 0xDFFF), (0xFE00, 0xFFFF), (0x1F300, 0x1FAFF)]
    length = rng.choice([1, 2, 3, 8, 40, 300])
    return "".join(chr(rng.randint(*rng.choice(planes))) for _ in range(length))


def to_json(value: Any, rng: Random, doubled: float = 0.0) -> str:
    """The value as JSON, with what is `Written` as it stands; each key stands twice with that likelihood."""
    if isinstance(value, Written):
        return str(value)
    if isinstance(value, dict):
        entries = [(key, entry) for key, entry in value.items() for _ in range(2 if rng.random() < doubled else 1)]
        return f"{{{', '.join(f'{json.dumps(key)}: {to_json(entry, rng, doubled)}' for key, entry in entries)}}}"
    if isinstance(value, list):
        return f"[{', '.join(to_json(entry, rng, doubled) for entry in value)}]"
    return json.dumps(value, ensure_ascii=rng.random() < 0.9 or _has_half_a_character(value))


def _has_half_a_character(value: Any) -> bool:
    return isinstance(value, str) and any(0xD800 <= ord(character) <= 0xDFFF for character in value)
