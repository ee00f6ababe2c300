"""What is in a file, as JSON: the contract of `fusescope inspect --json` (docs/json.md)."""

from __future__ import annotations

from typing import Any

import msgspec

from analysis.experiment import Experiment
from analysis.trace import CALL_COLUMNS, Diagnostic, Trace
from analysis.wording import diagnostic_sentence

SCHEMA_VERSION = 1


def inspection(value: Trace | Experiment) -> dict[str, Any]:
    """Plain values of one file; an experiment has `variants` of the same form.

    `total_kernel_ns` is the sum of `dur_ns` of every call but communication, warm-up included;
    `by_type` sums exactly to it.
    """
    if isinstance(value, Experiment):
        record = value.record
        return {
            "schema_version": SCHEMA_VERSION,
            "format": "experiment",
            "tool": f"FuseScope {record.fusescope_version}",
            "created": record.created,
            "model": msgspec.to_builtins(record.model),
            "machine": msgspec.to_builtins(record.machine),
            "engine": msgspec.to_builtins(record.engine),
            "settings": msgspec.to_builtins(record.settings),
            "outcome": msgspec.to_builtins(record.outcome),
            "peaks": msgspec.to_builtins(record.peaks),
            "variants": [
                {"name": variant.name, **_trace(value.traces[variant.name])}
                for variant in record.variants
            ],
            "diagnostics": diagnostics(value.diagnostics),
        }
    return {
        "schema_version": SCHEMA_VERSION,
        "format": value.meta.format,
        "tool": " ".join(part for part in (value.meta.tool, value.meta.version) if part),
        **_trace(value),
    }


def inspection_json(value: Trace | Experiment) -> bytes:
    """`inspection` as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(inspection(value)), indent=2)


def _trace(trace: Trace) -> dict[str, Any]:
    calls, operators = trace.calls, trace.operators
    is_communication = operators["is_communication"].to_numpy()[calls["operator"].to_numpy()]
    compute = calls[~is_communication]
    runs = trace.profiled_runs
    in_runs = calls[calls["run"].notna()]
    per_run = in_runs.groupby("run")["n"].sum()
    return {
        "runs": len(trace.runs),
        "profiled_runs": len(runs),
        "operators": float(per_run.median()) if len(per_run) else float(calls["n"].sum()),
        "rows": len(calls),
        "total_kernel_ns": int(compute["dur_ns"].sum()),
        "communication_ns": int(calls["dur_ns"][is_communication].sum()),
        "by_type": _by_type(trace, compute, max(1, len(runs))),
        "fields": _fields(trace),
        "diagnostics": diagnostics(trace.diagnostics),
    }


def _by_type(trace: Trace, compute: Any, runs: int) -> list[dict[str, Any]]:
    types = trace.operators["op_type"].astype("object")
    labels = types.where(types.notna(), None).to_numpy()[compute["operator"].to_numpy()]
    grouped = compute.assign(op_type=[str(t) if t is not None else "" for t in labels]).groupby(
        "op_type", sort=False
    )
    rows = [
        {
            "op_type": name or None,
            "count": int(group["n"].sum()),
            "total_ns": int(group["dur_ns"].sum()),
            "per_run_ns": float(group["dur_ns"].sum()) / runs,
        }
        for name, group in grouped
    ]
    return sorted(rows, key=lambda row: (-row["total_ns"], row["op_type"] or ""))


def _fields(trace: Trace) -> dict[str, bool]:
    """What the file can answer."""
    calls, operators = trace.calls, trace.operators
    shapes = operators["inputs"].astype("object").fillna("").str.contains("[", regex=False)
    runs = trace.profiled_runs
    return {
        "start": bool(calls["start_ns"].notna().any()),
        "runs": bool(len(runs)) and not bool((runs["kind"] == "file").any()),
        "shapes": bool(shapes.any()),
        "dtypes": bool(shapes.any()),
        "flops": bool(operators["flops"].notna().any()),
        "counters": any(column not in CALL_COLUMNS for column in calls.columns),
        "members": bool(operators["members"].notna().any()),
        "stream": bool(calls["stream"].notna().any()),
        "communication": bool(operators["is_communication"].any()),
        "memory": bool(operators["bytes_out"].notna().any()),
    }


def diagnostics(notes: tuple[Diagnostic, ...]) -> list[dict[str, Any]]:
    """Diagnostics as severity, code, count and the sentence that users see."""
    return [
        {
            "severity": note.severity,
            "code": note.code,
            "count": note.count,
            "message": diagnostic_sentence(note),
        }
        for note in notes
    ]
