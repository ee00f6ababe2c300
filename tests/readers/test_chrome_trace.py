"""Chrome traces of tools that nobody knows: self times by thread, and saying that it is all."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.readers import read
from fusescope.analysis.readers.chrome_trace import CHROME_TRACE
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace


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


def label(pid: int, name: str, tid: int | None = None) -> dict[str, Any]:
    kind = "process_name" if tid is None else "thread_name"
    thread = {} if tid is None else {"tid": tid}
    return {"ph": "M", "pid": pid, "name": kind, "args": {"name": name}, **thread}


def test_a_named_end_ends_the_begin_of_its_name() -> None:
    trace = trace_of([
        event("prep", 0, ph="B"), event("exec", 8, ph="B"), event("prep", 10, ph="E"),
        event("exec", 108, ph="E"),
        event("inner", 200, ph="B"), event("other", 210, ph="E"), event("inner", 230, ph="E"),
    ])  # fmt: skip
    assert times(trace) == {"prep": 10_000, "exec": 100_000, "inner": 30_000}
    codes = {note.code: note.count for note in trace.diagnostics}
    assert codes["unpaired_events"] == 1  # `other`, which nothing began


def test_an_end_may_name_what_its_begin_does_not() -> None:
    trace = trace_of([event("", 0, ph="B"), event("late", 7, ph="E")])
    assert times(trace) == {"unnamed": 7_000}


def tensorflow_1() -> list[dict[str, Any]]:
    labels = ["/job:localhost/replica:0/task:0/device:GPU:0 Compute",
              "/device:GPU:0/stream:all Compute", "/device:GPU:0/stream:13 Compute",
              "/device:GPU:0/stream:14 Compute", "/device:GPU:0/memcpy Compute"]  # fmt: skip
    events = [label(pid, text) for pid, text in enumerate(labels)]
    for run in range(2):
        events.append(event("Conv2D", 100 * run, 50, pid=0))
        events += [event("Conv2D", 100 * run + 10, 30, pid=pid) for pid in (1, 2)]
        events += [event("MEMCPYHtoD", 100 * run + 45, 4, pid=pid) for pid in (3, 4)]
    return events


def test_streams_of_tensorflow_count_once_and_the_host_is_apart() -> None:
    trace = trace_of(tensorflow_1())
    assert trace.calls["dur_ns"].sum() == 68_000  # two kernels of 30 us, two copies of 4 us
    assert set(trace.calls["device"]) == {
        "/device:GPU:0/stream:13 Compute",
        "/device:GPU:0/stream:14 Compute",
    }
    codes = {note.code: note.count for note in trace.diagnostics}
    assert codes["lanes_repeat"] == 4 and codes["host_events"] == 2
    assert codes["unknown_events"] == 4


def jax(*, streams: bool = False, devices: int = 1) -> list[dict[str, Any]]:
    lines = ["Steps", "XLA Modules", "XLA Ops", "TensorFlow Ops"]
    lines += ["Stream #13(Compute)"] * streams
    events = [label(99, "/host:CPU"), label(99, "python", 1)]
    for pid in range(devices):
        events.append(label(pid, f"/device:TPU:{pid}"))
        events += [label(pid, text, tid) for tid, text in enumerate(lines)]
        for run in range(3):
            at = 100 * run + pid
            events += [event(str(run), at, 80, pid=pid, tid=0),
                       event("jit_step(1)", at + 5, 70, pid=pid, tid=1)]  # fmt: skip
            for name, start, dur in (("fusion.1", 5, 40), ("dot.2", 50, 25)):
                events.append(event(name, at + start, dur, pid=pid, tid=2))
                events.append(event("jit(f)/op", at + start, dur, pid=pid, tid=3))
                if streams:
                    events.append(event(f"{name}_kernel", at + start, dur - 5, pid=pid, tid=4))
    events += [event("PjitFunction", 100 * run, 90, pid=99, tid=1) for run in range(3)]
    return events


@pytest.mark.parametrize(("streams", "devices", "total"), [
    (False, 1, 195_000), (True, 1, 165_000), (False, 2, 390_000),
])  # fmt: skip
def test_lines_of_one_device_in_a_trace_of_jax_count_once(
    streams: bool, devices: int, total: int
) -> None:
    trace = trace_of(jax(streams=streams, devices=devices))
    assert trace.calls["dur_ns"].sum() == total
    assert trace.runs["kind"].tolist() == ["step"] * 3
    assert trace.runs["dur_ns"].tolist() == [80_000 + 1000 * (devices - 1)] * 3
    assert trace.calls.groupby("run")["dur_ns"].sum().tolist() == [total / 3] * 3
    assert set(trace.operators["level"]) == {"device_kernel"}
    codes = {note.code: note.count for note in trace.diagnostics}
    assert codes["host_events"] == 3


def test_on_a_cpu_what_xla_ran_counts_and_the_calls_around_do_not() -> None:
    trace = trace_of([
        label(1, "/host:CPU"), event("PjitFunction(f)", 0, 90),
        event("dot.3", 10, 20, tid=7, args={"hlo_op": "dot.3", "hlo_module": "jit_f"}),
    ])  # fmt: skip
    assert times(trace) == {"dot.3": 20_000}


def test_a_device_whose_lines_only_sum_up_leaves_what_there_is() -> None:
    trace = trace_of([label(1, "/device:TPU:0"), label(1, "Steps", 2), event("0", 0, 80),
                      event("call", 0, 90, pid=3)])  # fmt: skip
    assert times(trace) == {"0": 80_000, "call": 90_000}


def test_a_lane_as_busy_as_the_others_of_its_process_is_said() -> None:
    layers = [event(f"layer {n}", 100 * n, 100, tid="summary") for n in range(2)]
    kernels = [event(f"kernel_{n}", 50 * n, 50, tid="detail") for n in range(4)]
    trace = trace_of([*layers, *kernels])
    assert trace.calls["dur_ns"].sum() == 400_000  # nothing is left out that may be real
    note = next(note for note in trace.diagnostics if note.code == "lanes_cover")
    assert note.count == 1 and note.example == "summary"
    apart = trace_of([*layers, *kernels[:2]])
    assert "lanes_cover" not in {note.code for note in apart.diagnostics}
