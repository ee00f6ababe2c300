"""One fusion group: its figures, and its operators before and after as two small graphs."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from analysis import units, wording
from analysis.compare.comparison import Comparison
from analysis.compare.groups.fusion import Group, Operator
from analysis.compare.side import Side
from app.parts import ledger, panels

_TEXT_CHARS = 90
_ROWS = 200


def show(comparison: Comparison, id_: int) -> None:
    """Draw group `id_`, which must be one of the comparison's."""
    group = comparison.fusion.group(id_)
    rows = comparison.ledger.rows
    found = rows[rows["group"] == id_].to_dict("records")
    row = found[0] if found else {}
    became = wording.becomes_text({"becomes": row.get("becomes", ""), "kind": group.kind})
    title = panels.name(str(row.get("pattern", "")), _TEXT_CHARS)
    with st.container(border=True, key="group"):
        st.subheader(f"{title} {panels.name(became, _TEXT_CHARS)}", anchor=False)
        st.text(ledger.group_label(comparison, group))
        _figures(row)
        st.caption(panels.own(_how(group, row)))
        before, after = st.columns(2, gap="medium")
        with before:
            _graph("Before", comparison.baseline, group.baseline, group)
        with after:
            _graph("After", comparison.candidate, group.candidate, group)
        _operators(group)


def _figures(row: Mapping[Hashable, Any]) -> None:
    before, after, gain, low, high, removed, absolute, relative = (
        None if pd.isna(value) else float(value)
        for value in (
            row.get(name)
            for name in (
                "before_ns",
                "after_ns",
                "gain_ns",
                "low_ns",
                "high_ns",
                "bytes_removed",
                "difference_absolute",
                "difference_relative",
            )
        )
    )
    interval = "no interval below 5 blocks or runs"
    if low is not None and high is not None:
        ends = units.duration(low, signed=True), units.duration(high, signed=True)
        interval = f"95 % interval {ends[0]} to {ends[1]}"
    medians = [
        None if pd.isna(row.get(name)) else row.get(name)
        for name in ("before_median_ns", "after_median_ns")
    ]
    slow = [_slow(row.get(name)) for name in ("slow_before_ns", "slow_after_ns")]
    shown_before, shown_after = units.durations_apart(before, after, gain)
    grid = st.grid(5, min_column_width=170, border=True, key="group_figures")
    for label, value, basis in (
        (
            "before",
            shown_before,
            f"median {units.duration(medians[0])}; measured{slow[0]}",
        ),
        ("after", shown_after, f"median {units.duration(medians[1])}; measured{slow[1]}"),
        ("gain per run", units.duration(gain, signed=True), f"{interval}; measured, profiled"),
        ("bytes removed", units.data_size(removed, signed=False), "modelled from shapes"),
        (
            "output difference",
            units.small_number(relative),
            "not recorded" if absolute is None else f"max {units.small_number(absolute)}; measured",
        ),
    ):
        with grid.cell():
            st.metric(label, panels.own(value))
            st.caption(panels.own(basis))


def _slow(added_ns: float | None) -> str:
    """What slow executions add to a mean that is shown without them; '' where there are none."""
    if not added_ns or pd.isna(added_ns):
        return ""
    return f"; slow executions add {units.duration(float(added_ns))}"


def _how(group: Group, row: Mapping[Hashable, Any]) -> str:
    kind, known_by = wording.KINDS[group.kind].text(), wording.KNOWN_BY[group.known_by]
    parts = [
        f"{kind.capitalize()}; known by {known_by}",
        f"{units.count(len(group.original))} operators of the model",
        f"{units.count(len(group.baseline))} → {units.count(len(group.candidate))} operators run",
    ]
    if row.get("hurts"):
        parts.append("it got slower beyond noise")
    return "; ".join(parts) + "."


def _graph(title: str, side: Side, operators: tuple[Operator, ...], group: Group) -> None:
    """The operators as a picture, or as a list where the file has no graph."""
    st.markdown(f"**{title}** · {panels.name(side.name)}")
    if side.graph is None:
        if operators:
            st.text("\n".join(f"{o.op_type}  {o.name}" for o in operators[:_ROWS]))
        else:
            st.caption("No operator ran.")
        st.caption("This file has no graph, so the tensors between are not known.")
        return
    from analysis.report.pictures.group_svg import group_svg

    names = [operator.name for operator in operators]
    st.image(
        group_svg(side.graph, names, group.inputs, group.outputs),
        alt=f"{title}: {len(names)} operators and the tensors between them",
    )


def _operators(group: Group) -> None:
    with st.expander("Operators and boundary tensors by name", key="group_operators"):
        rows = [
            (side, operator.op_type, operator.name, operator.scope)
            for side, operators in (
                ("model", group.original),
                ("baseline", group.baseline),
                ("candidate", group.candidate),
            )
            for operator in operators[:_ROWS]
        ]
        rows += [("input", "", name, "") for name in group.inputs[:_ROWS]]
        rows += [("output", "", name, "") for name in group.outputs[:_ROWS]]
        st.dataframe(
            pd.DataFrame(rows, columns=["Where", "Type", "Name", "Module"]),
            hide_index=True,
            key="group_names",
            height="content" if len(rows) <= 12 else 388,
            alt="Operators of the group in the model and on both sides, and its boundary tensors",
        )
