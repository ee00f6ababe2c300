"""When the host waited for an NPU: in trace_view.json, alone and beside kernel_details.csv."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fusescope.analysis.readers import read
from fusescope.analysis.readers.ascend.msprof_timeline import MSPROF_TIMELINE
from fusescope.analysis.readers.ascend.trace_view import TRACE_VIEW
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace
from tests.advice.traces import found_in, of_code
from tests.conftest import SHARED_TRACES

REAL = SHARED_TRACES / "third_party/ascend_torch_npu/2025-01-level1-rank0"
T0_NS = 1736408883000000000
HEAD = "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us)"
Event = dict[str, Any]
Wait = tuple[str, int, int]


def ts(us: int, minute: int = 0) -> str:
    return f"{T0_NS // 1000 + us + minute * 60_000_000}.125"


def event(name: str, pid: int, tid: object, start: int, end: int, **more: Any) -> Event:
    return {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": ts(start), "dur": end - start,
            **more}  # fmt: skip


def kernel(name: str, start: int, end: int) -> Event:
    return event(name, 99, 2, start, end, args={"Task Type": "AI_CORE", "Task Id": 1})


def process(pid: int, name: str) -> Event:
    return {"ph": "M", "name": "process_name", "pid": pid, "args": {"name": name}}


# MatMul runs for 300 µs, Add from 500 to 900.
KERNELS = [
    process(7, "Python"), process(8, "CANN"), process(99, "Ascend Hardware"),
    kernel("MatMul", 0, 300), kernel("Add", 500, 900),
    event("Optimizer.step#SGD.step", 7, 41, 90, 340, cat="cpu_op"),
    event("aten::item", 7, 41, 95, 330, cat="cpu_op"),
]  # fmt: skip
CALLS = [
    event("AscendCL@aclrtMemcpyAsync", 8, "41", 96, 98),
    event("AscendCL@aclrtMemcpy", 8, "41", 322, 326),
    event("AscendCL@aclrtSynchronizeStreamWithTimeout", 8, "41", 100, 320),
    event("ACL@aclrtSynchronizeDevice", 8, 42, 850, 910),
    {**event("AscendCL@aclrtSynchronizeEvent", 8, 42, 5, 6), "dur": "long"},
]
EXPECTED = [
    ("aten::item", 100, 320),
    ("aten::item", 322, 326),
    ("aclrtSynchronizeDevice", 850, 910),
]
TABLE = f"{HEAD}\n1,MatMul,MatMul,AI_CORE,{ts(0)},300\n1,Add,Add,AI_VECTOR_CORE,{ts(500)},400\n"


def view(*events: Event, path: str = "trace_view.json") -> Source:
    return Source(path.rpartition("/")[2], json.dumps(events).encode(), path=path)


def waits_of(trace: object) -> list[Wait] | None:
    """Name, start and end in µs after T0."""
    assert isinstance(trace, Trace)
    waits = trace.host_waits
    if waits is None:
        return None
    us = [((at - T0_NS) // 1000).tolist() for at in (waits.starts_ns, waits.ends_ns)]
    names = [waits.names[place] for place in waits.name_of]
    return list(zip(names, *us, strict=True))


def beside(*others: Source) -> Trace:
    trace = read(Source("kernel_details.csv", TABLE.encode(), beside=others))
    assert isinstance(trace, Trace)
    return trace


def test_a_wait_is_named_by_the_operator_on_a_thread_of_its_number() -> None:
    source = view(*KERNELS, *CALLS)
    assert TRACE_VIEW.sniff(source.head)
    assert waits_of(read(source)) == EXPECTED
    assert waits_of(read(view(*KERNELS, CALLS[0]))) == [], "none of its calls waits"
    assert waits_of(read(view(*KERNELS))) is None, "its calls were not recorded"


def test_a_timeline_of_msprof_has_waits_too() -> None:
    source = view(*KERNELS[1:5], *CALLS)
    assert MSPROF_TIMELINE.sniff(source.head)
    calls = ["aclrtSynchronizeStreamWithTimeout", "aclrtMemcpy", "aclrtSynchronizeDevice"]
    told = waits_of(MSPROF_TIMELINE.read(source))
    assert told == [(name, *times) for name, (_, *times) in zip(calls, EXPECTED, strict=True)]
    assert waits_of(MSPROF_TIMELINE.read(view(*KERNELS[1:5]))) is None


def test_kernels_take_the_waits_of_the_timeline_that_holds_their_times() -> None:
    """Not those of another recording, which ran a minute later."""
    later = [{**e, "ts": ts(int(e["ts"][10:16]), 1)} if "ts" in e else e for e in KERNELS + CALLS]
    other, own = view(*later, path="a/trace_view.json"), view(*KERNELS, *CALLS, path="b/t.json")
    trace = beside(other, own)
    assert waits_of(trace) == EXPECTED
    one = of_code(found_in(trace), "host_waits")
    assert one is not None
    assert (one.at_most_ns, one.values["share"]) == (200_000, 200 / 900)
    assert (one.values["waits"], one.values["places"], one.values["call"]) == (3, 1, "aten::item")
    assert "b/t.json" in trace.meta.files and "a/trace_view.json" not in trace.meta.files
    for none in ([other], [view(*KERNELS)], []):
        assert waits_of(beside(*none)) is None


def test_a_timeline_that_is_cut_short_is_told_and_not_used() -> None:
    own = view(*KERNELS, *CALLS)
    trace = beside(Source("trace_view.json", own.data[:-200]))
    assert waits_of(trace) is None
    told = [note.example for note in trace.diagnostics if note.code == "companion_unreadable"]
    assert told == ["trace_view.json"]


@pytest.mark.usefixtures("shared_traces")
def test_the_waits_of_a_real_recording() -> None:
    """Against plain JSON; the longest one, in item(), ends 122 µs after the last kernel."""
    table = REAL / "kernel_details.csv"
    path = REAL / "trace_view.json"
    lone = Source("trace_view.json", path.read_bytes())
    trace = read(Source(table.name, table.read_bytes(), beside=(lone,)))
    assert isinstance(trace, Trace) and trace.host_waits is not None
    waits, calls = trace.host_waits, trace.calls
    names = ("AscendCL@aclrtSynchronize", "AscendCL@aclrtMemcpy")
    events = [
        event
        for event in json.loads(path.read_bytes())
        if event["ph"] == "X" and event["name"].startswith(names) and "Async" not in event["name"]
    ]
    starts = sorted(int(event["ts"].replace(".", "")) for event in events)
    assert waits.starts_ns.tolist() == starts and len(starts) == 13
    longest = (waits.ends_ns - waits.starts_ns).argmax()
    last_ns = int((calls["start_ns"] + calls["dur_ns"]).max())
    assert waits.names[waits.name_of[longest]] == "aten::_local_scalar_dense"
    assert waits.ends_ns[longest] - last_ns == 122_189
    alone = read(lone)
    assert isinstance(alone, Trace) and alone.host_waits is not None
    assert alone.host_waits.ends_ns.tolist() == waits.ends_ns.tolist()
