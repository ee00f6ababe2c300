"""Graphs of a device in PyTorch's traces: what is captured into them."""
