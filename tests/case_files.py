"""Random problems as files: a graph and a registry on disk, and a case that asks ONNX Runtime itself."""

from pathlib import Path

import numpy as np
import onnxruntime

from tests import graphs
from tests.brute_force import Case
from tests.constrained import constrained_case
from tests.searching import constraints_json


def range_text(normal: tuple[float | None, float | None]) -> str:
    ends = [f"{name} = {end}" for name, end in zip(("low", "high"), normal, strict=True) if end is not None]
    return f"{{ {', '.join(ends)} }}"


def policy_text(policy: str, amount: float) -> str:
    return f"{{ {policy} = {amount} }}" if policy in ("margin", "value") else f'"{policy}"'


def write_case(folder: Path, seed: int) -> Case:
    """A model, a registry and a case that asks ONNX Runtime itself."""
    case, network = constrained_case(seed)
    names = [f"f{index}" for index in range(len(case.values))]
    known = {name: range_text(normal) for name, normal in zip(names, case.ranges, strict=True) if normal is not None}
    file = folder / f"models/m{seed}/model.onnx"
    graphs.write_network(file, network)
    whole = [names[i] for i in case.whole]
    graphs.write_model_toml(file.parent, names, registry=f"r{seed}" if known else None, whole=whole)
    if known:
        move_to = {names[i]: policy_text(*policy) for i, policy in case.move_to.items()}
        graphs.write_registry(folder / f"ranges/r{seed}.toml", known, move_to)
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])

    def favours(row: list[float]) -> bool:
        (scores,) = session.run(["scores"], {"features": np.array([row], dtype=np.float32)})
        return bool(scores[0, 1] > scores[0, 0])

    return Case(**{**vars(case), "favourable": favours})


def request_of(case: Case) -> dict[str, object]:
    def by_name(entries: dict[int, object]) -> dict[str, object]:
        return {f"f{index}": entry for index, entry in entries.items()}

    return {
        "instance": by_name(dict(enumerate(case.values))),
        "guide": by_name(case.guides),
        "constraints": constraints_json(case),
    }
