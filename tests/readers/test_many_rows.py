"""Every format with thousands of rows under long names: read whole, with the right total.

What bounds a reader must be what hurts (bytes, memory, depth), so nothing that a profiler writes
may be refused for its shape: many rows, ten thousand kernels, names of C++ with lambdas in them.
"""

from __future__ import annotations

import csv
import io
import json
import runpy
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from fusescope.analysis.readers import read, read_path
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace
from tests import miniatures
from tests.security.documents import KERNEL_HEADS

XPLANE = runpy.run_path(str(miniatures.FOLDER / "xplane" / "make.py"))
ROWS = 5_000
SYMBOLS = 10_000
START_NS = 1_760_000_000_000_000_000
DUR_NS = [1_000 * (1 + row % 7) for row in range(ROWS)]
STARTS_NS = [START_NS + 10_000 * row for row in range(ROWS)]


def name(number: int) -> str:
    """One of 250 names of some 450 characters, with every bracket that C++ has, in pairs."""
    functor = "at::native::gpu_kernel_impl_nocast<at::native::CUDAFunctor_add<float> >"
    part = f"{functor}::{{lambda(int, float)#1}}::operator()[abi:cxx11](char*, int) const"
    lambdas = "{lambda()#1}::" * 12
    return f"void kernel{number % 250}<128, 4, {lambdas}{part}, std::array<char*, 3ul> >({part})"


NAMES = [name(row) for row in range(ROWS)]
US = [f"{start // 1000}.{start % 1000:03}" for start in STARTS_NS]
DUR_US = [f"{dur / 1000:.3f}" for dur in DUR_NS]


def as_json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def as_table(heads: str, rows: Iterable[Sequence[object]], separator: str = ",") -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator="\n")
    writer.writerow(heads.split(separator))
    writer.writerows(rows)
    return text.getvalue().encode()


def as_database(tmp_path: Path, tables: dict[str, tuple[str, list[tuple[Any, ...]]]]) -> bytes:
    path = tmp_path / "made.db"
    db = sqlite3.connect(path)
    for table, (columns, rows) in tables.items():
        db.execute(f"CREATE TABLE {table} ({columns})")
        db.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(rows[0]))})", rows)
    db.commit()
    db.close()
    return path.read_bytes()


def onnxruntime(_: Path) -> bytes:
    shapes = [{"float": [1, 3, 16, 16]}] * 4
    return as_json(
        [
            {"cat": "Session", "pid": 1, "tid": 1, "dur": 10**9, "ts": 0, "ph": "X",
             "name": "model_run", "args": {}},
            *(
                {"cat": "Node", "pid": 1, "tid": 1, "dur": dur // 1000, "ts": 1000 + 10 * row,
                 "ph": "X", "name": f"{NAMES[row]}_kernel_time",
                 "args": {"op_name": "Relu", "provider": "CPUExecutionProvider",
                          "node_index": str(row % 250), "input_type_shape": shapes,
                          "output_type_shape": shapes}}
                for row, dur in enumerate(DUR_NS)
            ),
        ]
    )  # fmt: skip


def ascend_kernel_details(_: Path) -> bytes:
    return as_table(
        KERNEL_HEADS,
        (
            ["1", "4294967295", row, "2", NAMES[row], "Relu", "dynamic", "AI_VECTOR_CORE",
             f"{US[row]}\t", DUR_US[row], "0", "8"]
            for row in range(ROWS)
        ),
    )  # fmt: skip


def ascend_op_summary(_: Path) -> bytes:
    return as_table(
        "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,"
        "Task Start Time(us),Task Duration(us),Task Wait Time(us),Block Dim",
        (
            ["0", "1", row, "2", NAMES[row], "Relu", "static", "AI_VECTOR_CORE", f"{US[row]}\t",
             DUR_US[row], "0", "8"]
            for row in range(ROWS)
        ),
    )  # fmt: skip


