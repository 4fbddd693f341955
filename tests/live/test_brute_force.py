"""The whole way against brute force: a graph on disk, a real server, and ONNX Runtime asked one row at a time."""

import json
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from tests import graphs
from tests.brute_force import Case, minimal_sets
from tests.constrained import constrained_case
from tests.live_server import live_server
from tests.searching import constraints_json

CASES = 60


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


@pytest.mark.parametrize("engine", ["lattice", "cemsp", "auto"])
def test_a_real_server_answers_like_brute_force(tmp_path: Path, engine: str):
    (tmp_path / "ranges").mkdir()
    cases = {seed: write_case(tmp_path, seed) for seed in range(900, 900 + CASES)}
    with live_server(tmp_path / "models", tmp_path / "ranges") as server, server.client() as client:
        for seed, case in cases.items():
            body = {**request_of(case), "limits": {"engine": engine}}
            response = client.post(f"/v1/models/m{seed}/counterfactuals", json=body)
            assert response.status_code == 200, response.text
            lines = [json.loads(line) for line in response.text.splitlines()]
            answers = [
                frozenset(int(change["feature"][1:]) for change in line["changes"])
                for line in lines
                if line["type"] == "counterfactual"
            ]
            truth = minimal_sets(case)
            # The solver's search may miss answers of a model that is not monotone; it sends no wrong ones.
            assert set(answers) <= truth if engine == "cemsp" else set(answers) == truth, seed
            assert len(answers) == len(set(answers))
            assert lines[-1]["complete"]
