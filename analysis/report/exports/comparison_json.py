"""A comparison as JSON: the contract of `fusescope compare --json` (docs/json.md).

Ratios and changes are fractions (-0.588), times ns, sizes bytes; null is not computable.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, TypeVar

import msgspec
import pandas as pd

from analysis.advice import Subject, findings
from analysis.compare.comparison import Comparison, Figure
from analysis.compare.figures import DEVICE_FIGURES
from analysis.compare.groups.matching import match_launchers, without_changes
from analysis.compare.modules import modules
from analysis.compare.multiple.ladder import ladder_of
from analysis.compare.roofs import ROOFLINE
from analysis.compare.side import Side
from analysis.compare.step import step_change, steps
from analysis.compare.timing.verdict import Interval
from analysis.messages import language
from analysis.metrics.counters import MEASURES, total_counters
from analysis.report.exports.findings_json import findings_values
from analysis.report.exports.fusion_json import fusion_values
from analysis.report.exports.inspection import diagnostics
from analysis.report.exports.roofline_json import quantity_values, roofs_values
from analysis.report.multiple.ladder_json import ladder_values
from analysis.report.text import plain
from analysis.wording import verdict_basis, verdict_sentence

SCHEMA_VERSION = 2
T = TypeVar("T")
_SIDE_FIELDS = (
    "count", "per_run_ns", "mean_ns", "median_ns", "p90_ns", "min_ns", "max_ns", "wait_ns",
    "share",
    "op_type", "provider", "inputs", "outputs", "flops", "bytes_in", "bytes_param", "bytes_out",
    *ROOFLINE,
)  # fmt: skip


def comparison_values(comparison: Comparison) -> dict[str, Any]:
    """Plain values of a comparison."""

    def figures(*codes: str) -> dict[str, Any]:
        return {code: _figure(comparison.figure(code)) for code in codes}

    return {
        "schema_version": SCHEMA_VERSION,
        "baseline": side_values(comparison.baseline),
        "candidate": side_values(comparison.candidate),
        "verdict": verdict_values(comparison),
        **figures("latency", "throughput", "cpu_time"),
        "ladder": ladder_values(ladder_of(comparison)),
        "step": _step(comparison),
        **findings_values(findings(Subject(comparison.candidate, comparison))),
        "small_op_ratio": _both(asdict, comparison.small_ops),
        "short_op_ratio": {
            "tau_ns": comparison.tau.value,
            "tau_basis": comparison.tau.basis,
            **_both(asdict, comparison.short_ops),
        },
        **figures("compute_utilisation", "operator_utilisation", "roofline_share"),
        "roofs": _both(roofs_values, comparison.roofs),
        "cache": {
            "missed_bytes": _figure(comparison.figure("cache_missed_bytes")),
            "utilisation": _figure(comparison.figure("cache_utilisation")),
            "hit_ratio": _figure(comparison.figure("cache_hit_ratio")),
        },
        **figures("bytes_moved", "intermediate_bytes", "memory"),
        "output_difference": {
            **_figure(comparison.figure("output_difference")),
            "agreement": _both(_agreement, (comparison.baseline, comparison.candidate)),
        },
        **figures("dispatch_gap", "profiler_inflation"),
        "device": {
            figure.code: _figure(figure)
            for figure in comparison.figures
            if figure.code in DEVICE_FIGURES
        },
        "counters": _counters(comparison),
        "fusion": fusion_values(comparison),
        "by_type": _rows(comparison.op_types, ["op_type"]),
        "by_class": _rows(comparison.op_classes, ["op_class"]),
        "by_launcher": _launchers(comparison),
        "by_module": [
            {name: plain(value) for name, value in row.items()}
            for row in modules(comparison.ledger).to_dict("records")
        ],
        "operators": _rows(comparison.operators, ["name", "op_class", "matched_by"]),
        "diagnostics": diagnostics(comparison.diagnostics),
    }


def comparison_json(comparison: Comparison) -> bytes:
    """`comparison_values` as indented JSON; its texts are English."""
    with language.speaking(language.ENGLISH):
        return msgspec.json.format(msgspec.json.encode(comparison_values(comparison)), indent=2)


def _both(values: Callable[[T], Any], sides: tuple[T, T]) -> dict[str, Any]:
    return {"baseline": values(sides[0]), "candidate": values(sides[1])}


def _step(comparison: Comparison) -> dict[str, Any]:
    """The median run of each side in parts, and the part that most of the change went to."""
    change = step_change(comparison)
    return {
        **_both(lambda found: None if found is None else asdict(found), steps(comparison)),
        "delta": None
        if change is None
        else {"whole_ns": change.whole_ns, "parts_ns": change.parts, "leading": change.leading},
        "basis": "measured",
    }


def verdict_values(comparison: Comparison) -> dict[str, Any]:
    verdict = comparison.verdict
    interval = verdict.interval
    return {
        "outcome": verdict.outcome,
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
        "processes": list(verdict.processes),
        "averaged": list(verdict.averaged),
        "pairing": verdict.pairing,
        "decided_at": verdict.decided_at,
        "alpha": verdict.alpha,
    }


def side_values(side: Side) -> dict[str, Any]:
    meta = side.trace.meta
    return {
        "label": side.label,
        "file": meta.file_name,
        "sha256": meta.sha256,
        "files": [
            {"file": one.name, "sha256": one.sha256, "started_ns": one.started_ns}
            for one in side.files
        ],
        "format": meta.format,
        "variant": meta.variant,
        "tool": meta.tool,
        "version": meta.version,
        "device": meta.device,
    }


def _interval(interval: Interval | None) -> dict[str, float] | None:
    return None if interval is None else {"low": interval.low, "high": interval.high}


def _figure(figure: Figure) -> dict[str, Any]:
    return {
        "baseline": quantity_values(figure.baseline),
        "candidate": quantity_values(figure.candidate),
        "change": figure.change,
        "change_kind": figure.kind,
    }


def _agreement(side: Side) -> dict[str, Any] | None:
    """Classes chosen as the recording's baseline chooses them, None where that is not known."""
    agreed = side.variant.agreement if side.variant else None
    return None if agreed is None else {**msgspec.structs.asdict(agreed), "basis": "measured"}


def _counters(comparison: Comparison) -> dict[str, Any]:
    """The counters that a side has, each with the part of the operators' time that it covers."""
    known: dict[str, Figure] = {figure.code: figure for figure in comparison.figures}
    sides = _both(total_counters, (comparison.baseline.trace, comparison.candidate.trace))
    values = {}
    for measure in MEASURES:
        if measure.code in known:
            values[measure.code] = _figure(known[measure.code])
            for side, counters in sides.items():
                counter = counters.get(measure.code)
                values[measure.code][side]["covered"] = counter.covered if counter else 0.0
    return values


def _launchers(comparison: Comparison) -> list[dict[str, Any]]:
    """What launched the operators; empty where neither trace names it."""
    traces = (comparison.baseline.trace, comparison.candidate.trace)
    if all(trace.operators["launched_by"].isna().all() for trace in traces):
        return []
    table = match_launchers(*traces)
    return _rows(table if comparison.has_changes else without_changes(table), ["launched_by"])


def _rows(table: pd.DataFrame, names: list[str]) -> list[dict[str, Any]]:
    codes = [m.code for m in MEASURES if f"{m.code}_baseline" in table]
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
            if codes:
                row[side]["counters"] = {c: plain(record[f"{c}_{side}"]) for c in codes}
        row["delta_ns"] = plain(record["delta_ns"])
        rows.append(row)
    return rows
