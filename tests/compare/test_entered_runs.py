"""A file that does not mark its runs, cut into as many as its user says it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fusescope.analysis.charts.run_times import run_times
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.assumptions import Assumptions
from fusescope.analysis.compare.runs.entered import offered_runs, suggested_runs, with_entered_runs
from fusescope.analysis.compare.side import Side, side_of_trace
from fusescope.analysis.distribution import distribution
from fusescope.analysis.report.ledger import ledger_table
from fusescope.analysis.report.tables import operator_totals
from fusescope.analysis.trace import Meta, Trace, calls_frame, operators_frame, runs_frame
from fusescope.analysis.wording import light_work, totals_sentence

# Each call: operator, start and duration in ns.
Call = tuple[str, int, int]


def trace(calls: Sequence[Call], run_starts: Sequence[int] = (), *, n: int = 1) -> Trace:
    """One file; with `run_starts` each run ends where the next one begins, the last at 10,000."""
    names = sorted({name for name, _, _ in calls})
    ends = [*run_starts[1:], 10_000]
    runs = (
        runs_frame(
            run=range(len(run_starts)),
            kind=["step"] * len(run_starts),
            start_ns=list(run_starts),
            dur_ns=[end - start for start, end in zip(run_starts, ends, strict=True)],
            profiled=[True] * len(run_starts),
        )
        if run_starts
        else runs_frame(run=[0], kind=["file"], start_ns=[0], dur_ns=[10_000], profiled=[True])
    )
    of = [sum(start >= begin for begin in run_starts) - 1 if run_starts else 0
          for _, start, _ in calls]  # fmt: skip
    return Trace(
        meta=Meta("kineto", "PyTorch"),
        runs=runs,
        operators=operators_frame(operator=range(len(names)), name=names, op_type=names),
        calls=calls_frame(
            operator=[names.index(name) for name, _, _ in calls],
            run=of,
            start_ns=[start for _, start, _ in calls],
            dur_ns=[dur for _, _, dur in calls],
            n=[n] * len(calls),
        ),
    )


def model(run_starts: Sequence[int], scale: int = 1) -> list[Call]:
    """Per run: relu twice around a conv, back to back."""
    return [
        (name, start + at * scale, dur * scale)
        for start in run_starts
        for name, at, dur in (("relu", 0, 10), ("conv", 10, 100), ("relu", 110, 10))
    ]


UNMARKED = side_of_trace(trace([("setup", 0, 7), *model([100, 300, 700])]))
MARKED = side_of_trace(trace(model([0, 500, 1000, 1500, 2000], 2), [0, 500, 1000, 1500, 2000]))


def test_runs_begin_where_their_operators_do() -> None:
    side = with_entered_runs(UNMARKED, 3)
    runs = side.trace.runs
    # What ran before the first run belongs to it. Calls of runs end at 220, 420 and 820: 80 and
    # 280 are idle behind them, so 180 behind the last.
    assert list(runs["start_ns"]) == [0, 300, 700]
    assert list(runs["dur_ns"]) == [300, 400, 300]
    assert list(side.trace.calls["run"]) == [0, 0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert [(d.code, d.count) for d in side.trace.diagnostics] == [("runs_entered", 3)]
    assert UNMARKED.trace.runs["kind"].tolist() == ["file"]


def test_what_ran_in_one_run_alone_does_not_move_the_others() -> None:
    """A search for the fastest kernel, in the first run, happens to have as many calls as runs."""
    search = [("search", 101, 2), ("search", 104, 2), ("search", 107, 2)]
    side = with_entered_runs(side_of_trace(trace([*search, *model([100, 300, 700])])), 3)
    assert list(side.trace.runs["start_ns"]) == [100, 300, 700]
    assert list(side.trace.runs["dur_ns"]) == [200, 400, 300]
    assert list(side.trace.calls["run"]) == [0] * 6 + [1] * 3 + [2] * 3


def test_where_operators_do_not_agree_there_is_one_average_run() -> None:
    """Half of the time says that a run begins up to 300, half that it begins from 302."""
    calls = [("a", 100, 100), ("a", 300, 100), ("b", 301, 100), ("b", 305, 100)]
    side = with_entered_runs(side_of_trace(trace(calls)), 2)
    assert side.trace.runs["dur_ns"].tolist() == [200]
    assert side.trace.diagnostics[-1].code == "runs_averaged"


def test_a_file_that_marks_its_runs_keeps_them() -> None:
    assert with_entered_runs(MARKED, 3) is MARKED
    assert with_entered_runs(UNMARKED, None) is UNMARKED


def test_a_file_can_be_one_run() -> None:
    side = with_entered_runs(UNMARKED, 1)
    assert side.trace.runs[["start_ns", "dur_ns"]].values.tolist() == [[0, 820]]
    assert compare(side, MARKED).verdict.of == "run_span"


@pytest.mark.parametrize("how", ["totals", "no_starts"])
def test_without_times_of_their_own_there_is_one_average_run(how: str) -> None:
    calls = model([100, 300, 700])
    whole = trace(calls, n=2 if how == "totals" else 1)
    if how == "no_starts":
        whole.calls["start_ns"] = whole.calls["start_ns"].mask(whole.calls["start_ns"] > 0)
    side = with_entered_runs(side_of_trace(whole), 3)
    times = dict(zip(side.trace.calls["operator"], side.trace.calls["dur_ns"], strict=True))
    assert times == {0: 100, 1: 20}
    assert side.trace.runs["dur_ns"].tolist() == [sum(times.values())]
    assert side.trace.diagnostics[-1].code == "runs_averaged"
    comparison = compare(side, MARKED)
    assert comparison.verdict.of == "kernel_sum"  # never its sum against the other's span
    assert comparison.verdict.interval is None


def test_the_calls_suggest_how_many_runs_there_are() -> None:
    assert suggested_runs(UNMARKED.trace, MARKED.trace) == 3
    assert suggested_runs(UNMARKED.trace, UNMARKED.trace) == 3  # from what divides 6 and 3
    once = trace([("conv", 0, 10), ("relu", 20, 10)])
    assert suggested_runs(once, once) is None
    assert offered_runs(compare(UNMARKED, MARKED)) == {"baseline": 3}
    known = compare(UNMARKED, MARKED)
    two = replace(known, verdict=replace(known.verdict, reason="different_models"))
    assert offered_runs(two) == {}  # runs would tell nothing either
    assert offered_runs(compare(MARKED, UNMARKED)) == {"candidate": 3}
    assert offered_runs(compare(MARKED, MARKED)) == offered_runs(compare(UNMARKED, UNMARKED)) == {}


def test_a_comparison_with_entered_runs_is_of_runs_and_says_what_it_rests_on() -> None:
    unknown = compare(UNMARKED, MARKED)
    assert unknown.verdict.reason == "runs_unknown"
    assert not unknown.ledger.has_gains and not unknown.has_changes
    assert not unknown.operators["delta_ns"].notna().any()  # a whole file against one run
    assert light_work(unknown) == "" and run_times(unknown) is distribution(unknown) is None
    told = totals_sentence(unknown)  # no arrow and no change
    assert "→" not in told and "(whole file)" in told and "(per run)" in told
    assert ledger_table(unknown) is None and operator_totals(unknown)[2] == "–"
    comparison = compare(UNMARKED, MARKED, Assumptions(runs=(3, None)))
    assert comparison.verdict.reason != "runs_unknown" and comparison.verdict.speedup is not None
    assert {d.code for d in comparison.diagnostics} & {"runs_entered", "runs_unknown"} == {
        "runs_entered"
    }
    latency = comparison.figure("latency")
    assert (latency.baseline.basis, latency.candidate.basis) == ("assumed", "measured")
    gains = comparison.ledger.rows.set_index("pattern")["gain_ns"]
    assert gains["conv"] == 100 - 200


CUTS = (
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 30)), min_size=1, max_size=8),
    st.lists(st.integers(0, 50), min_size=2, max_size=6),
    st.integers(1, 9),
)


@pytest.mark.exhaustive
@settings(max_examples=40)
@given(*CUTS)
def test_many_cuts_lose_no_time(body: list[tuple[str, int]], gaps: list[int], entered: int) -> None:
    test_cutting_loses_no_time.hypothesis.inner_test(body, gaps, entered)


@settings(max_examples=10)
@given(*CUTS)
def test_cutting_loses_no_time(body: list[tuple[str, int]], gaps: list[int], entered: int) -> None:
    calls: list[Call] = []
    at = 0
    for gap in gaps:
        at += gap
        for name, dur in body:
            calls.append((name, at, dur))
            at += dur
    side = side_of_trace(trace(calls))
    cut = with_entered_runs(side, len(gaps)).trace
    assert len(cut.runs) == len(gaps)
    per_run = cut.calls.groupby("run")["dur_ns"].sum()
    assert set(per_run) == {sum(dur for _, dur in body)}
    any_number = with_entered_runs(side, entered).trace
    assert (any_number.runs["dur_ns"] >= 0).all()
    if any_number.diagnostics[-1].code == "runs_entered":
        assert any_number.calls["dur_ns"].sum() == side.trace.calls["dur_ns"].sum()
        behind = int((any_number.runs["start_ns"] + any_number.runs["dur_ns"]).iloc[-1]) - at
        assert any_number.runs["dur_ns"].sum() == at - gaps[0] + behind
        assert 0 <= behind <= max(gaps)
    known = cut.runs["dur_ns"].iloc[-1] - sum(dur for _, dur in body)
    assert known == int(np.median(gaps[1:]))


def test_no_side_is_asked_about_twice() -> None:
    entered: Side = with_entered_runs(UNMARKED, 3)
    assert offered_runs(compare(entered, MARKED)) == {}
