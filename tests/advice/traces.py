"""Traces of a few calls, with times that can be checked by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fusescope.analysis.advice import Finding, Findings, Subject, findings
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.operators.classes import op_class
from fusescope.analysis.trace import Meta, Trace, calls_frame, operators_frame, runs_frame

SHAPE = "float32[8,16]"
# (op type, start in ns, duration in ns); further facts by the name of a column of the operators.
Call = tuple[str, int, int]


def trace_of(
    calls: Sequence[Call],
    span_ns: int = 1000,
    *,
    kind: str = "step",
    level: str = "device_kernel",
    streams: Sequence[str] | None = None,
    samples: Sequence[int] = (),
    **columns: Sequence[Any],
) -> Trace:
    """One run of `span_ns` from 0 with one operator a call; un-profiled runs take `samples`."""
    count = len(calls)
    types = [op_type for op_type, _, _ in calls]
    runs = 1 + len(samples)
    return Trace(
        Meta(format="kineto", tool="PyTorch profiler", file_name="made.json"),
        runs_frame(
            run=list(range(runs)),
            kind=[kind, *["model_run"] * len(samples)],
            start_ns=[0, *[None] * len(samples)],
            dur_ns=[span_ns, *samples],
            profiled=[True, *[False] * len(samples)],
        ),
        operators_frame(
            **{
                "operator": list(range(count)),
                "name": [f"{op_type}_{place}" for place, op_type in enumerate(types)],
                "op_type": types,
                "op_class": [op_class(op_type) for op_type in types],
                "level": [level] * count,
                "inputs": [SHAPE] * count,
                "outputs": [SHAPE] * count,
                **{name: list(values) for name, values in columns.items()},
            }
        ),
        calls_frame(
            operator=list(range(count)),
            run=[0] * count,
            device=["0"] * count,
            stream=list(streams or ["7"] * count),
            start_ns=[start for _, start, _ in calls],
            dur_ns=[dur for _, _, dur in calls],
        ),
    )


def found_in(trace: Trace) -> Findings:
    """The findings of a trace by itself."""
    return findings(Subject(side_of_trace(trace)))


def of_code(found: Findings, code: str) -> Finding | None:
    """The one finding of that kind; None where there is none."""
    alike = [one for one in found.found if one.code == code]
    assert len(alike) < 2
    return alike[0] if alike else None


def reason(found: Findings, code: str) -> str | None:
    """Why that kind cannot be answered; None where it can."""
    return next((one.reason for one in found.unanswered if one.code == code), None)
