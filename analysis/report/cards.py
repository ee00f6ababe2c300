"""The figures of the report: cards on top, every figure in a table, and what is missing."""

from __future__ import annotations

from dataclasses import dataclass

from fusescope.analysis import wording
from fusescope.analysis.compare.comparison import Comparison, Figure
from fusescope.analysis.messages import listed, say
from fusescope.analysis.report.text import unbroken
from fusescope.analysis.wording.quantities import MISSING, ONE_SIDED

# What the cards show, as far as both files have it; the rest stands in the table.
_ORDER = (
    "latency",
    "throughput",
    "small_op_time",
    "kernels",
    "device_busy",
    "device_idle",
    "launches",
    "compute_utilisation",
    "copy_time",
    "cube_utilisation",
    "memory_bound",
    "l2_hit_rate",
    "cube_ratio",
    "vector_ratio",
    "cache_missed_bytes",
    "cache_utilisation",
    "memory",
    "output_difference",
    "intermediate_bytes",
    "dispatch_gap",
    "short_op_time",
    "light_time",
)
MAX_CARDS = 8
# What a reader misses where it is not on a card.
_USUAL = ("latency", "throughput", "small_op_time", "compute_utilisation", "cache_missed_bytes",
          "cache_utilisation", "memory", "output_difference", "device_idle")  # fmt: skip


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

    @property
    def sentence(self) -> str:
        """'Not known: cache utilisation. Reason: it needs the model's graph, …'"""
        message = ONE_SIDED if self.one_sided else MISSING
        return message.text(figures=self.labels, reason=self.reason)


@dataclass(frozen=True)
class Figures:
    """Cards of what both sides have, all figures, and what is missing."""

    cards: tuple[Card, ...]
    rows: tuple[Card, ...]
    gaps: tuple[Gap, ...]

    @property
    def have_changes(self) -> bool:
        """Whether a change of any figure is shown."""
        return any(row.change for row in self.rows)


def figures(comparison: Comparison) -> Figures:
    """All figures of a comparison as text."""
    rows: dict[str, Card] = {
        figure.code: _card(comparison, figure) for figure in comparison.figures
    }
    return Figures(
        cards=tuple(rows[code] for code in first_codes(comparison)),
        rows=tuple(rows.values()),
        gaps=gaps(comparison),
    )


def first_codes(comparison: Comparison) -> tuple[str, ...]:
    """Codes of the figures that stand on cards, in their order: both sides have them."""
    known = {figure.code for figure in comparison.figures if _sides_with(figure) == 2}
    return tuple(code for code in _ORDER if code in known)[:MAX_CARDS]


def gaps(comparison: Comparison) -> tuple[Gap, ...]:
    """The usual figures that a side or both sides lack, together where the reason is one."""
    found: dict[tuple[str, bool], list[str]] = {}
    for figure in comparison.figures:
        if figure.code in _USUAL and _sides_with(figure) < 2:
            key = (wording.basis_text(figure), _sides_with(figure) == 1)
            label = wording.figure_text(comparison, figure.code).label
            found.setdefault(key, []).append(label)
    return tuple(
        Gap(listed(labels), reason, one_sided) for (reason, one_sided), labels in found.items()
    )


def _sides_with(figure: Figure) -> int:
    return sum(quantity.value is not None for quantity in (figure.baseline, figure.candidate))


def _card(comparison: Comparison, figure: Figure) -> Card:
    text = wording.figure_text(comparison, figure.code)
    source = wording.source_text(figure, comparison.verdict)
    basis = wording.basis_text(figure)
    return Card(
        code=figure.code,
        label=text.label,
        definition=text.definition,
        baseline=wording.quantity_text(figure.baseline),
        candidate=wording.quantity_text(figure.candidate),
        change=unbroken(wording.change_text(figure)),
        basis=say("{basis}, {source}", basis=basis, source=source)
        if source and _sides_with(figure)
        else basis,
        detail=wording.figure_detail(comparison, figure.code),
    )
