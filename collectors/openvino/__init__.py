"""OpenVINO, in workers of its own environment: any ONNX model, compiled for the CPU."""
