"""The fusion ledger as tables: patterns that unfold into their groups, search, order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from fusescope.analysis import units, wording
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.groups.fusion import Group
from fusescope.analysis.compare.ledger import Ledger
from fusescope.analysis.compare.ledger.modules import modules
from fusescope.analysis.messages import Message, listed, say
from fusescope.analysis.wording import MODULES_HELP, NO_MODULE
from fusescope.analysis.wording.fusion.rows import group_names
from fusescope.analysis.wording.fusion.shares import shown_shares
from fusescope.app.parts.heads import NO_HEAD, Counted, Head, told
from fusescope.app.parts.table import NAME_CHARS, NAME_WIDTH, TYPE_CHARS, Table

_PATTERN_WIDTH, _PATTERN_CHARS = 250, 54  # with how many of one type it is
_TIMES = Head(
    Counted(
        Message("Profiled time {per}"),
        Message("Profiled time per file"),
        Message("Profiled time"),
    ),
    "µs",
)
_INTERVAL = Head(Message("Interval of change"), "µs")
_FOLDED, _UNFOLDED, _INSIDE = "▸ ", "▾ ", "\u2003└ "
Record = Mapping[Hashable, Any]


@dataclass(frozen=True)
class Line:
    """One line of the table: a group, or with `group` None a pattern of several groups."""

    key: str
    group: int | None
    is_inside: bool = False


def orders() -> dict[str, Callable[[pd.DataFrame], pd.DataFrame]]:
    """What the table can be sorted by, by code, default first; each takes rows or patterns."""
    return {"largest": _as_it_is, "hurting": _hurting_first}


ORDER_NAMES = {
    "largest": Message("Largest change"),
    "hurting": Message("Slower groups first"),
}


def _as_it_is(table: pd.DataFrame) -> pd.DataFrame:
    return table


def _hurting_first(table: pd.DataFrame) -> pd.DataFrame:
    hurts = table["hurts"].astype(int) > 0
    return pd.concat([table[hurts].sort_values("gain_ns", kind="stable"), table[~hurts]])


def lines(
    ledger: Ledger,
    order: str,
    *,
    unfolded: Collection[str],
    found: Collection[int] | None = None,
) -> list[Line]:
    """The lines to draw. `found` are the groups that a search leaves, which are all unfolded."""
    arrange = orders()[order]
    groups: dict[str, list[int]] = {}
    for row in arrange(ledger.rows).to_dict("records"):
        if found is None or row["group"] in found:
            groups.setdefault(row["key"], []).append(int(row["group"]))
    drawn = []
    for pattern in arrange(ledger.patterns).to_dict("records"):
        key = pattern["key"]
        inside = groups.get(key, [])
        if not inside:
            continue
        if int(pattern["groups"]) == 1:
            drawn.append(Line(key, inside[0]))
            continue
        drawn.append(Line(key, None))
        if found is not None or key in unfolded:
            drawn += [Line(key, id_, is_inside=True) for id_ in inside]
    return drawn


def matching(comparison: Comparison, text: str) -> set[int] | None:
    """Groups with `text` in pattern, module or a name inside; None where nothing is searched."""
    text = text.strip().casefold()
    if not text:
        return None
    groups = {group.id: group for group in comparison.fusion.groups}
    return {
        int(row["group"])
        for row in comparison.ledger.rows.to_dict("records")
        if any(text in words.casefold() for words in _words(row, groups.get(row["group"])))
    }


def _words(row: Record, group: Group | None) -> list[str]:
    words = [str(row[name]) for name in ("pattern", "becomes", "scope", "source")]
    words += [told(wording.KINDS[row["kind"]]), told(wording.KNOWN_BY[row["known_by"]])]
    if group is not None:
        for operators in (group.original, group.baseline, group.candidate):
            words += [operator.name for operator in operators]
        words += [*group.inputs, *group.outputs]
    return words


def table(comparison: Comparison, drawn: list[Line], unfolded: Collection[str]) -> Table:
    """The cells of these lines."""
    ledger = comparison.ledger
    rows = {row["group"]: row for row in ledger.rows.to_dict("records")}
    patterns = {row["key"]: row for row in ledger.patterns.to_dict("records")}
    known = ledger.rows.groupby("key")["known_by"].unique().to_dict()
    sources = ledger.rows.groupby("key")["source"].unique().to_dict()
    names = group_names(comparison)
    shares = dict(zip(ledger.patterns["key"], shown_shares(ledger)[0], strict=True))
    cells: dict[str, list[Any]] = {name: [] for name in _CELLS}
    for line in drawn:
        row = patterns[line.key] if line.group is None else rows[line.group]
        alone = line.group is not None
        text = wording.originals_text(patterns[line.key])
        if line.is_inside and line.group is not None:
            text = _INSIDE + names[line.group]
        elif not alone:
            text = (_UNFOLDED if line.key in unfolded else _FOLDED) + text
        codes = [row["known_by"]] if alone else known[line.key]
        hurts, count = int(row["hurts"]), 1 if alone else int(row["groups"])
        cells["pattern"].append(text)
        cells["becomes"].append(wording.becomes_cell(row))
        cells["source"].append(_source_cell(sources[line.key], row, alone=alone))
        cells["groups"].append(None if line.is_inside else count)
        cells["known_by"].append(listed([told(wording.KNOWN_BY[code]) for code in codes]))
        cells["hurts"].append(_hurts_text(hurts, None if alone else count))
        for name in _NUMBERS:
            cells[name].append(None if pd.isna(row[name]) else float(row[name]))
        if not line.is_inside:
            cells["share"][-1] = shares.get(line.key)
    return _drawn(pd.DataFrame(cells)).of(comparison)


def _source_cell(sources: Collection[str], row: Record, *, alone: bool) -> str:
    """The lines of a group, or those that all groups of a pattern share."""
    told = str(row["source"]) if alone else next(iter(sources)) if len(sources) == 1 else ""
    return units.middle_cut(told, TYPE_CHARS)


def _hurts_text(hurts: int, groups: int | None) -> str:
    """What the table says of a group, or of `groups` of a pattern, of which some got slower."""
    if not hurts:
        return ""
    if groups is None:
        return say("slower")
    return say("{hurts:count} of {groups:count}", hurts=hurts, groups=groups)


_NUMBERS = (
    "before_ns", "after_ns", "gain_ns", "low_ns", "high_ns", "share", "bytes_removed",
    "difference_relative",
)  # fmt: skip
_CELLS = ("pattern", "becomes", "source", "groups", "known_by", "hurts", *_NUMBERS)


_PATTERN, _BECOMES, _GROUPS = (
    Head(Message("Pattern")),
    Head(Message("Becomes")),
    Head(Message("Groups")),
)
_BECOMES_HELP = Message("Op types that the candidate ran instead.")
_GROUPS_HELP = Message("Groups of this shape.")
_BEFORE, _AFTER, _CHANGE = (
    Head(Message("baseline")),
    Head(Message("candidate")),
    Head(Message("change")),
)
_BEFORE_HELP = Counted(
    Message("Baseline: {mean}, without slow executions."),
    Message("Baseline: time of all executions, without slow ones."),
)
_AFTER_HELP = Counted(
    Message("Candidate: {mean}, without slow executions."),
    Message("Candidate: time of all executions, without slow ones."),
)
_CHANGE_HELP = Message("Candidate - baseline. Negative: the candidate takes less.")


def _drawn(cells: pd.DataFrame) -> Table:
    made = Table()
    pattern = Message(
        "Op types of the model's operators, in graph order. Click a line with ▸ to unfold it."
    )
    made.text(_PATTERN, cells["pattern"], pattern, _PATTERN_WIDTH, _PATTERN_CHARS)
    made.text(_BECOMES, cells["becomes"], _BECOMES_HELP, 150, TYPE_CHARS, behind=True)
    if (cells["source"] != "").any():
        called = Message("The lines of the model's code that call its operators.")
        made.text(Head(Message("Source")), cells["source"], called, 130, behind=True)
    made.number(NO_HEAD, _GROUPS, cells["groups"], _GROUPS_HELP, "%.0f")
    _times(made, cells)
    made.first = len(made.columns)
    _bounds(made, cells)
    _share(made, cells)
    if (cells["hurts"] != "").any():
        hurts = Message("It got slower by more than the noise, corrected for the number of groups.")
        made.text(Head(Message("Slower")), cells["hurts"], hurts, 76)
    if cells["bytes_removed"].notna().any():
        removed = Message(
            "Bytes of tensors inside the group that are no longer written and read; modelled."
        )
        head = Head(Message("Bytes removed"), "kB")
        made.number(NO_HEAD, head, cells["bytes_removed"] / 1e3, removed, "%.0f")
    if cells["difference_relative"].notna().any():
        differs = Message("Largest max|a - b| / max|a| at the group's outputs, on the same input.")
        values = cells["difference_relative"]
        made.number(NO_HEAD, Head(Message("Output difference")), values, differs, "%.1e")
    made.text(Head(Message("Known by")), cells["known_by"], wording.KNOWN_BY_HELP, 130)
    return made


def _bounds(made: Table, rows: pd.DataFrame) -> None:
    """The interval of each change."""
    for head, name, help_ in (
        (
            Head(Message("low")),
            "high_ns",
            Message("Lower end of the 95 % interval of the change over blocks."),
        ),
        (
            Head(Message("high")),
            "low_ns",
            Message("Upper end of the 95 % interval of the change over blocks."),
        ),
    ):
        made.number(_INTERVAL, head, _change(rows[name]) / 1e3, help_, "%+.1f")


def _share(made: Table, rows: pd.DataFrame) -> None:
    """Nothing where no line has one."""
    if rows["share"].notna().any():
        share = Message("Part of the whole change; all terms together are 100 %.")
        head = Head(
            Message("Share of the change"),
            "%",
        )
        made.number(NO_HEAD, head, _percent(rows["share"]), share, "%.1f")


def _times(made: Table, cells: pd.DataFrame) -> None:
    for head, name, help_, format_ in (
        (_BEFORE, "before_ns", _BEFORE_HELP, "%.1f"),
        (_AFTER, "after_ns", _AFTER_HELP, "%.1f"),
        (_CHANGE, "gain_ns", _CHANGE_HELP, "%+.1f"),
    ):
        is_change = name == "gain_ns"
        values = _change(cells[name]) if is_change else cells[name]
        made.number(_TIMES, head, values / 1e3, help_, format_)
    made.apart(_TIMES, (_BEFORE, _AFTER, _CHANGE))


def _change(gains: pd.Series) -> pd.Series:
    """The changes that go with gains: the minus of each, never -0.0."""
    return 0.0 - gains


def module_table(comparison: Comparison) -> Table:
    """The gains of groups by the module of the model that they belong to."""
    rows = modules(comparison.ledger)
    made = Table()
    named = rows["module"].map(lambda name: name or NO_MODULE.text())
    made.text(Head(Message("Module")), named, MODULES_HELP, NAME_WIDTH, NAME_CHARS)
    made.number(NO_HEAD, _GROUPS, rows["groups"], Message("Fusion groups of the module."), "%.0f")
    _times(made, rows)
    speedup = (rows["before_ns"] / rows["after_ns"]).where(rows["after_ns"] > 0)
    head, help_ = Head(Message("Speedup")), Message("Before / after.")
    made.number(NO_HEAD, head, speedup, help_, "%.2f×", units.factor)
    made.first = len(made.columns)
    _bounds(made, rows)
    return made


def _percent(shares: pd.Series) -> pd.Series:
    return (shares * 100).round(1) + 0.0  # no -0.0
