"""What fusion changed as rows, a pattern each, with its groups behind it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fusescope.analysis.compare.causes import OTHER_STEPS
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.multiple.ladder import ladder_of
from fusescope.analysis.messages import Part
from fusescope.analysis.report.explanation.rows import (
    MAX_KERNELS,
    ChangeRow,
    ExplainedRows,
    KernelRow,
    kind_of_change,
    rest_row,
)
from fusescope.analysis.report.text import signed_duration, unbroken_parts
from fusescope.analysis.text import clean_text
from fusescope.analysis.units import ChangeColumns, columns_apart
from fusescope.analysis.wording.fusion import rows as words
from fusescope.analysis.wording.multiple.ladder import ladder_parts

MAX_ROWS = 5
_CHARS = 1000  # of a line: names in it come from files
_SLIGHT = 0.01  # of the largest change, below which a pattern is not among the first


def group_rows(comparison: Comparison) -> ExplainedRows | None:
    """Return the patterns of fusion groups in rows, the largest change first; the kernels of a row
    are its groups, whose `row` is their id. None where groups have no gains."""
    ledger = comparison.ledger
    if not ledger.has_gains:
        return None
    has_operators = ledger.rows[["operators_baseline", "operators_candidate"]].sum(axis=1) > 0
    is_known = ledger.patterns["gain_ns"].notna()
    # Of what ran on neither side nothing is said: it did not stop running.
    is_known &= ledger.patterns["key"].isin(ledger.rows["key"][has_operators])
    patterns = ledger.patterns[is_known].to_dict("records")
    if not patterns:
        return None
    changes = [-float(pattern["gain_ns"]) for pattern in patterns]
    low, high = min(0.0, *changes), max(0.0, *changes)
    whole = max(map(abs, changes))
    names = words.group_names(comparison)
    made = [_row(comparison, pattern, (low, high), names) for pattern in patterns]
    first = sum(1 for ns in changes[:MAX_ROWS] if abs(ns) > _SLIGHT * whole)
    rest = ledger.reconciliation.whole_ns
    more = tuple(made[first:])
    return ExplainedRows(
        _other_step(comparison),
        tuple(made[:first]),
        (_basis(comparison, sum(changes)),),
        more,
        words.OTHERS.text(n=len(more)) if more else "",
        "" if rest is None else signed_duration(rest - sum(changes)),
    )


def _basis(comparison: Comparison, groups_ns: float) -> tuple[Part, ...]:
    """Return what the times of the rows are, and the change of the run beside them: what cannot be
    told from noise is stated of no run, and runs that are not compared are not named."""
    if comparison.verdict.reason == "marked":
        return words.TIMES_ALONE.parts()
    is_decided = comparison.verdict.is_decided
    whole_ns = comparison.ledger.reconciliation.whole_ns if is_decided else None
    return words.profiled_parts(groups_ns, whole_ns)


def _other_step(comparison: Comparison) -> tuple[tuple[Part, ...], ...]:
    """Return what each step between the variants brings, where most is not of fusion: groups would
    be taken for the cause."""
    found = ladder_of(comparison)
    if found is None:
        return ()
    largest = max(found.steps, key=lambda step: abs(step.gain.value))
    return (ladder_parts(found),) if largest.code in OTHER_STEPS else ()


def group_lines(comparison: Comparison) -> list[str]:
    """Return the first patterns as lines of text, and of what times they are; none where groups
    have no gains, or where both sides are of other work."""
    rows = None if comparison.is_of_other_work else group_rows(comparison)
    if rows is None:
        return []
    before = ["".join(part.text for part in line) for line in rows.before]
    of_times = ["".join(part.text for part in line) for line in rows.after]
    first = ["".join(part.text for part in row.parts) for row in rows.rows]
    return [
        clean_text(line, _CHARS) for line in [*before, *(f"- {text}" for text in first), *of_times]
    ]


def _row(
    comparison: Comparison,
    pattern: Mapping[Any, Any],
    span: tuple[float, float],
    names: Mapping[int, str],
) -> ChangeRow:
    ns, width = -float(pattern["gain_ns"]), max(1.0, span[1] - span[0])
    return ChangeRow(
        tuple(unbroken_parts(words.pattern_parts(comparison, pattern))),
        signed_duration(ns),
        kind_of_change(ns, width, comparison.verdict),
        100 * (min(0.0, ns) - span[0]) / width,
        100 * abs(ns) / width,
        (),
        words.GROUP.text(),
        _groups(comparison, str(pattern["key"]), names),
        (),
    )


def _groups(comparison: Comparison, key: str, names: Mapping[int, str]) -> tuple[KernelRow, ...]:
    rows = comparison.ledger.rows
    of_pattern = rows[rows["key"] == key]
    shown = of_pattern.head(MAX_KERNELS).to_dict("records")
    times = of_pattern[["before_ns", "after_ns"]].astype(float)
    both = list(times.itertuples(index=False, name=None))
    columns = columns_apart(both)
    more = rest_row(both[MAX_KERNELS:], columns)
    return (*(_group(row, names, columns) for row in shown), *more)


def _group(row: Mapping[Any, Any], names: Mapping[int, str], columns: ChangeColumns) -> KernelRow:
    took, takes = float(row["before_ns"]), float(row["after_ns"])
    before, after, change = columns.texts(took, takes)
    group = int(row["group"])
    return KernelRow(names[group], before, "", after, "", change, group)
