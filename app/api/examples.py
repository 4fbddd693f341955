"""Requests that show each kind of constraint at work; /openapi.json carries them, docs/constraints.md explains them."""

from typing import Any

PERSON = {
    "instance": {
        "ALB": 45.8,
        "ALP": 68,
        "ALT": 112,
        "AST": 76,
        "BIL": 15.5,
        "CHE": 10.4,
        "CHOL": 5.2,
        "CREA": 72,
        "GGT": 60,
        "PROT": 81.5,
    },
    "registry": "hcv-paper-tight",
}

CONSTRAINTS: dict[str, dict[str, Any]] = {
    "several ways": {},
    "immutable": {"immutable": ["BIL"]},
    "directions": {"directions": {"AST": "decrease", "PROT": "increase"}},
    "max_step": {"max_step": {"ALT": 50, "GGT": 20}},
    "causal": {"causal": [{"cause": "AST", "effects": ["ALT"]}, {"cause": "ALT", "effects": ["GGT"]}]},
    "correlated": {"correlated": [["ALT", "AST"]]},
    "exclusive": {"exclusive": [["CHE", "CHOL", "GGT"]]},
    "required": {"required": ["GGT"]},
    "max_changes": {"max_changes": 2},
    "formulas": {"formulas": ["ALT xor AST", "at_most(1, BIL, CHE, CHOL) and (GGT -> not BIL)"]},
    "relations": {"relations": ["ALT <= 2 * AST + 10"]},
    "no way left": {"immutable": ["AST"], "max_changes": 3},
    "a conflict": {"immutable": ["AST"], "required": ["ALT", "AST"]},
}


def openapi_examples() -> dict[str, dict[str, Any]]:
    """The examples in the form that the document wants."""
    return {
        f"hcv: {name}": {"value": {**PERSON, **({"constraints": constraints} if constraints else {})}}
        for name, constraints in CONSTRAINTS.items()
    }
