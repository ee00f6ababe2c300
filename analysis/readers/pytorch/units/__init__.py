"""Processes and devices in one trace of PyTorch, taken apart."""
