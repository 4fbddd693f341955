"""Networks on breast cancer data: how many searches are exact, how far the others come, and what they cost.

`python -m lab.through.networks guide --movable 24`, `guide --movable 30`, `ranges`, `monotone`; `--people 100`.
`--truth 20` holds the answers of the first people against all subsets, scored by another program.
"""

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from onnxruntime import InferenceSession

from app.answering.service import Service
from lab.through.asking import Told, ask, count_processor_time, service_of
from lab.through.models import Data, breast_cancer, network, write

# The part of those who are well that a normal range leaves out on each side.
OUTSIDE = 0.05
# So many low bits are scored together by the program that tells the truth.
TOGETHER = 14


def monotone(data: Data) -> bytes:
    """A network that rises as any feature falls: weights that are not negative, of features with their signs turned."""
    rng = np.random.default_rng(0)
    scale = data.rows.std(axis=0)
    weights = [np.abs(rng.normal(0, 1, shape)) for shape in ((30, 64), (64, 64), (64, 1))]
    weights = [each / each.sum(axis=0) for each in weights]
    weights[0] = -weights[0] / scale[:, None]
    middle = (np.median(data.rows[data.favourable == 1], axis=0) + np.median(data.rows, axis=0)) / 2
    biases = [-middle @ weights[0] + 1.0, np.zeros(64), np.full(1, -1.0)]
    nodes, value = [], "x"
    for place in range(3):
        nodes.append(helper.make_node("Gemm", [value, f"w{place}", f"b{place}"], [f"g{place}"]))
        nodes.append(helper.make_node("Relu" if place < 2 else "Sigmoid", [f"g{place}"], [f"h{place}"]))
        value = f"h{place}"
    nodes += [helper.make_node("Sub", ["one", value], ["other"])]
    nodes += [helper.make_node("Concat", ["other", value], ["probabilities"], axis=1)]
    held = {f"w{place}": each for place, each in enumerate(weights)}
    held |= {f"b{place}": each for place, each in enumerate(biases)} | {"one": np.ones(1)}
    constants = [numpy_helper.from_array(each.astype(np.float32), name) for name, each in held.items()]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 30])]
    outputs = [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, [None, 2])]
    graph = helper.make_graph(nodes, "monotone", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    return bytes(model.SerializeToString())


def served(folder: Path, data: Data, content: bytes) -> Service:
    write(folder / "network", data, content)
    return service_of(folder)


@dataclass(frozen=True)
class Trial:
    """The data, the model's own runtime for the truth, and how requests are written."""

    data: Data
    session: InferenceSession
    what: str
    movable: int
    engine: str

    def refused(self) -> Iterator[int]:
        scores = self.session.run(["probabilities"], {self.session.get_inputs()[0].name: self.data.rows})[0]
        yield from np.flatnonzero(scores[:, 1] < scores[:, 0]).tolist()

    def request(self, person: int) -> dict[str, Any]:
        names, row = self.data.names, self.data.rows[person]
        body: dict[str, Any] = {
            "instance": dict(zip(names, map(float, row), strict=True)),
            "registry": None,
            "limits": {"engine": self.engine},
        }
        if self.what == "ranges":
            well = self.data.rows[self.data.favourable == 1]
            ends = np.quantile(well, [OUTSIDE, 1 - OUTSIDE], axis=0).T.tolist()
            body["normal_ranges"] = {
                name: {"low": low, "high": high} for name, (low, high) in zip(names, ends, strict=True)
            }
        else:
            body["guide"] = self.data.guide
            body["constraints"] = {"immutable": names[self.movable :]}
        return body

    def truth(self, person: int, movable: tuple[int, ...]) -> set[frozenset[int]]:
        """Every minimal set, by scoring all subsets; a table of one byte for each."""
        count, row = len(movable), self.data.rows[person]
        target = row.copy()
        target[list(movable)] = np.array(
            [self.data.guide[self.data.names[place]] for place in movable], dtype=np.float32
        )
        favourable = np.concatenate([*self._judged(row, target, movable)])
        above = favourable.copy()
        for bit in range(count):
            halves = above.reshape(-1, 2, 1 << bit)
            halves[:, 1] |= halves[:, 0]
        inside = np.zeros_like(above)
        for bit in range(count):
            inside.reshape(-1, 2, 1 << bit)[:, 1] |= above.reshape(-1, 2, 1 << bit)[:, 0]
        found = np.flatnonzero(favourable & ~inside).tolist()
        return {frozenset(place for bit, place in enumerate(movable) if number >> bit & 1) for number in found}

    def _judged(self, row: np.ndarray, target: np.ndarray, movable: tuple[int, ...]) -> Iterator[np.ndarray]:
        name, low = self.session.get_inputs()[0].name, min(TOGETHER, len(movable))
        bits = np.arange(2**low)[:, None] >> np.arange(low) & 1 == 1
        for high in range(2 ** (len(movable) - low)):
            rows = np.tile(row, (2**low, 1))
            rows[:, list(movable[:low])] = np.where(bits, target[list(movable[:low])], row[list(movable[:low])])
            made = [place for bit, place in enumerate(movable[low:]) if high >> bit & 1]
            rows[:, made] = target[made]
            scores = self.session.run(["probabilities"], {name: rows})[0]
            yield scores[:, 1] > scores[:, 0]


def told(trial: Trial, service: Service, people: int, truths: int) -> Iterator[Told]:
    for place, person in enumerate(list(trial.refused())[:people]):
        answer = ask(service, "network", trial.request(person))
        summary = answer.summary
        assert summary is not None
        line = (person, len(answer.movable), summary.outcome, summary.count, summary.complete, summary.complete_up_to)
        proof = None if summary.proof is None else (summary.proof.by.value, summary.proof.nodes)
        print(*line, summary.stopped_by, summary.guarantee, summary.model_rows, proof, summary.elapsed_ms, flush=True)
        if place < truths and summary.complete:
            assert set(answer.answers) == trial.truth(person, answer.movable), person
            print("  all subsets say the same", flush=True)
        yield answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["guide", "ranges", "monotone"])
    parser.add_argument("--movable", type=int, default=30)
    parser.add_argument("--people", type=int, default=100)
    parser.add_argument("--truth", type=int, default=0)
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--processor", action="store_true", help="count processor time: the machine is busy")
    options = parser.parse_args()
    if options.processor:
        count_processor_time()
    data = breast_cancer()
    content = monotone(data) if options.what == "monotone" else network(data)
    with tempfile.TemporaryDirectory() as folder:
        service = served(Path(folder), data, content)
        trial = Trial(data, InferenceSession(content), options.what, options.movable, options.engine)
        summaries = [each.summary for each in told(trial, service, options.people, options.truth) if each.summary]
    exact = [each for each in summaries if each.complete]
    others = [each.complete_up_to for each in summaries if not each.complete]
    lost = [each.model_rows for each in exact if each.outcome == "no_recourse"]
    print(f"{len(exact)} of {len(summaries)} exact; the others at least up to {min(others, default=None)}")
    print(f"no way out: {len(lost)}, rows in the median {median(lost) if lost else None}")
    print(f"search in the median {median(each.elapsed_ms.search for each in summaries):.0f} ms")


if __name__ == "__main__":
    main()
