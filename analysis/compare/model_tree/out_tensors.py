"""Operators that write into a tensor that they are given, beside the same ones that make it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from fusescope.analysis.compare.model_tree.paths import Step

_BETWEEN = "; "  # the shapes of two inputs
Steps = tuple[Step, ...]


def without_out_tensors(sides: Sequence[Sequence[Steps]]) -> list[list[Steps]]:
    """Return the steps of the operators of both sides, those that differ in one last input alone as
    the same, without it. PyTorch writes the tensor that `out=` names behind the inputs, and
    compiled code gives one to each matrix product. A step is changed only where the other side
    never runs it, where its own side never runs the shorter one, and where one alone leads there.
    """
    known = [set(of_side) for of_side in sides]
    return [
        [longer.get(steps, steps) for steps in of_side]
        for of_side, longer in zip(
            sides, (_shorter(known[0], known[-1]), _shorter(known[-1], known[0])), strict=False
        )
    ]


def _shorter(own: set[Steps], others: set[Steps]) -> dict[Steps, Steps]:
    """Return what stands for each of a side's own steps that has one input more than one of the
    other side."""
    found = {}
    for steps in own - others:
        kind, shapes = steps[-1]
        inputs, between, _ = shapes.rpartition(_BETWEEN)
        shorter = (*steps[:-1], (kind, inputs))
        if kind == "shapes" and between and shorter in others and shorter not in own:
            found[steps] = shorter
    leading = Counter(found.values())
    return {steps: shorter for steps, shorter in found.items() if leading[shorter] == 1}