def ascend_db(tmp_path: Path) -> bytes:
    texts = ["Relu", "AI_VECTOR_CORE", '"8,64"', "FLOAT16", "ND", "KERNEL_AIVEC", *_symbols()]
    return as_database(
        tmp_path,
        {
            "STRING_IDS": ("id, value", list(enumerate(texts))),
            "TASK": (
                "startNs, endNs, deviceId, connectionId, globalTaskId, taskType, streamId",
                [(at, at + dur, 0, row, row, 5, 3) for row, at, dur in _timed()],
            ),
            "COMPUTE_TASK_INFO": (
                "name, globalTaskId, taskType, opType, inputShapes, inputDataTypes, inputFormats",
                [(6 + row % 250, row, 1, 0, 2, 3, 4) for row in range(ROWS)],
            ),
        },
    )


def ascend_trace_view(_: Path) -> bytes:
    hardware = [
        {"name": "process_name", "pid": 7, "tid": 0, "args": {"name": "Ascend Hardware"}, "ph": "M"}
    ]
    ran = [
        {"name": NAMES[row], "pid": 7, "tid": 2, "ts": US[row], "dur": dur / 1000, "ph": "X",
         "args": {"Model Id": 1, "Task Type": "AI_CORE", "Physic Stream Id": 2, "Task Id": row,
                  "connection_id": row}}
        for row, _, dur in _timed()
    ]  # fmt: skip
    step = {"ph": "X", "name": "aten::relu", "pid": 4, "tid": 4, "ts": US[0], "dur": 1.5,
            "cat": "cpu_op", "args": {"Sequence number": -1, "Fwd thread id": 0}}  # fmt: skip
    return as_json([*hardware, step, *ran])


def msprof_timeline(_: Path) -> bytes:
    hardware = [
        {"name": "process_name", "pid": 7, "tid": 0, "args": {"name": "Ascend Hardware"}, "ph": "M"}
    ]
    ran = [
        {"name": NAMES[row], "pid": 7, "tid": 2, "ts": 1000 + 10 * row, "dur": dur / 1000,
         "ph": "X", "args": {"Task Type": "AI_CORE", "Stream Id": 2, "Task Id": row, "Batch Id": 0,
                             "Aicore Time(ms)": 0.001, "Total Cycle": 1}}
        for row, _, dur in _timed()
    ]  # fmt: skip
    return as_json(hardware + ran)


def msprof_task_time(_: Path) -> bytes:
    return as_table(
        "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),"
        "task_stop(us)",
        (
            ["0", NAMES[row], "AI_CORE", "2", row, DUR_US[row], f"{US[row]}\t", ""]
            for row in range(ROWS)
        ),
    )


def ascend_op_statistic(_: Path) -> bytes:
    return as_table(
        "Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),"
        "Ratio(%)",
        (
            ["0", f"{row}{NAMES[row]}", "AI_CORE", "1", *[DUR_US[row]] * 4, "0.02"]
            for row in range(ROWS)
        ),
    )


def mindspore_cpu(_: Path) -> bytes:
    return "".join(
        f"Default/{NAMES[row]}/Relu-op{row};HostCpuOps;{at},{dur / 1e6:.6f},0 \n"
        for row, at, dur in _timed()
    ).encode()


def mindspore_cpu_timeline(_: Path) -> bytes:
    return as_json(
        [
            {"ph": "X", "name": f"Default/{NAMES[row]}/Relu-op{row % 250}", "pid": 2, "tid": 0,
             "ts": US[row], "dur": DUR_US[row], "cat": "", "args": {"type": "HostCpuOps"}}
            for row in range(ROWS)
        ]
    )  # fmt: skip


def mindspore_cpu_summary(_: Path) -> bytes:
    return as_table(
        "op_side,op_type,op_name,full_op_name,op_occurrences,op_total_time(ms),op_avg_time(ms),"
        "total_proportion,subgraph,pid",
        (
            ["Host", "Relu", f"Relu-op{row}", f"{row}/{NAMES[row]}", "1", dur / 1e6, dur / 1e6,
             "0.1", "Default", "1"]
            for row, _, dur in _timed()
        ),
    )  # fmt: skip


def mindspore_legacy(_: Path) -> bytes:
    return "".join(
        [
            "op_name, stream_id, start_time(ms), duration(ms)\n",
            *(
                f"Default/net{row % 250}{{lambda}}/Relu-op{row % 250},519,{5 + row / 100:.6f},"
                f"{dur / 1e6:.6f}\n"
                for row, _, dur in _timed()
            ),
        ]
    ).encode()


