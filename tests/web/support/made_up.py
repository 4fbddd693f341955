"""Models unlike the shipped ones: very many plans, a search that lasts, a regression, features of every kind."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, helper

from tests.support import derived_loans, graphs, loans
from tests.support.networks import at_least

# Any 5 of 17 suffice: 6,188 plans.
WIDE = [f"f{position}" for position in range(1, 18)]
WIDE_PLANS = 6_188
# One plan at once, and the next ones behind four million subsets that each take the model a while.
SLOW = [f"s{position}" for position in range(1, 25)]
SLOW_OTHERS = 12
# As many as a form may have that is no longer seen at once; six of them are low, and any five suffice.
THIRTY = [f"f{position}" for position in range(1, 31)]
LOW = 6
# Of as many, 19 are low and any five suffice: 11,628 plans, more than the page asks for.
MANY_LOW = 19

PRESSURE = """
title = "Blood pressure in a year"
version = "1.0.0"
normal_ranges = "pressure"
[output]
kind = "regression"
favourable = { low = 100, high = 130 }
[[features]]
name = "salt"
title = "Salt eaten"
unit = "g/d"
[[features]]
name = "bmi"
title = "Body mass index"
unit = "kg/m2"
[[features]]
name = "steps"
title = "Steps a day"
type = "integer"
[[features]]
name = "alcohol"
title = "Alcohol"
unit = "units/week"
type = "integer"
default = 5
[[features]]
name = "age"
title = "Age"
unit = "a"
type = "integer"
"""
PRESSURE_RANGES = """
title = "Living well"
version = "1"
[features.salt]
unit = "g/d"
ranges = [{ high = 5 }]
[features.bmi]
unit = "kg/m2"
ranges = [{ low = 18.5, high = 25 }]
[features.steps]
ranges = [{ low = 7000 }]
[features.alcohol]
unit = "units/week"
ranges = [{ high = 14 }]
"""
PATIENT = {"salt": 11, "bmi": 31, "steps": 2500, "alcohol": 20, "age": 58}
PRESSURE_WEIGHTS = (1.5, 1.2, -0.002, 0.5, 0.3)


def write_made_up(folder: Path) -> None:
    """Models `wide`, `slow`, `loans`, `loan`, `pressure`, `thirty` and `many`, with examples and registries."""
    graphs.write_network(folder / "models/wide/model.onnx", at_least(5, of=len(WIDE))[1])
    _describe(folder, "wide", "Any five of seventeen", WIDE)
    graphs.write_slow_network(folder / "models/slow/model.onnx", len(SLOW), size=700, layers=3, others=SLOW_OTHERS)
    _describe(folder, "slow", "One, or many of the others", SLOW)
    loans.write_loans(folder)
    _write_examples(folder, "loans", {"rents": loans.PERSON, "not-known": {**loans.PERSON, "late": None}})
    derived_loans.write_loan(folder)
    derived_loans.write_loan_ranges(folder / "ranges")
    _write_examples(folder, "loan", {"refused": derived_loans.PERSON})
    _write_pressure(folder)
    _write_thirty(folder)


def _write_thirty(folder: Path) -> None:
    """The models `thirty` and `many`, whose examples are low in the first six and nineteen of their features."""
    for model, low in (("thirty", LOW), ("many", MANY_LOW)):
        graphs.write_network(folder / f"models/{model}/model.onnx", at_least(35 - low, of=len(THIRTY))[1])
        _describe(folder, model, f"{low} low of thirty", THIRTY)
        person = {name: float(place >= low) for place, name in enumerate(THIRTY)}
        (folder / f"models/{model}/examples/some-low.json").write_text(json.dumps({"instance": person}))


def _describe(folder: Path, model: str, title: str, names: Sequence[str]) -> None:
    """Every feature is normal from 1 upwards and stands at 0; the scores become probabilities."""
    graphs.write_registry(folder / f"ranges/{model}.toml", dict.fromkeys(names, "{ low = 1 }"))
    file = graphs.write_model_toml(folder / f"models/{model}", names, registry=model, title=json.dumps(title))
    file.write_text(file.read_text().replace("[output]", '[output]\nactivation = "softmax"'))
    _write_examples(folder, model, {"all-low": dict.fromkeys(names, 0)})


def _write_pressure(folder: Path) -> None:
    """Too high by 16.1 for the patient: two of salt, weight and steps are enough, and alcohol is never needed."""
    weights = {
        "weights": np.array(PRESSURE_WEIGHTS, dtype=np.float32)[:, None],
        "bias": np.array([70], dtype=np.float32),
    }
    nodes = [
        helper.make_node("MatMul", ["features", "weights"], ["sum"]),
        helper.make_node("Add", ["sum", "bias"], ["scores"]),
    ]
    file = folder / "models/pressure/model.onnx"
    graphs.save(file, nodes, weights, len(PRESSURE_WEIGHTS), TensorProto.FLOAT, columns=1)
    file.with_name("model.toml").write_text(PRESSURE)
    (folder / "ranges/pressure.toml").write_text(PRESSURE_RANGES)
    _write_examples(folder, "pressure", {"too-high": PATIENT})


def _write_examples(folder: Path, model: str, instances: Mapping[str, Mapping[str, Any]]) -> None:
    examples = folder / "models" / model / "examples"
    examples.mkdir()
    for name, instance in instances.items():
        (examples / f"{name}.json").write_text(json.dumps({"instance": instance}))
