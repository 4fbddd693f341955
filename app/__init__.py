"""Flipset: every minimal set of changes that turns a model's decision."""

import os

__version__ = "0.1.0"

# Left to itself, ONNX Runtime sends what it does to its maker, the texts of errors included, which quote the instance.
# It looks at this once, when it is first imported; whatever else of this package comes first, this comes before it.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
# NumPy's products of matrices are many and small here. Spread over threads, each would wait for the others, and for
# whatever else the machine does: ten times as long on a busy one. Requests are what runs side by side.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
