"""Program: an ONNX graph with its weights in a form that needs no onnx to be read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
import numpy as np

from fusescope.collectors.models.array import Array

_STEPS, _WEIGHTS = "program.msgpack", "weights.npz"


class Held(msgspec.Struct, frozen=True):
    """An attribute that is a tensor: its place among the weights."""

    place: int


Attribute = int | float | str | list[int | float | str] | Held


class Step(msgspec.Struct, frozen=True):
    """A node of the graph; `inputs` and `outputs` are names of tensors, '' for one that is left
    out. `graphs` says whether it has graphs of its own, which are not kept."""

    name: str
    op_type: str
    domain: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Attribute] = {}
    graphs: bool = False

    @property
    def operator(self) -> str:
        """As it is told: with its domain, where that is not ONNX's."""
        return f"{self.domain}.{self.op_type}" if self.domain else self.op_type


class Program(msgspec.Struct, frozen=True):
    """The steps in the order they run. `weights` are names, in the order of the arrays in the file
    beside it; behind them lie what attributes hold."""

    opset: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    steps: tuple[Step, ...]
    weights: tuple[str, ...]


def save(program: Program, weights: list[Array], folder: Path) -> None:
    """Writes both into the folder."""
    (folder / _STEPS).write_bytes(msgspec.msgpack.encode(program))
    np.savez(folder / _WEIGHTS, *weights)


def load(folder: Path) -> tuple[Program, Mapping[str, Array], list[Array]]:
    """The program, its weights by name, and the tensors that attributes hold, by place."""
    program = msgspec.msgpack.decode((folder / _STEPS).read_bytes(), type=Program)
    with np.load(folder / _WEIGHTS, allow_pickle=False) as archive:
        arrays = [archive[f"arr_{index}"] for index in range(len(archive.files))]
    return program, dict(zip(program.weights, arrays, strict=False)), arrays
