"""Models: what is read inside a graph, its features, and ONNX Runtime."""
