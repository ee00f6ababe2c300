"""PyTorch's traces whose records are wrong or missing: times, clocks, graphs, steps."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fusescope.analysis.doctor import examine
from fusescope.analysis.limits import MIB
from fusescope.analysis.metrics.device import device_use
from fusescope.analysis.metrics.step import step_of, why_no_step
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.report.exports.inspection import inspection
from fusescope.analysis.trace import Diagnostic, Trace
from fusescope.analysis.wording.diagnostics import diagnostic_sentence

HEADER = {
    "schemaVersion": 1,
    "deviceProperties": [{"id": 0, "name": "Toy GPU"}],
    "baseTimeNanoseconds": 1_700_000_000_000_000_000,
}


def event(cat: str, name: str, ts: float, dur: float, **args: Any) -> dict[str, Any]:
    lane = (0, 7) if cat == "kernel" else (100, 100)
    return {"ph": "X", "cat": cat, "name": name, "pid": lane[0], "tid": lane[1],
            "ts": ts, "dur": dur, "args": args}  # fmt: skip


def step(number: int, at: float) -> dict[str, Any]:
    return event("user_annotation", f"ProfilerStep#{number}", at, 100)


def launched(at: float, number: int, *, skew: float = 0) -> list[dict[str, Any]]:
    """Two operators, each with a kernel of 20 us 7 us after its call."""
    made = []
    for place, name in enumerate(("gemm", "relu")):
        ts, id_ = at + 20 * place, 10 * number + place
        made += [
            event("cpu_op", f"aten::{name}", ts - 3, 12, **{"External id": id_}),
            event("cuda_runtime", "cudaLaunchKernel", ts, 3, correlation=id_),
            event("kernel", name, ts + 7 + 5 * place - skew, 20, device=0, stream=7,
                  correlation=id_),
        ]  # fmt: skip
    return made


def graph(at: float, correlation: int, *kernels: float) -> list[dict[str, Any]]:
    call = event("cuda_runtime", "cudaGraphLaunch", at, 10, correlation=correlation)
    return [call, *(
        event("kernel", "qkv", at + 15 + 100 * place, dur, device=0, stream=7,
              correlation=correlation)
        for place, dur in enumerate(kernels)
    )]  # fmt: skip


def trace_of(events: list[dict[str, Any]]) -> Trace:
    data = json.dumps({**HEADER, "traceEvents": events}).encode()
    trace = read(Source("toy.pt.trace.json", data))
    assert isinstance(trace, Trace) and trace.meta.format == "kineto"
    return trace


def note(trace: Trace, code: str) -> Diagnostic:
    [found] = [one for one in trace.diagnostics if one.code == code]
    return found


def test_a_device_whose_clock_is_behind_is_moved_up_to_its_launches() -> None:
    trace = trace_of([each for number in (1, 2) for each in (
        step(number, 200 * number), *launched(200 * number + 8, number, skew=60),
    )])  # fmt: skip
    found = note(trace, "kernels_before_launch")
    assert (found.severity, found.count, found.values["by_ns"]) == ("warning", 4, 53_000)
    parts = step_of(trace)
    assert parts is not None and parts.computing_ns == 40_000
    use = device_use(trace)
    assert use is not None and use.idle == pytest.approx(0.6)
    assert trace.calls["start_ns"].tolist() == [208_000, 233_000, 408_000, 433_000]
    assert trace.meta.started_ns == 1_700_000_000_000_208_000


def test_steps_of_the_device_move_with_it() -> None:
    device = event("gpu_user_annotation", "ProfilerStep#1", 150, 60)
    device |= {"pid": 0, "tid": 7}
    trace = trace_of([device, *launched(208, 1, skew=60)])
    assert trace.runs["start_ns"].tolist() == [203_000]
    assert trace.calls["run"].tolist() == [0, 0]


def test_one_early_kernel_is_a_doubt_and_moves_nothing() -> None:
    events = [each for number in range(4) for each in launched(200 * number + 50, number)]
    events[2]["ts"] = 40  # launched at 50
    trace = trace_of(events)
    found = note(trace, "kernels_before_launch")
    assert found.count == 1 and found.values == {"by_ns": 10_000}
    assert trace.calls["start_ns"].min() == 40_000


def test_records_that_the_profiler_lost_are_counted_and_no_executions() -> None:
    lost = [event("kernel", "gemm", 0, 0, device=0, stream=7, correlation=70 + at)
            for at in range(2)]  # fmt: skip
    trace = trace_of([step(1, 200), *launched(208, 1), *lost])
    found = note(trace, "bad_time")
    assert found.count == 2 and str(found.example) == "event 7: gemm"
    assert trace.calls["dur_ns"].tolist() == [20_000, 20_000]
    assert trace.meta.started_ns == 1_700_000_000_000_215_000


def test_launches_of_graphs_without_kernels_leave_no_idle_time() -> None:
    events = [each for at in range(8) for each in (
        step(at, 200 * at), *graph(200 * at + 5, at + 1, *([80] if at < 2 else [])),
    )]  # fmt: skip
    trace = trace_of(events)
    found = note(trace, "graphs_unrecorded")
    assert (found.severity, found.count, found.values["of"]) == ("warning", 6, 8)
    use = device_use(trace)
    assert use is not None and use.idle is None and use.busy_ns == 80_000
    assert step_of(trace) is None and why_no_step(trace) == "kernels_missing"
    told = {answer.figure: answer for answer in examine(trace).answers}
    assert not told["dispatch_gap"].available
    assert told["dispatch_gap"].code == "kernels_missing"


def test_the_last_of_many_graphs_may_be_cut_off() -> None:
    events = [each for at in range(40) for each in (
        step(at, 200 * at), *graph(200 * at + 5, at + 1, *([80] if at < 39 else [])),
    )]  # fmt: skip
    trace = trace_of(events)
    assert note(trace, "graphs_unrecorded").count == 1
    use = device_use(trace)
    assert use is not None and use.idle == pytest.approx(0.2)


def test_the_share_of_graphs_is_said_and_their_kernels_have_no_operator() -> None:
    trace = trace_of([*launched(8, 1), *graph(205, 99, 100, 200, 60)])
    found = note(trace, "graphs_launched")
    assert found.count == 3 and found.values["share"] == pytest.approx(0.9)
    of = trace.operators.set_index("name")["launched_by"]
    assert of["gemm"] == "aten::gemm" and of.isna()["qkv"]


def test_kernels_whose_call_the_file_lacks_are_counted() -> None:
    """Two of four kernels have their call; a copy without one is no kernel."""
    lone = [event("kernel", "gemm", 255 + 25 * at, 20, device=0, stream=7, correlation=70 + at)
            for at in range(2)]  # fmt: skip
    copy = event("gpu_memcpy", "Memcpy HtoD", 320, 5, device=0, stream=7, correlation=80)
    trace = trace_of([step(1, 200), *launched(208, 1), *lone, copy])
    found = note(trace, "kernels_without_call")
    assert (found.severity, found.count) == ("info", 2)
    assert "launched 2 executions of kernels; copies and fills are" in diagnostic_sentence(found)
    whole = trace_of([step(1, 200), *launched(208, 1)])
    assert "kernels_without_call" not in {one.code for one in whole.diagnostics}
    none = trace_of([step(1, 200), *lone])  # launches are unknown: there are none to compare with
    assert "kernels_without_call" not in {one.code for one in none.diagnostics}


def test_steps_without_operators_are_no_profiled_runs() -> None:
    trace = trace_of([step(1, 200), *launched(208, 1), step(2, 400), step(3, 600),
                      *launched(608, 3)])  # fmt: skip
    facts = inspection(trace)
    assert (facts["runs"], facts["profiled_runs"], facts["operators"]) == (3, 2, 2.0)
    assert note(trace, "runs_untold").count == 1


def in_pairs(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same with a begin and an end for each timed event, in order of time."""
    marks = []
    for one in events:
        dur = one.pop("dur")
        marks.append({**one, "ph": "B"})
        end = {key: one[key] for key in ("name", "pid", "tid")}
        marks.append({**end, "ph": "E", "ts": one["ts"] + dur})
    return sorted(marks, key=lambda mark: mark["ts"])


