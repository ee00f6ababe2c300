"""The fusion ledger as plain values: the object `fusion` of docs/json.md.

Times are integer ns: the gains of all groups and the terms of the reconciliation add up exactly to
the change of the un-profiled time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import msgspec
import pandas as pd

from fusescope.analysis.advice import MissedFusion, missed_fusions, unjudged_attention
from fusescope.analysis.compare.ablation import ablation
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.groups.fusion import Group, Operator, Part
from fusescope.analysis.compare.timing.slow_executions import SlowExecutions
from fusescope.analysis.experiment import NotFused
from fusescope.analysis.report.text import plain
from fusescope.analysis.wording.advice import near_miss_remedy, near_miss_sentence
from fusescope.analysis.wording.fusion.apart import not_fused, reason_text

_PATTERN_TIMES = ("before_ns", "after_ns", "gain_ns", "slow_before_ns", "slow_after_ns")
_LEFT_OUT_TIMES = ("before_ns", "after_ns", "gain_ns")
_ROW_TIMES = (*_PATTERN_TIMES, "before_median_ns", "after_median_ns")


def fusion_values(comparison: Comparison, top: int | None = None) -> dict[str, Any]:
    """Groups by |gain|, coverage, the sum, what was not fused, and what each optimizer is worth;
    with `top` so many groups, members of a group and operators beside them at most."""
    fusion, ledger = comparison.fusion, comparison.ledger
    groups = _in_order(comparison)
    return {
        "source": fusion.source,
        "groups": [
            {**_group(group, row, top), **_parts(group, comparison.ledger.parts, top)}
            for group, row in groups[:top]
        ],
        "patterns": [_pattern(row) for row in ledger.patterns.to_dict("records")],
        "original_nodes": fusion.original_nodes,
        "mapped_nodes": fusion.mapped_nodes,
        "optimised_nodes": fusion.optimised_nodes,
        "inserted_nodes": len(fusion.inserted[1]),
        "boundary_mismatches": fusion.boundary_mismatches,
        "largest_group": fusion.largest,
        "inserted": {
            "baseline": _operators(fusion.inserted[0][:top]),
            "candidate": _operators(fusion.inserted[1][:top]),
        },
        "ungrouped": [_ungrouped(row) for row in _ungrouped_rows(comparison, top)[:top]],
        "reconciliation": asdict(ledger.reconciliation),
        "slow_executions": {
            "baseline": _slow(ledger.slow[0]),
            "candidate": _slow(ledger.slow[1]),
        },
        "no_shares": ledger.no_shares,
        "alpha": ledger.alpha,
        "blocks": ledger.blocks,
        "near_misses": [_near_miss(miss) for miss in missed_fusions(comparison)],
        "not_fused": [_apart(row) for row in not_fused(comparison)],
        "attention_not_judged": _attention(comparison),
        "ablation": _ablation(comparison),
    }


def fusion_left_out(comparison: Comparison, top: int) -> dict[str, Any]:
    """How many groups, operators in none and inserted ones `fusion_values` leaves out with `top`,
    and the sums of their times."""
    groups = [row for _, row in _in_order(comparison)[top:]]
    ungrouped = _ungrouped_rows(comparison, top)[top:]
    return {
        "groups": {"count": len(groups), **{of: _sum(groups, of) for of in _LEFT_OUT_TIMES}},
        "ungrouped": {
            "count": len(ungrouped),
            **{
                side: _sum([row for row in ungrouped if row["side"] == side], "per_run_ns")
                for side in ("baseline", "candidate")
            },
        },
        "inserted": {
            side: max(0, len(operators) - top)
            for side, operators in zip(
                ("baseline", "candidate"), comparison.fusion.inserted, strict=True
            )
        },
    }


def _sum(rows: Sequence[Mapping[Any, Any]], name: str) -> int | None:
    """The sum of whole numbers; None where none is known, 0 of nothing."""
    known = [number for row in rows if (number := whole(row.get(name))) is not None]
    return sum(known) if known or not rows else None


def _in_order(comparison: Comparison) -> list[tuple[Group, Mapping[Any, Any]]]:
    """The groups with their rows of the ledger, largest |gain| first."""
    rows = {int(row["group"]): row for row in comparison.ledger.rows.to_dict("records")}
    groups = {group.id: group for group in comparison.fusion.groups}
    order = [*rows, *(id for id in groups if id not in rows)]
    return [(groups[id], rows.get(id, {})) for id in order if id in groups]


def _ungrouped_rows(comparison: Comparison, top: int | None) -> list[dict[Any, Any]]:
    """The operators in no group: by side, longest first; with `top` the longest of both first."""
    rows = comparison.ledger.ungrouped
    if top is not None:
        rows = rows.sort_values("per_run_ns", ascending=False, kind="stable")
    return rows.to_dict("records")


def _group(group: Group, row: Mapping[Any, Any], top: int | None) -> dict[str, Any]:
    members = {
        "original": group.original, "baseline": group.baseline, "optimised": group.candidate
    }  # fmt: skip
    absolute, relative = group.difference or (None, None)
    return {
        "id": group.id,
        "kind": group.kind,
        "known_by": group.known_by,
        "pattern": plain(row.get("pattern")),
        "becomes": plain(row.get("becomes")),
        "scope": plain(row.get("scope")),
        "inputs": list(group.inputs),
        "outputs": list(group.outputs),
        **{name: _operators(of[:top]) for name, of in members.items()},
        **(
            {}
            if top is None
            else {"left_out": {name: max(0, len(of) - top) for name, of in members.items()}}
        ),
        **{name: whole(row.get(name)) for name in _ROW_TIMES},
        "low": whole(row.get("low_ns")),
        "high": whole(row.get("high_ns")),
        "share": plain(row.get("share")),
        "bytes_removed": whole(row.get("bytes_removed")),
        "output_difference": None
        if group.difference is None
        else {"absolute": absolute, "relative": relative},
        "hurts": bool(row.get("hurts", False)),
    }


def _parts(group: Group, times: pd.DataFrame, top: int | None) -> dict[str, Any]:
    """Each side's own groups in a group that is several on both; nothing for others."""
    if not all(group.parts):
        return {}
    of = times[times["group"] == group.id].set_index(["side", "part"])["per_run_ns"]
    return {
        "parts": {
            side: [
                {
                    "original": [one.name for one in part.original[:top]],
                    "operators": [one.name for one in part.operators[:top]],
                    "per_run_ns": whole(of[side, place]),
                    **({} if top is None else {"left_out": _beyond(part, top)}),
                }
                for place, part in enumerate(own)
            ]
            for side, own in zip(("baseline", "candidate"), group.parts, strict=True)
        }
    }


