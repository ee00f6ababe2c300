"""ONNX models as modules of torch."""
