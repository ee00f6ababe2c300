"""One fusion group: its figures, and its operators before and after as two small graphs."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from fusescope.analysis import units, wording
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.groups.fusion import Group, Operator
from fusescope.analysis.compare.operator_times import OperatorTime, operator_times
from fusescope.analysis.compare.side import Role, Side
from fusescope.analysis.messages import Message, listed, paragraph, say
from fusescope.analysis.operators.short_names import short_name
from fusescope.analysis.text import clean_text
from fusescope.analysis.wording.counted import per_text, runs_of
from fusescope.analysis.wording.fusion.joined import (
    JOINED_HELP,
    OWN_GROUPS,
    joined_rows,
    own_column,
)
from fusescope.analysis.wording.fusion.rows import group_names
from fusescope.app import state
from fusescope.app.parts import panels
from fusescope.app.parts.heads import SIDE_NAMES, Counted, Head, help_text, told

_TEXT_CHARS = 90
_ROWS = 200
_NAMED = 8
_TIME = Head(Counted(Message("Time {per}"), Message("Time per file"), Message("Time")), "µs")
_TIME_HELP = Counted(
    Message("As profiled, {mean}, slow executions included."),
    Message("As profiled, all executions in the file."),
)
_EXECUTIONS = Head(
    Counted(Message("Executions {per}"), Message("Executions per file"), Message("Executions"))
)


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
        source = str(row.get("source", ""))
        label = group_names(comparison)[group.id]
        st.text(f"{label} · {units.middle_cut(source, _TEXT_CHARS)}" if source else label)
        _figures(row)
        st.caption(panels.own(_how(group, row)))
        before, after = st.columns(2, gap="medium")
        with before:
            _graph("before", comparison, "baseline", group)
        with after:
            _graph("after", comparison, "candidate", group)
        _own_groups(comparison, group, row)
        _operators(comparison, group)


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
    profiled = say("no interval below 5 blocks or runs; measured, profiled")
    if low is not None and high is not None:
        profiled = say(
            "95 % interval {low:signed_duration} to {high:signed_duration}; measured, profiled",
            low=-high,
            high=-low,
        )
    medians = [
        None if pd.isna(row.get(name)) else row.get(name)
        for name in ("before_median_ns", "after_median_ns")
    ]
    slow = [row.get(name) for name in ("slow_before_ns", "slow_after_ns")]
    shown_before, shown_after = units.durations_apart(before, after, gain)
    grid = st.grid(5, min_column_width=170, border=True, key="group_figures")
    for label, value, basis in (
        (
            say("baseline"),
            shown_before,
            _median(medians[0], slow[0]),
        ),
        (say("candidate"), shown_after, _median(medians[1], slow[1])),
        (
            say("change per run"),
            units.duration(None if gain is None else -gain, signed=True),
            profiled,
        ),
        (
            say("bytes removed"),
            units.data_size(removed, signed=False),
            say("modelled from shapes"),
        ),
        (
            say("output difference"),
            units.small_number(relative),
            say("not recorded")
            if absolute is None
            else say("max {difference:number}; measured", difference=absolute),
        ),
    ):
        with grid.cell():
            st.metric(label, panels.own(value))
            st.caption(panels.own(basis))


def _median(median: float | None, slow_ns: float | None) -> str:
    """The median beside a mean, and what slow executions would add to that mean."""
    if not slow_ns or pd.isna(slow_ns):
        return say("median {median:duration}; measured", median=median)
    return say(
        "median {median:duration}; measured; slow executions add {slow:duration}",
        median=median,
        slow=float(slow_ns),
    )


def _how(group: Group, row: Mapping[Hashable, Any]) -> str:
    return paragraph(
        say(
            "Kind: {kind}; known by {source}.",
            kind=told(wording.KINDS[group.kind]),
            source=told(wording.KNOWN_BY[group.known_by]),
        ),
        say(
            "{n:count} operator of the model.",
            "{n:count} operators of the model.",
            n=len(group.original),
        ),
        say(
            "Operators that run: {before:count} → {after:count}.",
            before=len(group.baseline),
            after=len(group.candidate),
        ),
        say(
            "Computed again in several kernels: {names}.",
            names=listed([clean_text(name, 40) for name in group.recomputed[:_NAMED]]),
        )
        if group.recomputed
        else "",
        say("The group got slower by more than the noise.") if row.get("hurts") else "",
    )


_BEFORE_AFTER = {"before": Message("Before"), "after": Message("After")}
_ALTS = {
    "before": Message(
        "Before: {n:count} operator and the tensors around it",
        "Before: {n:count} operators and the tensors between them",
    ),
    "after": Message(
        "After: {n:count} operator and the tensors around it",
        "After: {n:count} operators and the tensors between them",
    ),
}


def _graph(when: str, comparison: Comparison, role: Role, group: Group) -> None:
    """The operators as a picture, or as a list where the file has no graph."""
    side: Side = getattr(comparison, role)
    operators: tuple[Operator, ...] = getattr(group, role)
    st.markdown(f"**{panels.own(_BEFORE_AFTER[when].text())}** · {panels.name(side.name)}")
    if side.graph is None:
        if operators:
            _list(comparison, role, operators)
        else:
            st.caption(say("No operator ran."))
        st.caption(say("This file has no graph, so the tensors between operators are not known."))
        return
    from fusescope.analysis.report.pictures.group_svg import group_svg

    names = [operator.name for operator in operators]
    st.image(
        group_svg(side.graph, names, group.inputs, group.outputs),
        alt=_ALTS[when].text(n=len(names)),
    )


def _own_groups(comparison: Comparison, group: Group, row: Mapping[Hashable, Any]) -> None:
    """Of a group that is several on both sides: each side's own, side by side."""
    lines = joined_rows(comparison, group)
    if not lines:
        return
    st.markdown(f"**{panels.own(OWN_GROUPS.text())}**")
    rows = [
        (
            line.original,
            line.baseline.text,
            line.baseline.time,
            line.candidate.text,
            line.candidate.time,
        )
        for line in lines
    ]
    column = own_column(comparison, group)
    before, after = (column.text(row.get(name)) for name in ("before_ns", "after_ns"))
    rows.append((say("Whole group"), "", before, "", after))
    text = st.column_config.TextColumn
    columns = {
        "original": text(say("Operators of the model"), width=300),
        "before": text(say("Baseline"), width=300),
        "before_time": text(say("Time of the baseline"), width=90, alignment="right"),
        "after": text(say("Candidate"), width=300),
        "after_time": text(say("Time of the candidate"), width=90, alignment="right"),
    }
    st.dataframe(
        pd.DataFrame(rows, columns=list(columns)),
        column_config={**columns},
        hide_index=True,
        key="group_own",
        height="content" if len(rows) <= 24 else 720,
        alt=OWN_GROUPS.text(),
    )
    st.caption(panels.own(wording.counted(JOINED_HELP, comparison)))


