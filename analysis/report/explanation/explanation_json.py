"""An explanation as plain values: what `compare --json` has as `explanation` (docs/json.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import Any, TypeVar

from fusescope.analysis.compare.explanation.explanation import (
    Change,
    ClassTime,
    Explanation,
    KernelTime,
    ShapedTime,
    UnitTimes,
)
from fusescope.analysis.compare.explanation.product import Product
from fusescope.analysis.ranks.pair import RankPair
from fusescope.analysis.wording.explanation import change_sentence, leading_sentence
from fusescope.analysis.wording.explanation.earlier import earlier_sentence
from fusescope.analysis.work_units.units import UnitKind

Of = TypeVar("Of")


def explanation_values(explanation: Explanation | None) -> dict[str, Any] | None:
    """Return the values of an explanation, times in ns a unit; None where nothing is explained.

    `change_ns` of all changes and `rest_ns` add up to `after_ns - before_ns` of the unit.
    """
    if explanation is None:
        return None
    types = explanation.data_types
    return {
        "outcome": explanation.outcome,
        "difference": explanation.difference,
        "ranks": _ranks(explanation.ranks),
        "sentence": leading_sentence(explanation),
        "unit": _unit(explanation.unit),
        "sides": None if explanation.sides is None else _by_side(explanation.sides, asdict),
        "drift": explanation.drift,
        "batch": explanation.batch,
        "data_types": None if types is None else {"before": types[0], "after": types[1]},
        "graph": None if explanation.graph is None else asdict(explanation.graph),
        "layers": _by_side(explanation.layers, _each(asdict)),
        "classes": [_class(each) for each in explanation.classes],
        "kernels": _by_side(explanation.kernels, _each(_shaped)),
        "products": _by_side(explanation.products, _each(product_values)),
        "weights": _by_side(explanation.weights, _each(list)),
        "changes": [_change(change, explanation.unit) for change in explanation.changes],
        "rest_ns": explanation.rest_ns,
        "earlier": None
        if explanation.earlier is None
        else _earlier(explanation, explanation.earlier),
    }


def _by_side(pair: tuple[Of, Of], values: Callable[[Of], Any]) -> dict[str, Any]:
    """Return the values of both sides."""
    return dict(zip(("before", "after"), map(values, pair), strict=True))


def _each(values: Callable[[Of], Any]) -> Callable[[Iterable[Of]], list[Any]]:
    """Return a function that makes a list of the values of each."""
    return lambda several: [values(each) for each in several]


def _class(each: ClassTime) -> dict[str, Any]:
    return {
        "op_class": each.op_class,
        "before": {"count": each.counts[0], "ns": each.before_ns},
        "after": {"count": each.counts[1], "ns": each.after_ns},
    }


def _earlier(explanation: Explanation, earlier: Explanation) -> dict[str, Any]:
    """Return what the devices ran before their only step, which adds up by itself."""
    return {
        "outcome": earlier.outcome,
        "sentence": str(earlier_sentence(explanation, earlier)),
        "before_ns": earlier.unit.before_ns,
        "after_ns": earlier.unit.after_ns,
        "kernels_before": earlier.unit.kernels[0],
        "kernels_after": earlier.unit.kernels[1],
        "changes": [_change(change, earlier.unit) for change in earlier.changes],
        "rest_ns": earlier.rest_ns,
    }


def _ranks(ranks: RankPair | None) -> dict[str, Any] | None:
    if ranks is None:
        return None
    sides = zip(("before", "after"), ranks.ranks, ranks.worlds, ranks.stages, strict=True)
    return {
        "relation": ranks.relation,
        "evidence": "named" if ranks.is_named else "guessed",
        **{
            side: {
                "rank": rank,
                "world": world,
                "stage": stage[0] if stage else None,
                "stages": stage[1] if stage else None,
            }
            for side, rank, world, stage in sides
        },
    }


def last_of(kind: UnitKind, end_with_kernels: bool) -> str | None:
    """Return what a repeat lasts to: *next*, the start of the next one, or *last_kernel*, the end
    of its last kernel; None of other units."""
    if kind != "repeat":
        return None
    return "last_kernel" if end_with_kernels else "next"


def _unit(unit: UnitTimes) -> dict[str, Any]:
    return {
        "kind": unit.kind,
        "name": unit.name,
        "evidence": unit.evidence,
        "count": unit.counts[0],
        "count_after": unit.counts[1],
        "before_ns": unit.before_ns,
        "after_ns": unit.after_ns,
        "kernels_before": unit.kernels[0],
        "kernels_after": unit.kernels[1],
        "busy_before_ns": unit.busy_ns[0],
        "busy_after_ns": unit.busy_ns[1],
        "lasts_to": last_of(unit.kind, unit.end_with_kernels),
        "work": {"before": asdict(unit.works[0]), "after": asdict(unit.works[1])},
    }


def _change(change: Change, unit: UnitTimes) -> dict[str, Any]:
    return {
        "code": change.code,
        "sentence": change_sentence(change, unit),
        "change_ns": change.change_ns,
        "before_ns": change.before_ns,
        "after_ns": change.after_ns,
        "repeats": change.repeats,
        "kernels_each": change.values.get("kernels"),
        "kernels": {
            "before": sum(each.count for each in change.before),
            "after": sum(each.count for each in change.after),
        },
        "where": list(change.where),
        "before": _kernels(change.before),
        "after": _kernels(change.after),
        "long_ones": {
            side: {"count": long.count, "ns": long.ns}
            for side, long in zip(("before", "after"), change.long_ones, strict=True)
        },
        "host": list(change.host),
        "call": _call(change.values),
        "waits": _waits(change.values),
        "evidence": change.evidence,
    }


def _call(values: Mapping[str, str | int | float]) -> dict[str, Any] | None:
    """Return the call of the host behind idle time, how often it is made in a unit and how long it
    takes itself; None where no call is named on both sides."""
    if "call_before_ns" not in values:
        return None
    return {
        "name": values["call"],
        "before": {"count": values["call_before_count"], "ns": values["call_before_ns"]},
        "after": {"count": values["call_after_count"], "ns": values["call_after_ns"]},
    }


def _waits(values: Mapping[str, str | int | float]) -> dict[str, Any] | None:
    """Return what a collective waits for other ranks, None where nothing says it."""
    if "wait_basis" not in values:
        return None
    return {
        "before_ns": values["wait_before_ns"],
        "after_ns": values["wait_after_ns"],
        "before_for": values.get("wait_before_for"),
        "after_for": values.get("wait_after_for"),
        "basis": values["wait_basis"],
    }


def _shaped(each: ShapedTime) -> dict[str, Any]:
    rate = None if each.flops is None or not each.time.ns else each.flops / each.time.ns * 1e9
    return {
        "name": each.time.name,
        "op_class": each.time.op_class,
        "shapes": each.shapes,
        "count": each.time.count,
        "ns": each.time.ns,
        "mean_ns": each.time.ns / each.time.count,
        "shortest_ns": each.shortest_ns,
        "longest_ns": each.longest_ns,
        "flop_rate": rate,
    }


def product_values(each: Product) -> dict[str, Any]:
    """Return matrix products of one kind as plain values."""
    factors = each.factors
    return {
        "projection": each.projection,
        "module": each.module,
        "kernel": each.kernel,
        "count": each.count,
        "ns": each.ns,
        "mean_ns": each.ns / each.count,
        "rows": factors and factors.rows,
        "weight": factors and [factors.inputs, factors.outputs],
        "flop_rate": each.flops_per_s,
        "weight_bytes_per_s": each.weight_bytes_per_s,
        "evidence": each.evidence,
        "weight_of_other": each.is_of_other,
    }


def _kernels(kernels: Iterable[KernelTime]) -> list[dict[str, Any]]:
    return [
        {
            "name": each.name,
            "count": each.count,
            "ns": each.ns,
            "mean_ns": each.ns / each.count if each.count else None,
        }
        for each in kernels
    ]
