"""NVIDIA's tools: Nsight Systems and TensorRT's trtexec."""
