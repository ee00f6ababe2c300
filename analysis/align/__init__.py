"""Sequences of kernels in order: the repeats of one, and two of them side by side."""
