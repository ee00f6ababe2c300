"""What stands beside the table of optimizers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import pandas as pd

from analysis import units
from analysis.wording.phrases import plural

ABLATION_HELP = (
    "What each optimizer of the engine is worth in this model. Lost without it: time with all but "
    "this one / time with all. Brought alone: time with none / time with only this one. The graph "
    "was checked to differ."
)
NOT_ADDITIVE = (
    "Not additive: optimizers enable and replace each other, so neither column adds up to the "
    "speedup of all of them."
)


def ablation_ratio(row: Mapping[Any, Any] | pd.Series, kind: Literal["removed", "added"]) -> str:
    """A cell of the table: '2.05× (1.98× to 2.12×)', or why there is no ratio."""
    if pd.isna(row[kind]):
        acts = row["acts_without" if kind == "removed" else "acts_only"]
        same = "fused" if kind == "removed" else "unfused"
        return "not recorded" if pd.isna(acts) or acts else f"same graph as {same}"
    ratio, low, high = row[kind], row[f"{kind}_low"], row[f"{kind}_high"]
    if pd.isna(low):
        return f"{units.factor(ratio)} (no interval)"
    return f"{units.factor(ratio)} ({units.factor(low)} to {units.factor(high)})"


def ablation_notes(table: pd.DataFrame) -> tuple[str, ...]:
    """What the reader of the table must know, one sentence each."""
    facts = table.attrs
    blocks = plural(facts["blocks"], "block")
    level = units.percent(1 - facts["alpha"])
    notes = [
        f"Un-profiled wall time, {blocks} of fresh processes, paired; each interval at {level}.",
        NOT_ADDITIVE,
    ]
    if facts["left_out"]:
        names = ", ".join(facts["left_out"])
        notes.append(f"Not recorded, because they change fewer operators: {names}.")
    if facts["unlisted"]:
        notes.append(
            "Some optimizer that FuseScope cannot switch off acts in every variant with only one: "
            "what it does counts as added."
        )
    return tuple(notes)