def _list(comparison: Comparison, role: Role, operators: tuple[Operator, ...]) -> None:
    """The operators with their times, those of one name together, most time first; behind them
    those without a time in the trace."""
    sums: dict[str, OperatorTime] = {}
    untimed: dict[str, None] = {}
    for one, time in zip(operators, operator_times(comparison, role, operators), strict=True):
        name = short_name(one.name)
        if time is None:
            untimed[name] = None
            continue
        before = sums.get(name, OperatorTime(0.0, 0.0))
        sums[name] = OperatorTime(
            before.per_run_ns + time.per_run_ns, before.executions + time.executions
        )
    lines = [
        say(
            "{time:duration}, {n:executions}: {operator:name}",
            time=time.per_run_ns,
            n=round(time.executions),
            operator=name,
        )
        for name, time in sorted(sums.items(), key=lambda item: -item[1].per_run_ns)
    ]
    st.text("\n".join([*lines, *untimed][:_ROWS]))
    has_runs = getattr(comparison, role).trace.has_runs
    basis = (
        say("Time and executions {per}, as profiled.", per=per_text(comparison))
        if has_runs
        else say("Time and executions in the file, as profiled.")
    )
    st.caption(panels.own(basis))


def _operators(comparison: Comparison, group: Group) -> None:
    with st.expander(say("Operators and boundary tensors by name"), key="group_operators"):
        shown: list[tuple[Message, tuple[Operator, ...], list[OperatorTime | None]]] = [
            (Message("model"), group.original, [None] * len(group.original))
        ]
        for role in state.pair.SIDES:
            of: tuple[Operator, ...] = getattr(group, role)
            shown.append((SIDE_NAMES[role], of, operator_times(comparison, role, of)))
        rows: list[tuple[object, ...]] = [
            (
                side.text(),
                operator.op_type,
                operator.name,
                None if time is None else time.per_run_ns / 1e3,
                None if time is None else time.executions,
                operator.scope,
                operator.place,
            )
            for side, operators, times in shown
            for operator, time in list(zip(operators, times, strict=True))[:_ROWS]
        ]
        tensors = ((say("input"), group.inputs), (say("output"), group.outputs))
        rows += [
            (where, "", name, None, None, "", "")
            for where, names in tensors
            for name in names[:_ROWS]
        ]
        columns = ["where", "type", "name", "time", "executions", "module", "source"]
        table = pd.DataFrame(rows, columns=columns)
        if not table["source"].any():
            table = table.drop(columns="source")
        runs = runs_of(comparison)
        st.dataframe(
            table,
            column_config={
                "where": say("Where"),
                "type": say("Type"),
                "name": say("Name"),
                "time": st.column_config.NumberColumn(
                    _TIME.text(runs),
                    format="%.2f",
                    help=help_text(_TIME_HELP, runs),
                ),
                "executions": _EXECUTIONS.text(runs),
                "module": say("Module"),
                "source": say("Line"),
            },
            hide_index=True,
            key="group_names",
            height="content" if len(rows) <= 12 else 388,
            alt=say(
                "Operators of the group in the model and on both sides, and its boundary tensors"
            ),
        )