def mindspore_legacy_display(_: Path) -> bytes:
    tensor = {"format": "ND", "data_type": "NUMBER_TYPE_FLOAT16", "shape": "2,1,32"}
    return as_json(
        [
            {"name": "Relu-op", "ph": "X", "tid": 519, "ts": 10 * row, "dur": dur / 1000, "pid": 0,
             "args": {"type": "Relu", "fullname": f"Default/{NAMES[row]}", "input_0": tensor,
                      "output_0": tensor}}
            for row, _, dur in _timed()
        ]
    )  # fmt: skip


def mindspore_legacy_summary(_: Path) -> bytes:
    return as_table(
        "full_kernel_name,task_duration,execution_frequency,task_type",
        ([f"{row}/{NAMES[row]}", dur / 1e6, "1", "AI_CORE"] for row, _, dur in _timed()),
    )


def kineto(_: Path) -> bytes:
    ran = [
        {"ph": "X", "cat": "kernel", "name": NAMES[row], "pid": 0, "tid": 7,
         "ts": f"{10 * row}.000", "dur": dur / 1000,
         "args": {"device": 0, "stream": 7, "correlation": row, "grid": [1, 2, 3],
                  "block": [128, 1, 1], "External id": row}}
        for row, _, dur in _timed()
    ]  # fmt: skip
    return as_json(
        {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU"}], "traceEvents": ran}
    )


def pytorch_autograd(_: Path) -> bytes:
    return as_json(
        [
            {"name": NAMES[row], "ph": "X", "pid": "CUDA functions", "tid": 0, "ts": 10 * row,
             "dur": dur / 1000, "args": {}}
            for row, _, dur in _timed()
        ]
    )  # fmt: skip


def chrome_trace(_: Path) -> bytes:
    return as_json(
        {
            "traceEvents": [
                {"ph": "X", "name": NAMES[row], "pid": 1, "tid": 1, "ts": 10 * row,
                 "dur": dur / 1000, "args": {"a": [{"b": {}}] * 9}}
                for row, _, dur in _timed()
            ]
        }
    )  # fmt: skip


def tensorrt_profile(_: Path) -> bytes:
    layers = [
        {"name": f"[{NAMES[row]}", "timeMs": dur / 1e6, "averageMs": dur / 1e6,
         "percentage": 0.1}
        for row, _, dur in _timed()
    ]  # fmt: skip
    return as_json([{"count": 1}, *layers]).replace(b"},{", b"},\n{")


def tensorrt_times(_: Path) -> bytes:
    return as_json(
        [
            {"startH2dMs": row, "endH2dMs": row, "startComputeMs": row,
             "endComputeMs": row + dur / 1e6, "startD2hMs": row + 0.5, "endD2hMs": row + 0.5,
             "h2dMs": 0, "computeMs": dur / 1e6, "d2hMs": 0, "latencyMs": dur / 1e6}
            for row, _, dur in _timed()
        ]
    )  # fmt: skip


def openvino_counters(_: Path) -> bytes:
    return as_table(
        "layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms);",
        (
            [f"{row}{NAMES[row]}", "EXECUTED", "Relu", "jit", f"{dur / 1e6:.6f}", "0", ""]
            for row, _, dur in _timed()
        ),
        ";",
    )


def openvino_graph(_: Path) -> bytes:
    layers = [
        f'<layer id="{row}" name="{row}{NAMES[row]}" type="Relu"><data execOrder="{row}" '
        f'execTimeMcs="{dur // 1000}" originalLayersNames="r{row}" primitiveType="jit_f32" '
        'outputPrecisions="f32" runtimePrecision="f32" /></layer>'
        for row, _, dur in _timed()
    ]
    body = "\n".join(layers).replace(" >(", " &gt;(").replace("<float>", "&lt;float&gt;")
    for opened in ("<128", "nocast<at", "_add<", "array<char"):
        body = body.replace(opened, opened.replace("<", "&lt;"))
    head = '<?xml version="1.0"?>\n<net name="big" version="11"><layers>\n'
    return f"{head}{body.replace('float> >', 'float&gt; &gt;')}\n</layers></net>".encode()


def nsys_db(tmp_path: Path) -> bytes:
    return as_database(
        tmp_path,
        {
            "StringIds": ("id, value", list(enumerate(_symbols()))),
            "TARGET_INFO_GPU": ("id, name, cuDevice", [(0, "GPU", 0)]),
            "CUPTI_ACTIVITY_KIND_KERNEL": (
                'start, "end", deviceId, streamId, correlationId, globalPid, demangledName',
                [(at, at + dur, 0, 7, row, 5 << 24, row % 250) for row, at, dur in _timed()],
            ),
        },
    )


def nsys_stats(_: Path) -> bytes:
    return as_table(
        "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),"
        "DymSMem (MB),Bytes (MB),Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name",
        (
            [at, dur, row, 1, 1, 1, 128, 1, 1, 32, 0, 0, "", "", "", "", "GPU (0)", 1, "", 7,
             NAMES[row]]
            for row, at, dur in _timed()
        ),
    )  # fmt: skip


def rocpd(tmp_path: Path) -> bytes:
    return as_database(
        tmp_path,
        {
            "rocpd_info_kernel_symbol_1": ("id, display_name", list(enumerate(_symbols()))),
            "rocpd_info_process_1": ("id, pid", [(1, 4711)]),
            "rocpd_kernel_dispatch_1": (
                'id, pid, agent_id, queue_id, kernel_id, start, "end", event_id',
                [(row, 1, 7, 1, row % 250, at, at + dur, row) for row, at, dur in _timed()],
            ),
            "rocpd_event_1": ("id, stack_id", [(row, row) for row, _, _ in _timed()]),
        },
    )


def rocprof(_: Path) -> bytes:
    symbols = [
        {"kernel_id": number, "code_object_id": 3, "kernel_name": f"k{number}.kd",
         "formatted_kernel_name": text, "demangled_kernel_name": text,
         "kernel_address": {"handle": number}}
        for number, text in enumerate(_symbols())
    ]  # fmt: skip
    ran = [
        {"size": 152, "kind": 11, "operation": 1, "thread_id": 4711,
         "correlation_id": {"internal": row, "external": 0}, "start_timestamp": at,
         "end_timestamp": at + dur,
         "dispatch_info": {"agent_id": {"handle": 7}, "queue_id": {"handle": 1},
                           "kernel_id": row % 250, "dispatch_id": row,
                           "workgroup_size": {"x": 64, "y": 1, "z": 1},
                           "grid_size": {"x": 64, "y": 1, "z": 1}}}
        for row, at, dur in _timed()
    ]  # fmt: skip
    tool = {
        "metadata": {"pid": 1, "node": {"hostname": "h"}},
        "agents": [{"id": {"handle": 7}, "type": 2, "node_id": 1, "product_name": "GPU"}],
        "kernel_symbols": symbols,
        "buffer_records": {"kernel_dispatch": ran, "memory_copy": []},
    }
    return as_json({"rocprofiler-sdk-tool": [tool]})


def rocprof_stats(_: Path) -> bytes:
    return as_table(
        '"Name","Calls","TotalDurationNs","AverageNs","Percentage","MinNs","MaxNs"'.replace(
            '"', ""
        ),
        ([f"k{row}{NAMES[row]}", 1, dur, dur, 0.1, dur, dur] for row, _, dur in _timed()),
    )


def xplane_file(_: Path) -> bytes:
    device = XPLANE["Plane"]("/device:TPU:0")
    events = [
        device.event(
            f"%add.{row % 250} = {NAMES[row]}", 10_000_000 * row, dur * 1000, f"a{row % 250}"
        )
        for row, _, dur in _timed()
    ]
    device.line(XPLANE["STREAM"], 1_000, events)
    return bytes(XPLANE["space"]([device]))


def _timed() -> list[tuple[int, int, int]]:
    """Row, start and duration in ns."""
    return list(zip(range(ROWS), STARTS_NS, DUR_NS, strict=True))


def _symbols() -> list[str]:
    """Ten thousand names; the rows name the first 250."""
    return [
        name(number) if number < 250 else f"{number}{name(number)}" for number in range(SYMBOLS)
    ]


DAMAGE = {"bad_event", "bad_time", "long_text", "cut_short", "json_mended", "companion_unreadable"}
WRITERS: dict[str, Callable[[Path], bytes]] = {
    **{
        write.__name__: write
        for write in (
            onnxruntime, ascend_kernel_details, ascend_op_summary, ascend_db, ascend_trace_view,
            msprof_timeline, msprof_task_time, ascend_op_statistic, mindspore_cpu,
            mindspore_cpu_timeline, mindspore_cpu_summary, mindspore_legacy,
            mindspore_legacy_display, mindspore_legacy_summary, kineto, pytorch_autograd,
            chrome_trace, tensorrt_profile, tensorrt_times, openvino_counters, openvino_graph,
            nsys_db, nsys_stats, rocpd, rocprof, rocprof_stats,
        )
    },
    "xplane": xplane_file,
}  # fmt: skip


def test_every_format_is_here() -> None:
    assert {*WRITERS, "msprof_op"} == {reader.name for reader in miniatures.FORMATS}


ONE_OF_EACH_FAMILY = (
    "onnxruntime", "ascend_kernel_details", "ascend_db", "mindspore_cpu_timeline", "kineto",
    "tensorrt_profile", "openvino_counters", "nsys_db", "rocprof", "xplane",
)  # fmt: skip


@pytest.mark.parametrize(
    "reader",
    [
        name if name in ONE_OF_EACH_FAMILY else pytest.param(name, marks=pytest.mark.exhaustive)
        for name in WRITERS
    ],
)
def test_thousands_of_rows_under_long_names_are_all_read(reader: str, tmp_path: Path) -> None:
    trace = read(Source("many", WRITERS[reader](tmp_path)))
    assert isinstance(trace, Trace)
    assert trace.meta.format == reader
    table = trace.runs if reader == "tensorrt_times" else trace.calls
    assert len(table) == ROWS
    assert table["dur_ns"].sum() == sum(DUR_NS)
    assert not [note for note in trace.diagnostics if note.code in DAMAGE]


def test_thousands_of_blocks_of_one_operator_are_all_read() -> None:
    basic = as_table(
        "Op Name,Op Type,Task Duration(us),Block Dim,Mix Block Dim,Device Id,Pid",
        [["gemv", "mix", "40.25", ROWS, 0, 0, 1]],
    )
    blocks = as_table(
        "block_id,sub_block_id,aiv_time(us),aiv_total_cycles,aiv_vec_time(us),aiv_vec_ratio",
        ([row, "vector0", DUR_US[row], 100, DUR_US[row], 1.0] for row in range(ROWS)),
    )
    beside = (Source("blocks.csv", blocks),)
    trace = read(Source("basic.csv", basic, beside=beside))
    assert isinstance(trace, Trace)
    assert trace.meta.format == "msprof_op" and trace.meta.files == ("blocks.csv",)
    assert trace.calls["dur_ns"].tolist() == [40_250]


def test_thousands_of_layers_whose_names_break_the_json_cost_only_themselves() -> None:
    """trtexec does not escape what stands in a name."""
    layers = [
        f', {{ "name" : "{"" if row % 2 else chr(34)}l{row}", "timeMs" : 1, "averageMs" : 1 }}'
        for row in range(ROWS)
    ]
    data = '[\n  { "count" : 1 }\n' + "\n".join(layers) + "\n]\n"
    trace = read(Source("many", data.encode()))
    assert isinstance(trace, Trace)
    assert len(trace.calls) == ROWS // 2
    assert {note.code: note.count for note in trace.diagnostics}["bad_event"] == ROWS // 2


def test_recordings_deep_in_folders_are_found(tmp_path: Path) -> None:
    folder = tmp_path.joinpath(*["deeper"] * 40)
    folder.mkdir(parents=True)
    (folder / "many.csv").write_bytes(nsys_stats(tmp_path))
    trace = read_path(tmp_path)
    assert isinstance(trace, Trace) and len(trace.calls) == ROWS
