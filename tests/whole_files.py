"""Whole files: traces of which it is known only what the operators took altogether."""

from __future__ import annotations

from collections.abc import Sequence

from fusescope.analysis.trace import Meta, Trace, calls_frame, operators_frame, runs_frame

# name, class, own time and span in ns
Op = tuple[str, str, int, int]


def trace_of(label: str, operators: Sequence[Op], kind: str = "file") -> Trace:
    names, classes, own, spans = zip(*operators, strict=True)
    count = range(len(operators))
    starts = [sum(spans[:at]) for at in count]
    return Trace(
        Meta("hand", "test", file_name=label, sha256=label * 4),
        runs_frame(run=[0], kind=[kind], start_ns=[0], dur_ns=[2 * sum(spans)], profiled=[True]),
        operators_frame(operator=count, name=names, op_type=names, op_class=classes),
        calls_frame(operator=count, run=[0] * len(own), start_ns=starts, dur_ns=own, span_ns=spans),
    )
