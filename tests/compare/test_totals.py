"""Which total is which: the times of a run beside each other, computed by hand."""

from __future__ import annotations

from analysis import wording
from analysis.compare import compare
from analysis.compare.choice import choose_sides
from analysis.compare.totals import Total, totals
from analysis.readers import read
from analysis.readers.source import Source
from tests.factories import FUSED_OPERATORS, UNFUSED_OPERATORS, experiment_zip, profile_json


def test_times_of_a_recording() -> None:
    # Blocks of 10.0 to 10.7 ms; both copies of the baseline, the second 0.01 % slower or faster.
    data = experiment_zip({"unfused": [10.0 + b / 10 for b in range(8)], "fused": [5.0] * 8})
    comparison = compare(*choose_sides(read(Source("e.zip", data))))
    found = {total.kind: total for total in totals(comparison)}
    assert list(found) == ["latency", "mean_run", "profiled_run", "busy", "operator_sum"]
    assert found["mean_run"].candidate_ns == 5e6
    # 100 + 50 + 30 + 20 µs of operators in a run of 210 µs, 160 of 166 when fused.
    assert found["profiled_run"] == Total("profiled_run", 210_000.0, 166_000.0)
    assert found["busy"] == Total("busy", 200_000.0, 160_000.0)
    assert found["operator_sum"] == Total("operator_sum", 200_000.0, 160_000.0)
    assert wording.total_basis(found["latency"], comparison).startswith("un-profiled wall time")
    assert wording.totals_title(comparison) == (
        "Which time is which: 10.3 ms, 210 µs, 200 µs of the baseline"
    )


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
