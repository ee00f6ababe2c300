"""Judged: a condition of a gate and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fusescope.analysis.compare.explanation.explanation import Change, UnitTimes
from fusescope.analysis.gate.condition import Condition
from fusescope.analysis.gate.fusion_changes import FusionChange

Outcome = Literal["failed", "passed", "cannot_tell", "unknown"]
# Why it cannot be told, and why it is not known.
Reason = Literal[
    "within_noise", "few_blocks", "control_differs", "not_recorded_together", "no_groups",
    "no_figure", "no_gain", "marked", "engines_differ", "not_explained", "other_work", "clocks",
]  # fmt: skip


@dataclass(frozen=True)
class Judged:
    """A condition and what came of it.

    failed: it is true; passed: it is not; cannot_tell: at this noise it may be either, which fails
    no gate; with about `blocks_needed` blocks it would be told (None: not known, or too many to be
    worth saying); unknown: what it is of is not there. `value` is what was held against the limit,
    `low` to `high` its interval at `level`, where it has one; `blocks` are behind it. `changes` are
    the groups behind a count, `causes` what makes a unit of work slower, the largest first.
    """

    condition: Condition
    outcome: Outcome
    value: float | None = None
    low: float | None = None
    high: float | None = None
    level: float | None = None
    reason: Reason | None = None
    blocks: int | None = None
    blocks_needed: int | None = None
    changes: tuple[FusionChange, ...] = ()
    causes: tuple[Change, ...] = ()
    unit: UnitTimes | None = None  # that causes are of
