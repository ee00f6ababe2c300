"""Kernels of a backward pass stand in the modules of the forward operators that they belong to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.explanation.explanation import Explanation
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.trace import Trace
from tests.module_traces import Launch, trace_of

LAYERS = 4


def training(grad_us: int, *, is_linked: bool = True) -> Trace:
    """Four layers forward, then their gradients from the last layer on, launched in no module; the
    products of attention take `grad_us` there, those of the MLP 60."""
    attention, mlp = ("Net_0", "Attention_0"), ("Net_0", "Mlp_0")
    forward = [
        Launch(modules, "aten::mm", ((64, 64), (64, 64)), 30, kernel)
        for _ in range(LAYERS)
        for modules, kernel in ((attention, "gemm_a"), (mlp, "gemm_m"))
    ]
    backward = [
        Launch((), "aten::mm", ((64, 64), (64, 64)), us, kernel)
        for _ in range(LAYERS)
        for us, kernel in ((60, "gemm_grad_m"), (grad_us, "gemm_grad_a"))
    ]
    trace = trace_of([*forward, *backward])
    stacks = trace.stacks
    assert stacks is not None
    names = trace.texts("name")
    called = trace.calls.set_index("source_row")["operator"]
    nodes = {}
    for row, node in zip(stacks.rows.tolist(), stacks.nodes.tolist(), strict=True):
        nodes.setdefault(names[called[row]], node)
    made_by = {"gemm_grad_a": "gemm_a", "gemm_grad_m": "gemm_m"}
    linked = [
        nodes[made_by[name]] if (name := names[called[row]]) in made_by else -1
        for row in stacks.rows.tolist()
    ]
    given = np.array(linked) if is_linked else None
    return replace(trace, stacks=replace(stacks, forward=given))


def explained(before: Trace, after: Trace) -> Explanation:
    found = compare(side_of_trace(before), side_of_trace(after)).explanation
    assert found is not None
    return found


def test_a_slower_gradient_is_told_with_the_module_of_its_forward_operator() -> None:
    """Four gradients of attention take 90 instead of 60 us: 120 us, in Net > Attention."""
    change = explained(training(60), training(90)).changes[0]
    assert change.change_ns == 120_000
    assert change.where[:2] == ("Net", "Attention")
    unlinked = explained(training(60, is_linked=False), training(90, is_linked=False)).changes[0]
    assert unlinked.change_ns == 120_000 and "Attention" not in unlinked.where
