"""Near misses as text: patterns that the candidate left apart, and what stood in the way."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fusescope.analysis import units
from fusescope.analysis.advice import MissedFusion, missed_fusions, unjudged_attention
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.report.tables import Rows, parted
from fusescope.analysis.units import Column, column_of
from fusescope.analysis.wording.advice import (
    attention_sentence,
    near_miss_remedy,
    near_miss_sentence,
    own_pass_sentence,
    own_pass_text,
    pattern_text,
)
from fusescope.analysis.wording.fusion.apart import Apart, apart

VISIBLE_ROWS = 8
MAX_ROWS = 200
MAX_NAMES = 6
_NAME_CHARS = 60


@dataclass(frozen=True)
class Blocked:
    """One kind of near miss; `names` are the operators of its first place, (cut, whole)."""

    pattern: str
    count: int
    names: tuple[tuple[str, str], ...]
    more: int
    spent: str
    time: str
    removed: str
    sentence: str
    remedy: str
    own: str


def blocked_rows(comparison: Comparison) -> Rows[Blocked] | None:
    """Near misses, most time first; None where there are none or nothing is known."""
    misses = missed_fusions(comparison)
    if not misses:
        return None
    first = misses[:MAX_ROWS]
    spent = column_of(miss.spent_ns for miss in first)
    time = column_of(miss.stake_ns for miss in first)
    rows = parted([_row(miss, spent, time) for miss in first], len(misses), VISIBLE_ROWS)
    return replace(rows, units={"spent": spent.unit, "time": time.unit})


def apart_rows(comparison: Comparison) -> Rows[Apart] | None:
    """Kernels that the compiler left apart, in the order they run; None where it was not asked."""
    rows = apart(comparison)
    return parted(list(rows[:MAX_ROWS]), len(rows), VISIBLE_ROWS) if rows else None


def blocked_notes(comparison: Comparison) -> tuple[str, ...]:
    """What our own pass would fuse of it, and what is not judged."""
    attention = unjudged_attention(comparison)
    notes = (
        own_pass_sentence(missed_fusions(comparison)),
        "" if attention is None else attention_sentence(attention),
    )
    return tuple(note for note in notes if note)


def _row(miss: MissedFusion, spent: Column, time: Column) -> Blocked:
    shown = miss.nodes[:MAX_NAMES]
    return Blocked(
        pattern=pattern_text(miss),
        count=miss.count,
        names=tuple((units.middle_cut(name, _NAME_CHARS), name) for name in shown),
        more=len(miss.nodes) - len(shown),
        spent=spent.number(miss.spent_ns),
        time=time.number(miss.stake_ns),
        removed=units.MISSING
        if miss.bytes_saved is None
        else f"~{units.data_size(miss.bytes_saved)}",
        sentence=near_miss_sentence(miss),
        remedy=near_miss_remedy(miss),
        own=own_pass_text(miss) if miss.own_places else "",
    )
