"""What changed as rows, each with the kernels and the places behind it, for dashboard and
report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fusescope.analysis import units
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.explanation.explanation import Change, Explanation, KernelTime
from fusescope.analysis.compare.timing.verdict import Verdict
from fusescope.analysis.messages import Message, Part
from fusescope.analysis.metrics.kernel_types import short_operator_names
from fusescope.analysis.report.explanation.product_rows import ProductTable, product_table
from fusescope.analysis.report.text import signed_duration, unbroken_parts
from fusescope.analysis.text import clean_text
from fusescope.analysis.timeline.highlight import Highlight, ShownChange
from fusescope.analysis.units import ChangeColumns
from fusescope.analysis.wording.explanation import (
    change_parts,
    detail_parts,
    explained_parts,
    first_parts,
    last_parts,
    smaller_changes,
    told_changes,
    unexplained_parts,
)
from fusescope.analysis.wording.explanation import details as words
from fusescope.analysis.wording.explanation.long_ones import sides_with_long_ones

_SLIGHT = 0.005  # of the unit's change, below which a change has no colour
_EQUAL = 0.001  # of a time, by which two that are told as one may differ
MAX_KERNELS = 12
MAX_NAME, MAX_FACT = 120, 600  # characters of what a trace says


@dataclass(frozen=True)
class KernelRow:
    """A kernel of a change on both sides: its time in a unit and how often how long, '' on a side
    that does not run it; `row` is its row in the table of operators."""

    name: str
    before: str
    before_each: str
    after: str
    after_each: str
    change: str
    row: int | None


@dataclass(frozen=True)
class Way:
    """A way to a place in the timelines."""

    label: str
    highlight: Highlight


@dataclass(frozen=True)
class ChangeRow:
    """A change: its sentence, its time, and its bar in percent of the width for all of them.

    `kind` is what it means: faster, slower or same. `facts` are what is known of it, by what they
    are; `head` is what its `kernels` are.
    """

    parts: tuple[Part, ...]
    change: str
    kind: str
    left: float
    width: float
    facts: tuple[tuple[str, str], ...]
    head: str
    kernels: tuple[KernelRow, ...]
    ways: tuple[Way, ...]


@dataclass(frozen=True)
class ExplainedRows:
    """An explanation in rows, which add up with `rest` to the change of a unit.

    `before` stands in front of the rows and `after` behind them, sentence by sentence; `more` are
    changes that are smaller than the first, and `rest` what no change accounts for, '' where that
    is not known. `details` are sentences that are read on demand. `products` are the matrix
    products of two phases, in the place of rows.
    """

    before: tuple[tuple[Part, ...], ...]
    rows: tuple[ChangeRow, ...]
    after: tuple[tuple[Part, ...], ...]
    more: tuple[ChangeRow, ...]
    more_title: str
    rest: str
    details: tuple[tuple[Part, ...], ...] = ()
    products: ProductTable | None = None


def explained_rows(
    comparison: Comparison, shown: Sequence[ShownChange | None]
) -> ExplainedRows | None:
    """Return what changed in rows, the cause of most of it first; `shown` is where the timelines
    draw each change. None of recordings, whose groups say it."""
    explanation = comparison.explanation
    if explanation is None:
        return None
    first_changes = told_changes(explanation)
    if not first_changes:
        sentences = tuple(tuple(unbroken_parts(parts)) for parts in explained_parts(explanation))
        products = product_table(explanation)
        before = sentences if products is None else sentences[:1]
        return ExplainedRows(before, (), sentences[len(before) :], (), "", "", products=products)
    others = smaller_changes(explanation)
    maker = _Maker.of(comparison, explanation, shown)
    more = tuple(maker.row(change) for change in others)
    first = first_parts(explanation, is_brief=True)
    return ExplainedRows(
        (tuple(unbroken_parts(first)),) if first else (),
        tuple(maker.row(change) for change in first_changes),
        _after(comparison, explanation),
        more,
        words.MORE.text(n=len(more), ns=sum(change.change_ns for change in others)) if more else "",
        signed_duration(explanation.rest_ns),
        tuple(tuple(unbroken_parts(parts)) for parts in detail_parts(explanation)),
    )


def _after(comparison: Comparison, explanation: Explanation) -> tuple[tuple[Part, ...], ...]:
    """Return how long a unit takes on both sides, unless the title has said so, which gives times
    where no noise is known, and what no change accounts for; the others are rows."""
    unit, verdict = explanation.unit, comparison.verdict
    times = verdict.times_ns if verdict.outcome == "noise_unknown" else None
    is_said = times is not None and all(
        abs(of_title - of_unit) <= _EQUAL * of_unit
        for of_title, of_unit in zip(times, (unit.before_ns, unit.after_ns), strict=True)
    )
    rest = unexplained_parts(explanation)
    last = rest if is_said else last_parts(explanation, rest, is_brief=True)
    return (tuple(unbroken_parts(last)),) if last else ()


@dataclass(frozen=True)
class _Maker:
    """What rows are made of: the span that bars lie in, in ns, and the table's row of each operator
    by its short name."""

    explanation: Explanation
    verdict: Verdict
    shown: Mapping[int, ShownChange | None]  # by the identity of a change
    low_ns: int
    high_ns: int
    rows: Mapping[str, int]

    @classmethod
    def of(
        cls, comparison: Comparison, explanation: Explanation, shown: Sequence[ShownChange | None]
    ) -> _Maker:
        changes = explanation.changes
        sizes = [change.change_ns for change in changes]
        places = {id(change): each for change, each in zip(changes, shown, strict=True)}
        low, high = min(0, *sizes), max(0, *sizes)
        return cls(explanation, comparison.verdict, places, low, high, _rows_by_name(comparison))

    def row(self, change: Change) -> ChangeRow:
        ns, span = change.change_ns, max(1, self.high_ns - self.low_ns)
        unit = self.explanation.unit
        return ChangeRow(
            tuple(unbroken_parts(change_parts(change, unit))),
            signed_duration(ns),
            kind_of_change(ns, unit.change_ns, self.verdict),
            100 * (min(0, ns) - self.low_ns) / span,
            100 * abs(ns) / span,
            _facts(change, on_device=unit.on_device),
            words.head(change, on_device=unit.on_device),
            self._kernels(change),
            ways_to(self.shown[id(change)]),
        )

    def _kernels(self, change: Change) -> tuple[KernelRow, ...]:
        before = {each.name: each for each in change.before}
        after = {each.name: each for each in change.after}
        names = sorted(
            dict.fromkeys((*before, *after)),
            key=lambda name: -max(_ns(before.get(name)), _ns(after.get(name))),
        )
        if change.code == "outlier":
            return (self._long_one(change),)
        times = [(_ns(before.get(name)), _ns(after.get(name))) for name in names]
        columns = units.columns_apart(times)
        side = change.values.get("some_side")  # whose mean is that of few units
        shown = tuple(
            _idle_row(words.name_of(change, name), *both, columns)
            if change.code == "idle"
            else self._kernel(name, before.get(name), after.get(name), side, columns)
            for name, both in zip(names[:MAX_KERNELS], times, strict=False)
        )
        return (*shown, *rest_row(times[MAX_KERNELS:], columns))

    def _long_one(self, change: Change) -> KernelRow:
        """Return the row of one long execution: what it takes longer than the others, and how long
        both take."""
        (kernel,) = change.after or change.before
        excess, change_text = units.duration(kernel.ns), signed_duration(change.change_ns)
        values = change.values
        each = words.LONGEST.text(longest=values["longest_ns"], usual=values["usual_ns"])
        name, row = clean_text(kernel.name, MAX_NAME), self.rows.get(kernel.name)
        if change.after:
            return KernelRow(name, "", "", excess, each, change_text, row)
        return KernelRow(name, excess, each, "", "", change_text, row)

    def _kernel(
        self,
        name: str,
        before: KernelTime | None,
        after: KernelTime | None,
        uneven: object,
        columns: ChangeColumns,
    ) -> KernelRow:
        took, takes = _ns(before), _ns(after)
        times = columns.texts(took, takes)
        return KernelRow(
            clean_text(name, MAX_NAME),
            times[0] if before else "",
            executions_text(before, is_uneven=uneven == 0),
            times[1] if after else "",
            executions_text(after, is_uneven=uneven == 1),
            times[2],
            self.rows.get(name),
        )


def rest_row(
    times_ns: Sequence[tuple[float, float]], columns: ChangeColumns
) -> tuple[KernelRow, ...]:
    """Return the row of all that are not shown, by the times of each on both sides; none where all
    are."""
    if not times_ns:
        return ()
    took, takes = (sum(each) for each in zip(*times_ns, strict=True))
    before, after, change = columns.texts(took, takes)
    name = words.MORE_KERNELS.text(n=len(times_ns))
    return (KernelRow(name, before if took else "", "", after if takes else "", "", change, None),)


def _idle_row(name: str, took_ns: int, takes_ns: int, columns: ChangeColumns) -> KernelRow:
    """Return the idle time under a call of the host, which is 0 on a side that has none there,
    whether or not it makes the call."""
    took, takes, change = columns.texts(took_ns, takes_ns)
    return KernelRow(clean_text(name, MAX_NAME), took, "", takes, "", change, None)


def _ns(kernel: KernelTime | None) -> int:
    return kernel.ns if kernel else 0


def executions_text(kernel: KernelTime | None, *, is_uneven: bool = False) -> str:
    """Return how often a kernel runs in a unit, and how long each time, on average where that is
    uneven."""
    if kernel is None or not kernel.count:
        return ""
    is_mean = is_uneven or (kernel.is_uneven and kernel.count > 1)
    message = words.ON_AVERAGE if is_mean else words.EXECUTIONS
    return message.text(count=kernel.count, each=kernel.ns / kernel.count)


def kind_of_change(change_ns: float, whole_ns: float, verdict: Verdict) -> str:
    """Return what a change means: faster, slower, or the same, which it is beside a larger whole
    and where the verdict cannot tell the two sides apart."""
    if not verdict.has_direction or abs(change_ns) <= _SLIGHT * abs(whole_ns):
        return "same"
    return "slower" if change_ns > 0 else "faster"


def host_text(frames: Sequence[str]) -> str:
    """Return a stack of the host in one line, outermost first; of a long one the innermost frames,
    each cut in its middle."""
    shown = [units.middle_cut(frame, MAX_NAME) for frame in frames]
    first, chars = len(shown), len("…")
    while first and chars + 3 + len(shown[first - 1]) <= MAX_FACT:
        first -= 1
        chars += 3 + len(shown[first])
    return " › ".join([*(["…"] if first else []), *shown[first:]])


def _facts(change: Change, *, on_device: bool) -> tuple[tuple[str, str], ...]:
    took, takes = change.long_ones
    long_ns = signed_duration(takes.ns - took.ns) if sides_with_long_ones(change) else ""
    facts = (
        (words.LONG_ONES, long_ns),
        (words.WHERE, " › ".join(words.where_names(change))),
        (words.HOST, host_text(change.host)),
        (words.KNOWN_BY, words.known_by(change, on_device=on_device)),
    )
    return tuple((name.text(), clean_text(value, MAX_FACT)) for name, value in facts if value)


def ways_to(
    shown: ShownChange | None, *, show: Message = words.SHOW, median: Message = words.SHOW_MEDIAN
) -> tuple[Way, ...]:
    """Return the ways to the median and the first place that timelines show; none where they show
    none."""
    if shown is None:
        return ()
    if shown.count == 1:
        return (Way(show.text(), shown.first),)
    return (
        Way(median.text(), shown.median),
        Way(words.SHOW_FIRST.text(), shown.first),
    )


def _rows_by_name(comparison: Comparison) -> dict[str, int]:
    """Return the row of the operator of most time by the name that sentences have."""
    table = comparison.operators
    rows: dict[str, int] = {}
    for role in ("candidate", "baseline"):
        trace = (comparison.baseline if role == "baseline" else comparison.candidate).trace
        short = short_operator_names(trace)
        known = table[table[f"operator_{role}"].notna()]
        ranked = known.sort_values(f"per_run_ns_{role}", kind="stable")
        operators = ranked[f"operator_{role}"].astype("int64").tolist()
        rows |= {
            short[operator]: int(row)
            for row, operator in zip(ranked.index.tolist(), operators, strict=True)
        }
    return rows
