"""Texts of the table of optimizers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import pandas as pd

from analysis.messages import Message, say

ABLATION_HELP = Message(
    "What each optimizer of the engine is worth in this model. Lost without it: time with all "
    "optimizers but this one / time with all. Brought alone: time with none / time with only this "
    "one. It was checked that the graphs differ."
)
NOT_ADDITIVE = Message(
    "The ratios do not add up: optimizers enable and replace each other, so the sum of neither "
    "column is the speedup of all of them together."
)


def ablation_ratio(row: Mapping[Any, Any] | pd.Series, kind: Literal["removed", "added"]) -> str:
    """A cell of the table: '2.05× (1.98× to 2.12×)', or why there is no ratio."""
    if pd.isna(row[kind]):
        acts = row["acts_without" if kind == "removed" else "acts_only"]
        if pd.isna(acts) or acts:
            return say("not recorded")
        return say("same graph as fused") if kind == "removed" else say("same graph as unfused")
    ratio, low, high = row[kind], row[f"{kind}_low"], row[f"{kind}_high"]
    if pd.isna(low):
        return say("{ratio:factor} (no interval)", ratio=ratio)
    return say("{ratio:factor} ({low:factor} to {high:factor})", ratio=ratio, low=low, high=high)


def ablation_notes(table: pd.DataFrame) -> tuple[str, ...]:
    """What the reader of the table must know, each text one sentence or two."""
    facts = table.attrs
    notes = [
        say(
            "Un-profiled wall time, measured in {n:count} block of fresh processes and paired. "
            "Each interval is at {level:percent}.",
            "Un-profiled wall time, measured in {n:count} blocks of fresh processes and paired. "
            "Each interval is at {level:percent}.",
            n=facts["blocks"],
            level=1 - facts["alpha"],
        ),
        NOT_ADDITIVE.text(),
    ]
    if facts["left_out"]:
        notes.append(
            say(
                "These optimizers were not recorded, because they change fewer operators: "
                "{names:name}.",
                names=", ".join(facts["left_out"]),
            )
        )
    if facts["unlisted"]:
        notes.append(
            say(
                "An optimizer that FuseScope cannot switch off acts in every variant with only one "
                "optimizer. Its effect counts as added."
            )
        )
    return tuple(notes)
