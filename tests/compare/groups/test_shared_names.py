"""One GPU kernel runs for many operators: groups tell them apart by row, not by name."""

from __future__ import annotations

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.readers.building.trace_tables import build_trace
from fusescope.analysis.timeline.payload import timeline_payload
from fusescope.analysis.trace import Meta, Trace

SHAPES = ("float32[8,8]", "float32[64,64]", "float32[512,512]")


def trace(name: str, dur_us: tuple[int, int, int]) -> Trace:
    """The kernel `add` on three shapes."""
    starts = [0, 1_000_000, 2_000_000]
    return build_trace(
        Meta("kineto", "test", file_name=name),
        {
            "name": ["add"] * 3,
            "op_type": ["elementwise_kernel<add>"] * 3,
            "inputs": list(SHAPES),
            "outputs": list(SHAPES),
            "start_ns": list(starts),
            "dur_ns": [us * 1000 for us in dur_us],
            "run": ["1"] * 3,
        },
    )


def test_each_shape_has_its_own_group_and_gain() -> None:
    comparison = compare(
        side_of_trace(trace("before", (10, 20, 40))), side_of_trace(trace("after", (9, 25, 10)))
    )
    assert len(comparison.fusion.groups) == 3
    rows = comparison.ledger.rows.sort_values("before_ns")
    assert rows["before_ns"].tolist() == [10_000, 20_000, 40_000]
    assert rows["gain_ns"].tolist() == [1_000, -5_000, 30_000]
    assert comparison.ledger.ungrouped.empty
    drawn = timeline_payload(comparison)["sides"][0]["ops"]["group"]
    assert len(set(drawn)) == 3 and None not in drawn
