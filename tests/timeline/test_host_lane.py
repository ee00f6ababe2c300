"""The lane of the host: bars of idle time by cause, bounded, and the launches of calls."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.side import Side
from fusescope.analysis.host.idle import idle_by_host
from fusescope.analysis.report.timelines import drawing as report_drawing
from fusescope.analysis.timeline.drawing import Drawing, Layers
from fusescope.analysis.timeline.host_lane import MOST_BARS, MOST_PATH_CHARS, HostLane, idle_drawn
from fusescope.analysis.timeline.packing import Columns, json_text, whole_side
from fusescope.analysis.timeline.payload import texts, timeline_payload, trace_payload
from fusescope.analysis.timeline.question import Mark, Question
from fusescope.analysis.timeline.sums import sums
from fusescope.analysis.trace import Diagnostic, Trace
from tests.host.hosts import Call, Span, trace_of

# One thread loads data until 50, then launches two kernels; the second one waits for an allocation.
SPANS: list[Span] = [
    (0, "frame", "train.py(3): main", 0, 150),
    (0, "annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 5, 50),
    (0, "operator", "aten::mm", 55, 100),
    (0, "runtime", "cudaLaunchKernel", 56, 58),
    (0, "runtime", "cudaMalloc", 60, 95),
    (0, "runtime", "cudaLaunchKernel", 96, 99),
]
CALLS: list[Call] = [(60, 70, 0, 56), (110, 140, 0, 96)]


def traced() -> Trace:
    """The same from 1000 on, in one run of 200 ns."""
    spans: list[Span] = [(lane, kind, name, 1000 + a, 1000 + b) for lane, kind, name, a, b in SPANS]
    calls: list[Call] = [(1000 + a, 1000 + b, lane, 1000 + at) for a, b, lane, at in CALLS]
    return trace_of(spans, calls, [(1000, 1200)])


def without_host(trace: Trace) -> Trace:
    return replace(trace, host=None)


def lane_of(trace: Trace) -> HostLane:
    host = trace_payload(Side("a.json", trace))["sides"][0]["host"]
    assert isinstance(host, HostLane)
    return host


def test_idle_intervals_are_bars_by_cause_after_the_start_of_the_run() -> None:
    """Idle are 0 to 60, 70 to 110 and 140 to 200. Before data main runs, then 5 ns again; from the
    launch at 56 on the start is awaited. In the second gap cudaMalloc until 95, then the launch."""
    host = lane_of(traced())
    bars = host.shown(0, 200).bars
    told = [
        (host.causes[cause].kind, host.causes[cause].name, start, dur)
        for cause, start, dur in zip(
            bars["cause"].tolist(), bars["start_ns"].tolist(), bars["dur_ns"].tolist(), strict=True
        )
    ]
    assert told == [
        ("python", "train.py(3): main", 0, 5),
        ("data_loading", "DataLoader.__next__", 5, 45),
        ("python", "train.py(3): main", 50, 5),
        ("launching", "", 55, 5),
        ("allocation", "cudaMalloc", 70, 25),
        ("launching", "", 95, 15),
        ("python", "train.py(3): main", 140, 10),
        ("unknown", "", 150, 50),
    ]
    totals = host.totals
    assert totals["idle_ns"] == 160
    named = zip(*(totals["causes"][name] for name in ("kind", "ns", "count")), strict=True)
    assert set(named) == {
        ("unknown", 50, 1), ("data_loading", 45, 1), ("allocation", 25, 1), ("launching", 20, 2),
        ("python", 20, 2),
    }  # fmt: skip


def test_each_bar_has_the_stack_of_most_of_it() -> None:
    shown = lane_of(traced()).shown(0, 200)
    paths = [shown.paths[at - 1] if at else "" for at in shown.bars["path"].tolist()]
    assert paths[4] == "train.py(3): main › aten::mm › cudaMalloc"
    assert paths[7] == "", "nothing was on the stack"


def test_a_window_has_its_own_bars_alone() -> None:
    bars = lane_of(traced()).shown(65, 80).bars
    assert bars["start_ns"].tolist() == [70]


def test_each_call_says_how_long_before_its_start_it_was_launched() -> None:
    """Starts at 60 and 110, launched at 56 and 96; a launch after the start is none."""
    host = lane_of(traced())
    assert host.waits_ns is not None and host.waits_ns.tolist() == [4, 14]
    late = trace_of(SPANS, [(60, 70, 0, 56), (110, 140, 0, 120)], [(0, 200)])
    waits = lane_of(late).waits_ns
    assert waits is not None and waits.tolist() == [4, -1]
    assert lane_of(trace_of(SPANS, [(60, 70, None, 0)], [(0, 200)])).waits_ns is None


def test_without_a_host_nothing_of_what_is_sent_changes() -> None:
    """Of a trace without host activity there is no part for it, and what is left of one with it is
    the same byte for byte."""
    trace = without_host(traced())
    bare, whole = (trace_payload(Side("a.json", each)) for each in (trace, traced()))
    assert "host" not in bare["sides"][0] and "host" in whole["sides"][0]
    columns = Columns(as_text=True)
    packed = whole_side(whole["sides"][0], columns)
    packed.pop("host")
    assert json_text(packed | said(whole)) == json_text(
        whole_side(bare["sides"][0], Columns(as_text=True)) | said(bare)
    )
    assert b'host":' not in Drawing(Layers(bare), texts(bare)).base
    assert Drawing(Layers(bare), texts(bare)).id != Drawing(Layers(whole), texts(whole)).id


def said(payload: dict) -> dict:
    found: dict = texts(payload)["sides"][0]
    return found


def test_where_kernels_are_missing_nothing_is_called_idle() -> None:
    assert idle_drawn(traced(), 1000, 200) is not None
    note = Diagnostic("warning", "graphs_unrecorded", 5, values={"of": 10})
    assert idle_drawn(replace(traced(), diagnostics=(note,)), 1000, 200) is None
    assert idle_drawn(without_host(traced()), 1000, 200) is None


def behind_unrecorded_work() -> Trace:
    """A run of 1 ms from 1000 on: a kernel is launched at 10 µs and starts at 900 behind what was
    launched before the file began, until 950; the next is launched at 960 and runs from 970."""
    spans: list[Span] = [
        (0, "frame", "serve.py(3): main", 1000, 1_001_000),
        (0, "runtime", "cudaLaunchKernel", 9000, 11_000),
        (0, "runtime", "cudaLaunchKernel", 959_000, 961_000),
    ]
    calls: list[Call] = [
        (901_000, 951_000, 0, 11_000), (971_000, 1_001_000, 0, 961_000)
    ]  # fmt: skip
    return trace_of(spans, calls, [(1000, 1_001_000)])


def test_where_a_launched_kernel_waits_for_what_is_not_in_the_file_is_said() -> None:
    """Nothing that is in the file runs for 900 + 20 µs: for the 890 from its launch on the first
    kernel waits, and 10 + 20 are idle."""
    side = trace_payload(Side("a.json", behind_unrecorded_work()))["sides"][0]
    assert side["unrecorded"] == [[10_000, 900_000]]
    assert side["host"].totals["idle_ns"] == 30_000
    found = sums(side, 0, 1_000_000)
    assert found["busy"] + 890_000 + 30_000 == 1_000_000
    assert "unrecorded" not in trace_payload(Side("a.json", traced()))["sides"][0]


def many(count: int) -> Trace:
    """So many kernels of 5 ns every 10 ns, each waited for by its launch; a gap of 4000 in it."""
    calls: list[Call] = [
        (10 * i + (4000 if i > count // 2 else 0), 10 * i + 5 + (4000 if i > count // 2 else 0),
         0, 10 * i - 3 + (4000 if i > count // 2 else 0))
        for i in range(1, count)
    ]  # fmt: skip
    spans: list[Span] = [(0, "frame", "train.py(3): main", 0, 10 * count + 4000)]
    return trace_of(spans, calls, [(0, 10 * count + 4000)])


def test_of_many_intervals_a_bounded_number_is_sent_and_none_is_lost() -> None:
    host = lane_of(many(20_000))
    assert len(host.row) > 3 * MOST_BARS
    span = 10 * 20_000 + 4000
    shown = host.shown(0, span)
    bars, bins = shown.bars, shown.bins
    assert 0 < len(bars["start_ns"]) + len(bins["at"]) <= MOST_BARS
    assert bars["dur_ns"].max() == 4002, "the long one stands by itself"
    drawn = bars["dur_ns"].sum() + (bins["busy"] / 65_535 * 2**shown.level).sum()
    assert drawn == pytest.approx(host.totals["idle_ns"], rel=1e-3)
    close = host.shown(0, 5000)
    assert close.level == 0 and not len(close.bins["at"]), "closer up each one is there"


def test_names_and_stacks_are_bounded() -> None:
    name = "f" * 300 + "{}"
    spans: list[Span] = [(0, "frame", name.format(i), 10 * i, 10 * i + 9) for i in range(2000)]
    calls: list[Call] = [(10 * i + 8, 10 * i + 9, 0, 10 * i + 7) for i in range(2000)]
    host = lane_of(trace_of(spans, calls, [(0, 20_000)]))
    names = host.totals["causes"]["name"]
    assert len(names) <= 500 + 10 and max(map(len, names)) <= 200
    shown = host.shown(0, 20_000)
    assert 0 < sum(map(len, shown.paths)) <= MOST_PATH_CHARS


def test_an_answer_has_the_bars_of_its_window_and_the_launches_of_what_is_selected() -> None:
    payload = trace_payload(Side("a.json", traced()))
    drawing = Drawing(Layers(payload), texts(payload))
    mark = Mark(payload["sides"][0]["ops"]["row"][0], 0, 0)
    question = Question(drawing.id, 1, windows=((65, 80),), pixels=100, mark=mark)
    answer = drawing.answer(question)
    assert b'"waits"' in answer and b'"host"' in answer


def test_the_report_has_the_lane_of_both_sides() -> None:
    payload = timeline_payload(compare(Side("a.json", traced()), Side("b.json", traced())))
    assert report_drawing(payload).json.count('"bars":{"level"') == 2


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 30), st.integers(1, 9), st.integers(0, 20)), max_size=30),
    st.integers(0, 300),
    st.integers(1, 300),
)
def test_bars_are_the_idle_time_exactly(
    steps: list[tuple[int, int, int]], start: int, length: int
) -> None:
    """Bars never overlap, stand in order, and are as long as the idle time of the run."""
    calls: list[Call] = []
    spans: list[Span] = []
    at = 0
    for gap, dur, ago in steps:
        at += gap
        calls.append((at, at + dur, 0, max(0, at - ago)))
        spans.append((0, "operator", f"aten::{dur}", at - gap, at))
        at += dur
    if not calls:
        return
    trace = trace_of(spans, calls, [(0, at + 20)])
    host = lane_of(trace)
    found = idle_by_host(trace, np.array([0]), np.array([at + 20]))
    assert found is not None
    starts, ends = host.row.starts, host.row.starts + host.row.durs
    assert (starts[1:] >= ends[:-1]).all() and (host.row.durs > 0).all()
    assert host.row.durs.sum() == found.idle_ns == sum(host.totals_ns)
    shown = host.shown(start, start + length).bars
    inside = (ends > start) & (starts < start + length)
    assert shown["start_ns"].tolist() == starts[inside].tolist()


def test_the_lane_says_whether_a_device_is_idle_or_the_host_runs_no_operator() -> None:
    """A file of operators that run on the host has no device that could be idle."""
    trace = traced()
    level = trace.operators["level"].cat.rename_categories(lambda _: "operator")
    on_host = replace(trace, operators=trace.operators.assign(level=level))
    assert lane_of(trace).totals["on_device"] is True
    assert lane_of(on_host).totals["on_device"] is False


def test_time_before_the_first_kernel_of_a_stream_that_was_launched_is_not_idle() -> None:
    """A kernel of another stream ends at 10 us; that of stream 2 is launched at 20 us and starts at
    500: what it waits for is not in the file. A second one waits from 510 to 700 us, which is idle
    time, as is the start of the first after 3 us."""
    spans: list[Span] = [(0, "frame", "main", 0, 800_000)]
    spans += [(0, "runtime", "cudaLaunchKernel", at, at + 1_000) for at in (0, 19_000, 29_000)]
    calls: list[Call] = [
        (3_000, 10_000, 0, 1_000), (500_000, 510_000, 0, 20_000), (700_000, 710_000, 0, 30_000)
    ]  # fmt: skip
    trace = trace_of(spans, calls, [(0, 710_000)])
    streams = (["2", "2", "2"], ["1", "2", "2"])
    one, two = (
        trace.calls.assign(device=pd.Categorical(["0"] * 3), stream=pd.Categorical(each))
        for each in streams
    )
    idle = [lane_of(replace(trace, calls=each)).totals["idle_ns"] for each in (one, two)]
    assert idle == [3_000 + 490_000 + 190_000, 3_000 + 10_000 + 190_000]
