"""A comparison as JSON: the contract of `fusescope compare --json` (docs/json.md).

Ratios and changes are fractions (-0.588), times ns, sizes bytes; null is not computable.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import msgspec
import pandas as pd
from msgspec.structs import asdict

from fusescope.analysis.advice import Subject, findings
from fusescope.analysis.compare.comparison import Comparison, Figure
from fusescope.analysis.compare.figures import DEVICE_FIGURES
from fusescope.analysis.compare.joining.matching import match_launchers, without_changes
from fusescope.analysis.compare.ledger.modules import modules
from fusescope.analysis.compare.multiple.ladder import ladder_of
from fusescope.analysis.compare.roofs import ROOFLINE
from fusescope.analysis.compare.side import Side
from fusescope.analysis.compare.step import StepChange, mean_steps, step_change, steps
from fusescope.analysis.compare.timing.verdict import Interval
from fusescope.analysis.messages import language
from fusescope.analysis.metrics.counters import MEASURES, total_counters
from fusescope.analysis.metrics.step import StepParts
from fusescope.analysis.report.explanation.diagnostics_json import diagnostics
from fusescope.analysis.report.explanation.kinds_json import common_kinds_values
from fusescope.analysis.report.explanation.rank_json import rank_values
from fusescope.analysis.report.exports.findings_json import findings_values
from fusescope.analysis.report.exports.fusion_json import fusion_left_out, fusion_values
from fusescope.analysis.report.exports.roofline_json import quantity_values, roofs_values
from fusescope.analysis.report.multiple.ladder_json import ladder_values
from fusescope.analysis.report.text import plain
from fusescope.analysis.wording import verdict_basis, verdict_sentence

SCHEMA_VERSION = 2
_AT_ONCE = 2000  # operators that are written together: all of them may be 100 times what is read
T = TypeVar("T")
_SIDE_FIELDS = (
    "count", "per_run_ns", "mean_ns", "median_ns", "p90_ns", "min_ns", "max_ns", "wait_ns",
    "share",
    "op_type", "provider", "inputs", "outputs", "flops", "bytes_in", "bytes_param", "bytes_out",
    *ROOFLINE,
)  # fmt: skip


def comparison_values(comparison: Comparison, top: int | None = None) -> dict[str, Any]:
    """Plain values of a comparison; with `top` only so many operators and groups, those with the
    largest change, each group with so many members at most, and the sums of what is left out."""
    rows = [row for some in _operator_rows(comparison, top) for row in some]
    return _values(comparison, rows, top)


def _values(comparison: Comparison, operators: list[Any], top: int | None) -> dict[str, Any]:
    def figures(*codes: str) -> dict[str, Any]:
        return {code: _figure(comparison.figure(code)) for code in codes}

    return {
        "schema_version": SCHEMA_VERSION,
        "baseline": side_values(comparison.baseline),
        "candidate": side_values(comparison.candidate),
        "verdict": verdict_values(comparison),
        "explanation": _explanation(comparison),
        "kinds_of_work": common_kinds_values(comparison),
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
        "fusion": fusion_values(comparison, top),
        "by_type": _rows(comparison.op_types, ["op_type"]),
        "by_class": _rows(comparison.op_classes, ["op_class"]),
        "by_launcher": _launchers(comparison),
        "by_module": _modules(comparison),
        "operators": operators,
        "diagnostics": diagnostics(comparison.diagnostics),
        **({} if top is None else {"left_out": _left_out(comparison, top)}),
    }


def comparison_json(comparison: Comparison, top: int | None = None) -> bytes:
    """`comparison_values` as indented JSON; its texts are English."""
    return b"".join(comparison_parts(comparison, top))


def comparison_parts(comparison: Comparison, top: int | None = None) -> Iterator[bytes]:
    """`comparison_json`, part by part: what operators take as text is never there at once."""
    with language.speaking(language.ENGLISH):
        whole = _indented(_values(comparison, [], top))
    place = b'\n  "operators": []'  # no text of a trace has the end of a line
    before, _, after = whole.partition(place)
    is_first = True
    yield before
    for rows in _operator_rows(comparison, top):
        told = _indented({"operators": rows})
        yield told[len(b"{") : -len(b"\n  ]\n}")] if is_first else _more(told)
        is_first = False
    yield (place if is_first else b"\n  ]") + after


def _more(told: bytes) -> bytes:
    """The rows of an object that has them alone, as they follow others."""
    return b"," + told[len(b'{\n  "operators": [') : -len(b"\n  ]\n}")]


def _indented(values: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(values), indent=2)


def _operator_rows(comparison: Comparison, top: int | None) -> Iterator[list[dict[str, Any]]]:
    """The operators with the largest change first, some at a time."""
    table = comparison.operators.iloc[:top]
    for at in range(0, len(table), _AT_ONCE):
        yield _rows(table.iloc[at : at + _AT_ONCE], ["name", "op_class", "matched_by"])


def _left_out(comparison: Comparison, top: int) -> dict[str, Any]:
    """How many operators and groups are left out, and their sums."""
    rest = comparison.operators.iloc[top:]
    changes = rest["delta_ns"].dropna()
    return {
        "operators": {
            "count": len(rest),
            **{
                side: {
                    "count": int(rest[f"operator_{side}"].notna().sum()),
                    "per_run_ns": float(rest[f"per_run_ns_{side}"].sum()),
                }
                for side in ("baseline", "candidate")
            },
            "delta_ns": float(changes.sum()) if len(changes) or rest.empty else None,
        },
        **fusion_left_out(comparison, top),
    }


def _explanation(comparison: Comparison) -> dict[str, Any] | None:
    """What changed from trace to trace; nothing of what says it loads for a recording."""
    if comparison.explanation is None:
        return None
    from fusescope.analysis.report.explanation.explanation_json import explanation_values

    return explanation_values(comparison.explanation)


def _both(values: Callable[[T], Any], sides: tuple[T, T]) -> dict[str, Any]:
    return {"baseline": values(sides[0]), "candidate": values(sides[1])}


def _step(comparison: Comparison) -> dict[str, Any]:
    """The run of each side that timelines show in parts, and the part that most of the change went
    to; the same of the mean run, which the pages show."""
    shown, means = steps(comparison), mean_steps(comparison)
    return {
        **_parts(shown, step_change(comparison, shown)),
        "basis": "measured",
        "mean": _parts(means, step_change(comparison, means)),
    }


def _parts(
    sides: tuple[StepParts | None, StepParts | None], change: StepChange | None
) -> dict[str, Any]:
    return {
        **_both(lambda found: None if found is None else asdict(found), sides),
        "delta": None
        if change is None
        else {"whole_ns": change.whole_ns, "parts_ns": change.parts, "leading": change.leading},
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
        "times": {
            "baseline_ns": verdict.times_ns[0] if verdict.times_ns else None,
            "candidate_ns": verdict.times_ns[1] if verdict.times_ns else None,
            "statistic": "mean" if verdict.is_of_means else "typical",
            "runs_apart": [apart and asdict(apart) for apart in verdict.runs_apart],
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
        "job": rank_values(meta.job),
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
    return None if agreed is None else {**asdict(agreed), "basis": "measured"}


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


def _modules(comparison: Comparison) -> list[dict[str, Any]]:
    """The gains of groups by module; else the parts of the model tree."""
    rows = modules(comparison.ledger).to_dict("records")
    sides = (comparison.baseline, comparison.candidate)
    if not rows and any(side.experiment is not None for side in sides):
        return []  # recordings have no tree
    if not rows:
        from fusescope.analysis.report.model_tree.model_tree_json import by_part

        return by_part(comparison)
    return [{str(name): plain(value) for name, value in row.items()} for row in rows]


def _rows(table: pd.DataFrame, names: list[str]) -> list[dict[str, Any]]:
    codes = [m.code for m in MEASURES if f"{m.code}_baseline" in table]
    sides = {}
    for side in ("baseline", "candidate"):
        known = [field for field in _SIDE_FIELDS if f"{field}_{side}" in table]
        columns: dict[str, Iterable[Any]] = {of: _cells(table[f"{of}_{side}"]) for of in known}
        if codes:
            columns["counters"] = _records({c: _cells(table[f"{c}_{side}"]) for c in codes})
        sides[side] = _records(columns)
    heads = {name: _cells(table[name]) for name in (*names, "side")}
    return [*_records({**heads, **sides, "delta_ns": _cells(table["delta_ns"])})]


def _records(columns: dict[str, Iterable[Any]]) -> Iterator[dict[str, Any]]:
    """An object for each row of these columns, which has some."""
    return (dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True))


def _cells(column: pd.Series) -> list[Any]:
    """The cells of a column for JSON, each as `plain`."""
    if column.dtype == "float64":
        return [None if math.isnan(cell) else cell for cell in column.tolist()]
    return [cell if type(cell) is str else plain(cell) for cell in column.tolist()]
