"""The outside world: files of models, ranges and keys, ONNX Runtime, and the machine."""
