"""Groups that are several on both sides: each side's own side by side, with their times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.groups.fusion import Group, Operator
from fusescope.analysis.compare.ledger.operator_texts import sequence_text
from fusescope.analysis.messages import Message, say
from fusescope.analysis.text import clean_text
from fusescope.analysis.units import Column, column_of
from fusescope.analysis.wording.fusion.groups import KINDS

JOINED_HELP = Message(
    "Each side's own groups inside this group, numbered in model order. A line has the operators "
    "of the model that two of them share, so a group that spans several lines stands in each; its "
    "time is in the first. Times are measured, {mean}, and none is divided among operators, so two "
    "times in one line are not of the same operators: only those of the whole group compare."
)
OWN_GROUPS = Message("Groups of either side inside this group")
_SIDES = ("baseline", "candidate")


@dataclass(frozen=True)
class Own:
    """A side's own group in one line: what it runs, its number in front, and its time per run in
    the unit of all that stand below one another, '' where an earlier line has it."""

    text: str
    time: str


@dataclass(frozen=True)
class JoinedRow:
    """Operators of the model that a group of the baseline and one of the candidate share."""

    original: str
    names: tuple[str, ...]
    baseline: Own
    candidate: Own


def joined_rows(comparison: Comparison, group: Group) -> tuple[JoinedRow, ...]:
    """The lines of a group's own groups, in model order; () for one that is not several on both
    sides."""
    shared_parts = group.side_by_side
    if not shared_parts:
        return ()
    table = comparison.ledger.parts
    table = table[table["group"] == group.id]
    times = {
        (side, int(part)): float(ns)
        for side, part, ns in table[["side", "part", "per_run_ns"]].itertuples(index=False)
    }
    seen: set[tuple[str, int]] = set()
    column = own_column(comparison, group)

    def own(at: int, place: int) -> Own:
        key = (_SIDES[at], place)
        if key in seen:
            return Own(say("{number:count}, as above", number=place + 1), "")
        seen.add(key)
        runs = group.parts[at][place].operators
        text = f"{place + 1}. {_runs(runs)}"
        return Own(text, column.text(times.get(key)))

    return tuple(
        JoinedRow(
            sequence_text(shared.original),
            tuple(clean_text(one.name) for one in shared.original),
            own(0, shared.places[0]),
            own(1, shared.places[1]),
        )
        for shared in shared_parts
    )


def own_column(comparison: Comparison, group: Group) -> Column:
    """The unit of the times of a group's own groups and of the whole group, on both sides."""
    parts, rows = comparison.ledger.parts, comparison.ledger.rows
    own = parts.loc[parts["group"] == group.id, "per_run_ns"].to_numpy("float64")
    whole = rows.loc[rows["group"] == group.id, ["before_ns", "after_ns"]].to_numpy("float64")
    return column_of([*own, *whole.ravel()])


def largest_joined(comparison: Comparison) -> Group | None:
    """The group that is several on both sides and takes the most time of them; None without one, or
    where times are not known."""
    groups = {group.id: group for group in comparison.fusion.joined}
    times = comparison.ledger.rows[["group", "before_ns", "after_ns"]]
    known = times[times["group"].isin(list(groups))].dropna()
    if known.empty:
        return None
    longest = (known["before_ns"] + known["after_ns"]).to_numpy().argmax()
    return groups[int(known["group"].iloc[int(longest)])]


def _runs(operators: Sequence[Operator]) -> str:
    return sequence_text(operators) if operators else KINDS["removed"].text()
