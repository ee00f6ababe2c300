"""Errors of well-known files that FuseScope does not open: what they are, and what to give instead.

Commands in the hints are those of the tools that wrote the files.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fusescope.analysis.messages.errors.error_text import ErrorText
from fusescope.analysis.messages.message import Message

ForeignError = Literal[
    "key_averages_table", "lfs_pointer", "ncu_report", "ncu_table", "nsys_report",
    "nsys_stats_text", "nvprof_table", "perfetto_protobuf", "rocprof_v1_database", "spreadsheet",
    "zip_in_parts", "zstd_not_installed",
]  # fmt: skip
_WITH_NSYS = Message(
    "Record the program with Nsight Systems, `nsys profile --trace=cuda,nvtx PROGRAM`, and give "
    "what `nsys export --type sqlite REPORT.nsys-rep` writes."
)
FOREIGN: Mapping[ForeignError, ErrorText] = {
    "nsys_report": ErrorText(
        Message("This is a report of Nsight Systems, which only its own program can read"),
        Message(
            "Export it, `nsys export --type sqlite REPORT.nsys-rep`, and give the .sqlite file."
        ),
    ),
    "ncu_report": ErrorText(
        Message("This is a report of Nsight Compute, which is about single kernels, not a run"),
        _WITH_NSYS,
    ),
    "ncu_table": ErrorText(
        Message("This is a table of Nsight Compute, which is about single kernels, not a run"),
        _WITH_NSYS,
    ),
    "nvprof_table": ErrorText(
        Message("This is a table of nvprof, which Nsight Systems has replaced"), _WITH_NSYS
    ),
    "nsys_stats_text": ErrorText(
        Message("This is what `nsys stats` prints, as text"),
        Message("Have it written as CSV: `nsys stats --report cuda_gpu_trace --format csv FILE`."),
    ),
    "key_averages_table": ErrorText(
        Message("This is the table that PyTorch's key_averages() prints"),
        Message("Give the trace that it was made of: `prof.export_chrome_trace('trace.json')`."),
    ),
    "perfetto_protobuf": ErrorText(
        Message("This is a Perfetto trace as protobuf"),
        Message(
            "Give the trace as JSON: rocprofv3 writes it with --output-format json, others are "
            "converted by Perfetto's `traceconv json FILE trace.json`."
        ),
    ),
    "lfs_pointer": ErrorText(
        Message("This is a pointer of Git LFS, not the file that it stands for"),
        Message("Run `git lfs pull` in the repository, and open the file again."),
    ),
    "zstd_not_installed": ErrorText(
        Message("This file is compressed with zstd, which this Python cannot unpack"),
        Message("Unpack it with `zstd -d FILE`, or install the Python package pyarrow."),
    ),
    "spreadsheet": ErrorText(
        Message("This is a spreadsheet"),
        Message("Save the sheet with the table as CSV, or give the profiler's own file."),
    ),
    "rocprof_v1_database": ErrorText(
        Message("This database contains the timings of rocprof before version 3"),
        Message("Give the results.json that rocprof wrote beside it."),
    ),
    "zip_in_parts": ErrorText(
        Message("This is one part of a zip that was split into several"),
        Message("Join the parts with `zip -s 0 FILE.zip --out WHOLE.zip`, and give the whole zip."),
    ),
}
