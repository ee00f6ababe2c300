"""MindSpore's profiler: on a CPU, and on any device before 2.4."""