def _beyond(part: Part, top: int) -> dict[str, int]:
    members = {"original": part.original, "operators": part.operators}
    return {name: max(0, len(of) - top) for name, of in members.items()}


def _pattern(row: Mapping[Any, Any]) -> dict[str, Any]:
    return {
        "pattern": row["pattern"],
        "becomes": row["becomes"],
        "kind": row["kind"],
        "groups": int(row["groups"]),
        **{name: whole(row[name]) for name in _PATTERN_TIMES},
        "low": whole(row["low_ns"]),
        "high": whole(row["high_ns"]),
        "share": plain(row["share"]),
        "bytes_removed": whole(row["bytes_removed"]),
        "output_difference_relative": plain(row["difference_relative"]),
        "hurts": int(row["hurts"]),
    }


def _operators(operators: Iterable[Operator]) -> list[dict[str, str]]:
    return [
        {
            "name": operator.name,
            "op_type": operator.op_type,
            **({"source": operator.place} if operator.place else {}),
        }
        for operator in operators
    ]


def _ungrouped(row: Mapping[Any, Any]) -> dict[str, Any]:
    return {
        "side": row["side"],
        "name": row["name"],
        "op_type": plain(row["op_type"]),
        "reason": row["reason"],
        "per_run_ns": whole(row["per_run_ns"]),
    }


def _slow(slow: SlowExecutions) -> dict[str, Any]:
    largest = None if slow.largest is None else msgspec.structs.asdict(slow.largest)
    if largest is not None:
        largest["median_ns"] = whole(largest["median_ns"])
    return {"count": slow.count, "per_run_ns": whole(slow.per_run_ns), "largest": largest}


def _near_miss(miss: MissedFusion) -> dict[str, Any]:
    return {
        "pattern": miss.pattern,
        "count": miss.count,
        "operators": list(miss.nodes),
        "op_types": list(miss.op_types),
        "tensor": miss.tensor or None,
        "blocked_by": miss.blocked_by,
        "values": {name: plain(value) for name, value in miss.values.items()},
        "spent_ns": whole(miss.spent_ns),
        "stake_ns": whole(miss.stake_ns),
        "bytes_saved": miss.bytes_saved,
        "places": [list(names) for names in miss.places],
        "sentence": near_miss_sentence(miss),
        "remedy": near_miss_remedy(miss),
        "own_pass_places": miss.own_places,
    }


def _apart(row: NotFused) -> dict[str, Any]:
    values = {"first": row.first, "second": row.second, "by": row.by, "reason": row.reason}
    return {**values, "sentence": reason_text(row)}


def _attention(comparison: Comparison) -> dict[str, Any] | None:
    found = unjudged_attention(comparison)
    if found is None:
        return None
    return {"places": [list(names) for names in found.places], "spent_ns": whole(found.spent_ns)}


def _ablation(comparison: Comparison) -> list[dict[str, Any]] | None:
    experiment = comparison.candidate.experiment
    table = None if experiment is None else ablation(experiment)
    if table is None:
        return None
    return [_worth(row, table.attrs["of"]) for row in table.to_dict("records")]


def _worth(row: Mapping[Any, Any], of: str) -> dict[str, Any]:
    """An `optimizer`, or a `fusion` in its place."""
    values: dict[str, Any] = {of: row["optimizer"]}
    for name in ("nodes_all", "nodes_none", "nodes_without", "nodes_only"):
        values[name] = plain(row[name])
    for name in ("removed", "added"):
        parts = {"value": name, "low": f"{name}_low", "high": f"{name}_high"}
        values[name] = {part: plain(row[column]) for part, column in parts.items()}
    for name in ("acts_without", "acts_only"):
        values[name] = plain(row[name])
    return values


def whole(value: Any) -> int | None:
    """A time or size as a whole number; None for NaN and NA."""
    return None if value is None or pd.isna(value) else round(float(value))
