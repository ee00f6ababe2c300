"""Profilers of Ascend NPUs: torch_npu, MindSpore on an NPU, and msprof."""
