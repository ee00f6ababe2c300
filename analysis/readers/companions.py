"""Files of profilers and benchmarks without operators or times, and what to give instead.

Readers of the main files take them from beside; a file that is given without its recording gets
one sentence here.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from fusescope.analysis.messages import Message
from fusescope.analysis.readers.input.csv_table import has_columns
from fusescope.analysis.readers.input.encoding import utf8

# What to give instead.
_KERNELS = Message("kernel_details.csv from the same folder, or the whole folder")
_SUMMARY = Message("op_summary_*.csv from the same folder, or the whole folder")
_LEGACY = Message("output_timeline_data_*.txt from the same folder, or the whole folder")
_FOLDER = Message("the whole folder that the profiler wrote")
_OPERATOR = Message(
    "the whole OPPROF_* folder of the same operator, measured without the simulator"
)
_ONE = Message("the OPPROF_* folder of one of its operators, measured with msprof op")
_CPU = Message("cpu_op_execute_timestamp_*.txt from the same folder, or the whole folder")
_RANK = Message("ascend_pytorch_profiler_*.db or ascend_mindspore_profiler_*.db of one rank")
_DATABASE = Message("the database of the same name with it, or the whole folder")
_NEWER = Message("the op_summary_*.csv of a recording with a newer msprof")
_GPU_TRACE = Message("the table of `nsys stats --report cuda_gpu_trace`, or the export to SQLite")
_DISPATCHES = Message("kernel_trace.csv or results.json of the same recording, or the whole folder")
_PROFILE = Message("the file of trtexec --exportProfile or --exportTimes with it")
_KINETO = Message("the trace of PyTorch's profiler with it, or the whole folder")
# What several kinds of files contain.
_COMPILED = Message("the log of a compilation by torch.compile, but no times")
_PIPELINE = Message("records of the data pipeline, but no operators")
_LOAD = Message("the load of the machine, but no operators")
_TRAFFIC = Message("the traffic between devices, but no operators")
_HOST = Message("the times of calls on the host, but no operators")
_MEMORY = Message("memory over time, but no operators")
_OPERATOR_MEMORY = Message("the memory of operators, but no times")
_STEPS = Message("the times of whole steps, but no operators")
_COLLECTIVES = Message("the times of collectives, but no operators")
_RANGES = Message("ranges that a program marked, but no operators")
_COUNTERS = Message("counters of kernels, but no times")
_PHASES = Message("phases of AI CPU tasks, but no operators")
_DEVICES = Message("the devices of a machine, but no operators")
_FULL_NAME = ("full_op_name", "full_kernel_name")


class Companion(NamedTuple):
    """A kind of file: a pattern of its text or what heads its table.

    `content` is what it contains, `instead` what to give instead.
    """

    sign: bytes | tuple[str | tuple[str, ...], ...]
    content: Message
    instead: Message


_OF_A_CORE = (
    "mac_ratio", "vec_ratio", "scalar_ratio", "mac_fp16_ratio", "ub_read_bw", "l1_read_bw",
    "l0a_read_bw", "ub_read_bw_vector", "aiv_ub_read_bw_vector", "write_cache_hit",
    "vec_bankgroup_cflt_ratio",
)  # fmt: skip
_TABLES = (
    Companion(
        ("Stream Id", "Task Id", "Hit Rate"),
        Message("the cache hits of kernels, but no operators"),
        _KERNELS,
    ),
    Companion(
        ("Fusion Op", "Original Ops"),
        Message("the parts of fused operators, but no times"),
        _SUMMARY,
    ),
    Companion(("Level", "API Name", "Time"), _HOST, _KERNELS),
    Companion(("Process ID", "Thread ID", "Name", "Time"), _HOST, _SUMMARY),
    Companion(("Thread ID", "OP Name", "Event Type"), _HOST, _SUMMARY),
    Companion(
        ("event_type", "payload_type", "message_type"),
        Message("marks on the host, but no operators"),
        _SUMMARY,
    ),
    Companion(("Computing", "Overlapped", "Free"), _STEPS, _KERNELS),
    Companion(
        ("Iteration ID", "Iteration End", "Iteration Time"),
        Message("the times of iterations, but no operators"),
        _SUMMARY,
    ),
    Companion(
        ("Waiting", "Running", "Pending", "Task ID"),
        Message("totals of an older msprof, but no single operators"),
        _NEWER,
    ),
    Companion(("Name", "Size", "Allocation Time"), _OPERATOR_MEMORY, _KERNELS),
    Companion(("Op Name", "Node Index Start", "Size"), _OPERATOR_MEMORY, _KERNELS),
    Companion(("Component", ("Timestamp",), "Total Reserved"), _MEMORY, _KERNELS),
    Companion(("event", "ddr", "hbm", "memory"), _MEMORY, _SUMMARY),
    Companion(("Timestamp", "Total Allocated", "Total Active"), _MEMORY, _CPU),
    Companion(
        ("Metric", "Read", "Write"),
        Message("the traffic of the memory over time, but no operators"),
        _SUMMARY,
    ),
    Companion(
        ("Mode", "Task", "Hit Rate", "Throughput"),
        Message("the traffic of the cache, but no operators"),
        _SUMMARY,
    ),
    Companion(
        ("Name", "Input Shapes", ("Call Stack", "Host Self Duration")),
        Message("operators of the host, but none of the device"),
        _KERNELS,
    ),
    Companion(
        ("Stream Id", "Task Id", "TLB Hit Rate"),
        Message("records of address translation, but no operators"),
        _SUMMARY,
    ),
    Companion(
        ("Core ID", _OF_A_CORE), Message("the load of each core, but no operators"), _SUMMARY
    ),
    Companion(("Mode", "Max", "Min", ("Average", "Avg")), _TRAFFIC, _SUMMARY),
    Companion(
        ("Timestamp", "Bandwidth", "rxPacket/s"),
        Message("the traffic of the network, but no operators"),
        _SUMMARY,
    ),
    Companion(("Dvpp Id", "Engine Type"), _LOAD, _SUMMARY),
    Companion(("Cpu Type", "User", "Sys"), _LOAD, _SUMMARY),
    Companion(("PID", "Name", ("CPU(%)", "Resident(pages)")), _LOAD, _SUMMARY),
    Companion(("Memory Total", "Memory Free", "Buffers"), _LOAD, _SUMMARY),
    Companion(("Function", "Cycles", "Cycles(%)"), _LOAD, _SUMMARY),
    Companion(("Operation", "Stage", "Occurrences"), _PIPELINE, _KERNELS),
    Companion(("Node", "Compute_time", "Dispatch_time"), _PHASES, _KERNELS),
    Companion(("Timestamp", "Action", "Source", "Cached Buffer Size"), _PIPELINE, _SUMMARY),
    Companion(("Node Name", "Start", "End", "Queue Size"), _PIPELINE, _KERNELS),
    Companion(("op_id", "op_type", "num_workers", "parent_id"), _PIPELINE, _LEGACY),
    Companion(("step_num", "start_point", "end_point"), _STEPS, _LEGACY),
    Companion(("iteration_interval", "fp_and_bp", "tail"), _STEPS, _LEGACY),
    Companion(("step_num", "communication_cost", "wait_cost"), _COLLECTIVES, _LEGACY),
    Companion(
        ("task_id", _FULL_NAME, "op_info"),
        Message("the types and shapes of operators, but no times"),
        _LEGACY,
    ),
    Companion(
        (_FULL_NAME, ("FLOPs", "MFLOPs(10^6 cube)")),
        Message("the FLOPs of operators, but no times"),
        _LEGACY,
    ),
    Companion(
        ("instr", "addr", "pipe", "cycles"),
        Message("the instructions that a simulator ran, but no operators"),
        _OPERATOR,
    ),
    Companion(
        ("code", "call_count", "cycles", "running_time"),
        Message("the lines of code that a simulator ran, but no operators"),
        _OPERATOR,
    ),
    Companion(
        ("M", "N", "K", "time_us"), Message("the means of a benchmark, but no operators"), _ONE
    ),
    # Nsight Systems, rocprof, pipit
    Companion(("Start", "Duration", "RangeId"), _RANGES, _GPU_TRACE),
    Companion(("Total Time", "Instances", "Range"), _RANGES, _GPU_TRACE),
    Companion(("Total Time", "Num Calls", "Name"), _HOST, _GPU_TRACE),
    Companion(("Start", "Duration", "CorrId", "Pid"), _HOST, _GPU_TRACE),
    Companion(
        ("TAvg", "KAvg", "Kernel Name"),
        Message("the mean times from launch to end, but no totals of kernels"),
        _GPU_TRACE,
    ),
    Companion(
        ("API Start", "Kernel Start", "Kernel Name"),
        Message("the times from launch to end, but not the times of the kernels alone"),
        _GPU_TRACE,
    ),
    Companion(("Domain", "Function", "Start_Timestamp"), _HOST, _DISPATCHES),
    Companion(
        ("Direction", "Start_Timestamp"), Message("copies of memory, but no operators"), _DISPATCHES
    ),
    Companion(("Counter_Name", "Counter_Value"), _COUNTERS, _DISPATCHES),
    Companion(
        ("KernelName", "gpu-id", "queue-id"),
        _COUNTERS,
        Message("the kernel trace of the same run, or a recording with `rocprof --timestamp on`"),
    ),
    Companion(("Node_Id", "Agent_Type"), _DEVICES, _DISPATCHES),
    Companion(
        (("Timestamp", "Timestamp (ns)"), "Event Type", "Name"),
        Message("a table of pipit, with one row for each start and each end of a call"),
        Message("the profiler's own file"),
    ),
)
_DOCUMENTS = (
    Companion(rb'"Communication (?:Time|Bandwidth) Info"', _COLLECTIVES, _KERNELS),
    Companion(rb'"Transit Size\(MB\)"', _TRAFFIC, _KERNELS),
    Companion(
        rb'"(?:collective|p2p)"\s*:\s*\[|"comm_group_parallel_info"',
        Message("groups of devices, but no operators"),
        _KERNELS,
    ),
    Companion(
        rb'"_?profiler_level"|"ms_profiler_info"|"cann_profiler_info"|"torch_npu_version"'
        rb'|"parallel_group_info"|"distributed_args"|"jobInfo"',
        Message("the settings of a recording, but no operators"),
        _FOLDER,
    ),
    Companion(
        rb'^\{\s*"status"\s*:\s*\d+\s*,\s*"info"',
        Message("a view of an older MindStudio, but no operators"),
        _NEWER,
    ),
    Companion(
        rb'^\{\s*"maps"\s*:\s*\{\s*"device|"scope_map"',
        Message("a chart, but no timeline"),
        _LEGACY,
    ),
    Companion(rb'"op_name"[^{}]*"shape_info"', Message("means by shape, but no timeline"), _LEGACY),
    Companion(
        rb'"fp_start"\s*:|"num_of_streams"',
        Message("marks of a whole recording, but no operators"),
        _LEGACY,
    ),
    Companion(rb'"op_desc"\s*:', Message("the parts of a fused kernel, but no times"), _CPU),
    Companion(
        rb'"cube_FLOP[Ss]"', Message("the FLOPs of a whole network, but no operators"), _LEGACY
    ),
    Companion(rb'"sampling_interval"', _PIPELINE, _LEGACY),
)
_PLAIN = (
    Companion(
        rb"(?is)^SQLite format 3\x00.*?CREATE TABLE\W{1,9}(?:Cluster|CommAnalyzer)",
        Message("an analysis of several ranks, but no operators"),
        _RANK,
    ),
    Companion(
        rb"^\x37\x7f\x06[\x82\x83]",
        Message("the last writes to a database, but no operators"),
        _DATABASE,
    ),
    Companion(
        rb"^Name,Input Shapes\s*\n",
        Message("the shapes of calls on the host, but no operators"),
        _KERNELS,
    ),
    Companion(
        rb"^(?:Device_id,)?OP Type,Count,Total Time",
        Message("the totals of collectives, but no operators"),
        _SUMMARY,
    ),
    Companion(rb"^op_ids,", _PIPELINE, _KERNELS),
    Companion(
        rb"^[^;\n]*;[^;\n]*;\d+;(?:input_\d|\s)",
        Message("the shapes of operators, but no times"),
        _CPU,
    ),
    Companion(
        rb"^=+\s*\d+ HWTS data\s*=",
        Message("events of the task scheduler, but no operators"),
        _LEGACY,
    ),
    Companion(rb"^serial_number\s+node_type_name", _PHASES, _LEGACY),
    Companion(rb"^\w+_dequeue_wait \d+ \d+", _PIPELINE, _LEGACY),
)
# Of GPU profilers and benchmarks, JSON or not.
_TEXTS = (
    Companion(
        rb'\A"?Name"?,"?Calls"?,"?TotalDurationNs"?[^\n]{0,200}\n\s*"?(?:(?:__)?hip[A-Z]|hsa_'
        rb"|roctx|(?:HIP|HSA|KERNEL|MARKER|RCCL|ROCTX|SCRATCH|MEMORY|OMPT)_(?!COPY_))",
        Message("rocprof's totals of calls on the host or of whole domains, but no kernels"),
        _DISPATCHES,
    ),
    Companion(
        rb'\A\{[^{]{0,200}"(?:performance_summary|device_information|inference_options'
        rb'|model_options|build_options)"\s*:\s*\{',
        Message("the settings and means of TensorRT's trtexec, but no operators"),
        _PROFILE,
    ),
    Companion(
        rb"\A(?:&&&& RUNNING TensorRT|\[\d\d/\d\d/\d{4}-\d\d:\d\d:\d\d\] \[[VIWEF]\])",
        Message("the printed output of TensorRT's trtexec"),
        Message("the file of trtexec --exportProfile or --exportTimes of that run"),
    ),
    Companion(
        rb'\A\[\s*\{\s*"Name"\s*:\s*"[^"]{0,200}"\s*,\s*"ComputeCapability"\s*:', _DEVICES, _PROFILE
    ),
    Companion(
        rb'\A\{\s*"schema"\s*:\s*"[^"]{0,40}"(?=[^}]{0,2000}"nodes"\s*:\s*\[)',
        Message("PyTorch's execution trace, but no times"),
        Message("the file that prof.export_chrome_trace wrote in that run"),
    ),
    Companion(
        rb"\A[\s\S]{0,4000}?\*\* [^\n]{0,120}\((?:cuda_|gpu|nvtx|osrt|cudaapi)\w{0,40}\):\s*\n",
        Message("a printed table of Nsight Systems"),
        Message("the table that `nsys stats --format csv --report cuda_gpu_trace` writes"),
    ),
    Companion(rb"\A[VIDWE]\d{4} [\d:.]{8,20} \d{1,10} \S{1,200}\] \{", _COMPILED, _KINETO),
    Companion(rb'\A\{\s*"(?:preToPost|postToPre|cppCodeToPost)"\s*:', _COMPILED, _KINETO),
    Companion(
        rb"\[node type\][^\n]{0,200}\[avg ms\]",
        Message("the printed summary of a TensorFlow or TFLite benchmark"),
        Message("a profile of the model from a runtime in docs/formats.md, such as ONNX Runtime"),
    ),
)


def companion(head: bytes) -> Companion | None:
    """The kind of file that starts like this; None for all others."""
    text = utf8(head).lstrip()
    is_json = text[:1] in (b"{", b"[")
    for kind in (*_DOCUMENTS, *_TEXTS) if is_json else (*_PLAIN, *_TEXTS, *_TABLES):
        sign = kind.sign
        if re.search(sign, text) if isinstance(sign, bytes) else has_columns(head, *sign):
            return kind
    return None
