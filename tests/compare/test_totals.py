"""Which total is which: the times of a run beside each other, computed by hand."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from fusescope.analysis import wording
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.compare.timing.verdict import without_change
from fusescope.analysis.compare.totals import Total, totals
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.report import cards
from fusescope.analysis.report.explanation.group_rows import group_rows
from fusescope.analysis.trace import Trace
from tests.factories import FUSED_OPERATORS, UNFUSED_OPERATORS, experiment_zip, profile_json


def test_times_of_a_recording() -> None:
    # Blocks of 10.0 to 10.7 ms; both copies of the baseline, the second 0.01 % slower or faster.
    data = experiment_zip({"unfused": [10.0 + b / 10 for b in range(8)], "fused": [5.0] * 8})
    comparison = compare(*choose_sides(read(Source("e.zip", data))))
    found = {total.kind: total for total in totals(comparison)}
    assert list(found) == [
        "latency", "mean_run", "profiled_run", "mean_profiled", "busy", "operator_sum",
    ]  # fmt: skip
    assert found["mean_run"].candidate_ns == 5e6
    # 100 + 50 + 30 + 20 µs of operators in a run of 210 µs, 160 of 166 when fused.
    assert found["profiled_run"] == Total("profiled_run", 210_000.0, 166_000.0)
    assert found["busy"] == Total("busy", 200_000.0, 160_000.0)
    assert found["operator_sum"] == Total("operator_sum", 200_000.0, 160_000.0)
    assert wording.total_basis(found["latency"], comparison).startswith("un-profiled wall time")
    assert wording.totals_title(comparison) == (
        "Which time is which: 10.3 ms, 210 µs and 200 µs of the baseline"
    )


def test_a_waterfall_of_mean_runs_is_not_said_to_add_up_to_the_typical_one() -> None:
    """Of a variant with copies of every result no typical runs are compared: the waterfall is of
    the mean run."""
    data = experiment_zip({"unfused": [10.0 + b / 10 for b in range(8)], "fused": [5.0] * 8})
    comparison = compare(*choose_sides(read(Source("e.zip", data))))
    [latency] = [total for total in totals(comparison) if total.kind == "latency"]
    assert "the waterfall adds up to" in wording.total_basis(latency, comparison)
    marked = replace(comparison, verdict=without_change(comparison.verdict, "marked"))
    assert wording.total_basis(latency, marked) == "un-profiled wall time: the typical run"
    rows = group_rows(marked)
    assert rows is not None
    [note] = rows.after
    assert "".join(part.text for part in note) == "These are times of operators as profiled."


def test_the_sum_is_that_of_the_tables_and_the_latency_that_of_the_card() -> None:
    files = [
        read(Source(name, profile_json(operators, runs=6)))
        for name, operators in (("a.json", UNFUSED_OPERATORS), ("b.json", FUSED_OPERATORS))
    ]
    comparison = compare(*choose_sides(*files))
    found = {total.kind: total for total in totals(comparison)}
    latency = comparison.figure("latency")
    assert found["latency"] == Total("latency", latency.baseline.value, latency.candidate.value)
    assert found["operator_sum"].baseline_ns == comparison.op_types["per_run_ns_baseline"].sum()


def with_slow_run(name: str, data: bytes, dur_ns: int) -> Trace:
    """The trace of a profile, as of a recording, whose last run took that long."""
    trace = read(Source(name, data))
    assert isinstance(trace, Trace)
    runs = trace.runs.copy()
    runs.loc[runs.index[-1], "dur_ns"] = dur_ns
    return replace(trace, runs=runs.assign(copy=pd.array([1] * len(runs), "Int64")))


def test_a_mean_gap_above_the_typical_run_says_that_it_is_a_mean() -> None:
    # 9 runs of 210 and 166 µs, a last one of 9 ms: 10 and 6 µs of gap, mean over a tenth of 9 ms.
    files = [
        with_slow_run(name, profile_json(operators, runs=10), 9_000_000)
        for name, operators in (("a.json", UNFUSED_OPERATORS), ("b.json", FUSED_OPERATORS))
    ]
    comparison = compare(*choose_sides(*files))
    gap, latency = comparison.figure("dispatch_gap"), comparison.figure("latency")
    assert gap.baseline.value is not None and latency.baseline.value is not None
    assert gap.baseline.value > latency.baseline.value
    told = "mean per run, including slow runs; latency is that of the typical run"
    assert wording.figure_detail(comparison, "dispatch_gap") == told
    rows = {row.code: row for row in cards.figures(comparison).rows}
    assert rows["dispatch_gap"].detail == told


def test_a_gap_of_several_runs_is_called_a_mean_and_of_one_run_nothing() -> None:
    for runs, told in ((9, "mean per run"), (1, "")):
        files = [
            read(Source(name, profile_json(UNFUSED_OPERATORS, runs))) for name in ("a.json", "b")
        ]
        comparison = compare(*choose_sides(*files))
        assert comparison.figure("dispatch_gap").is_known
        assert wording.figure_detail(comparison, "dispatch_gap") == told
