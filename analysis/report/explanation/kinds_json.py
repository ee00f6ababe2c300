"""Kinds of work as plain values: what `compare --json` and `advise --json` have as
`kinds_of_work` (docs/json.md)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.work_units.kinds import WorkKind, code_of, common_kinds


def kinds_values(kinds: Iterable[WorkKind]) -> list[dict[str, Any]]:
    """Return the kinds of work of one trace, with how many units of each and their mean time."""
    return [
        {
            "code": code_of(kind.work),
            **asdict(kind.work),
            "count": kind.count,
            "mean_ns": kind.mean_ns,
        }
        for kind in kinds
        if kind.work.phase is not None
    ]


def common_kinds_values(comparison: Comparison) -> list[dict[str, Any]]:
    """Return the kinds of work that both sides name, with their units on each; none of
    recordings and of sides of several files."""
    sides = comparison.given
    if any(side.experiment is not None or side.files for side in sides):
        return []
    return [
        {
            "code": code_of(before.work),
            **asdict(before.work),
            "before": {"count": before.count, "mean_ns": before.mean_ns},
            "after": {"count": after.count, "mean_ns": after.mean_ns},
        }
        for before, after in common_kinds(sides[0].trace, sides[1].trace)
        if before.work.phase is not None
    ]
