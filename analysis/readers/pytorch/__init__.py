"""PyTorch's profiler: Kineto traces."""