def test_pairs_of_begin_and_end_are_the_events_that_they_are() -> None:
    def events() -> list[dict[str, Any]]:
        return [each for number in (1, 2) for each in (
            step(number, 200 * number), *launched(200 * number + 8, number),
        )]  # fmt: skip

    whole, halves = trace_of(events()), trace_of(in_pairs(events()))
    for column in ("start_ns", "dur_ns", "run", "stream"):
        assert halves.calls[column].tolist() == whole.calls[column].tolist()
    assert halves.operators["launched_by"].tolist() == ["aten::gemm", "aten::relu"]
    assert halves.runs["dur_ns"].tolist() == whole.runs["dur_ns"].tolist() == [100_000] * 2
    assert [note.code for note in halves.diagnostics] == [n.code for n in whole.diagnostics]


def test_a_pair_in_two_parts_of_a_large_file_is_joined() -> None:
    events = [each for number in range(9000) for each in launched(100 * number + 8, number)]
    events = in_pairs(events)
    assert len(json.dumps(events)) > 4 * MIB  # read in windows
    trace = trace_of(events)
    assert len(trace.calls) == 18_000 and trace.calls["dur_ns"].sum() == 18_000 * 20_000


def test_halves_of_pairs_and_begins_without_a_time_are_counted() -> None:
    events = in_pairs(launched(8, 1))
    events = [one for one in events if not (one["ph"] == "E" and one["name"] == "relu")]
    events.append({"ph": "B", "cat": "kernel", "name": "late", "pid": 0, "tid": 7, "ts": None})
    trace = trace_of(events)
    assert note(trace, "unpaired_events").count == 1 and note(trace, "bad_time").count == 1
    assert trace.calls["dur_ns"].tolist() == [20_000]


def test_times_as_text_are_exact_and_of_pytorch() -> None:
    events = [step(1, 200), *launched(208, 1)]
    for one in events:
        one["ts"] = f"{1_736_408_883_704_000 + one['ts']:.0f}.123"
    trace = trace_of(events)
    base = 1_736_408_883_704_000_123
    assert trace.calls["start_ns"].tolist() == [base + 215_000, base + 240_000]
    assert trace.runs["kind"].tolist() == ["step"]
