"""One trace by itself in words."""

from __future__ import annotations

from dataclasses import replace

from analysis.compare.side import side_of_trace
from analysis.trace import calls_frame
from analysis.wording.single import trace_facts
from tests.metrics.test_step import made


def test_mean_and_median_run_are_told_apart_where_they_differ() -> None:
    """Runs of 100, 400 and 200 ns: 233 on average, 200 in the bar and on the timeline."""
    calls = calls_frame(operator=[0] * 3, run=[0, 1, 2], start_ns=[0, 100, 500], dur_ns=[10] * 3)
    lengths = ([(0, 100), (100, 400), (500, 200)], [(0, 200), (200, 200), (500, 200)])
    uneven, even = (replace(made([(0, 0, 10)], runs), calls=calls) for runs in lengths)
    told = "Mean of the profiled runs; the median one, which the timeline shows, takes 200 ns."
    assert trace_facts(side_of_trace(uneven)).startswith(told)
    assert "Mean" not in trace_facts(side_of_trace(even))
