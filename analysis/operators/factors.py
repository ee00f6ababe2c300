"""Factors of a matrix product, by the shapes of its inputs."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from fusescope.analysis.graph import tensor_bytes
from fusescope.analysis.operators.flops import parse_shapes

_TYPE = re.compile(r"([a-z]+\d+(?:_?e\dm\d\w*)?)\[")


@dataclass(frozen=True)
class Factors:
    """One product [rows, inputs] x [inputs, outputs] of numbers of `item_bytes` each."""

    rows: int
    inputs: int
    outputs: int
    item_bytes: float

    @property
    def flops(self) -> int:
        """Return its operations: 2 · rows · inputs · outputs."""
        return 2 * self.rows * self.inputs * self.outputs

    @property
    def weight_bytes(self) -> float:
        """Return the bytes of its weight, which it reads at least once."""
        return self.inputs * self.outputs * self.item_bytes

    @property
    def intensity(self) -> float:
        """Return its operations / the bytes of both factors and the result, in FLOP/B."""
        results = self.rows * (self.inputs + self.outputs) * self.item_bytes
        return self.flops / (self.weight_bytes + results)


def factors_of(inputs: str) -> Factors | None:
    """Return the factors of a product by the shapes of its inputs, behind those of a bias; None
    unless they fit, and of a product of nothing."""
    shapes = [shape for shape in parse_shapes(inputs) if len(shape) >= 2]
    item = _TYPE.search(inputs)
    if len(shapes) < 2 or len(shapes[-1]) != 2 or item is None:
        return None
    rows, weight = shapes[-2], shapes[-1]
    if rows[-1] not in weight or min(*rows, *weight) < 1:
        return None
    ins, outs = weight if rows[-1] == weight[0] else weight[::-1]
    item_bytes = tensor_bytes(item[1].replace("_", ""), (1,))
    return Factors(math.prod(rows[:-1]), ins, outs, item_bytes) if item_bytes else None
