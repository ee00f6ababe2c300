"""Files of GPU profilers and benchmarks that tell of no operators: what they are, what to give.

As in `companions`, for Nsight Systems, rocprofv3, TensorRT, PyTorch, TFLite and pipit.
"""

from __future__ import annotations

import re

from analysis.readers.input.csv_table import has_columns
from analysis.readers.input.encoding import utf8

_GPU_TRACE = "Give the table of `nsys stats --report cuda_gpu_trace`, or the export to SQLite."
_DISPATCHES = "Give kernel_trace.csv or results.json of the same recording, or the whole folder."
_PROFILE = "Give the file of trtexec --exportProfile, or of --exportTimes, with it."
_OWN_FILE = "Give the profiler's own file."

_RANGES = "This file holds ranges that a program marked and no operators"
_CALLS = "This file holds times of calls on the host and no operators"
_DEVICES = "This file lists the devices of a machine and holds no operators"

# Columns that head a table, what it is, and what to give instead.
_TABLES: tuple[tuple[tuple[str | tuple[str, ...], ...], str, str], ...] = (
    (("Start", "Duration", "RangeId"), _RANGES, _GPU_TRACE),
    (("Total Time", "Instances", "Range"), _RANGES, _GPU_TRACE),
    (("Total Time", "Num Calls", "Name"), _CALLS, _GPU_TRACE),
    (("Start", "Duration", "CorrId", "Pid"), _CALLS, _GPU_TRACE),
    (
        ("TAvg", "KAvg", "Kernel Name"),
        "This file holds means from launch to end and no totals of kernels",
        _GPU_TRACE,
    ),
    (
        ("API Start", "Kernel Start", "Kernel Name"),
        "This file holds times from launch to end and not those of kernels alone",
        _GPU_TRACE,
    ),
    (("Domain", "Function", "Start_Timestamp"), _CALLS, _DISPATCHES),
    (
        ("Direction", "Start_Timestamp"),
        "This file holds copies of memory and no operators",
        _DISPATCHES,
    ),
    (
        ("Counter_Name", "Counter_Value"),
        "This file holds counters of kernels and no times",
        _DISPATCHES,
    ),
    (
        ("KernelName", "gpu-id", "queue-id"),
        "This file holds counters of kernels and no times",
        "Record with `rocprof --timestamp on`, or give the kernel trace of the same run.",
    ),
    (("Node_Id", "Agent_Type"), _DEVICES, _DISPATCHES),
    (
        (("Timestamp", "Timestamp (ns)"), "Event Type", "Name"),
        "This is a table of pipit's, with a row for each entering and leaving",
        _OWN_FILE,
    ),
)
# The same for other text.
_TEXTS = (
    (
        (
            rb'\A"?Name"?,"?Calls"?,"?TotalDurationNs"?[^\n]{0,200}\n\s*"?(?:(?:__)?hip[A-Z]|hsa_'
            rb"|roctx|(?:HIP|HSA|KERNEL|MARKER|RCCL|ROCTX|SCRATCH|MEMORY|OMPT)_(?!COPY_))"
        ),
        "This table of rocprof holds sums of calls on the host, or of whole domains",
        _DISPATCHES,
    ),
    (
        (
            rb'\A\{[^{]{0,200}"(?:performance_summary|device_information|inference_options'
            rb'|model_options|build_options)"\s*:\s*\{'
        ),
        "This file holds settings and means of TensorRT's trtexec and no operators",
        _PROFILE,
    ),
    (
        rb"\A(?:&&&& RUNNING TensorRT|\[\d\d/\d\d/\d{4}-\d\d:\d\d:\d\d\] \[[VIWEF]\])",
        "This is what TensorRT's trtexec printed",
        "Give the file of trtexec --exportProfile, or of --exportTimes, of that run.",
    ),
    (
        rb'\A\[\s*\{\s*"Name"\s*:\s*"[^"]{0,200}"\s*,\s*"ComputeCapability"\s*:',
        _DEVICES,
        _PROFILE,
    ),
    (
        rb'\A\{\s*"schema"\s*:\s*"[^"]{0,40}"(?=[^}]{0,2000}"nodes"\s*:\s*\[)',
        "This is PyTorch's execution trace, which holds no times",
        "Give the file that prof.export_chrome_trace wrote in that run.",
    ),
    (
        rb"\A[\s\S]{0,4000}?\*\* [^\n]{0,120}\((?:cuda_|gpu|nvtx|osrt|cudaapi)\w{0,40}\):\s*\n",
        "This is a printed table of Nsight Systems",
        "Write it with `nsys stats --format csv --report cuda_gpu_trace`.",
    ),
    (
        rb"\ASQLite format 3\x00[\s\S]*CREATE (?:TABLE|VIEW)[^\n]{0,40}rocpd_",
        "This is a database of rocprofv3 (rocpd)",
        "Give the kernel_trace.csv of `rocpd convert --output-format csv -i <file>`.",
    ),
    (
        rb"\[node type\][^\n]{0,200}\[avg ms\]",
        "This is the printed summary of a TensorFlow or TFLite benchmark",
        "Run the model with a runtime of docs/formats.md, such as ONNX Runtime.",
    ),
)


def gpu_companion(head: bytes) -> tuple[str, str] | None:
    """What such a file holds, and what to give instead, a sentence each; None for others."""
    text = utf8(head).lstrip()
    for sign, sentence, hint in _TEXTS:
        if re.search(sign, text):
            return sentence, hint
    if text[:1] in (b"{", b"["):
        return None
    for heads, sentence, hint in _TABLES:
        if has_columns(head, *heads):
            return sentence, hint
    return None
