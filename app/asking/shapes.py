"""What the fields of a request look like, for those who sent a field in another shape."""

from collections.abc import Sequence

GROUPS = '[["ALT", "AST"]]'
NAMES = '["ALT", "AST"]'
NUMBERS = '{"ALT": 10}'

SHAPES = {
    "instance": '{"ALT": 36.5, "AST": 28}',
    "instances": '[{"ALT": 36.5, "AST": 28}]',
    "context": '{"sex": "female", "age": 41}',
    "target": '{"threshold": 0.6}',
    "classes": '["healthy"]',
    "normal_ranges": '{"ALT": {"low": 10, "high": 35}}',
    "allowed": '["no", "former"]',
    "guide": NUMBERS,
    "constraints": '{"immutable": ["ALT"]}',
    "immutable": NAMES,
    "directions": '{"ALT": "decrease"}',
    "max_step": NUMBERS,
    "causal": '[{"cause": "ALT", "effects": ["AST"]}]',
    "effects": NAMES,
    "correlated": GROUPS,
    "exclusive": GROUPS,
    "required": NAMES,
    "formulas": '["ALT xor AST"]',
    "relations": '["ALT <= 2 * AST + 5"]',
    "weights": NUMBERS,
    "limits": '{"deadline_ms": 2000}',
}
# What pydantic says of an object or a list that is none.
WRONG_SHAPES = frozenset({"model_type", "model_attributes_type", "dict_type", "list_type"})


def shape_hint(location: Sequence[str | int]) -> str:
    """The shape of the innermost field at a place that has one, as the end of a message."""
    field = next((step for step in reversed(location) if isinstance(step, str) and step in SHAPES), None)
    return "" if field is None else f"; write {field} such as {SHAPES[field]}"
