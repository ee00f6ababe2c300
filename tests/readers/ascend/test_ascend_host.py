"""What the host did in recordings of an NPU: threads, the queue of launches, and where in the model
a kernel comes from; the same of a timeline, of one beside a table, and of a database."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from fusescope.analysis.compare.model_tree.paths import located
from fusescope.analysis.host.latency import launch_latency
from fusescope.analysis.host.runs import idle_of_runs
from fusescope.analysis.readers import read
from fusescope.analysis.readers.ascend.host.threads import kind_by_name, kind_of
from fusescope.analysis.readers.ascend.msprof_timeline import MSPROF_TIMELINE
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.packed.context import context_of, frames_of
from fusescope.analysis.trace import Trace
from tests.conftest import SHARED_TRACES

T0_NS = 1736408883000000000
PYTHON, CANN, NPU = 7, 8, 99
MAIN, QUEUE, AUTOGRAD = 41, 42, 43
Event = dict[str, Any]
# Idle are 150 to 340 µs. The queue's thread hands Add over at 320 (until 328) and is at it from 290
# on, 15 µs of it in aclrtMalloc. Until 275, when Add is left in the queue, counts the main thread:
# 60 in the DataLoader, 5 in aten::add, the rest in nothing. From 275 to 290 Add is being launched,
# and again from 328 until it starts.
CAUSES = {
    ("unknown", ""): 60_000,
    ("data_loading", "DataLoader.__next__"): 60_000,
    ("launching", ""): 55_000,
    ("allocation", "aclrtMalloc"): 15_000,
}


def ts(us: float) -> str:
    return f"{T0_NS // 1000 + int(us)}.{round(us % 1 * 1000):03d}"


def span(name: str, pid: int, tid: int, start: float, end: float, **more: Any) -> Event:
    return {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": ts(start),
            "dur": end - start, **more}  # fmt: skip


def flow(
    number: int, category: str, begin: tuple[int, int, int], end: tuple[int, int, int]
) -> list[Event]:
    ends = zip("sf", (begin, end), strict=True)
    return [
        {"ph": ph, "id": number, "name": "", "cat": category, "pid": pid, "tid": tid, "ts": ts(at)}
        for ph, (pid, tid, at) in ends
    ]  # fmt: skip


def kernel(name: str, start: float, end: float) -> Event:
    return span(name, NPU, 2, start, end, args={"Task Type": "AI_CORE", "Task Id": 1})


NAMES: list[Event] = [
    {"ph": "M", "name": "process_name", "pid": pid, "args": {"name": name}}
    for pid, name in ((PYTHON, "Python"), (CANN, "CANN"), (NPU, "Ascend Hardware"))
]
OF_PYTHON: list[Event] = [
    span("ProfilerStep#1", PYTHON, MAIN, 0, 500, cat="cpu_op"),
    span("aten::mul", PYTHON, MAIN, 8, 20, cat="cpu_op"),
    span("nn.Module: Scale_0", PYTHON, MAIN, 5, 25, cat="python_function"),
    span("enumerate(DataLoader)#_It.__next__", PYTHON, MAIN, 200, 260, cat="cpu_op"),
    span("aten::add", PYTHON, MAIN, 270, 280, cat="cpu_op"),
    span("Enqueue", PYTHON, MAIN, 275, 279, cat="enqueue"),
    span("Dequeue@Mul", PYTHON, QUEUE, 28, 40, cat="dequeue"),
    span("Dequeue@Add", PYTHON, QUEUE, 290, 330, cat="dequeue"),
    *flow(1, "async_npu", (PYTHON, MAIN, 10), (NPU, 2, 100)),
    *flow(2, "async_npu", (PYTHON, MAIN, 275), (NPU, 2, 340)),
]
OF_CANN: list[Event] = [
    span("AscendCL@aclnnMul", CANN, QUEUE, 30, 38),
    span("AscendCL@aclrtMalloc", CANN, QUEUE, 295, 310),
    span("Node@launch", CANN, QUEUE, 320, 328),
    *flow(3, "HostToDevice", (CANN, QUEUE, 30), (NPU, 2, 100)),
    *flow(4, "HostToDevice", (CANN, QUEUE, 320), (NPU, 2, 340)),
]
KERNELS = [kernel("Mul", 100, 150), kernel("Add", 340, 400)]
HEAD = "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us)"
TABLE = f"{HEAD}\n1,Mul,Mul,AI_CORE,{ts(100)},50\n1,Add,Add,AI_CORE,{ts(339.999)},60\n"


def view(*events: Event, names: list[Event] = NAMES) -> Source:
    return Source("trace_view.json", json.dumps([*names, *events]).encode())


def traced(source: Source) -> Trace:
    found = read(source)
    assert isinstance(found, Trace)
    return found


def causes(trace: Trace) -> dict[tuple[str, str], int]:
    found = idle_of_runs(trace)
    assert found is not None
    return {(one.kind, one.name): one.idle_ns for one in found.idle.causes}


def modules(trace: Trace) -> list[tuple[tuple[str, ...], bool]]:
    """The modules of each call in order of start, and whether it is of their backward pass."""
    _, (place,) = located(trace)
    order = trace.calls["start_ns"].argsort()
    of = place.places.of[order.to_numpy()].tolist()
    return [(place.places.modules[at], place.places.is_backward(at)) for at in of]


def test_idle_time_of_an_npu_is_put_to_what_the_threads_did() -> None:
    trace = traced(view(*OF_PYTHON, *OF_CANN, *KERNELS))
    assert causes(trace) == CAUSES
    latency = launch_latency(trace)
    assert latency is not None and latency.median_ns == 45_000, "of 70 and 20"
    assert trace.host is not None
    assert trace.host.lane_names == ("thread 41", "thread 42"), "in two processes of the file"
    assert modules(trace) == [(("Scale",), False), ((), False)]


def test_a_table_of_kernels_takes_the_host_from_the_timeline_beside_it() -> None:
    """Its Add starts 1 ns earlier, as the tables round down; so 1 ns less is idle."""
    beside = view(*OF_PYTHON, *OF_CANN, *KERNELS)
    trace = traced(Source("kernel_details.csv", TABLE.encode(), beside=(beside,)))
    assert causes(trace) == {**CAUSES, ("launching", ""): 54_999}
    assert modules(trace) == [(("Scale",), False), ((), False)]
    assert traced(Source("kernel_details.csv", TABLE.encode())).host is None


def test_messages_of_collectives_are_tensors() -> None:
    """In a timeline, and beside a table that says nothing of them; other kernels have none."""
    told = {"count": 4096, "data_type": "BFP16", "alg_type": "MESH-RING"}
    reduced = span("hcom_allReduce__586_0_1", 100, 0, 410, 450, args=told)
    unknown = span("hcom_allReduce__586_1_1", 100, 0, 460, 480, args={**told, "count": "many"})
    names = [*NAMES, {"ph": "M", "name": "process_name", "pid": 100, "args": {"name": "HCCL"}}]
    one = view(*OF_PYTHON, *KERNELS, reduced, unknown, names=names)
    table = "".join(
        f"1,{name},hcom_allReduce_,HCCL,{ts(at)},{us}\n"
        for name, at, us in (
            ("hcom_allReduce__586_0_1", 410, 40),
            ("hcom_allReduce__586_1_1", 460, 20),
        )
    )
    beside = Source("kernel_details.csv", (TABLE + table).encode(), beside=(one,))
    for trace in (traced(one), traced(beside)):
        inputs = dict(zip(trace.texts("name"), trace.texts("inputs"), strict=True))
        assert inputs == {
            "Mul": "", "Add": "", "hcom_allReduce__586_0_1": "bfloat16[4096]",
            "hcom_allReduce__586_1_1": "",
        }  # fmt: skip


def test_without_a_queue_one_thread_asks_and_hands_over() -> None:
    """As with TASK_QUEUE_ENABLE=0: Add is handed over at 280 on the main thread, which does nothing
    after that."""
    calls = [
        span("AscendCL@aclrtMalloc", CANN, MAIN, 271, 275),
        span("Node@launch", CANN, MAIN, 276, 280),
        *flow(4, "HostToDevice", (CANN, MAIN, 276), (NPU, 2, 340)),
    ]
    flows = flow(2, "async_npu", (PYTHON, MAIN, 270), (NPU, 2, 340))
    own = [e for e in OF_PYTHON if e["tid"] == MAIN and e.get("id") != 2 and e["name"] != "Enqueue"]
    trace = traced(view(*own, *flows, *calls, *KERNELS))
    assert causes(trace) == {
        ("unknown", ""): 60_000,
        ("data_loading", "DataLoader.__next__"): 60_000,
        ("allocation", "aclrtMalloc"): 4_000,
        ("launching", ""): 66_000,
    }


def test_a_timeline_of_msprof_has_calls_of_cann_alone() -> None:
    """From 150 to 290 nothing is known; no operator of the framework stands in the file."""
    source = view(*OF_CANN, *KERNELS, names=NAMES[1:])
    assert MSPROF_TIMELINE.sniff(source.head)
    assert causes(MSPROF_TIMELINE.read(source)) == {  # type: ignore[arg-type]
        ("unknown", ""): 155_000,
        ("allocation", "aclrtMalloc"): 15_000,
        ("launching", ""): 20_000,
    }


def test_a_file_without_calls_of_the_host_has_no_host() -> None:
    assert MSPROF_TIMELINE.read(view(*KERNELS, names=NAMES[1:])).host is None  # type: ignore[union-attr]


def test_the_backward_pass_stands_in_the_module_of_its_forward_operator() -> None:
    """The gradient of aten::mul, on a thread of its own; one in a module inside it runs again."""
    backward = [
        span("MulBackward0", PYTHON, AUTOGRAD, 420, 440, cat="cpu_op"),
        span("nn.Module: Again_0", PYTHON, AUTOGRAD, 430, 440, cat="python_function"),
        *flow(9, "fwdbwd", (PYTHON, MAIN, 8), (PYTHON, AUTOGRAD, 420)),
        kernel("MulGrad", 500, 520),
        kernel("Mul", 530, 540),
        *flow(5, "async_npu", (PYTHON, AUTOGRAD, 425), (NPU, 2, 500)),
        *flow(6, "async_npu", (PYTHON, AUTOGRAD, 435), (NPU, 2, 530)),
    ]
    trace = traced(view(*OF_PYTHON, *OF_CANN, *KERNELS, *backward))
    found = modules(trace)
    assert found == [
        (("Scale",), False), ((), False), (("Scale",), True), (("Again",), False),
    ]  # fmt: skip


def database(path: Path) -> Trace:
    """The same recording as tables; Mul and Add are connections 11 and 12 of CANN, and 1 and 2 of
    the framework."""
    names: list[str] = []

    def text(name: str) -> int:
        if name not in names:
            names.append(name)
        return names.index(name)

    def ns(us: int) -> int:
        return T0_NS + us * 1000

    db = sqlite3.connect(path)
    db.executescript(
        "CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);"
        "CREATE TABLE TASK (startNs, endNs, deviceId, connectionId, globalTaskId, taskType,"
        " streamId);"
        "CREATE TABLE COMPUTE_TASK_INFO (name, globalTaskId, taskType, opType);"
        "CREATE TABLE CANN_API (startNs, endNs, type, globalTid, connectionId, name);"
        "CREATE TABLE PYTORCH_API (startNs TEXT, endNs TEXT, globalTid, connectionId, name, type);"
        "CREATE TABLE CONNECTION_IDS (id, connectionId);"
        "CREATE TABLE STEP_TIME (id, startNs, endNs)"
    )
    core = text("AI_CORE")
    for number, (name, start, end) in enumerate([("Mul", 100, 150), ("Add", 340, 400)], 1):
        db.execute(
            "INSERT INTO TASK VALUES (?, ?, 0, ?, ?, ?, 2)",
            (ns(start), ns(end), 10 + number, number, core),
        )
        db.execute(
            "INSERT INTO COMPUTE_TASK_INFO VALUES (?, ?, ?, ?)",
            (text(name), number, core, text(name)),
        )
        db.execute("INSERT INTO CONNECTION_IDS VALUES (?, ?)", (number, 10 + number))
    process = 5 << 32
    for name, start, end, key in [("aclnnMul", 30, 38, 11), ("aclrtMalloc", 295, 310, 90),
                                  ("launch", 320, 328, 12)]:  # fmt: skip
        db.execute("INSERT INTO CANN_API VALUES (?, ?, 20000, ?, ?, ?)",
                   (ns(start), ns(end), process + QUEUE, key, text(name)))  # fmt: skip
    for name, thread, start, end, key, kind in [
        ("aten::mul", MAIN, 8, 20, 1, 50001), ("nn.Module: Scale_0", MAIN, 5, 25, None, 50003),
        ("enumerate(DataLoader)#_It.__next__", MAIN, 200, 260, None, 50001),
        ("aten::add", MAIN, 270, 280, None, 50001), ("AddTask", MAIN, 275, 279, 2, 50001),
        ("Dequeue@Mul", QUEUE, 28, 40, 7, 50002), ("Dequeue@Add", QUEUE, 290, 330, 8, 50002),
    ]:  # fmt: skip
        times = str(ns(start)), str(ns(end))
        db.execute("INSERT INTO PYTORCH_API VALUES (?, ?, ?, ?, ?, ?)",
                   (*times, process + thread, key, text(name), kind))  # fmt: skip
    db.execute("INSERT INTO STEP_TIME VALUES (1, ?, ?)", (ns(0), ns(400)))
    db.executemany("INSERT INTO STRING_IDS VALUES (?, ?)", enumerate(names))
    db.commit()
    db.close()
    return traced(Source(path.name, path.read_bytes()))


def test_a_database_says_the_same(tmp_path: Path) -> None:
    """Its step begins at 0, before the first kernel: 5 µs of the module, 12 of aten::mul, 8 of
    handing Mul over and 62 until it starts, and in 13 nothing more."""
    trace = database(tmp_path / "ascend_pytorch_profiler_0.db")
    assert trace.host is not None and trace.host.lane_names == ("thread 42", "thread 41")
    assert modules(trace) == [(("Scale",), False), ((), False)]
    found = causes(trace)
    assert sum(found.values()) == 290_000
    for cause in (("data_loading", "DataLoader.__next__"), ("allocation", "aclrtMalloc")):
        assert found[cause] == CAUSES[cause]


def test_a_queue_comes_back_from_the_tables_of_a_trace() -> None:
    host = traced(view(*OF_PYTHON, *OF_CANN, *KERNELS)).host
    assert host is not None and host.submit_ns is not None
    assert [(at - T0_NS) // 1000 for at in host.submit_ns.tolist()] == [30, 320]
    tables = frames_of(traced(view(*OF_PYTHON, *OF_CANN, *KERNELS)))
    again = context_of(tables)["host"]
    assert again.submit_ns.tolist() == host.submit_ns.tolist()
    assert again.submit_lanes.tolist() == host.submit_lanes.tolist()  # type: ignore[union-attr]
    del tables["host"], tables["launches"]
    with pytest.raises(ValueError, match="submissions without launches"):
        context_of(tables)


@pytest.mark.parametrize(
    ("category", "process", "name", "kind"),
    [
        ("cpu_op", "Python", "aten::add", "operator"),
        ("cpu_op", "Python", "Optimizer.step#SGD.step", "annotation"),
        ("cpu_op", "Python", "Conv2D", "operator"),
        ("dequeue", "Python", "Dequeue@Conv2D", "operator"),
        ("python_function", "Python", "train.py(3): main", "frame"),
        ("user_annotation", "Python", "forward", "annotation"),
        (None, "CANN", "AscendCL@aclrtMalloc", "runtime"),
        (None, "MindSpore", "KernelLaunch", "operator"),
        (None, "python", "train.py(3): main", "frame"),
        (None, "HBM", "HBM 0/Read", None),
        (None, "Scope Layer", "Default", None),
    ],
)
def test_kinds_of_spans(category: object, process: str, name: str, kind: str | None) -> None:
    known = kind_of(category, process)
    kinds = ("operator", "frame", "annotation", "runtime")
    assert (None if known is None else kinds[kind_by_name(known, name)]) == kind


@pytest.mark.usefixtures("shared_traces")
def test_a_real_recording_and_its_table_say_the_same() -> None:
    """25.7 ms of a step are idle: most of it while operators are launched."""
    folder = SHARED_TRACES / "third_party/ascend_torch_npu/2025-01-level1-rank0"
    path, table = folder / "trace_view.json", folder / "kernel_details.csv"
    lone = Source(path.name, path.read_bytes())
    both = [traced(lone), traced(Source(table.name, table.read_bytes(), beside=(lone,)))]
    for trace in both:
        found = causes(trace)
        assert abs(sum(found.values()) - 25_744_068) < 2_000
        assert max(found, key=lambda cause: found[cause])[0] == "launching"
        assert {each[0] for each in modules(trace) if each[1]}, "a backward pass in modules"
