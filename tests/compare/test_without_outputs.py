"""Traces that tell inputs and no outputs, as those of MindSpore in PyNative mode."""

from __future__ import annotations

import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.readers.building.trace_tables import build_trace
from fusescope.analysis.trace import Meta, Trace

CONV, NORM = "?[2,3,64,64]; ?[32,3,3,3]", "?[2,32,64,64]; ?[32]"


def trace(names: list[str], inputs: list[str | None], us: int, level: str) -> Trace:
    rows = {
        "name": names,
        "op_type": ["Conv2D", "BatchNorm", "ReLU"],
        "inputs": inputs,
        "level": [level] * 3,
        "dur_ns": [us * 1000, 4000, 1000],
        "source_row": [1, 2, 3],
    }
    return build_trace(Meta("mindspore_cpu", "MindSpore Profiler"), rows)


def both(level: str, norm: str = NORM) -> Comparison:
    pynative = trace(["Conv2D-op0", "BatchNorm-op0", "ReLU"], [CONV, NORM, None], 500, level)
    names = ["c/Conv2D-op0", "bn/BatchNorm-op0", "r/ReLU-op0"]
    graph = trace(names, [CONV, norm, "?[2,32,64,64]"], 300, level)
    return compare(side_of_trace(pynative), side_of_trace(graph))


def test_type_and_inputs_join_where_neither_side_tells_outputs() -> None:
    found = both("framework_op")
    assert [(len(g.baseline), g.known_by) for g in found.fusion.groups] == [(1, "inferred")] * 2
    assert found.ledger.reconciliation.groups_ns == -200_000
    # The ReLU of one side has no shapes: nothing says that it is the other one.
    assert set(found.ledger.ungrouped["name"]) == {"ReLU", "r/ReLU-op0"}
    matched = found.operators.set_index("name")["matched_by"].dropna().to_dict()
    assert set(matched.values()) == {"shape"} and len(matched) == 2


@pytest.mark.parametrize("level, norm", [("framework_op", "?[1,32,9,9]; ?[32]")])
def test_other_inputs_do_not_join(level: str, norm: str) -> None:
    assert len(both(level, norm).fusion.groups) == 1


def test_inputs_of_kernels_say_nothing_of_their_outputs() -> None:
    assert "shape" not in set(both("device_kernel").operators["matched_by"].dropna())
