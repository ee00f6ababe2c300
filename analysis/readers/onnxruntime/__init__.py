"""ONNX Runtime's own profiles."""
