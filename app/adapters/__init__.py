"""The world outside: model and range files, and ONNX Runtime."""
