"""Operators in no group on Compare: found and picked like those of groups."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.messages import Message, say
from fusescope.analysis.units import column_of
from fusescope.analysis.wording.counted import Runs, per_text
from fusescope.analysis.wording.fusion.ungrouped import REASONS, ungrouped_title
from fusescope.app.parts import panels
from fusescope.app.parts.heads import SIDE_NAMES, Counted, Head

TABLE = "ungrouped"
_MOST = 200
_TIME = Head(Counted(Message("Time {per}"), Message("Time per file"), Message("Time")))
_PICKED = Message(
    "{operator:name} ({type:name}, {side}) is in no group: {reason}. It takes {time:duration} "
    "{per}."
)
_PICKED_IN_FILE = Message(
    "{operator:name} ({type:name}, {side}) is in no group: {reason}. It takes {time:duration} in "
    "the file."
)
_PICKED_UNTIMED = Message("{operator:name} ({type:name}, {side}) is in no group: {reason}.")


def matching(comparison: Comparison, text: str) -> pd.DataFrame:
    """Return the operators in no group with `text` in name or type, most time first; none where
    nothing is searched."""
    table = comparison.ledger.ungrouped
    text = text.strip().casefold()
    if not text:
        return table.iloc[:0]
    words = table["name"].fillna("") + "\n" + table["op_type"].fillna("")
    found = table[words.str.casefold().str.contains(text, regex=False)]
    return found.sort_values("per_run_ns", ascending=False, kind="stable")


def of_row(comparison: Comparison, row: int) -> pd.DataFrame:
    """Return the operators in no group that are this row of the table of operators."""
    table, operators = comparison.ledger.ungrouped, comparison.operators
    found = []
    for role in ("baseline", "candidate"):
        numbers = operators.loc[operators["row"] == row, f"operator_{role}"].dropna()
        names = getattr(comparison, role).trace.texts("name")
        called = {names[int(number)] for number in numbers}
        found.append(table[(table["side"] == role) & table["name"].isin(called)])
    return pd.concat(found)


def show_picked(comparison: Comparison, row: int) -> bool:
    """Say what is known of the operator that was picked in the timelines; False where it is in a
    group, or is no operator of the table."""
    found = of_row(comparison, row).to_dict("records")
    for record in found:
        time = record["per_run_ns"]
        has_runs = getattr(comparison, record["side"]).trace.has_runs
        timed = _PICKED if has_runs else _PICKED_IN_FILE
        words = _PICKED_UNTIMED if pd.isna(time) else timed
        parts = words.parts(
            operator=str(record["name"]),
            type=str(record["op_type"]),
            side=SIDE_NAMES[record["side"]],
            reason=REASONS[record["reason"]],
            **({} if pd.isna(time) else {"time": float(time)}),
            **({"per": per_text(comparison)} if timed is _PICKED and not pd.isna(time) else {}),
        )
        st.markdown(panels.parts_text(parts, "gray"))
    return bool(found)


def show_found(found: pd.DataFrame, runs: Runs) -> None:
    """Draw the operators in no group that a search has found; `runs` is what their times are of."""
    if found.empty:
        return
    title = ungrouped_title(list(found["reason"]))
    st.markdown(f"**{panels.own(title)}**")
    shown = found.head(_MOST)
    times = column_of(shown["per_run_ns"])
    st.dataframe(
        pd.DataFrame(
            {
                "name": shown["name"].to_numpy(),
                "type": shown["op_type"].to_numpy(),
                "side": [SIDE_NAMES[side].text() for side in shown["side"]],
                "reason": [REASONS[reason].text() for reason in shown["reason"]],
                "time": [times.text(ns) for ns in shown["per_run_ns"]],
            }
        ),
        column_config={
            "name": say("Name"),
            "type": say("Type"),
            "side": say("Side"),
            "reason": say("Why it is in no group"),
            "time": st.column_config.TextColumn(_TIME.text(runs), alignment="right"),
        },
        hide_index=True,
        key=TABLE,
        height="content" if len(shown) <= 10 else 388,
        alt=say("Operators in no group that match the search"),
    )
    if len(found) > _MOST:
        more = len(found) - _MOST
        st.caption(say("{n:count} more is not shown.", "{n:count} more are not shown.", n=more))
