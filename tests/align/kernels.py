"""Sequences of kernels for tests: a letter is a kernel, its class goes by the letter."""

from __future__ import annotations

import numpy as np

from fusescope.analysis.align.sequence import Kernel, Sequence

CLASSES = {
    "A": "attention",
    "G": "matrix_product",
    "N": "normalisation",
    "C": "communication",
    "?": "unknown",
}


def kernel(name: str, launcher: str = "") -> Kernel:
    """Return a kernel: 'G1' is a matrix product of the family G, 'x' is elementwise."""
    return Kernel(name, name[0] + "-kernel", CLASSES.get(name[0], "elementwise"), launcher)


def sequence(text: str, times: dict[str, int] | None = None) -> Sequence:
    """Return the sequence of kernels named in a text, 1000 ns each where `times` has no other."""
    names = text.split()
    distinct = list(dict.fromkeys(names))
    ids = np.array([distinct.index(name) for name in names], np.int64)
    durations = np.array([(times or {}).get(name, 1000) for name in names], np.int64)
    return Sequence(tuple(kernel(name) for name in distinct), ids, durations)
