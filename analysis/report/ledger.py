"""The fusion ledger as text: a row a pattern, its groups below, and the terms closing the sum."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from markupsafe import Markup

from fusescope.analysis import units
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.groups.fusion import Group, Operator
from fusescope.analysis.compare.ledger import gain_kind
from fusescope.analysis.compare.side import Side
from fusescope.analysis.graph import Graph
from fusescope.analysis.operators.short_names import short_names
from fusescope.analysis.report.pictures.group_svg import group_svg
from fusescope.analysis.report.tables import Rows, parted
from fusescope.analysis.report.text import known, signed_range, unbroken
from fusescope.analysis.units import (
    BYTES,
    ChangeColumns,
    ChangeRow,
    Column,
    change_columns,
    column_of,
)
from fusescope.analysis.wording.counted import whole_text
from fusescope.analysis.wording.fusion.became import becomes_text, originals_text
from fusescope.analysis.wording.fusion.groups import KNOWN_BY
from fusescope.analysis.wording.fusion.joined import JoinedRow, joined_rows, own_column
from fusescope.analysis.wording.fusion.shares import shown_shares
from fusescope.analysis.wording.fusion.terms import Term as TermName
from fusescope.analysis.wording.fusion.terms import shown_terms, term_label
from fusescope.analysis.wording.fusion.ungrouped import REASONS, ungrouped_title
from fusescope.analysis.wording.noise.slow_executions import slow_note

VISIBLE_PATTERNS = 10
MAX_PATTERNS = 300
MAX_GROUPS = 500  # in all patterns together
MAX_NAMES = 8  # of one group
MAX_PICTURES = 4  # patterns that show their first group as graphs
MAX_PICTURED = 12  # operators of a group that is drawn
MAX_UNGROUPED = 40
_NAME_CHARS = 60
Record = dict[Any, Any]


@dataclass(frozen=True)
class Units:
    """What the times and bytes of a table are in."""

    time: str
    size: str


@dataclass(frozen=True)
class Gain:
    """Time saved per run: text, bar length (% of the largest), faster, slower or same.

    `same` also where the interval holds 0.
    """

    text: str
    bar: float
    kind: str
    interval: str


@dataclass(frozen=True)
class Names:
    """The operators of one group on one side, `more` of them left out."""

    shown: tuple[tuple[str, str], ...]  # (cut, whole)
    more: int


@dataclass(frozen=True)
class GroupRow:
    """One group: its original operators (names inside `scope`, called at `source`), and those that
    run instead. `own` are the groups of either side where both have several."""

    scope: str
    source: str
    original: Names
    became: Names
    before: str
    after: str
    gain: Gain
    removed: str
    difference: str
    known_by: str
    hurts: bool
    own: tuple[JoinedRow, ...]
    whole: tuple[str, str]  # beside `own`, with their unit


@dataclass(frozen=True)
class PatternRow:
    """Groups of one shape; `cut` of them are not in `members`, `hurts` of them lose time.

    `pictures` are the first of them before and after, as SVG; none where no graph has them.
    `units` are those of the times and bytes of `members`.
    """

    pattern: str
    becomes: str
    groups: str
    before: str
    after: str
    gain: Gain
    share: str
    speedup: str
    removed: str
    difference: str
    hurts: int
    members: tuple[GroupRow, ...]
    units: Units
    cut: int
    pictures: tuple[Markup, ...]


@dataclass(frozen=True)
class Term:
    """A line of the sum below the patterns, as a change; `note` may hold text of a trace."""

    label: str
    text: str
    share: str
    note: str = ""


@dataclass(frozen=True)
class Ungrouped:
    """An operator that ran and is in no group."""

    side: str
    name: str
    full_name: str
    op_type: str
    reason: str
    time: str


@dataclass(frozen=True)
class LedgerTable:
    """Patterns by |gain|, and the terms that lead from their sum to the change.

    `groups_total` is (before, after, change, share) of all groups; `total` the change, None where
    the change is not known. `ungrouped` operators come longest first, `ungrouped_cut` are left
    out.
    """

    patterns: Rows[PatternRow]
    groups: int
    groups_total: tuple[str, str, str, str]
    terms: tuple[Term, ...]
    total: Term | None
    ungrouped: tuple[Ungrouped, ...]
    ungrouped_title: str
    ungrouped_cut: int
    ungrouped_unit: str
    units: Units


@dataclass(frozen=True)
class _Columns:
    """The columns of times on both sides and of bytes, in which rows are written."""

    times: ChangeColumns
    sizes: Column

    @classmethod
    def of(cls, records: Sequence[Record], *more: ChangeRow) -> _Columns:
        """Return the columns of these rows, with `more` times beside them."""
        sizes = column_of((known(record["bytes_removed"]) for record in records), BYTES)
        return cls(change_columns([*map(_times, records), *more]), sizes)

    @property
    def units(self) -> Units:
        """Return what its times and bytes are in."""
        return Units(self.times.unit, self.sizes.unit)


def ledger_table(comparison: Comparison) -> LedgerTable | None:
    """The ledger of a comparison; None where no group has a known gain."""
    ledger = comparison.ledger
    if not ledger.has_gains:
        return None
    largest = float(ledger.patterns["gain_ns"].abs().max())
    members: dict[str, list[Record]] = defaultdict(list)
    for record in ledger.rows.to_dict("records"):
        members[record["key"]].append(record)
    groups = {group.id: group for group in comparison.fusion.groups}
    left = MAX_GROUPS
    rows: list[PatternRow] = []
    pictures = MAX_PICTURES
    shares, term_shares = shown_shares(ledger)
    records = ledger.patterns.head(MAX_PATTERNS).to_dict("records")
    together = _times(ledger.rows[["before_ns", "after_ns", "gain_ns"]].sum(min_count=1))
    columns = _Columns.of(records, together)
    for record, share in zip(records, shares, strict=False):
        shown = members[record["key"]][:left]
        left -= len(shown)
        drawn: tuple[Markup, ...] = ()
        if pictures and record["kind"] != "kept" and shown:
            drawn = _pictures(comparison, groups[shown[0]["group"]])
            pictures -= bool(drawn)
        rows.append(_pattern(comparison, record, shown, groups, drawn, largest, share, columns))
    terms, total = _terms(comparison, term_shares, columns.times.changes)
    ungrouped, ungrouped_unit = _ungrouped(comparison)
    return LedgerTable(
        patterns=parted(rows, len(ledger.patterns), VISIBLE_PATTERNS),
        groups=len(ledger.rows),
        groups_total=(*columns.times.numbers(*together), _sum_of(shares)),
        terms=terms,
        total=total,
        ungrouped=ungrouped,
        ungrouped_title=ungrouped_title(list(ledger.ungrouped["reason"])),
        ungrouped_cut=len(ledger.ungrouped) - len(ungrouped),
        ungrouped_unit=ungrouped_unit,
        units=columns.units,
    )


def change_interval(record: Record) -> str:
    """The change that goes with the gain: '-1.34 to -1.20 ms'; '' without one."""
    low, high = known(record["low_ns"]), known(record["high_ns"])
    if low is None or high is None:
        return ""
    return signed_range(-high, -low)


def _pattern(
    comparison: Comparison,
    record: Record,
    members: list[Record],
    groups: dict[int, Group],
    pictures: tuple[Markup, ...],
    largest: float,
    share: float | None,
    columns: _Columns,
) -> PatternRow:
    before, after, change = columns.times.numbers(*_times(record))
    inside = _Columns.of(members)
    largest_member = max((abs(known(m["gain_ns"]) or 0.0) for m in members), default=0.0)
    return PatternRow(
        pattern=originals_text(record),
        becomes=becomes_text(record),
        groups=units.count(record["groups"]),
        before=before,
        after=after,
        gain=_gain(record, largest, change),
        share=unbroken(units.percent(share)),
        speedup=units.factor(known(record["speedup"]) or None),
        removed=_removed(record, columns),
        difference=units.small_number(known(record["difference_relative"])),
        hurts=int(record["hurts"]),
        members=tuple(
            _group(comparison, m, groups[m["group"]], largest_member, inside) for m in members
        ),
        units=inside.units,
        cut=int(record["groups"]) - len(members),
        pictures=pictures,
    )


def _group(
    comparison: Comparison, record: Record, group: Group, largest: float, columns: _Columns
) -> GroupRow:
    before, after, change = columns.times.numbers(*_times(record))
    own = joined_rows(comparison, group)
    whole = own_column(comparison, group).text if own else units.duration
    return GroupRow(
        scope=str(record["scope"]),
        source=units.middle_cut(str(record["source"]), _NAME_CHARS),
        original=_names(group.original, str(record["scope"])),
        became=_names(group.candidate),
        before=before,
        after=after,
        gain=_gain(record, largest, change),
        removed=_removed(record, columns),
        difference=units.small_number(known(record["difference_relative"])),
        known_by=KNOWN_BY[group.known_by].text(),
        hurts=bool(record["hurts"]),
        own=own,
        whole=(whole(known(record["before_ns"])), whole(known(record["after_ns"]))),
    )


def _times(record: Record | pd.Series) -> ChangeRow:
    """Before, after and change."""
    before, after, gain = (known(record[f"{name}_ns"]) for name in ("before", "after", "gain"))
    return before, after, None if gain is None else -gain


def _names(operators: tuple[Operator, ...], scope: str = "") -> Names:
    """Names without the scope that stands beside them, as tables of operators have them, each once
    with how often it is there."""
    inside = Counter((_inside(operator, scope), operator.name) for operator in operators)
    told = list(inside.items())[:MAX_NAMES]
    short = short_names((name for (name, _), _ in told), _NAME_CHARS)
    shown = tuple(
        (f"{short[name]} ×{count}" if count > 1 else short[name], whole)
        for (name, whole), count in told
    )
    return Names(shown, len(operators) - sum(count for _, count in told))


def _inside(operator: Operator, scope: str) -> str:
    name = operator.name or operator.op_type
    return name.removeprefix(f"{scope}/") or name if scope else name


def _gain(record: Record, largest: float, change: str) -> Gain:
    gain = known(record["gain_ns"])
    if gain is None:
        return Gain(units.MISSING, 0.0, "same", "")
    bar = 100 * abs(gain) / largest if largest else 0.0
    return Gain(change, round(bar, 1), gain_kind(record), change_interval(record))


def _removed(record: Record, columns: _Columns) -> str:
    removed = known(record["bytes_removed"])
    return columns.sizes.number(removed) if removed else units.MISSING


def _sum_of(shares: Sequence[float | None]) -> str:
    is_known = any(share is not None for share in shares)
    return unbroken(units.percent(sum(filter(None, shares)) if is_known else None))


def _terms(
    comparison: Comparison, shares: Mapping[TermName, float], changes: Column
) -> tuple[tuple[Term, ...], Term | None]:
    """The terms beside the groups with their shares, and their sum."""
    ledger = comparison.ledger
    sum_ = ledger.reconciliation
    if sum_.whole_ns is None:
        return (), None

    def term(label: str, change_ns: int, share: float | None, note: str = "") -> Term:
        change = changes.number(change_ns, signed=True)
        return Term(label, change, unbroken(units.percent(share)), note)

    terms = tuple(
        term(
            str(term_label(name, has_starts=sum_.has_starts)),
            value,
            shares.get(name),
            slow_note(ledger) if name == "slow_ns" else "",
        )
        for name, value in shown_terms(sum_).items()
        if name != "groups_ns"
    )
    return terms, term(whole_text(comparison), sum_.whole_ns, ledger.share(sum_.whole_ns))


def _ungrouped(comparison: Comparison) -> tuple[tuple[Ungrouped, ...], str]:
    """Operators in no group, and the unit of their times."""
    table = comparison.ledger.ungrouped
    table = table.sort_values("per_run_ns", ascending=False, kind="stable").head(MAX_UNGROUPED)
    labels = {"baseline": comparison.baseline.name, "candidate": comparison.candidate.name}
    shown = short_names(map(str, table["name"]), _NAME_CHARS)
    times = column_of(table["per_run_ns"].astype(float))
    rows = tuple(
        Ungrouped(
            side=labels[record["side"]],
            name=shown[str(record["name"])],
            full_name=str(record["name"]),
            op_type=record["op_type"] if isinstance(record["op_type"], str) else "",
            reason=REASONS[record["reason"]].text(),
            time=times.number(known(record["per_run_ns"])),
        )
        for record in table.to_dict("records")
    )
    return rows, times.unit


def _pictures(comparison: Comparison, group: Group) -> tuple[Markup, ...]:
    """The group's operators on both sides; () where a graph lacks them or they are too many."""
    drawn = []
    sides = ((comparison.baseline, group.baseline), (comparison.candidate, group.candidate))
    for side, operators in sides:
        graph = _graph(side)
        names = [operator.name for operator in operators]
        if graph is None or len(names) > MAX_PICTURED or not set(names) <= set(graph.node):
            return ()
        drawn.append(Markup(group_svg(graph, names, group.inputs, group.outputs)))
    return tuple(drawn)


def _graph(side: Side) -> Graph | None:
    if side.graph is None and side.experiment is not None:
        return side.experiment.model_graph
    return side.graph
