"""TensorRT's `--exportTimes`: one row an inference of trtexec, and the facts beside it.

The time of a run is `latencyMs`: copy to the device + compute + copy back, 'the latency to infer a
single query' in trtexec's own words; where it is missing, their sum. Until TensorRT 8.5 the file
holds the warm-up as well: queries whose compute started before the warm-up time.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import msgspec
import pandas as pd

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import mark
from fusescope.analysis.messages.places import in_row
from fusescope.analysis.readers.input.encoding import utf8
from fusescope.analysis.readers.input.json_value import decode, refused
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.input.times import exact_ns
from fusescope.analysis.readers.nvidia.tensorrt_graph import holds_layers
from fusescope.analysis.readers.nvidia.tensorrt_rows import decode_rows
from fusescope.analysis.readers.nvidia.tensorrt_twice import copies
from fusescope.analysis.readers.reader import ALWAYS, Reader
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import (
    Diagnostic,
    Example,
    Trace,
    calls_frame,
    noted,
    operators_frame,
    runs_frame,
)

TOOL = "TensorRT"
_TIMES = re.compile(rb'"(?:latencyMs|endToEndMs)"\s*:')
_COMPUTE = re.compile(rb'"computeMs"\s*:')
_FACTS = re.compile(rb'"(?:performance_summary|inference_options|device_information)"\s*:\s*\{')
_OLD_FACTS = re.compile(rb'\[\s*\{\s*"Name"\s*:\s*"[^"]*"\s*,\s*"ComputeCapability"\s*:')
_WARM_UP = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s)\s+warm", re.IGNORECASE)
_MEDIAN = 3  # its place in a summary
_NO = msgspec.Raw(b"")


class _Row(msgspec.Struct, gc=False):
    latencyMs: msgspec.Raw = _NO
    computeMs: msgspec.Raw = _NO
    h2dMs: msgspec.Raw = _NO
    d2hMs: msgspec.Raw = _NO
    inMs: msgspec.Raw = _NO  # before TensorRT 8
    outMs: msgspec.Raw = _NO
    startH2dMs: msgspec.Raw = _NO
    startInMs: msgspec.Raw = _NO
    startComputeMs: msgspec.Raw = _NO


@dataclass(frozen=True)
class Facts:
    """What a metadata file beside a recording says; None where it does not."""

    device: str | None = None
    version: str | None = None
    warmup_ns: int | None = None
    profiled_apart: bool | None = None  # run times were taken without the profiler
    median_ns: int | None = None  # of the un-profiled runs, as the summary says it


def holds_times(head: bytes) -> bool:
    """True for the head of an `--exportTimes` file."""
    text = utf8(head).lstrip()
    return text.startswith(b"[") and bool(_TIMES.search(text) and _COMPUTE.search(text))


def holds_facts(head: bytes) -> bool:
    """True for the head of a `*.metadata.json` of TensorRT's engine explorer."""
    text = utf8(head).lstrip()
    if text.startswith(b"["):
        return _OLD_FACTS.match(text) is not None
    return text.startswith(b"{") and _FACTS.search(text) is not None


def read_times(source: Source, facts: Facts) -> tuple[pd.DataFrame, list[Diagnostic]]:
    """Un-profiled runs (columns run, start_ns, dur_ns, warmup) in file order, and notes.

    Runs that stand twice count once and are noted. Raises FuseScopeError where no run has a valid
    time.
    """
    rows, notes = decode_rows(source.content, _Row, source.name, source.limits)
    starts: list[int | None] = []
    durations: list[int] = []
    warmups: list[bool] = []
    told: list[Hashable] = []
    places: list[int] = []
    bad = 0
    example: Example = ""
    for index, row in enumerate(rows):
        dur_ns = _latency(row)
        if dur_ns is None or dur_ns < 0:
            bad, example = bad + 1, example or in_row(index + 1)
            continue
        start = _first(row.startH2dMs, row.startInMs, row.startComputeMs)
        compute = exact_ns(row.startComputeMs, "ms")
        durations.append(dur_ns)
        starts.append(start)
        told.append(tuple(exact_ns(time, "ms") for time in msgspec.structs.astuple(row)))
        places.append(index + 1)
        warmups.append(
            facts.warmup_ns is not None and compute is not None and compute < facts.warmup_ns
        )
    if not durations:
        raise FuseScopeError("tensorrt_times_empty", where=source.name)
    notes += noted("warning", "bad_time", bad, example)
    if twice := copies(told, starts):
        notes.append(Diagnostic("warning", "samples_twice", len(twice), in_row(places[twice[0]])))
    if all(warmups):
        warmups = [False] * len(warmups)
    frame = pd.DataFrame(
        {
            "run": range(len(durations)),
            "start_ns": pd.array(starts, dtype="Int64"),
            "dur_ns": durations,
            "warmup": warmups,
        }
    )
    if twice:
        frame = frame.drop(index=twice).reset_index(drop=True)
        frame["run"] = range(len(frame))
    return frame, notes


