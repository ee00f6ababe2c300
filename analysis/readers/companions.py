"""Files of profilers that tell of no operators: what they are, and what to give instead.

Readers of the main files take them from beside; a file that is given without its recording gets
one sentence here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from analysis.readers.input.csv_table import has_columns
from analysis.readers.input.encoding import utf8

_KERNELS = "Give kernel_details.csv of the same folder, or the whole folder."
_SUMMARY = "Give op_summary_*.csv of the same folder, or the whole folder."
_LEGACY = "Give output_timeline_data_*.txt of the same folder, or the whole folder."
_FOLDER = "Give the whole folder that the profiler wrote."
_OPERATOR = "Give the whole OPPROF_* folder of the same operator, measured without the simulator."
_ONE = "Give the OPPROF_* folder of one of its operators, measured with msprof op."
_CPU = "Give cpu_op_execute_timestamp_*.txt of the same folder, or the whole folder."
_RANK = "Give ascend_pytorch_profiler_*.db or ascend_mindspore_profiler_*.db of one rank."
_DATABASE = "Give the database of the same name with it, or the whole folder."
_AGAIN = "Give the op_summary_*.csv of a recording with a newer msprof."
_PIPELINE = "the data pipeline"
_LOAD = "the load of the machine"
_TRAFFIC = "traffic between devices"
_HOST = "times of calls on the host"
_MEMORY = "memory over time"
_STEPS = "times of whole steps"
_COLLECTIVES = "times of collectives"
_FULL_NAME = ("full_op_name", "full_kernel_name")
_NO_OPERATORS = "no operators"
_NO_TIMES = "no times"


@dataclass(frozen=True)
class _Companion:
    """A kind of table: what heads it, what it holds, what to give instead, what it lacks."""

    heads: tuple[str | tuple[str, ...], ...]
    holds: str
    hint: str
    lacks: str = _NO_OPERATORS


@dataclass(frozen=True)
class _Text:
    """A kind of other text: what it looks like, what it holds, what to give instead."""

    sign: bytes
    holds: str
    hint: str
    lacks: str = _NO_OPERATORS


_OF_A_CORE = (
    "mac_ratio", "vec_ratio", "scalar_ratio", "mac_fp16_ratio", "ub_read_bw", "l1_read_bw",
    "l0a_read_bw", "ub_read_bw_vector", "aiv_ub_read_bw_vector", "write_cache_hit",
    "vec_bankgroup_cflt_ratio",
)  # fmt: skip
_TABLES = (
    _Companion(("Stream Id", "Task Id", "Hit Rate"), "cache hits of kernels", _KERNELS),
    _Companion(("Fusion Op", "Original Ops"), "what fused operators are made of", _SUMMARY),
    _Companion(("Level", "API Name", "Time"), _HOST, _KERNELS),
    _Companion(("Process ID", "Thread ID", "Name", "Time"), _HOST, _SUMMARY),
    _Companion(("Thread ID", "OP Name", "Event Type"), _HOST, _SUMMARY),
    _Companion(("event_type", "payload_type", "message_type"), "marks on the host", _SUMMARY),
    _Companion(("Computing", "Overlapped", "Free"), _STEPS, _KERNELS),
    _Companion(
        ("Iteration ID", "Iteration End", "Iteration Time"), "times of iterations", _SUMMARY
    ),
    _Companion(("Waiting", "Running", "Pending", "Task ID"), "totals of an older msprof", _AGAIN),
    _Companion(("Name", "Size", "Allocation Time"), "memory of operators", _KERNELS),
    _Companion(("Op Name", "Node Index Start", "Size"), "memory of operators", _KERNELS, _NO_TIMES),
    _Companion(("Component", ("Timestamp",), "Total Reserved"), _MEMORY, _KERNELS),
    _Companion(("event", "ddr", "hbm", "memory"), _MEMORY, _SUMMARY),
    _Companion(("Timestamp", "Total Allocated", "Total Active"), _MEMORY, _CPU),
    _Companion(("Metric", "Read", "Write"), "traffic of the memory over time", _SUMMARY),
    _Companion(("Mode", "Task", "Hit Rate", "Throughput"), "traffic of the cache", _SUMMARY),
    _Companion(
        ("Name", "Input Shapes", ("Call Stack", "Host Self Duration")),
        "operators of the host",
        _KERNELS,
        "none of the device",
    ),
    _Companion(("Stream Id", "Task Id", "TLB Hit Rate"), "address translation", _SUMMARY),
    _Companion(("Core ID", _OF_A_CORE), "how busy each core was", _SUMMARY),
    _Companion(("Mode", "Max", "Min", ("Average", "Avg")), _TRAFFIC, _SUMMARY),
    _Companion(("Timestamp", "Bandwidth", "rxPacket/s"), "traffic of the network", _SUMMARY),
    _Companion(("Dvpp Id", "Engine Type"), _LOAD, _SUMMARY),
    _Companion(("Cpu Type", "User", "Sys"), _LOAD, _SUMMARY),
    _Companion(("PID", "Name", ("CPU(%)", "Resident(pages)")), _LOAD, _SUMMARY),
    _Companion(("Memory Total", "Memory Free", "Buffers"), _LOAD, _SUMMARY),
    _Companion(("Function", "Cycles", "Cycles(%)"), _LOAD, _SUMMARY),
    _Companion(("Operation", "Stage", "Occurrences"), _PIPELINE, _KERNELS),
    _Companion(("Node", "Compute_time", "Dispatch_time"), "phases of AI CPU tasks", _KERNELS),
    _Companion(("Timestamp", "Action", "Source", "Cached Buffer Size"), _PIPELINE, _SUMMARY),
    _Companion(("Node Name", "Start", "End", "Queue Size"), _PIPELINE, _KERNELS),
    _Companion(("op_id", "op_type", "num_workers", "parent_id"), _PIPELINE, _LEGACY),
    _Companion(("step_num", "start_point", "end_point"), _STEPS, _LEGACY),
    _Companion(("iteration_interval", "fp_and_bp", "tail"), _STEPS, _LEGACY),
    _Companion(("step_num", "communication_cost", "wait_cost"), _COLLECTIVES, _LEGACY),
    _Companion(
        ("task_id", _FULL_NAME, "op_info"), "types and shapes of operators", _LEGACY, _NO_TIMES
    ),
    _Companion(
        (_FULL_NAME, ("FLOPs", "MFLOPs(10^6 cube)")), "FLOPs of operators", _LEGACY, _NO_TIMES
    ),
    _Companion(("instr", "addr", "pipe", "cycles"), "instructions of a simulator", _OPERATOR),
    _Companion(
        ("code", "call_count", "cycles", "running_time"), "lines of code in a simulator", _OPERATOR
    ),
    _Companion(("M", "N", "K", "time_us"), "means of a benchmark", _ONE),
)
_DOCUMENTS = (
    _Text(rb'"Communication (?:Time|Bandwidth) Info"', _COLLECTIVES, _KERNELS),
    _Text(rb'"Transit Size\(MB\)"', _TRAFFIC, _KERNELS),
    _Text(
        rb'"(?:collective|p2p)"\s*:\s*\[|"comm_group_parallel_info"', "groups of devices", _KERNELS
    ),
    _Text(
        rb'"_?profiler_level"|"ms_profiler_info"|"cann_profiler_info"|"torch_npu_version"'
        rb'|"parallel_group_info"|"distributed_args"|"jobInfo"',
        "settings of a recording",
        _FOLDER,
    ),
    _Text(rb'^\{\s*"status"\s*:\s*\d+\s*,\s*"info"', "a view of an older MindStudio", _AGAIN),
    _Text(rb'^\{\s*"maps"\s*:\s*\{\s*"device|"scope_map"', "a chart", _LEGACY, "no timeline"),
    _Text(rb'"op_name"[^{}]*"shape_info"', "means by shape", _LEGACY, "no timeline"),
    _Text(rb'"fp_start"\s*:|"num_of_streams"', "marks of a whole recording", _LEGACY),
    _Text(rb'"op_desc"\s*:', "what a fused kernel is made of", _CPU, _NO_TIMES),
    _Text(rb'"cube_FLOP[Ss]"', "FLOPs of a whole network", _LEGACY),
    _Text(rb'"sampling_interval"', _PIPELINE, _LEGACY),
)
_PLAIN = (
    _Text(
        rb"(?is)^SQLite format 3\x00.*?CREATE TABLE\W{1,9}(?:Cluster|CommAnalyzer)",
        "an analysis of several ranks",
        _RANK,
    ),
    _Text(rb"^\x37\x7f\x06[\x82\x83]", "the last writes into a database", _DATABASE),
    _Text(rb"^Name,Input Shapes\s*\n", "shapes of calls on the host", _KERNELS),
    _Text(rb"^(?:Device_id,)?OP Type,Count,Total Time", "totals of collectives", _SUMMARY),
    _Text(rb"^op_ids,", _PIPELINE, _KERNELS),
    _Text(rb"^[^;\n]*;[^;\n]*;\d+;(?:input_\d|\s)", "shapes of operators", _CPU, _NO_TIMES),
    _Text(rb"^=+\s*\d+ HWTS data\s*=", "events of the task scheduler", _LEGACY),
    _Text(rb"^serial_number\s+node_type_name", "phases of AI CPU tasks", _LEGACY),
    _Text(rb"^\w+_dequeue_wait \d+ \d+", _PIPELINE, _LEGACY),
)


def companion(head: bytes) -> tuple[str, str] | None:
    """What such a file holds, and what to give with it, each as one sentence; None for others."""
    text = utf8(head).lstrip()
    is_json = text[:1] in (b"{", b"[")
    for known in _DOCUMENTS if is_json else _PLAIN:
        if re.search(known.sign, text):
            return _said(known.holds, known.lacks), known.hint
    for table in () if is_json else _TABLES:
        if has_columns(head, *table.heads):
            return _said(table.holds, table.lacks), table.hint
    return None


def _said(holds: str, lacks: str) -> str:
    return f"This file holds {holds} and {lacks}"
