"""The explanation of one trace as plain values: what `advise --json` has as `explanation`
(docs/json.md)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from fusescope.analysis.advice.explanation.explanation import (
    Collective,
    Layers,
    Saving,
    TracedUnit,
    TraceExplanation,
)
from fusescope.analysis.compare.explanation.explanation import KernelTime
from fusescope.analysis.report.explanation.explanation_json import last_of, product_values
from fusescope.analysis.wording.explanation.savings import saving_said
from fusescope.analysis.wording.explanation.trace import trace_sentence


def trace_explanation_values(found: TraceExplanation | None) -> dict[str, Any] | None:
    """Return the values of an explanation, times in ns a unit; None where nothing is explained."""
    if found is None:
        return None
    return {
        "sentence": trace_sentence(found),
        "unit": _unit(found.unit),
        "layers": [_layers(each) for each in found.layers],
        "classes": [asdict(each) for each in found.classes],
        "collectives": [_collective(each) for each in found.collectives],
        "products": [product_values(each) for each in found.products],
        "unknown": _kernels(found.unknown),
        "captured": None
        if found.captured is None
        else dict(zip(("graphs", "kernels"), found.captured, strict=True)),
        "changes": [_saving(each, found.unit) for each in found.savings],
    }


def _unit(unit: TracedUnit) -> dict[str, Any]:
    uneven = unit.uneven
    return {
        "kind": unit.kind,
        "name": unit.name,
        "evidence": unit.evidence,
        "count": unit.count,
        "wall_ns": unit.wall_ns,
        "shortest_ns": unit.range_ns[0],
        "longest_ns": unit.range_ns[1],
        "lasts_to": last_of(unit.kind, unit.end_with_kernels),
        "last_kernel_ns": unit.last_kernel_ns,
        "parts": asdict(unit.parts),
        "kernels": unit.kernels,
        "work": asdict(unit.work),
        "others": unit.others,
        "set_aside": unit.set_aside,
        "host_ns": unit.host_ns,
        "ahead_ns": unit.ahead_ns,
        "earlier_ns": unit.earlier_ns,
        "behind_ns": unit.behind_ns,
        "behind_layers": unit.behind_layers,
        "unprofiled_ns": unit.unprofiled_ns or None,
        "uneven": None if uneven is None else asdict(uneven),
        "unlaunched": unit.unlaunched,
        "has_starts": unit.has_starts,
    }


def _layers(layers: Layers) -> dict[str, Any]:
    return {
        "copies": layers.copies,
        "kernels": layers.kernels,
        "kernels_of_copies": list(layers.kernels_of_copies),
        "others": sorted(layers.others),
        "ns": layers.ns,
        "module": layers.module,
        "range_ns": layers.range_ns,
        "largest": _kernels([layers.largest])[0],
        "largest_of_copies": list(layers.largest_of_copies),
        "inside": [_layers(each) for each in layers.inside],
    }


def _collective(one: Collective) -> dict[str, Any]:
    return {**asdict(one), "bytes_per_s": one.bytes_per_s}


def _saving(saving: Saving, unit: TracedUnit) -> dict[str, Any]:
    return {
        "code": saving.code,
        "sentence": str(saving_said(saving, unit)),
        "ns": saving.ns,
        "repeats": saving.repeats,
        "where": list(saving.where),
        "before": _kernels(saving.before),
        "after": _kernels(saving.after),
        "host": list(saving.host),
        "evidence": saving.evidence,
        "values": dict(saving.values),
    }


def _kernels(kernels: Iterable[KernelTime]) -> list[dict[str, Any]]:
    return [{"name": each.name, "count": each.count, "ns": each.ns} for each in kernels]