def read_facts(source: Source) -> Facts:
    """Device, version and options from a metadata file. Raises FuseScopeError when damaged."""
    value = decode(utf8(source.content), dict[str, dict[str, Any]], None)
    if value is None:
        return _old_facts(source)
    device = value.get("device_information", {})
    options = value.get("inference_options", {})
    apart = options.get("Separate profiling")
    match = _WARM_UP.search(str(options.get("Duration", ""))[:200])
    return Facts(
        device=_text(device.get("Selected Device")),
        version=next(
            (
                _text(text)
                for part in value.values()
                for key, text in part.items()
                if key.strip().lower() in ("tensorrt version", "trt version")
            ),
            None,
        ),
        warmup_ns=exact_ns(match[1], "s" if match[2].lower() == "s" else "ms") if match else None,
        profiled_apart=None if apart is None else str(apart).lower() == "enabled",
        median_ns=_median(value.get("performance_summary", {}).get("Latency")),
    )


def run_columns(frame: pd.DataFrame, first: int = 0) -> dict[str, list[object]]:
    """Columns of un-profiled runs, numbered from `first`; all of one process, so one block."""
    return {
        "run": [first + run for run in frame["run"]],
        "kind": ["iteration"] * len(frame),
        "start_ns": [None if pd.isna(ns) else int(ns) for ns in frame["start_ns"]],
        "dur_ns": list(frame["dur_ns"]),
        "profiled": [False] * len(frame),
        "warmup": list(frame["warmup"]),
        "block": [0] * len(frame),
    }


def _median(summary: object) -> int | None:
    """The median in ns of what trtexec sums runs up to: minimum, maximum, mean, median and a
    percentile, in ms, of which the median lies between the first two."""
    if not isinstance(summary, list) or len(summary) < _MEDIAN + 1:
        return None
    low, high, median = (exact_ns(summary[at], "ms") for at in (0, 1, _MEDIAN))
    if low is None or high is None or median is None or not 0 < low <= median <= high:
        return None
    return median


def summary_frame(median_ns: int) -> pd.DataFrame:
    """The median of a summary as the only un-profiled run, like those of read_times."""
    return pd.DataFrame(
        {
            "run": [0],
            "start_ns": pd.array([None], dtype="Int64"),
            "dur_ns": [median_ns],
            "warmup": [False],
        }
    )


def _sniff(head: bytes) -> bool:
    """A JSON array with trtexec's names of times, or the layers of an engine."""
    return holds_times(head) or holds_layers(head)


def _read(source: Source) -> Trace:
    """A trace of un-profiled runs without operators; FuseScopeError for layer information."""
    if holds_layers(source.head):
        raise FuseScopeError("tensorrt_layers_alone", where=source.name)
    frame, notes = read_times(source, Facts())
    notes.append(Diagnostic("warning", "no_operators"))
    return Trace(
        meta=source.meta(TENSORRT_TIMES.name, TOOL),
        runs=runs_frame(**run_columns(frame)),
        operators=operators_frame(operator=[], name=[]),
        calls=calls_frame(operator=[], dur_ns=[]),
        diagnostics=tuple(notes),
    )


# No operators, but the best headline there is. Layer information alone comes here, too, to be
# told what it lacks.
TENSORRT_TIMES = Reader(
    name="tensorrt_times",
    title=mark("TensorRT run times, trtexec --exportTimes"),
    fields={"samples": ALWAYS},
    recording=(
        "`trtexec --loadEngine=model.engine --exportTimes=times.json --exportProfile=profile.json "
        "--separateProfileRun`; give both files together for times by layer."
    ),
    sniff=_sniff,
    read=_read,
)


def _latency(row: _Row) -> int | None:
    whole = exact_ns(row.latencyMs, "ms")
    if whole is not None:
        return whole
    compute = exact_ns(row.computeMs, "ms")
    if compute is None:
        return None
    return compute + (_first(row.h2dMs, row.inMs) or 0) + (_first(row.d2hMs, row.outMs) or 0)


def _first(*values: msgspec.Raw) -> int | None:
    return next((ns for ns in (exact_ns(value, "ms") for value in values) if ns is not None), None)


def _old_facts(source: Source) -> Facts:
    """The list of devices that early versions of the engine explorer wrote."""
    with refused(source.name):
        devices = msgspec.json.decode(utf8(source.content), type=list[dict[str, Any]])
    return Facts(device=_text(devices[0].get("Name")) if devices else None)


def _text(value: object) -> str | None:
    return clean_text(value, 80).strip() or None if isinstance(value, str) else None
