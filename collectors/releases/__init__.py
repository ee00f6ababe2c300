"""Releases of ONNX Runtime beside the installed one: which there are, where they lie, how they
come."""
