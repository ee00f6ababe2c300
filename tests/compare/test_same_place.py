"""Kernels whose launch a file lacks: of the operator that stands at their place in other runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.advice.explanation import explain_trace
from fusescope.analysis.advice.sides import advised
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.joining.same_place import same_place, with_launchers
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.metrics.breakdown import by_operator
from fusescope.analysis.report.exports.inspection import inspection
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording.diagnostics import diagnostic_sentence
from fusescope.analysis.wording.fusion.ungrouped import ungrouped_title
from tests.step_traces import Kernel, steps_of

FLASH = Kernel("flash_fwd_kernel", 80, "attention", by="flash_attn::forward")
NORM = Kernel("layer_norm_kernel", 10, "normalisation", by="aten::layer_norm")
LAUNCHED = (NORM, FLASH, NORM)
BEGUN = (replace(NORM, by=None), replace(FLASH, by=None), NORM)  # before the file begins


def compared(before: Trace, after: Trace) -> Comparison:
    return compare(side_of_trace(before), side_of_trace(after))


def changes(comparison: Comparison) -> dict[str, float]:
    """The change of each pattern of the ledger, in ns."""
    patterns = comparison.ledger.patterns
    return dict(zip(patterns["pattern"], -patterns["gain_ns"], strict=True))


def test_a_kernel_without_a_launch_counts_as_what_the_other_runs_have_there() -> None:
    """4 ns a run more; of four runs, a quarter of 80 us would be missing before."""
    slower = (NORM, replace(FLASH, us=80.004), NORM)
    comparison = compared(steps_of([BEGUN] + [LAUNCHED] * 3), steps_of([slower] * 4))
    found = changes(comparison)
    assert found["flash_fwd_kernel"] == 4 and found["layer_norm_kernel"] == 0
    assert comparison.ledger.reconciliation.ungrouped_ns == 0
    notes = {note.code: note.count for note in comparison.baseline.trace.diagnostics}
    assert notes["launchers_by_place"] == 2


def test_what_is_in_a_file_counts_it_as_everything_else_does() -> None:
    """Four runs of 10 + 80 + 10 us, of one of which two have no launch and so no op type."""
    trace = steps_of([BEGUN] + [LAUNCHED] * 3)
    types = trace.operators["name"].astype("object").where(trace.operators["launched_by"].notna())
    trace = replace(trace, operators=trace.operators.assign(op_type=types.astype("category")))
    raw = trace.calls.groupby("operator")["n"].sum().tolist()
    assert sorted(raw) == [1, 1, 3, 7]
    rows = {row["op_type"]: row for row in inspection(trace)["by_type"]}
    told = {name: (row["count"], row["total_ns"]) for name, row in rows.items()}
    assert told == {"flash_fwd_kernel": (4, 320_000), "layer_norm_kernel": (8, 80_000)}


def test_where_no_run_is_like_it_a_kernel_stays_without_a_launch() -> None:
    other = (replace(NORM, by=None), replace(FLASH, by=None))  # of fewer kernels
    side = side_of_trace(steps_of([other] + [LAUNCHED] * 3))
    assert compared(side.trace, side.trace).baseline.trace.calls.equals(side.trace.calls)


def test_a_mean_over_units_counts_what_ran_in_each_of_them() -> None:
    """Four units with 80 us of attention each, of one unit launched before the file."""
    launches = [None, None] + [(1, 5.0 * at) for at in range(10)]
    found = explain_trace(steps_of([BEGUN] + [LAUNCHED] * 3, launches=launches))
    assert found is not None
    assert {one.op_class: one.ns for one in found.classes} == {
        "attention": 80_000,
        "normalisation": 20_000,
    }


@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=5), min_size=1, max_size=5))
def test_a_place_is_that_of_a_kernel_of_the_same_name_in_another_run(runs: list[list[int]]) -> None:
    kernels = [Kernel(f"kernel_{at}", 1, by="aten::op" if at % 2 else None) for at in range(4)]
    trace = steps_of([[kernels[at] for at in run] for run in runs])
    run_of = trace.calls["run"].to_numpy("int64")
    names = np.array(trace.texts("name"), dtype=object)[trace.calls["operator"].to_numpy()]
    unknown = np.arange(len(run_of)) % 3 == 0
    found = same_place(trace, unknown, run_of)
    for call in np.flatnonzero(found >= 0).tolist():
        like = int(found[call])
        assert unknown[call] and not unknown[like] and run_of[call] != run_of[like]
        assert names[call] == names[like]
    assert (found[~unknown] == -1).all()


def test_one_trace_counts_them_likewise() -> None:
    """Without it each operator had two rows, the one without launches on a quarter of the time."""
    side = advised(steps_of([BEGUN] + [LAUNCHED] * 3)).side
    table = by_operator(side.trace).set_index("name")
    assert table["per_run_ns"].to_dict() == {
        "flash_fwd_kernel": 80_000,
        "layer_norm_kernel": 20_000,
    }


def test_what_ran_only_outside_of_runs_is_in_no_count_of_operators() -> None:
    """Without a launch they are other operators, of which no table has a line."""
    trace = steps_of([BEGUN[:2], LAUNCHED, LAUNCHED])
    run = trace.calls["run"].mask(trace.calls["run"] == 0)
    runs = trace.runs[trace.runs["run"] > 0].reset_index(drop=True)
    side = side_of_trace(replace(trace, calls=trace.calls.assign(run=run), runs=runs))
    comparison = compare(side, side)
    assert len(comparison.operators) == comparison.fusion.original_nodes == 2
    codes = {note.code for note in comparison.diagnostics}
    assert comparison.ledger.ungrouped.empty and "inferred_without_partner" not in codes


def test_the_note_counts_operators_in_no_group_as_the_heading_does() -> None:
    """Two kernels of one name over other shapes, and one more, have no partner: two operators by
    name. A collective is counted apart."""
    kept = Kernel("gemm", 50, "matrix_product")
    talk = Kernel("ncclDevKernel_AllReduce", 25, "communication")
    lone = [Kernel("sort", 9, "other", inputs=f"float32[{n}]") for n in (8, 16)]
    before = steps_of([[kept, *lone, Kernel("scan", 5, "reduction"), talk]] * 2)
    comparison = compare(side_of_trace(before), side_of_trace(steps_of([[kept, talk]] * 2)))
    reasons = list(comparison.ledger.ungrouped["reason"])
    (note,) = [n for n in comparison.diagnostics if n.code == "inferred_without_partner"]
    talking = reasons.count("communication")
    assert note.count == len(reasons) - talking == 2
    assert ungrouped_title(reasons).startswith("2 operators in no group")


def test_a_copy_without_a_launch_is_an_execution_and_no_kernel() -> None:
    """A kernel and a copy have no launch in the first step, and have one in the second."""
    copy = Kernel("Memcpy DtoD", 10, "copy")
    begun = [Kernel("gemm", 50, "matrix_product"), copy]
    launched = [replace(begun[0], by="aten::mm"), replace(copy, by="aten::copy_")]
    trace = with_launchers(steps_of([begun, launched]))
    (note,) = [note for note in trace.diagnostics if note.code == "launchers_by_place"]
    assert note.count == 2
    said = diagnostic_sentence(note)
    assert said.startswith("2 executions (of kernels, copies and fills) without a launch")
