"""Bodies: example requests changed in their structure, in their constraints, in their bytes, or beyond all measure."""

import copy
from collections.abc import Sequence
from random import Random
from typing import Any

from lab.fuzz.formulas import formula, odd_formula
from lab.fuzz.values import Written, some_text, some_value, to_json

FIELDS = ("instance", "context", "registry", "target", "normal_ranges", "guide", "constraints", "weights", "limits")
INSIDE = (
    "low", "high", "allowed", "move_to", "classes", "threshold", "engine", "max_counterfactuals", "deadline_ms",
    "max_model_rows",
    "immutable", "directions", "max_step", "causal", "correlated", "exclusive", "required", "max_changes", "formulas",
    "cause", "effects",
    "instances", "sex", "age", "type", "__proto__", "",
)  # fmt: skip
STRAY = (b"\x00", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b'"', b"{", b"}", b"[", b"]")


def changed_structure(rng: Random, request: dict[str, Any], names: Sequence[str]) -> bytes:
    """One to four places hold something else, are gone, or are new."""
    body: Any = copy.deepcopy(request)
    for _ in range(rng.randint(1, 4)):
        body = _changed(rng, body, names)
    return _encoded(to_json(body, rng, rng.choice([0, 0, 0, 0.03])))


def _changed(rng: Random, value: Any, names: Sequence[str]) -> Any:
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key = rng.choice(list(value))
        match rng.randrange(8):
            case 0:
                del value[key]
            case 1:
                value[rng.choice([*FIELDS, *INSIDE, *names, some_text(rng)])] = some_value(rng, names)
            case _:
                value[key] = _changed(rng, value[key], names)
        return value
    if isinstance(value, list) and value and rng.random() < 0.85:
        at = rng.randrange(len(value))
        value[at] = _changed(rng, value[at], names)
        return value * rng.choice([1, 1, 1, 2, 50])
    return some_value(rng, names)


def constrained(rng: Random, request: dict[str, Any], names: Sequence[str]) -> bytes:
    """Constraints, ranges, weights and limits that are mostly right, with formulas that are so or not."""
    body: dict[str, Any] = copy.deepcopy(request)
    # Every third time a name is wrong here and there; else the request would hardly ever come to a search.
    known = list(names) if rng.random() < 0.67 else [*names, some_text(rng)]
    body["constraints"] = {key: make(rng, known) for key, make in _CONSTRAINTS.items() if rng.random() < 0.3}
    if rng.random() < 0.7:
        make = rng.choice([formula, odd_formula])
        body["constraints"]["formulas"] = [make(rng, names) for _ in range(rng.choice([1, 1, 1, 2, 2, 3, 5, 51]))]
    if rng.random() < 0.3:
        body["weights"] = {name: rng.choice([1, 0.5, 1e9, 1e-300, 2, 3.25]) for name in rng.sample(known, 2)}
    if rng.random() < 0.3:
        body["normal_ranges"] = {name: _range(rng, names) for name in rng.sample(known, 2)}
    if rng.random() < 0.1:
        body["guide"] = {rng.choice(known): rng.uniform(-10, 10)}
    if rng.random() < 0.5:
        engine = rng.choice(["auto", "lattice", "cemsp"])
        body["limits"] = {"engine": engine, "max_model_rows": rng.choice([1, 2, 17, 5000])}
    if rng.random() < 0.05:
        body["registry"] = rng.choice([None, "hcv", "hcv-paper", "mortgage", "synthetic", "thyroid"])
    return _encoded(to_json(body, rng))


def _some(rng: Random, names: Sequence[str]) -> list[str]:
    return rng.sample(names, rng.randint(1, min(4, len(names))))


def _causal(rng: Random, names: Sequence[str]) -> dict[str, Any]:
    cause, *effects = rng.sample(names, 3)
    return {"cause": cause, "effects": effects}


_CONSTRAINTS = {
    "immutable": _some,
    "required": _some,
    "directions": lambda rng, names: {name: rng.choice(["increase", "decrease"]) for name in _some(rng, names)},
    "max_step": lambda rng, names: {name: rng.choice([0, 1, 1e308, 0.001]) for name in _some(rng, names)},
    "causal": lambda rng, names: [_causal(rng, names) for _ in range(2)],
    "correlated": lambda rng, names: [_some(rng, names) for _ in range(rng.randrange(3))],
    "exclusive": lambda rng, names: [_some(rng, names) for _ in range(rng.randrange(3))],
    "max_changes": lambda rng, names: rng.choice([0, 1, 2, 3, 10**9]),
}


def _range(rng: Random, names: Sequence[str]) -> dict[str, Any]:
    bounds = {"low": rng.uniform(-100, 10), "high": rng.uniform(0, 100)}
    chosen: dict[str, Any] = {key: value for key, value in bounds.items() if rng.random() < 0.8}
    if rng.random() < 0.3:
        chosen["move_to"] = rng.choice(["nearest", "midpoint", {"margin": 0.1}, {"value": 1}, some_value(rng, names)])
    if rng.random() < 0.3:
        chosen["if_missing"] = rng.choice(["target", {"value": 1}, None, some_value(rng, names)])
    return chosen


def changed_bytes(rng: Random, request: dict[str, Any]) -> bytes:
    """Bytes flipped, lost, doubled, cut off, or from elsewhere."""
    body = bytearray(to_json(request, rng).encode())
    for _ in range(rng.choice([1, 1, 2, 5, 50])):
        at = rng.randrange(len(body)) if body else 0
        match rng.randrange(6):
            case 0 if body:
                body[at] ^= 1 << rng.randrange(8)
            case 1:
                del body[at : at + rng.choice([1, 1, 5, 100])]
            case 2:
                body[at:at] = body[at : at + rng.choice([1, 10, 100])]
            case 3:
                body[at:at] = rng.randbytes(rng.randint(1, 8))
            case 4 if rng.random() < 0.2:
                del body[at:]
            case _:
                body[at:at] = rng.choice(STRAY)
    return bytes(body)


def beyond_measure(rng: Random, request: dict[str, Any], names: Sequence[str]) -> bytes:
    """Nested, long or many without end, as far as a few hundred kilobytes go."""
    body: dict[str, Any] = copy.deepcopy(request)
    size = rng.choice([10, 100, 990, 2000, 20_000])
    match rng.randrange(9):
        case 0:
            return rng.choice([b"[", b'{"instance":', b'{"a":[', b"[[],"]) * size
        case 1:
            body[rng.choice(FIELDS)] = Written("[" * size + "]" * size)
        case 2:
            body[rng.choice(FIELDS)] = Written('{"a":' * size + "1" + "}" * size)
        case 3:
            body["instance"] = {f"{rng.choice(names)}{index}": index for index in range(size)}
        case 4:
            body["constraints"] = {rng.choice(["immutable", "required"]): rng.choices(names, k=size)}
        case 5:
            body["constraints"] = {rng.choice(["correlated", "exclusive"]): [list(names)] * (size // 10)}
        case 6:
            body["constraints"] = {"formulas": [formula(rng, names, 5) for _ in range(min(size, 60))]}
        case 7:
            body[rng.choice(FIELDS)] = rng.choice(["x", "ÿ", "\U0001f600", "\ud800", " ", "("]) * size * 5
        case 8:
            body["instances"] = [body.pop("instance")] * min(size, 500)
    return _encoded(to_json(body, rng))


def _encoded(text: str) -> bytes:
    """UTF-8, and halves of characters too, which no UTF-8 should hold."""
    return text.encode(errors="surrogatepass")
