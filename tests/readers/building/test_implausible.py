"""Times of a device that cannot be true: records without time, ends after the next begin."""

from __future__ import annotations

from typing import Any

import pytest

from fusescope.analysis.readers.building.trace_tables import build_trace
from fusescope.analysis.trace import Diagnostic, Meta, Trace
from fusescope.analysis.wording import diagnostic_sentence

META = Meta(format="test", tool="test", file_name="t")
US = 1000


def made(*kernels: tuple[str, int, int], **more: Any) -> Trace:
    """Kernels of one stream with name, start and duration in us."""
    count = len(kernels)
    columns: dict[str, Any] = {
        "name": [name for name, _, _ in kernels],
        "level": ["device_kernel"] * count,
        "stream": ["7"] * count,
        "start_ns": [start * US for _, start, _ in kernels],
        "dur_ns": [dur * US for _, _, dur in kernels],
    }
    return build_trace(META, columns | more)


def notes(trace: Trace, code: str) -> list[Diagnostic]:
    return [note for note in trace.diagnostics if note.code == code]


STEPS = [kernel for at in (200, 400, 600) for kernel in (("gemm", at, 20), ("relu", at + 25, 20))]
STALLED = [*STEPS, ("gemm", 815, 1_600_000), ("relu", 840, 20)]


def test_an_end_long_after_the_next_begin_is_cut_there() -> None:
    trace = made(*STALLED)
    assert trace.calls["dur_ns"].sum() == 165 * US  # 3 x 40, 25 up to the next begin, and 20
    [note] = notes(trace, "durations_impossible")
    assert (note.severity, note.count, str(note.example)) == ("warning", 1, "row 7: gemm")
    assert note.values["cut_ns"] == (1_600_000 - 25) * US
    assert "1 execution ends after the next one" in diagnostic_sentence(note)
    assert trace.runs["dur_ns"].tolist() == [660 * US]  # the file ends when its last kernel does


def test_the_order_of_rows_does_not_matter() -> None:
    assert made(*reversed(STALLED)).calls["dur_ns"].sum() == 165 * US


@pytest.mark.parametrize("kernels", [
    [*STEPS, ("once", 815, 1_600_000), ("relu", 840, 20)],  # nothing says how long it takes
    [("gemm", 0, 1_500_000), ("gemm", 1_600_000, 1_600_000), ("relu", 1_600_025, 20)],
])  # fmt: skip
def test_what_may_be_true_is_a_doubt_and_stays(kernels: list[tuple[str, int, int]]) -> None:
    trace = made(*kernels)
    assert trace.calls["dur_ns"].sum() == sum(dur for _, _, dur in kernels) * US
    [note] = notes(trace, "durations_impossible")
    assert "cut_ns" not in note.values and note.severity == "warning"


@pytest.mark.parametrize("more", [
    {"level": ["framework_op"] * 8},
    {"stream": [None] * 8},
    {"stream": [str(at) for at in range(8)]},
    {"is_communication": [True] * 8},
    {"op_class": ["communication"] * 8},
    {"n": [2] * 8},
])  # fmt: skip
def test_where_executions_may_overlap_nothing_is_said(more: dict[str, Any]) -> None:
    trace = made(*STALLED, **more)
    assert not notes(trace, "durations_impossible")
    assert trace.calls["dur_ns"].max() == 1_600_000 * US


def test_many_of_them_are_several_devices_told_as_one() -> None:
    long = [("gemm", at, 50_000) for at in range(0, 1000, 10)]
    short = [("gemm", at + 5, 1) for at in range(0, 1000, 10)]
    trace = made(*long, *short)
    assert not notes(trace, "durations_impossible")
    assert notes(trace, "streams_overlap")


def test_kernels_that_begin_a_little_early_are_as_they_are() -> None:
    """Programmatic dependent launch: the next kernel begins in the second half of the last one."""
    trace = made(("gemm", 0, 300), ("gemm", 160, 300), ("relu", 900, 20))
    assert not notes(trace, "durations_impossible")
    assert trace.calls["dur_ns"].tolist() == [300 * US, 300 * US, 20 * US]


def test_records_without_times_are_no_executions() -> None:
    trace = made(*STEPS, ("gemm", 0, 0), ("gemm", 0, 0))
    assert len(trace.calls) == 6
    [note] = notes(trace, "bad_time")
    assert note.count == 2 and str(note.example) == "row 7: gemm"


@pytest.mark.parametrize("kernels", [
    [("a", 0, 0), ("b", 0, 5)],  # the file counts from its first kernel
    [("a", 5, 0), ("b", 9, 5)],  # whole microseconds
])  # fmt: skip
def test_short_kernels_stay(kernels: list[tuple[str, int, int]]) -> None:
    trace = made(*kernels)
    assert len(trace.calls) == 2 and not notes(trace, "bad_time")


def test_operators_of_a_host_may_begin_at_0() -> None:
    trace = made(("a", 0, 0), ("b", 9, 5), level=["framework_op"] * 2)
    assert len(trace.calls) == 2
