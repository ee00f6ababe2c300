"""Group: operators of a model that one kernel can run, and the program that runs them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from fusescope.analysis.graph import Graph, Node, Tensor

STANDARD = ("", "ai.onnx")
FLOAT = "float32"
# Waking threads costs what one needs for some 4 MB in a cache, and a loop that moves data soon
# meets the memory's limit rather than the core's: two threads won nothing below 16 MB each.
GRAIN_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True)
class Program:
    """Source of a module with a function `kernel(*arrays, *numbers)`, see jobs.KernelCall;
    `scratch_floats` float32 values of scratch memory come before the numbers, if any."""

    source: str
    numbers: tuple[int, ...]
    scratch_floats: int = 0


class Group(Protocol):
    """`nodes` are in graph order; only `output`, which the last one writes, is read by others.

    `name` is what the profile calls the kernel, `op_name` its type. `operands` are the tensors that
    the kernel reads, each once; it may write its result over one of `replaceable`. `shape` is the
    output's. All are float32.
    """

    @property
    def nodes(self) -> tuple[Node, ...]: ...

    @property
    def name(self) -> str: ...

    @property
    def op_name(self) -> str: ...

    @property
    def operands(self) -> tuple[str, ...]: ...

    @property
    def replaceable(self) -> tuple[str, ...]: ...

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def output(self) -> str: ...

    def program(self, *, over: str, threads: int, grain_bytes: int = 0) -> Program:
        """The program that writes over the operand `over`, '' for a buffer of its own. A kernel
        that moves data is worth a further thread for each `grain_bytes`, 0 for GRAIN_BYTES."""
        ...


def known_float(tensor: Tensor | None) -> tuple[int, ...] | None:
    """Shape of a float32 tensor of known size with at least one value; None for others."""
    if tensor is None or tensor.dtype != FLOAT or tensor.shape is None:
        return None
    return tensor.shape if all(size > 0 for size in tensor.shape) else None


def shape_of(graph: Graph, name: str) -> tuple[int, ...] | None:
    """`known_float` of a tensor of the graph."""
    return known_float(graph.tensor.get(name))


def parts(values: int, operands: int, threads: int, grain_bytes: int) -> int:
    """In how many parts, one a thread, to run a kernel over that many values."""
    moved_bytes = 4 * values * (operands + 1)
    return min(threads, max(1, moved_bytes // (grain_bytes or GRAIN_BYTES)))


def size(shape: Iterable[int]) -> int:
    """Values of a tensor of that shape."""
    return math.prod(shape)
