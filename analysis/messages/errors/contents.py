"""Errors of recordings that hold nothing to show: no operators, no kernels, no valid times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fusescope.analysis.messages.errors.error_text import COPY_AGAIN, ErrorText
from fusescope.analysis.messages.message import Message

ContentsError = Literal[
    "ascend_database_empty", "block_table_empty", "chrome_trace_empty", "cut_before_operators",
    "cut_before_times", "msprof_timeline_empty", "no_operators", "no_operators_to_write",
    "no_valid_times", "nsys_empty", "nsys_table_empty", "nsys_table_skipped",
    "onnxruntime_profile_empty", "openvino_graph_untimed", "pytorch_trace_empty",
    "rocprof_empty", "rocprof_table_empty", "side_ends_early", "tensorrt_layers_alone",
    "tensorrt_times_empty", "times_too_long", "trace_view_empty", "xla_as_text",
    "xla_cut_before_operators", "xla_damaged", "xla_empty",
]  # fmt: skip
_NO_DEVICE_OPERATORS = Message("This timeline does not contain any operators of a device")
_XLA_AGAIN = Message("Record again, with the steps inside jax.profiler.trace.")
_NSYS_TABLE = Message("Record with `nsys profile --trace=cuda` and export cuda_gpu_trace.")
CONTENTS: Mapping[ContentsError, ErrorText] = {
    "cut_before_operators": ErrorText(
        Message("This file is cut short before its first operator"), COPY_AGAIN
    ),
    "cut_before_times": ErrorText(
        Message("This file is cut short before its first time"), COPY_AGAIN
    ),
    "side_ends_early": ErrorText(
        Message(
            "This file ends early, so none of its runs is known to be complete, and no figure of "
            "it can be given"
        ),
        Message(
            "Copy or download the whole file again, or record it again; `fusescope inspect` and "
            "the Trace page show what is in it."
        ),
    ),
    "no_operators": ErrorText(Message("This file does not contain any operators"), COPY_AGAIN),
    "no_valid_times": ErrorText(Message("No operator in this file has a valid time"), COPY_AGAIN),
    "times_too_long": ErrorText(
        Message("The operators in this file take longer than a century"), COPY_AGAIN
    ),
    "onnxruntime_profile_empty": ErrorText(
        Message("This ONNX Runtime profile does not contain any operators"),
        Message("Run the session at least once before end_profiling()."),
    ),
    "pytorch_trace_empty": ErrorText(
        Message("This PyTorch trace does not contain any operators or kernels"),
        Message("Record with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]."),
    ),
    "chrome_trace_empty": ErrorText(
        Message("This trace does not contain any events with times"),
        Message("Events need a phase X with ts and dur, or B and E with ts."),
    ),
    # Ascend
    "ascend_database_empty": ErrorText(
        Message("This Ascend database does not contain any operators"),
        Message("Record with activities=[ProfilerActivity.NPU], for at least one whole step."),
    ),
    "trace_view_empty": ErrorText(
        _NO_DEVICE_OPERATORS,
        Message("Record with ProfilerActivity.NPU among the activities."),
    ),
    "msprof_timeline_empty": ErrorText(
        _NO_DEVICE_OPERATORS, Message("Give the msprof_*.json of the same recording.")
    ),
    "block_table_empty": ErrorText(
        Message("This table of blocks does not contain any times"),
        Message("Give the whole OPPROF_* folder."),
    ),
    "no_operators_to_write": ErrorText(
        Message("This trace does not contain any operators that could be written as Ascend tables"),
        Message("Give a profile."),
    ),
    # NVIDIA
    "nsys_empty": ErrorText(
        Message("This Nsight Systems report does not contain any GPU kernels"),
        Message(
            "Record with `nsys profile --trace=cuda,nvtx`, and let the program reach its first "
            "kernel."
        ),
    ),
    "nsys_table_empty": ErrorText(Message("This Nsight Systems table has no rows"), _NSYS_TABLE),
    "nsys_table_skipped": ErrorText(
        Message("This Nsight Systems table has no rows; Nsight Systems says: {reason:name}"),
        _NSYS_TABLE,
    ),
    "tensorrt_times_empty": ErrorText(
        Message("This file with TensorRT run times does not contain a valid time"),
        Message("Record with trtexec --exportTimes."),
    ),
    "tensorrt_layers_alone": ErrorText(
        Message("This file contains the layers of a TensorRT engine, but no times"),
        Message("Give it together with the file of trtexec --exportProfile of that engine."),
    ),
    # AMD, OpenVINO, XLA
    "rocprof_empty": ErrorText(
        Message("This rocprof recording does not contain any kernels"),
        Message("Record with `rocprofv3 --kernel-trace --output-format json -- <command>`."),
    ),
    "rocprof_table_empty": ErrorText(
        Message("This rocprof table does not contain any kernels"),
        Message("Give kernel_stats.csv or kernel_trace.csv, not the tables of the host."),
    ),
    "openvino_graph_untimed": ErrorText(
        Message("This OpenVINO execution graph does not contain any times"),
        Message("Record it with benchmark_app -pc, or with PERF_COUNT on, after a run."),
    ),
    "xla_empty": ErrorText(
        Message("This XLA profile does not contain any operators of a device"), _XLA_AGAIN
    ),
    "xla_cut_before_operators": ErrorText(
        Message("This XLA profile is cut short and does not contain any operators of a device"),
        _XLA_AGAIN,
    ),
    "xla_as_text": ErrorText(
        Message("This XLA profile was copied as text, so every byte above 0x7F is lost"),
        Message("Copy it again as a binary file."),
    ),
    "xla_damaged": ErrorText(Message("This XLA profile is damaged"), COPY_AGAIN),
}
