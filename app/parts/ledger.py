"""The fusion ledger as tables: patterns that unfold into their groups, search, order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis import units, wording
from analysis.compare.comparison import Comparison
from analysis.compare.groups.fusion import Group
from analysis.compare.ledger import Ledger
from app.parts.table import NAME_CHARS, TYPE_CHARS, Table, micro, micro_change

SHOWN_PATTERNS = 6
_PATTERN_WIDTH = 300
_TIMES = "Profiled time per run, µs"
_FOLDED, _UNFOLDED, _INSIDE = "▸ ", "▾ ", "\u2003└ "
Record = Mapping[Hashable, Any]


@dataclass(frozen=True)
class Line:
    """One line of the table: a group, or with `group` None a pattern of several groups."""

    key: str
    group: int | None
    is_inside: bool = False


def orders() -> dict[str, Callable[[pd.DataFrame], pd.DataFrame]]:
    """What the table can be sorted by, default first; each takes rows or patterns."""
    return {"Largest gain or loss": _as_it_is, "Hurting first": _hurting_first}


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
    words = [str(row[name]) for name in ("pattern", "becomes", "scope")]
    words += [str(wording.KINDS[row["kind"]]), str(wording.KNOWN_BY[row["known_by"]])]
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
    names = _group_names(comparison)
    cells: dict[str, list[Any]] = {name: [] for name in _CELLS}
    for line in drawn:
        row = patterns[line.key] if line.group is None else rows[line.group]
        alone = line.group is not None
        text = str(row["pattern"])
        if line.is_inside and line.group is not None:
            text = _INSIDE + names[line.group]
        elif not alone:
            text = (_UNFOLDED if line.key in unfolded else _FOLDED) + text
        codes = [row["known_by"]] if alone else known[line.key]
        hurts, count = int(row["hurts"]), 1 if alone else int(row["groups"])
        cells["pattern"].append(text)
        cells["becomes"].append(wording.becomes_cell(row))
        cells["groups"].append(None if line.is_inside else count)
        cells["known_by"].append(", ".join(str(wording.KNOWN_BY[code]) for code in codes))
        cells["hurts"].append("" if not hurts else "hurts" if alone else f"{hurts} of {count}")
        for name in _NUMBERS:
            cells[name].append(None if pd.isna(row[name]) else float(row[name]))
    return _drawn(pd.DataFrame(cells)).of(comparison)


_NUMBERS = (
    "before_ns", "after_ns", "gain_ns", "low_ns", "high_ns", "share", "bytes_removed",
    "difference_relative",
)  # fmt: skip
_CELLS = ("pattern", "becomes", "groups", "known_by", "hurts", *_NUMBERS)


def _drawn(cells: pd.DataFrame) -> Table:
    made = Table()
    pattern = "Op types of the model's operators, in graph order. Click a line with ▸ to unfold it."
    made.text("Pattern", cells["pattern"], pattern, _PATTERN_WIDTH, NAME_CHARS)
    becomes = "Op types that the candidate ran instead."
    made.text("Becomes", cells["becomes"], becomes, 150, TYPE_CHARS)
    made.number("", "Groups", cells["groups"], "Groups of this shape.", "%.0f")
    _times(made, cells)
    made.first = len(made.columns)
    for label, name, help_ in (
        ("low", "low_ns", "95 % interval of the gain over blocks: lower end."),
        ("high", "high_ns", "95 % interval of the gain over blocks: upper end."),
    ):
        made.number("Interval of gain, µs", label, cells[name] / 1e3, help_, "%+.1f", micro_change)
    _share(made, cells)
    if (cells["hurts"] != "").any():
        hurts = "It got slower beyond noise: corrected for the number of groups."
        made.text("Hurts", cells["hurts"], hurts, 76)
    if cells["bytes_removed"].notna().any():
        removed = "Bytes of tensors inside the group that are no longer written and read; modelled."
        made.number("", "Bytes removed, kB", cells["bytes_removed"] / 1e3, removed, "%.0f")
    if cells["difference_relative"].notna().any():
        differs = "max|a - b| / max|a| at the group's outputs, on the same input; the largest."
        values = cells["difference_relative"]
        made.number("", "Output difference", values, differs, "%.1e")
    made.text("Known by", cells["known_by"], wording.KNOWN_BY_HELP.text(), 130)
    return made


def _share(made: Table, rows: pd.DataFrame) -> None:
    """Nothing where no line has one."""
    if rows["share"].notna().any():
        share = "Part of the whole change; all terms together are 100 %."
        made.number("", "Share of change, %", _percent(rows["share"]), share, "%.1f")


def _times(made: Table, cells: pd.DataFrame) -> None:
    for label, name, help_, format_ in (
        ("before", "before_ns", "Baseline: mean per run, without slow executions.", "%.1f"),
        ("after", "after_ns", "Candidate: mean per run, without slow executions.", "%.1f"),
        ("gain", "gain_ns", "Before - after. Negative: the candidate takes longer.", "%+.1f"),
    ):
        text = micro_change if name == "gain_ns" else micro
        made.number(_TIMES, label, cells[name] / 1e3, help_, format_, text)
    made.apart(_TIMES, ("before", "after", "gain"))


def summary(ledger: Ledger) -> Table:
    """The patterns that changed most, for the Compare page."""
    top = ledger.patterns.head(SHOWN_PATTERNS)
    made = Table()
    pattern = "Op types of the model's operators, in graph order."
    made.text("Pattern", top["pattern"], pattern, 240, 36)
    becomes = top.apply(wording.becomes_cell, axis=1)
    made.text("Becomes", becomes, "Op types that the candidate ran instead.", 150, TYPE_CHARS)
    made.number("", "Groups", top["groups"], "Groups of this shape.", "%.0f")
    _times(made, top)
    _share(made, top)
    speedup = (top["before_ns"] / top["after_ns"]).where(top["after_ns"] > 0)
    made.number("", "Speedup", speedup, "Before / after.", "%.2f×", units.factor)
    return made


def _percent(shares: pd.Series) -> pd.Series:
    return (shares * 100).round(1) + 0.0  # no -0.0


def group_label(comparison: Comparison, group: Group) -> str:
    """What to call a group: its module where no other group has it, else its first operator."""
    return _group_names(comparison)[group.id]


def _group_names(comparison: Comparison) -> dict[int, str]:
    scopes = comparison.ledger.rows.set_index("group")["scope"].to_dict()
    times = pd.Series(list(scopes.values()), dtype="object").value_counts()
    names = {}
    for group in comparison.fusion.groups:
        scope = str(scopes.get(group.id, ""))
        first = next((o.name for o in (*group.original, *group.baseline) if o.name), "")
        name = scope if scope and times[scope] == 1 else first
        names[group.id] = units.middle_cut(name or f"group {group.id}", 80)
    return names
