"""Files of profilers and benchmarks that tell of no operators: what they are, what to give instead.

Readers of the main files take them from beside; a file that is given without its recording gets
one sentence here.
"""

from __future__ import annotations

import re
from typing import NamedTuple

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
_GPU_TRACE = "Give the table of `nsys stats --report cuda_gpu_trace`, or the export to SQLite."
_DISPATCHES = "Give kernel_trace.csv or results.json of the same recording, or the whole folder."
_PROFILE = "Give the file of trtexec --exportProfile, or of --exportTimes, with it."
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
_DEVICES = "This file lists the devices of a machine and holds no operators"


class _Kind(NamedTuple):
    """A kind of file: a pattern of its text or what heads its table; what it is, what to give."""

    sign: bytes | tuple[str | tuple[str, ...], ...]
    said: str
    hint: str


def _holds(what: str, lacks: str = _NO_OPERATORS) -> str:
    return f"This file holds {what} and {lacks}"


_OF_A_CORE = (
    "mac_ratio", "vec_ratio", "scalar_ratio", "mac_fp16_ratio", "ub_read_bw", "l1_read_bw",
    "l0a_read_bw", "ub_read_bw_vector", "aiv_ub_read_bw_vector", "write_cache_hit",
    "vec_bankgroup_cflt_ratio",
)  # fmt: skip
_TABLES = (
    _Kind(("Stream Id", "Task Id", "Hit Rate"), _holds("cache hits of kernels"), _KERNELS),
    _Kind(("Fusion Op", "Original Ops"), _holds("what fused operators are made of"), _SUMMARY),
    _Kind(("Level", "API Name", "Time"), _holds(_HOST), _KERNELS),
    _Kind(("Process ID", "Thread ID", "Name", "Time"), _holds(_HOST), _SUMMARY),
    _Kind(("Thread ID", "OP Name", "Event Type"), _holds(_HOST), _SUMMARY),
    _Kind(("event_type", "payload_type", "message_type"), _holds("marks on the host"), _SUMMARY),
    _Kind(("Computing", "Overlapped", "Free"), _holds(_STEPS), _KERNELS),
    _Kind(
        ("Iteration ID", "Iteration End", "Iteration Time"), _holds("times of iterations"), _SUMMARY
    ),
    _Kind(
        ("Waiting", "Running", "Pending", "Task ID"), _holds("totals of an older msprof"), _AGAIN
    ),
    _Kind(("Name", "Size", "Allocation Time"), _holds("memory of operators"), _KERNELS),
    _Kind(
        ("Op Name", "Node Index Start", "Size"), _holds("memory of operators", _NO_TIMES), _KERNELS
    ),
    _Kind(("Component", ("Timestamp",), "Total Reserved"), _holds(_MEMORY), _KERNELS),
    _Kind(("event", "ddr", "hbm", "memory"), _holds(_MEMORY), _SUMMARY),
    _Kind(("Timestamp", "Total Allocated", "Total Active"), _holds(_MEMORY), _CPU),
    _Kind(("Metric", "Read", "Write"), _holds("traffic of the memory over time"), _SUMMARY),
    _Kind(("Mode", "Task", "Hit Rate", "Throughput"), _holds("traffic of the cache"), _SUMMARY),
    _Kind(
        ("Name", "Input Shapes", ("Call Stack", "Host Self Duration")),
        _holds("operators of the host", "none of the device"),
        _KERNELS,
    ),
    _Kind(("Stream Id", "Task Id", "TLB Hit Rate"), _holds("address translation"), _SUMMARY),
    _Kind(("Core ID", _OF_A_CORE), _holds("how busy each core was"), _SUMMARY),
    _Kind(("Mode", "Max", "Min", ("Average", "Avg")), _holds(_TRAFFIC), _SUMMARY),
    _Kind(("Timestamp", "Bandwidth", "rxPacket/s"), _holds("traffic of the network"), _SUMMARY),
    _Kind(("Dvpp Id", "Engine Type"), _holds(_LOAD), _SUMMARY),
    _Kind(("Cpu Type", "User", "Sys"), _holds(_LOAD), _SUMMARY),
    _Kind(("PID", "Name", ("CPU(%)", "Resident(pages)")), _holds(_LOAD), _SUMMARY),
    _Kind(("Memory Total", "Memory Free", "Buffers"), _holds(_LOAD), _SUMMARY),
    _Kind(("Function", "Cycles", "Cycles(%)"), _holds(_LOAD), _SUMMARY),
    _Kind(("Operation", "Stage", "Occurrences"), _holds(_PIPELINE), _KERNELS),
    _Kind(("Node", "Compute_time", "Dispatch_time"), _holds("phases of AI CPU tasks"), _KERNELS),
    _Kind(("Timestamp", "Action", "Source", "Cached Buffer Size"), _holds(_PIPELINE), _SUMMARY),
    _Kind(("Node Name", "Start", "End", "Queue Size"), _holds(_PIPELINE), _KERNELS),
    _Kind(("op_id", "op_type", "num_workers", "parent_id"), _holds(_PIPELINE), _LEGACY),
    _Kind(("step_num", "start_point", "end_point"), _holds(_STEPS), _LEGACY),
    _Kind(("iteration_interval", "fp_and_bp", "tail"), _holds(_STEPS), _LEGACY),
    _Kind(("step_num", "communication_cost", "wait_cost"), _holds(_COLLECTIVES), _LEGACY),
    _Kind(
        ("task_id", _FULL_NAME, "op_info"),
        _holds("types and shapes of operators", _NO_TIMES),
        _LEGACY,
    ),
    _Kind(
        (_FULL_NAME, ("FLOPs", "MFLOPs(10^6 cube)")),
        _holds("FLOPs of operators", _NO_TIMES),
        _LEGACY,
    ),
    _Kind(("instr", "addr", "pipe", "cycles"), _holds("instructions of a simulator"), _OPERATOR),
    _Kind(
        ("code", "call_count", "cycles", "running_time"),
        _holds("lines of code in a simulator"),
        _OPERATOR,
    ),
    _Kind(("M", "N", "K", "time_us"), _holds("means of a benchmark"), _ONE),
    # Nsight Systems, rocprof, pipit
    _Kind(("Start", "Duration", "RangeId"), _holds("ranges that a program marked"), _GPU_TRACE),
    _Kind(("Total Time", "Instances", "Range"), _holds("ranges that a program marked"), _GPU_TRACE),
    _Kind(("Total Time", "Num Calls", "Name"), _holds(_HOST), _GPU_TRACE),
    _Kind(("Start", "Duration", "CorrId", "Pid"), _holds(_HOST), _GPU_TRACE),
    _Kind(
        ("TAvg", "KAvg", "Kernel Name"),
        _holds("means from launch to end", "no totals of kernels"),
        _GPU_TRACE,
    ),
    _Kind(
        ("API Start", "Kernel Start", "Kernel Name"),
        _holds("times from launch to end", "not those of kernels alone"),
        _GPU_TRACE,
    ),
    _Kind(("Domain", "Function", "Start_Timestamp"), _holds(_HOST), _DISPATCHES),
    _Kind(("Direction", "Start_Timestamp"), _holds("copies of memory"), _DISPATCHES),
    _Kind(("Counter_Name", "Counter_Value"), _holds("counters of kernels", _NO_TIMES), _DISPATCHES),
    _Kind(
        ("KernelName", "gpu-id", "queue-id"),
        _holds("counters of kernels", _NO_TIMES),
        "Record with `rocprof --timestamp on`, or give the kernel trace of the same run.",
    ),
    _Kind(("Node_Id", "Agent_Type"), _DEVICES, _DISPATCHES),
    _Kind(
        (("Timestamp", "Timestamp (ns)"), "Event Type", "Name"),
        "This is a table of pipit's, with a row for each entering and leaving",
        "Give the profiler's own file.",
    ),
)
_DOCUMENTS = (
    _Kind(rb'"Communication (?:Time|Bandwidth) Info"', _holds(_COLLECTIVES), _KERNELS),
    _Kind(rb'"Transit Size\(MB\)"', _holds(_TRAFFIC), _KERNELS),
    _Kind(
        rb'"(?:collective|p2p)"\s*:\s*\[|"comm_group_parallel_info"',
        _holds("groups of devices"),
        _KERNELS,
    ),
    _Kind(
        rb'"_?profiler_level"|"ms_profiler_info"|"cann_profiler_info"|"torch_npu_version"'
        rb'|"parallel_group_info"|"distributed_args"|"jobInfo"',
        _holds("settings of a recording"),
        _FOLDER,
    ),
    _Kind(
        rb'^\{\s*"status"\s*:\s*\d+\s*,\s*"info"', _holds("a view of an older MindStudio"), _AGAIN
    ),
    _Kind(
        rb'^\{\s*"maps"\s*:\s*\{\s*"device|"scope_map"', _holds("a chart", "no timeline"), _LEGACY
    ),
    _Kind(rb'"op_name"[^{}]*"shape_info"', _holds("means by shape", "no timeline"), _LEGACY),
    _Kind(rb'"fp_start"\s*:|"num_of_streams"', _holds("marks of a whole recording"), _LEGACY),
    _Kind(rb'"op_desc"\s*:', _holds("what a fused kernel is made of", _NO_TIMES), _CPU),
    _Kind(rb'"cube_FLOP[Ss]"', _holds("FLOPs of a whole network"), _LEGACY),
    _Kind(rb'"sampling_interval"', _holds(_PIPELINE), _LEGACY),
)
_PLAIN = (
    _Kind(
        rb"(?is)^SQLite format 3\x00.*?CREATE TABLE\W{1,9}(?:Cluster|CommAnalyzer)",
        _holds("an analysis of several ranks"),
        _RANK,
    ),
    _Kind(rb"^\x37\x7f\x06[\x82\x83]", _holds("the last writes into a database"), _DATABASE),
    _Kind(rb"^Name,Input Shapes\s*\n", _holds("shapes of calls on the host"), _KERNELS),
    _Kind(rb"^(?:Device_id,)?OP Type,Count,Total Time", _holds("totals of collectives"), _SUMMARY),
    _Kind(rb"^op_ids,", _holds(_PIPELINE), _KERNELS),
    _Kind(rb"^[^;\n]*;[^;\n]*;\d+;(?:input_\d|\s)", _holds("shapes of operators", _NO_TIMES), _CPU),
    _Kind(rb"^=+\s*\d+ HWTS data\s*=", _holds("events of the task scheduler"), _LEGACY),
    _Kind(rb"^serial_number\s+node_type_name", _holds("phases of AI CPU tasks"), _LEGACY),
    _Kind(rb"^\w+_dequeue_wait \d+ \d+", _holds(_PIPELINE), _LEGACY),
)
# Of GPU profilers and benchmarks, JSON or not.
_TEXTS = (
    _Kind(
        rb'\A"?Name"?,"?Calls"?,"?TotalDurationNs"?[^\n]{0,200}\n\s*"?(?:(?:__)?hip[A-Z]|hsa_'
        rb"|roctx|(?:HIP|HSA|KERNEL|MARKER|RCCL|ROCTX|SCRATCH|MEMORY|OMPT)_(?!COPY_))",
        "This table of rocprof holds sums of calls on the host, or of whole domains",
        _DISPATCHES,
    ),
    _Kind(
        rb'\A\{[^{]{0,200}"(?:performance_summary|device_information|inference_options'
        rb'|model_options|build_options)"\s*:\s*\{',
        _holds("settings and means of TensorRT's trtexec"),
        _PROFILE,
    ),
    _Kind(
        rb"\A(?:&&&& RUNNING TensorRT|\[\d\d/\d\d/\d{4}-\d\d:\d\d:\d\d\] \[[VIWEF]\])",
        "This is what TensorRT's trtexec printed",
        "Give the file of trtexec --exportProfile, or of --exportTimes, of that run.",
    ),
    _Kind(
        rb'\A\[\s*\{\s*"Name"\s*:\s*"[^"]{0,200}"\s*,\s*"ComputeCapability"\s*:', _DEVICES, _PROFILE
    ),
    _Kind(
        rb'\A\{\s*"schema"\s*:\s*"[^"]{0,40}"(?=[^}]{0,2000}"nodes"\s*:\s*\[)',
        "This is PyTorch's execution trace, which holds no times",
        "Give the file that prof.export_chrome_trace wrote in that run.",
    ),
    _Kind(
        rb"\A[\s\S]{0,4000}?\*\* [^\n]{0,120}\((?:cuda_|gpu|nvtx|osrt|cudaapi)\w{0,40}\):\s*\n",
        "This is a printed table of Nsight Systems",
        "Write it with `nsys stats --format csv --report cuda_gpu_trace`.",
    ),
    _Kind(
        rb"\ASQLite format 3\x00[\s\S]*CREATE (?:TABLE|VIEW)[^\n]{0,40}rocpd_",
        "This is a database of rocprofv3 (rocpd)",
        "Give the kernel_trace.csv of `rocpd convert --output-format csv -i <file>`.",
    ),
    _Kind(
        rb"\[node type\][^\n]{0,200}\[avg ms\]",
        "This is the printed summary of a TensorFlow or TFLite benchmark",
        "Run the model with a runtime of docs/formats.md, such as ONNX Runtime.",
    ),
)


def companion(head: bytes) -> tuple[str, str] | None:
    """What such a file holds, and what to give with it, each as one sentence; None for others."""
    text = utf8(head).lstrip()
    is_json = text[:1] in (b"{", b"[")
    for kind in (*_DOCUMENTS, *_TEXTS) if is_json else (*_PLAIN, *_TEXTS, *_TABLES):
        sign = kind.sign
        if re.search(sign, text) if isinstance(sign, bytes) else has_columns(head, *sign):
            return kind.said, kind.hint
    return None
