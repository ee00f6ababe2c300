"""ONNX models as functions of JAX."""
