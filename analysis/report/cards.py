"""The figures of the report: cards on top, every figure in a table, and what is missing."""

from __future__ import annotations

from dataclasses import dataclass

from analysis import wording
from analysis.compare.comparison import Comparison, Figure
from analysis.report.text import minus

# What the cards show, as far as the files have it; the rest stands in the table.
_ORDER = (
    "latency",
    "throughput",
    "small_op_time",
    "compute_utilisation",
    "cube_utilisation",
    "memory_bound",
    "l2_hit_rate",
    "cube_ratio",
    "vector_ratio",
    "cache_missed_bytes",
    "intermediate_bytes",
    "memory",
    "output_difference",
    "dispatch_gap",
    "short_op_time",
    "light_time",
)
MAX_CARDS = 8
# What must be read with a figure.
_DETAILS = {"small_op_time": wording.light_work, "output_difference": wording.agreement_text}


@dataclass(frozen=True)
class Card:
    """One figure as text. `basis` says what it rests on, or why it is missing."""

    code: str
    label: str
    definition: str
    baseline: str
    candidate: str
    change: str
    basis: str
    detail: str = ""


@dataclass(frozen=True)
class Gap:
    """Figures that cannot be compared for one reason: neither side has them, or only one."""

    labels: str
    reason: str
    one_sided: bool


@dataclass(frozen=True)
class Figures:
    """Cards of what both sides have, all figures, and what is missing."""

    cards: tuple[Card, ...]
    rows: tuple[Card, ...]
    gaps: tuple[Gap, ...]


def figures(comparison: Comparison) -> Figures:
    """All figures of a comparison as text."""
    rows = {figure.code: _card(comparison, figure) for figure in comparison.figures}
    incomplete = [figure for figure in comparison.figures if _sides_with(figure) < 2]
    gaps: dict[tuple[str, bool], list[str]] = {}
    for figure in incomplete:
        key = (wording.basis_text(figure), _sides_with(figure) == 1)
        gaps.setdefault(key, []).append(rows[figure.code].label)
    left_out = {figure.code for figure in incomplete}
    shown = [code for code in _ORDER if code in rows and code not in left_out]
    return Figures(
        cards=tuple(rows[code] for code in shown[:MAX_CARDS]),
        rows=tuple(rows.values()),
        gaps=tuple(
            Gap(", ".join(labels), reason, one_sided)
            for (reason, one_sided), labels in gaps.items()
        ),
    )


def _sides_with(figure: Figure) -> int:
    return sum(quantity.value is not None for quantity in (figure.baseline, figure.candidate))


def _card(comparison: Comparison, figure: Figure) -> Card:
    text = wording.FIGURES[figure.code]
    source = wording.source_text(figure, comparison.verdict)
    basis = wording.basis_text(figure)
    return Card(
        code=figure.code,
        label=text.label,
        definition=text.definition,
        baseline=wording.quantity_text(figure.baseline),
        candidate=wording.quantity_text(figure.candidate),
        change=minus(wording.change_text(figure)),
        basis=f"{basis}, {source}" if source and _sides_with(figure) else basis,
        detail=_DETAILS[figure.code](comparison) if figure.code in _DETAILS else "",
    )
