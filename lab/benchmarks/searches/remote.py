"""Models that live elsewhere: a predictor on the same machine that takes 2 ms longer, as a network would."""

import math
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from app.adapters.predictors.connection import Call
from app.adapters.predictors.predictor import Predictor
from app.adapters.predictors.tensors import as_body
from lab.benchmarks.figures import Figure, agreed, milliseconds
from lab.benchmarks.models import names
from lab.benchmarks.people import people
from lab.benchmarks.requests.asking import EVERYTHING, Asker, request
from lab.benchmarks.searches.lattice import highest
from lab.benchmarks.workshop import Workshop
from lab.paper.questions.posing import Posed, subsets_up_to
from tests.support.predictors import FakePredictor, onnx_scores, write_remote

LATENCY = 0.002
REGISTRY = "hcv-paper-tight"


def figures(workshop: Workshop) -> Iterator[Figure]:
    with _elsewhere(workshop, "hcv", 10, "probabilities") as asker:
        yield _small(workshop, asker)
    width = workshop.sizes.lattice
    with _elsewhere(workshop, f"network-{width}", width, _output(workshop, f"network-{width}")) as asker:
        yield _large(workshop, asker, width)


def _small(workshop: Workshop, elsewhere: Asker) -> Figure:
    """The whole answer for a patient, here and there."""
    here, there = [], []
    for person in workshop.track(_first(workshop), "remote: hcv"):
        body = request(person, registry=REGISTRY)
        timed: dict[int, list[float]] = {0: [], 1: []}
        for _ in range(workshop.sizes.repeats):
            lines: tuple[list[str], list[str]] = ([], [])
            for side, asker in enumerate((workshop.asker, elsewhere)):
                timed[side].append(asker.ask("hcv", body, lines[side].append).total)
            agreed(lines[0] == lines[1], "remote: the answers here and there")
        here.append(median(timed[0]))
        there.append(median(timed[1]))
    above = 1000 * median(far - near for near, far in zip(here, there, strict=True))
    details = {"people": len(here), "here_ms": milliseconds(here), "there_ms": milliseconds(there), "latency_ms": 2}
    return Figure("remote.hcv", "hcv elsewhere, 2 ms away: above the model here", "at most", 3, above, "ms", details)


def _large(workshop: Workshop, asker: Asker, width: int) -> Figure:
    """A whole lattice, against the same rows sent by nobody but a client that throws the answers away."""
    model = f"network-{width}"
    posed = Posed(np.zeros(width, dtype=np.float32), dict.fromkeys(range(width), 1.0))
    best = highest(workshop.judge(model), posed.rows(subsets_up_to(width, width)), 4096)
    body = request(dict.fromkeys(names(width), 0), target={"threshold": best}, limits=EVERYTHING)
    ours, alone, rows = [], [], 0
    for _ in workshop.track(range(workshop.sizes.repeats), "remote: lattice"):
        answered = asker.ask(model, body)
        rows = answered.summary["model_rows"]
        ours.append(answered.search / rows)
        alone.append(_alone(asker, model, width, rows) / rows)
    details: dict[str, Any] = {
        "rows": rows,
        "ours_us_a_row": 1e6 * median(ours),
        "alone_us_a_row": 1e6 * median(alone),
        "complete": answered.summary["complete"],
    }
    title = f"lattice elsewhere, {width} movable: rows a second, over those of the predictor alone"
    return Figure("remote.lattice", title, "at least", 0.5, median(alone) / median(ours), "of its rate", details)


def _alone(asker: Asker, model: str, width: int, rows: int) -> float:
    """How long the predictor takes for so many rows, asked in the same batches and as many at a time."""
    predictor = asker.graph(model)
    assert isinstance(predictor, Predictor)
    entry = predictor._entry
    matrix = np.random.default_rng(0).integers(0, 2, (entry.batch, width)).astype(np.float32)
    body = as_body(predictor.feeds, matrix, predictor.output, binary=True)
    calls = [Call(f"{predictor._path}/infer", body, len(matrix))] * math.ceil(rows / entry.batch)
    began = perf_counter()
    predictor._connection.all(calls)
    return perf_counter() - began


def _first(workshop: Workshop) -> Iterator[dict[str, float]]:
    found = 0
    for person in people(workshop.data):
        summary = workshop.asker.ask("hcv", request(person, registry=REGISTRY)).summary
        if summary["outcome"] == "found":
            found += 1
            yield person
        if found == workshop.sizes.people:
            return


def _output(workshop: Workshop, model: str) -> str:
    import onnxruntime  # noqa: PLC0415

    outputs = onnxruntime.InferenceSession(workshop.models / model / "model.onnx").get_outputs()
    return str(outputs[-1].name)


@contextmanager
def _elsewhere(workshop: Workshop, model: str, width: int, output: str) -> Iterator[Asker]:
    graph = workshop.models / model / "model.onnx"
    command = [sys.executable, "-m", "lab.benchmarks.searches.remote", str(graph), str(width), output]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        folder = workshop.folder / "elsewhere" / model
        write_remote(folder / model, server.stdout.readline().strip(), workshop.models / model)
        yield Asker(folder, workshop.ranges)
        server.kill()


def _serve(graph: Path, width: int, output: str) -> None:
    predictor = FakePredictor(onnx_scores(graph, output), width)
    predictor.delay = LATENCY
    with predictor.running() as url:
        sys.stdout.write(f"{url}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    _serve(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
