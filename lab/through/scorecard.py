"""A scorecard of 200 features, all movable, of which about any 12 suffice: a linear ONNX model, as it is served.

`python -m lab.through.scorecard` asks for its answers, smallest first, and tells how many a second of search it sends.
`--processor` counts processor time, for a machine that has other work.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper

from lab.through.asking import ask, count_processor_time, service_of
from lab.through.models import Data, write

FEATURES = 200
ENOUGH = 12


def scorecard() -> tuple[Data, bytes]:
    """About a point for each feature, so that any twelve suffice and no eleven do; everybody starts with none."""
    points = 1.0 + np.random.default_rng(0).uniform(-0.02, 0.02, FEATURES)
    held = {"intercepts": [0.0, 0.5 - ENOUGH], "classlabels_ints": [0, 1], "post_transform": "SOFTMAX"}
    weights = [0.0] * FEATURES + points.tolist()
    node = helper.make_node(
        "LinearClassifier", ["x"], ["label", "probabilities"], domain="ai.onnx.ml", coefficients=weights, **held
    )
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, FEATURES])]
    outputs = [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, [None, 2])]
    graph = helper.make_graph([node], "scorecard", inputs, outputs)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    names = [f"answer_{place}" for place in range(FEATURES)]
    return Data(np.zeros((1, FEATURES)), np.zeros(1), names), bytes(model.SerializeToString())


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m lab.through.scorecard")
    parser.add_argument("--answers", type=int, default=1_000_000)
    parser.add_argument("--processor", action="store_true", help="count processor time: the machine is busy")
    chosen = parser.parse_args()
    if chosen.processor:
        count_processor_time()
    data, content = scorecard()
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / "scorecard", data, content)
        service = service_of(Path(folder))
        body = {
            "instance": dict.fromkeys(data.names, 0.0),
            "registry": None,
            "guide": dict.fromkeys(data.names, 1.0),
            "limits": {"max_counterfactuals": chosen.answers},
        }
        summary = ask(service, "scorecard", body, keep=False).summary
    assert summary is not None
    seconds = summary.elapsed_ms.search / 1000
    print(
        f"{summary.count} answers in {seconds:.2f} s of search: {summary.count / seconds:.0f} a second; complete up to "
        f"{summary.complete_up_to} changes, {summary.guarantee}; stopped by {summary.stopped_by}"
    )


if __name__ == "__main__":
    main()
