"""msprof timelines: parts of one recording, iterations, units that contradict."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.readers import find, read
from fusescope.analysis.readers.ascend.msprof_timeline import MSPROF_TIMELINE
from fusescope.analysis.readers.building.coded import Coded
from fusescope.analysis.readers.building.iterations import Span, run_of
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace

READER = MSPROF_TIMELINE
Event = dict[str, Any]


def meta(pid: int, name: str) -> Event:
    return {"name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}, "ph": "M"}


def task(name: str, start: float, dur: float, stream: int = 2, **args: Any) -> Event:
    told = {"Task Type": "AI_CORE", "Stream Id": stream, "Task Id": 1, **args}
    return {"name": name, "pid": 3, "tid": stream, "ts": start, "dur": dur, "args": told, "ph": "X"}


def iteration(number: int, start: float, dur: float, pid: int = 3) -> Event:
    return {
        "name": f"Iteration {number}", "pid": pid, "tid": 10036, "ts": start, "dur": dur,
        "args": {"Iteration ID": number}, "cat": "Iteration Time", "ph": "X",
    }  # fmt: skip


def collective(name: str, start: float, dur: float) -> list[Event]:
    thread = {
        "name": "thread_name", "pid": 11, "tid": 70000, "args": {"name": "Communication Kernel"},
        "ph": "M",
    }  # fmt: skip
    event = {"name": name, "pid": 11, "tid": 70000, "ts": start, "dur": dur, "ph": "X"}
    return [meta(11, "HCCL"), thread, event]


def file(name: str, *events: Event | list[Event]) -> Source:
    flat: list[Event] = []
    for event in events:
        flat += event if isinstance(event, list) else [event]
    return Source(name, json.dumps(flat).encode(), path=f"timeline/{name}")


def only(*sources: Source) -> Trace:
    found = find(sources)
    assert len(found.recordings) == 1 and not found.failed and not found.unknown, found
    value = found.recordings[0].value
    assert isinstance(value, Trace) and value.meta.format == "msprof_timeline"
    return value


def test_files_of_one_model_are_one_recording_and_no_task_counts_twice() -> None:
    hardware = meta(3, "Ascend Hardware")
    parts = []
    for number, at in ((1, 100.25), (2, 200.5), (10, 300.75)):
        one = task("Default/Conv2D-op1", at + 1, 20.5)
        both = [collective(f"Default/AllReduce-op2_{number}", at + 30, 5)]
        parts += [
            file(f"msprof_0_2_{number}.json", hardware, iteration(number, at, 50.0), one, *both),
            file(f"task_time_0_2_{number}.json", hardware, one),
            file(f"hccl_0_2_{number}.json", *both),
        ]
    steps = [iteration(n, at, 50.0, pid=10036) for n, at in ((1, 100.25), (2, 200.5), (3, 900.0))]
    parts.append(file("step_trace_0_2_4.json", meta(10036, "Step Trace"), *steps))
    parts.sort(key=lambda source: source.path)
    trace = only(*parts)
    assert len(trace.meta.files) == 9
    assert sorted(trace.operators["op_type"]) == ["AllReduce", "AllReduce", "AllReduce", "Conv2D"]
    assert int(trace.operators["is_communication"].sum()) == 3
    assert trace.runs["kind"].unique().tolist() == ["iteration"]
    assert trace.runs["start_ns"].tolist() == [100250, 200500, 300750]  # 3 has no tasks here
    assert trace.runs["dur_ns"].tolist() == [50000] * 3
    assert trace.calls["run"].tolist() == [0, 0, 1, 1, 2, 2]
    assert trace.calls["dur_ns"].tolist() == [20500, 5000] * 3


def test_parts_of_collectives_and_preparations_on_the_device_are_no_operators() -> None:
    trace = only(
        file(
            "msprof_0_2_1.json",
            meta(3, "Ascend Hardware"),
            task("Default/Conv2D-op1", 1.0, 20.5),
            task("ccu", 30.0, 5.0, **{"Task Type": "CCU_LAUNCH"}),
            task("N/A", 40.0, 5.0, **{"Task Type": "Invalidate Data Context"}),
            task("N/A", 50.0, 5.0, **{"Task Type": "Reduce Inline"}),
            collective("Default/AllReduce-op2", 30.0, 5.0),
        )
    )
    assert trace.operators["name"].to_list() == ["Default/Conv2D-op1", "Default/AllReduce-op2"]
    assert trace.operators["is_communication"].to_list() == [False, True]
    counts = {note.code: note.count for note in trace.diagnostics}
    assert counts["not_operators"] == 2 and counts["other_events"] == 1


def test_a_task_that_stands_twice_counts_once() -> None:
    """A stream runs one task at a time: the same one again is a copy."""
    one = task("k", 10.0, 2.0)
    trace = only(file("msprof_1.json", meta(3, "Ascend Hardware"), one, one))
    assert len(trace.calls) == 1
    assert [(d.code, d.count) for d in trace.diagnostics if d.code == "rows_twice"] == [
        ("rows_twice", 1)
    ]


def test_other_devices_are_other_recordings() -> None:
    hardware = meta(3, "Ascend Hardware")
    found = find(
        [
            file("msprof_0_2_1.json", hardware, task("a", 1.0, 2.0)),
            file("msprof_1_0_1.json", hardware, task("b", 1.0, 2.0)),
        ]
    )
    assert len(found.recordings) == 2


def test_files_without_iteration_events_are_told_apart_by_name() -> None:
    hardware = meta(3, "Ascend Hardware")
    trace = only(
        file("task_time_0_2_10.json", hardware, task("a", 90.0, 2.0)),
        file("task_time_0_2_2.json", hardware, task("a", 20.0, 2.0)),
    )
    assert trace.runs["kind"].tolist() == ["iteration", "iteration"]
    assert trace.runs["start_ns"].tolist() == [20000, 90000]


def test_a_damaged_part_costs_only_itself() -> None:
    good = file("msprof_0_2_1.json", meta(3, "Ascend Hardware"), task("a", 1.0, 2.0))
    broken = good.data.replace(b"}, {", b"} {")
    bad = Source("hccl_0_2_1.json", broken, path="timeline/hccl_0_2_1.json")
    trace = READER.read(good.among((bad,)))
    assert len(trace.calls) == 1
    [note] = [note for note in trace.diagnostics if note.code == "companion_unreadable"]
    assert note.example == "hccl_0_2_1.json"


def test_newer_timelines_have_times_as_text_and_may_lack_names_of_lanes() -> None:
    events = [
        {"name": "k", "pid": 1000, "tid": 17, "ts": "1780693380125805.123", "dur": 71233.88,
         "ph": "X", "args": {"Task Type": "MIX_AIC", "Physic Stream Id": 17, "Task Id": 0}},
        {"name": "Runtime@DeviceSynchronize", "pid": 1001, "tid": 1, "ts": "1780693380125805.000",
         "dur": 1, "ph": "X", "args": {"Mode": "DeviceSynchronize"}},
        {"name": "Computing", "pid": 1002, "tid": 2, "ts": "1780693380125805.000", "dur": 71233.88,
         "ph": "X", "args": {}},
    ]  # fmt: skip
    trace = read(Source("msprof.json", json.dumps(events, indent=2, sort_keys=True).encode()))
    assert isinstance(trace, Trace) and trace.meta.format == "msprof_timeline"
    assert trace.calls["start_ns"].tolist() == [1780693380125805123]
    assert trace.calls["dur_ns"].tolist() == [71233880]
    assert trace.calls["stream"].tolist() == ["17"]


def test_core_times_that_exceed_the_task_are_noted() -> None:
    trace = only(
        file(
            "msprof_1.json",
            meta(3, "Ascend Hardware"),
            task("a", 1.0, 36.52, **{"Aicore Time(ms)": 33.98, "Total Cycle": 1087520}),
            task("b", 50.0, 36.52, **{"Aicore Time(ms)": "N/A", "Total Cycle": "N/A"}),
        )
    )
    [note] = [note for note in trace.diagnostics if note.code == "contradiction"]
    assert str(note.example) == "a: Aicore Time(ms) is 33.98, the duration is 0.03652 ms"
    assert trace.calls["Aicore Time(ms)"].tolist()[0] == 33.98  # as it stands in the file
    assert trace.calls["Aicore Time(ms)"].isna().tolist() == [False, True]


def test_a_step_trace_alone_says_what_it_needs() -> None:
    with pytest.raises(FuseScopeError, match="any operators of a device"):
        READER.read(file("step_trace_1.json", meta(9, "Step Trace"), iteration(1, 1.0, 2.0)))


def test_a_start_lies_in_the_last_span_to_begin_before_it() -> None:
    spans = [Span("1", 10, 10, pid=1), Span("2", 30, 5, pid=2), Span("3", 31, 2, pid=1)]
    assert list(run_of([9, 10, 20, 21, 30, 32, 34, None], spans)) == [
        None, 0, 0, None, 1, 2, None, None,
    ]  # fmt: skip
    pids = Coded.of([2, 1, 2, 9, None])
    assert list(run_of([32, 32, 34, 32, 15], spans, pids)) == [1, 2, 1, 2, 0]


def labelled(pid: int, device: int) -> Event:
    return {
        "name": "process_labels", "pid": pid, "tid": 0, "args": {"labels": f"NPU {device}"},
        "ph": "M",
    }  # fmt: skip


@pytest.mark.parametrize("with_labels", [True, False])
def test_devices_of_one_timeline_are_traces_of_their_own(*, with_labels: bool) -> None:
    """Each has iterations of its own, at the same time as those of the other."""
    labels = [labelled(3, 0), labelled(4, 1)] if with_labels else []
    events = []
    for number, at in ((1, 100), (2, 200)):
        events += [iteration(number, at, 90), iteration(number, at + 20, 80, pid=4)]
        events += [task("a", at + 10, 5), {**task("a", at + 30, 9), "pid": 4}]
    hardware = [meta(3, "Ascend Hardware"), meta(4, "Ascend Hardware")]
    trace = only(file("msprof_20250101.json", *hardware, *labels, *events))
    assert list(trace.units) == (
        ["device:0", "device:1"] if with_labels else ["device:3", "device:4"]
    )
    for one, start, dur in zip(trace.units.values(), (100, 120), (5000, 9000), strict=True):
        assert one.calls["dur_ns"].tolist() == [dur, dur]
        assert one.calls["run"].tolist() == [0, 1]
        assert one.runs["start_ns"].tolist() == [1000 * start, 1000 * (start + 100)]
        assert "outside_runs" not in {note.code for note in one.diagnostics}
