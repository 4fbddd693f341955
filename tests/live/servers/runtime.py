"""Run by the real servers in their own environments: a graph behind MLServer, and behind KServe's own server.

Nothing of Flipset is imported here, and only what is asked for of the two.
"""

import os
import sys
from pathlib import Path

import numpy as np
import onnxruntime


def scores(rows: np.ndarray) -> np.ndarray:
    # As ONNX Runtime is used at home: a row alone may go another way through the matrices.
    asked = rows if len(rows) > 1 else np.repeat(rows, 2, axis=0)
    name = session.get_inputs()[0].name
    return session.run(["probabilities"], {name: asked.astype(np.float32)})[0][: len(rows)]


options = onnxruntime.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
session = onnxruntime.InferenceSession(os.environ["GRAPH"], options, providers=["CPUExecutionProvider"])

if "mlserver" in sys.modules:
    from mlserver import MLModel
    from mlserver.codecs import NumpyCodec
    from mlserver.types import InferenceRequest, InferenceResponse

    class OnnxRuntime(MLModel):
        """One graph, asked as the protocol has it."""

        async def load(self) -> bool:
            return True

        async def predict(self, payload: InferenceRequest) -> InferenceResponse:
            rows = NumpyCodec.decode_input(payload.inputs[0])
            output = NumpyCodec.encode_output("probabilities", scores(rows))
            return InferenceResponse(model_name=self.name, model_version=self.version, outputs=[output])


def serve_kserve(port: int) -> None:
    from kserve import InferOutput, InferResponse, Model, ModelServer  # noqa: PLC0415

    class Graph(Model):
        """The same, with binary tensors."""

        def __init__(self) -> None:
            super().__init__("hcv")
            self.ready = True

        def predict(self, payload, headers=None, response_headers=None):
            given = scores(payload.inputs[0].as_numpy())
            output = InferOutput("probabilities", list(given.shape), "FP32")
            output.set_data_from_numpy(given, binary_data=payload.use_binary_outputs)
            parameters = {"binary_data_output": True} if payload.use_binary_outputs else None
            return InferResponse(payload.id or "1", "hcv", [output], parameters=parameters)

        async def get_input_types(self):
            return [{"name": "rows", "datatype": "FP32", "shape": [-1, 10]}]

        async def get_output_types(self):
            return [{"name": "probabilities", "datatype": "FP32", "shape": [-1, 2]}]

    ModelServer(http_port=port, enable_grpc=False, workers=1).start([Graph()])


if __name__ == "__main__":
    assert Path(os.environ["GRAPH"]).is_file()
    serve_kserve(int(sys.argv[1]))
