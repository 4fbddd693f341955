"""Random problems as files: a graph and a registry on disk, and a case that asks ONNX Runtime itself."""

import re
from collections.abc import Sequence
from dataclasses import replace
from math import isnan
from pathlib import Path

import numpy as np
import onnxruntime

from tests.support import graphs
from tests.support.brute_force import Case
from tests.support.constrained import constrained_case
from tests.support.gaps import gapped_case
from tests.support.networks import Network
from tests.support.searching import constraints_json


def range_text(normal: tuple[float | None, float | None]) -> str:
    ends = [f"{name} = {end}" for name, end in zip(("low", "high"), normal, strict=True) if end is not None]
    return f"{{ {', '.join(ends)} }}"


def policy_text(policy: str, amount: float) -> str:
    return f"{{ {policy} = {amount} }}" if policy in ("margin", "value") else f'"{policy}"'


def missing_text(said: float | str) -> str:
    return f'"{said}"' if isinstance(said, str) else f"{{ value = {said} }}"


def is_said_by_the_registry(case: Case, i: int) -> bool:
    """Of every second feature with a range; of the others the request says what a missing value would become."""
    return case.ranges[i] is not None and i % 2 == 0


def _said_by_the_request(case: Case) -> dict[int, object]:
    return {
        i: {"if_missing": said if isinstance(said, str) else {"value": said}}
        for i, said in case.if_missing.items()
        if not is_said_by_the_registry(case, i)
    }


def write_case(folder: Path, seed: int, *, gaps: bool = False) -> Case:
    """A model, a registry and a case that asks ONNX Runtime itself; with gaps, values are missing."""
    case, network = gapped_case(seed) if gaps else constrained_case(seed)
    return write_model(folder, f"m{seed}", case, network, gaps=gaps)


def write_model(
    folder: Path, model: str, case: Case, network: Network, *, gaps: bool = False, order: Sequence[int] | None = None
) -> Case:
    """The model and the registry of a case. `order`: the model has its features in this order."""
    names = [f"f{index}" for index in range(len(case.values))]
    known = {name: range_text(normal) for name, normal in zip(names, case.ranges, strict=True) if normal is not None}
    places = list(range(len(names)) if order is None else order)
    file = folder / f"models/{model}/model.onnx"
    graphs.write_network(file, replace(network, first=network.first[places]))
    whole = [names[i] for i in case.whole]
    registry = f"r{model[1:]}" if known else None
    toml = graphs.write_model_toml(file.parent, [names[i] for i in places], registry=registry, whole=whole)
    if gaps:
        toml.write_text(re.sub('name = ".*"', rf"\g<0>\ndefault = {network.unseen:g}", toml.read_text()))
    if known:
        move_to = {names[i]: policy_text(*policy) for i, policy in case.move_to.items()}
        said = {names[i]: missing_text(case.if_missing[i]) for i in case.if_missing if is_said_by_the_registry(case, i)}
        graphs.write_registry(folder / f"ranges/{registry}.toml", known, move_to, said)
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])

    def favours(row: list[float]) -> bool:
        seen = np.nan_to_num(np.array([row], dtype=np.float32)[:, places], nan=network.unseen)
        (scores,) = session.run(["scores"], {"features": seen})
        return bool(scores[0, 1] > scores[0, 0])

    return Case(**{**vars(case), "favourable": favours})


def request_of(case: Case) -> dict[str, object]:
    def by_name(entries: dict[int, object]) -> dict[str, object]:
        return {f"f{index}": entry for index, entry in entries.items()}

    return {
        "instance": by_name({i: None if isnan(value) else value for i, value in enumerate(case.values)}),
        "guide": by_name(case.guides),
        "constraints": constraints_json(case),
        **({"normal_ranges": by_name(_said_by_the_request(case))} if case.if_missing else {}),
    }
