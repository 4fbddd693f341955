"""What anyone would write to serve the hepatitis model with FastAPI, and nothing else: the yardstick of the requests.

Pydantic in and out, a plain function, one thread for ONNX Runtime. BENCH_MODEL names the file.
"""

import os

import numpy as np
import onnxruntime
from fastapi import FastAPI
from pydantic import BaseModel


class Panel(BaseModel):
    """A blood panel."""

    ALB: float
    ALP: float
    ALT: float
    AST: float
    BIL: float
    CHE: float
    CHOL: float
    CREA: float
    GGT: float
    PROT: float


class Question(BaseModel):
    """One person."""

    instance: Panel


class Prediction(BaseModel):
    """The decision, and the score of the healthy side."""

    label: str
    score: float
    favourable: bool


def create_app() -> FastAPI:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(os.environ["BENCH_MODEL"], options, providers=["CPUExecutionProvider"])
    app = FastAPI()

    @app.get("/readyz")
    def readyz() -> dict[str, str]:
        return {"status": "ready"}

    @app.post("/predictions")
    def predictions(question: Question) -> Prediction:
        row = np.array([list(question.instance.model_dump().values())], dtype=np.float32)
        (scores,) = session.run(["probabilities"], {"features": row})
        healthy = bool(scores[0, 1] > scores[0, 0])
        return Prediction(label=["hepatitis", "healthy"][healthy], score=float(scores[0, 1]), favourable=healthy)

    return app
