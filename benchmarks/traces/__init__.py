"""Large traces to measure reading on, made from a seed: fields and their mix as real profilers
write them, calls of the host properly nested, device kernels behind their launches.

`python -m benchmarks.traces FORMAT COUNT FILE` writes one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.traces import ascend, mindspore, rocprof
from benchmarks.traces.kineto import kineto
from benchmarks.traces.onnxruntime import onnxruntime
from benchmarks.traces.op_summary import op_summary

__all__ = ["FORMATS", "kineto", "onnxruntime", "op_summary", "write"]

FORMATS: dict[str, Callable[[int], Iterator[str]]] = {
    "kineto": kineto,
    "onnxruntime": onnxruntime,
    "op_summary": op_summary,
    "trace_view": ascend.trace_view,
    "msprof": ascend.msprof,
    "mindspore": mindspore.cpu_timeline,
    "rocprofv3": rocprof.results,
    "rocprof": rocprof.timeline,
}


def write(format_: str, count: int, path: Path) -> None:
    """Write a trace of one of FORMATS to `path`."""
    with path.open("w", buffering=1 << 20) as file:
        file.writelines(FORMATS[format_](count))
