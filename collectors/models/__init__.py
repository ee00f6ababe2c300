"""ONNX models as files and graphs: shapes, inputs, external data, functions."""
