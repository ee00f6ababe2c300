"""Which operators are fused, and which of them a group has lost or won, told by hand."""

from __future__ import annotations

import pytest

from fusescope.analysis.compare.groups.fused import lost_and_won
from fusescope.analysis.compare.groups.graphs import Optimised, group_graphs
from fusescope.analysis.graph import Graph
from tests.releases.test_changes import NCHWC, graph

# x @ w + bias, then an activation of two operators, and a pool that never changes
MODEL = graph(
    ("MatMul", "x", "a"),
    ("Add", "a", "b"),
    ("Erf", "b", "c"),
    ("Mul", "c", "d"),
    ("Pool", "d", "y"),
)
POOL = ("Pool", "d", "y")
BIAS_GELU = graph(("MatMul", "x", "a"), ("BiasGelu", "a", "d"), POOL)
GEMM_GELU = graph(("Gemm", "x", "b"), ("Gelu", "b", "d"), POOL)
GEMM_QUICK = graph(("Gemm", "x", "b"), ("QuickGelu", "b", "d"), POOL)
GEMM = graph(("Gemm", "x", "b"), ("Erf", "b", "c"), ("Mul", "c", "d"), POOL)
ONE = graph(("FusedGemm", "x", "d"), POOL)
RENAMED = graph(
    ("MatMul", "x", "a"), ("Add", "a", "b"), ("Erf2", "b", "c"), ("Mul", "c", "d"), POOL
)
BLOCKED = graph(("Gemm", "x", "b"), ("Gelu", "b", "d"), ("Pool", "d", "y", NCHWC))


@pytest.mark.parametrize(
    ("before", "after", "lost", "won"),
    [
        # the bias is no longer added inside; both ways round something is gone
        (BIAS_GELU, GEMM_GELU, {"BiasGelu": 1}, {"Gemm": 1, "Gelu": 1}),
        (GEMM_GELU, BIAS_GELU, {"Gemm": 1, "Gelu": 1}, {"BiasGelu": 1}),
        # Gelu comes apart, and comes together
        (GEMM_GELU, GEMM, {"Gelu": 1}, {}),
        (GEMM, GEMM_GELU, {}, {"Gelu": 1}),
        # one for the same two operators
        (GEMM_GELU, GEMM_QUICK, {}, {}),
        # what is gone is in a larger one; what comes out of it is fused, too
        (GEMM_GELU, ONE, {}, {"FusedGemm": 1}),
        (ONE, GEMM_GELU, {"FusedGemm": 1}, {"Gemm": 1, "Gelu": 1}),
        # another type for one operator is not a fusion, another layout is
        (MODEL, RENAMED, {}, {}),
        (GEMM_GELU, BLOCKED, {}, {"Pool": 1}),
        (BLOCKED, GEMM_GELU, {"Pool": 1}, {}),
    ],
)
def test_what_is_lost_and_won(
    before: Graph, after: Graph, lost: dict[str, int], won: dict[str, int]
) -> None:
    fusion = group_graphs(MODEL, Optimised(before), Optimised(after))
    found = [lost_and_won(group, fusion.fused) for group in fusion.groups]
    assert {name: count for one, _ in found for name, count in one.items()} == lost
    assert {name: count for _, one in found for name, count in one.items()} == won


def test_which_operators_are_fused() -> None:
    fusion = group_graphs(MODEL, Optimised(None), Optimised(BLOCKED))
    assert fusion.fused == (frozenset(), {"Gemm_b", "Gelu_d", "Pool_y"})
