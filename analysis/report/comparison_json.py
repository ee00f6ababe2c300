"""A comparison as JSON: the contract of `fusescope compare --json` (docs/json.md).

Ratios and changes are fractions (-0.588), times ns, sizes bytes; null is not computable.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import msgspec
import pandas as pd

from analysis.compare.comparison import Comparison, Figure, Side
from analysis.compare.verdict import Interval
from analysis.quantity import Quantity
from analysis.report.fusion_json import fusion_values
from analysis.report.inspection import diagnostics
from analysis.report.text import plain
from analysis.wording import verdict_basis, verdict_sentence

SCHEMA_VERSION = 1
_SIDE_FIELDS = (
    "count", "per_run_ns", "mean_ns", "median_ns", "p90_ns", "min_ns", "max_ns", "wait_ns",
    "share",
    "op_type", "provider", "inputs", "outputs", "flops", "bytes_in", "bytes_param", "bytes_out",
    "utilisation",
)  # fmt: skip


def comparison_values(comparison: Comparison) -> dict[str, Any]:
    """Plain values of a comparison."""
    verdict = comparison.verdict
    interval = verdict.interval
    return {
        "schema_version": SCHEMA_VERSION,
        "baseline": _side(comparison.baseline),
        "candidate": _side(comparison.candidate),
        "verdict": {
            "outcome": verdict.outcome.replace("_", " "),
            "reason": verdict.reason,
            "sentence": verdict_sentence(comparison),
            "basis": verdict_basis(verdict),
            "speedup": {
                "value": verdict.speedup,
                "low": interval.low if interval else None,
                "high": interval.high if interval else None,
                "of": verdict.of,
                "basis": "measured",
            },
            "latency_change": verdict.latency_change,
            "throughput_change": verdict.throughput_change,
            "noise_floor": _interval(verdict.noise_floor),
            "smallest_detectable": verdict.smallest_detectable,
            "samples": list(verdict.samples),
            "pairing": verdict.pairing,
            "decided_at": verdict.decided_at,
            "alpha": verdict.alpha,
        },
        "latency": _figure(comparison.figure("latency")),
        "throughput": _figure(comparison.figure("throughput")),
        "cpu_time": _figure(comparison.figure("cpu_time")),
        "small_op_ratio": {
            "baseline": asdict(comparison.small_ops[0]),
            "candidate": asdict(comparison.small_ops[1]),
        },
        "short_op_ratio": {
            "tau_ns": comparison.tau.value,
            "tau_basis": comparison.tau.basis,
            "baseline": asdict(comparison.short_ops[0]),
            "candidate": asdict(comparison.short_ops[1]),
        },
        "compute_utilisation": _figure(comparison.figure("compute_utilisation")),
        "cache": {
            "missed_bytes": _figure(comparison.figure("cache_missed_bytes")),
            "utilisation": _figure(comparison.figure("cache_utilisation")),
            "hit_ratio": _figure(comparison.figure("cache_hit_ratio")),
        },
        "bytes_moved": _figure(comparison.figure("bytes_moved")),
        "intermediate_bytes": _figure(comparison.figure("intermediate_bytes")),
        "memory": _figure(comparison.figure("memory")),
        "output_difference": _figure(comparison.figure("output_difference")),
        "dispatch_gap": _figure(comparison.figure("dispatch_gap")),
        "profiler_inflation": _figure(comparison.figure("profiler_inflation")),
        "fusion": fusion_values(comparison),
        "by_type": _rows(comparison.op_types, ["op_type"]),
        "by_class": _rows(comparison.op_classes, ["op_class"]),
        "operators": _rows(comparison.operators, ["name", "op_class", "matched_by"]),
        "diagnostics": diagnostics(comparison.diagnostics),
    }


def comparison_json(comparison: Comparison) -> bytes:
    """`comparison_values` as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(comparison_values(comparison)), indent=2)


def _side(side: Side) -> dict[str, Any]:
    return {
        "label": side.label,
        "file": side.trace.meta.file_name,
        "sha256": side.trace.meta.sha256,
        "format": side.trace.meta.format,
        "variant": side.trace.meta.variant,
        "tool": side.trace.meta.tool,
        "version": side.trace.meta.version,
        "device": side.trace.meta.device,
    }


def _interval(interval: Interval | None) -> dict[str, float] | None:
    return None if interval is None else {"low": interval.low, "high": interval.high}


def _figure(figure: Figure) -> dict[str, Any]:
    return {
        "baseline": _quantity(figure.baseline),
        "candidate": _quantity(figure.candidate),
        "change": figure.change,
        "change_kind": figure.kind,
    }


def _quantity(quantity: Quantity) -> dict[str, Any]:
    values: dict[str, Any] = {
        "value": quantity.value,
        "unit": quantity.unit,
        "basis": quantity.basis,
    }
    return {**values, "reason": quantity.reason} if quantity.reason else values


def _rows(table: pd.DataFrame, names: list[str]) -> list[dict[str, Any]]:
    rows = []
    for record in table.to_dict("records"):
        row = {name: plain(record[name]) for name in names}
        row["side"] = record["side"]
        for side in ("baseline", "candidate"):
            row[side] = {
                field: plain(record[f"{field}_{side}"])
                for field in _SIDE_FIELDS
                if f"{field}_{side}" in record
            }
        row["delta_ns"] = plain(record["delta_ns"])
        rows.append(row)
    return rows
