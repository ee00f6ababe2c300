"""ONNX models for engines that have no ONNX: plain data, translated operator by operator."""
