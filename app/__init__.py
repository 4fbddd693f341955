"""Flipset: every minimal set of changes that turns a model's decision."""

import os

__version__ = "0.1.0"

# Left to itself, ONNX Runtime sends what it does to its maker, the texts of errors included, which quote the instance.
# It looks at this once, when it is first imported; whatever else of this package comes first, this comes before it.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
