"""Chrome traces of tools that nobody knows: self times by thread, and saying that it is all."""

from __future__ import annotations

import json
from typing import Any

import pytest

from analysis.errors import FuseScopeError
from analysis.readers import read
from analysis.readers.chrome_trace import CHROME_TRACE
from analysis.readers.input.source import Source
from analysis.trace import Trace


def event(name: str, ts: object, dur: object = None, ph: str = "X", **more: Any) -> dict[str, Any]:
    timed = {} if dur is None else {"dur": dur}
    return {"name": name, "ph": ph, "pid": 1, "tid": 2, "ts": ts, **timed, **more}


def trace_of(events: list[dict[str, Any]], *, as_object: bool = True) -> Trace:
    data = json.dumps({"traceEvents": events} if as_object else events).encode()
    trace = read(Source("unknown", data))
    assert isinstance(trace, Trace)
    return trace


def times(trace: Trace) -> dict[str, int]:
    names = trace.operators["name"].astype(str).to_numpy()[trace.calls["operator"]]
    return dict(zip(names, trace.calls["dur_ns"], strict=True))


@pytest.mark.parametrize("as_object", [True, False])
def test_events_count_with_the_time_that_others_inside_leave(as_object: bool) -> None:
    events = [event("step", 0, 100), event("conv_1", 10, 20.5), event("other", 10, 30, tid="io"),
              event("relu", "40.125", "1.5")]  # fmt: skip
    trace = trace_of(events, as_object=as_object)
    assert trace.meta.format == "chrome_trace"
    assert times(trace) == {"step": 78_000, "conv_1": 20_500, "relu": 1_500, "other": 30_000}
    assert sorted(trace.calls["span_ns"].dropna()) == [100_000]
    assert trace.runs["kind"].tolist() == ["file"]
    codes = {note.code: note.count for note in trace.diagnostics}
    assert codes == {"unknown_events": 4, "no_runs": 1}


def test_begin_and_end_are_paired_on_their_thread() -> None:
    trace = trace_of([
        event("outer", 0, ph="B"), event("inner", 10, ph="B"), event("", 15, ph="E"),
        event("elsewhere", 11, ph="B", tid=3), event("", 12, ph="E", tid=3),
        event("", 30, ph="E"), event("", 31, ph="E"), event("open", 32, ph="B"),
        event("async", 1, ph="b", id=1),
    ])  # fmt: skip
    assert times(trace) == {"outer": 25_000, "inner": 5_000, "elsewhere": 1_000}
    codes = {note.code: note.count for note in trace.diagnostics}
    assert codes["unpaired_events"] == 2 and codes["other_events"] == 1


def test_threads_and_processes_go_by_their_names() -> None:
    trace = trace_of([
        event("process_name", 0, ph="M", args={"name": "worker"}),
        event("thread_name", 0, ph="M", args={"name": "compute"}),
        event("thread_name", 0, ph="M", args={"name": 3}, tid=4),
        event("a", 1, 2), event("b", 1, 2, tid=4), event("c", 1, 2, pid=9),
    ])  # fmt: skip
    lanes = list(zip(trace.calls["device"], trace.calls["stream"], strict=True))
    assert lanes == [("worker", "compute"), ("worker", "4"), ("9", "2")]


def test_numbers_at_the_end_of_names_make_no_types() -> None:
    names = ["fusion.12", "fusion", "conv_1", "Relu6", "Memcpy HtoD (Host -> Device)", "12"]
    trace = trace_of([event(name, place, 1) for place, name in enumerate(names)])
    types = ["fusion", "fusion", "conv", "Relu6", "Memcpy HtoD", "12"]
    assert trace.operators["op_type"].tolist() == types


@pytest.mark.parametrize("bad", [{"dur": -1}, {"dur": "x"}, {"ts": None}, {"dur": False}])
def test_events_without_a_valid_time_are_dropped_and_counted(bad: dict[str, Any]) -> None:
    trace = trace_of([event("a", 1, 2), {**event("b", 1, 2), **bad}])
    assert times(trace) == {"a": 2000}
    assert "bad_time" in {note.code for note in trace.diagnostics}


def test_times_at_the_edge_of_64_bits_overflow_nowhere() -> None:
    most, year = 2**61 // 1000 - 1, 2**55 // 1000 - 1
    events = [event("a", -most, year), event("b", most, year), event("c", 2**61 // 1000 + 1, 1)]
    trace = trace_of([*events, event("B", most, ph="B"), event("", most, ph="E")])
    assert trace.runs["dur_ns"].tolist() == [2**62]  # no longer run is told
    assert {note.code: note.count for note in trace.diagnostics}["bad_time"] == 1
    assert times(trace)["a"] == year * 1000


def test_no_timed_events_is_one_sentence() -> None:
    with pytest.raises(FuseScopeError, match="any events with times"):
        trace_of([event("a", 1, ph="i")])


def test_a_million_open_begins_are_bounded() -> None:
    trace = trace_of([event("a", place, ph="B") for place in range(50_000)] + [event("b", 1, 2)])
    assert {note.code: note.count for note in trace.diagnostics}["unpaired_events"] == 50_000


def test_sniff_wants_events_with_a_phase() -> None:
    sniff = CHROME_TRACE.sniff
    assert sniff(b'[{"ph":"X"') and sniff(b' {"a": 1, "traceEvents" : [')
    for other in (b"{}", b"[]", b'[{"name": "Conv", "timeMs": 1}]', b'{"layers": []}', b"ph,X"):
        assert not sniff(other)
