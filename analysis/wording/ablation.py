"""Texts of the table of optimizers, or of fused kernels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import pandas as pd

from fusescope.analysis.messages import Message, say
from fusescope.analysis.wording.sentences import level_text

ABLATION_HELP = Message(
    "What each optimizer of the engine is worth in this model. Slower without it: time with all "
    "optimizers but this one / time with all. Faster with it alone: time with none / time with "
    "only this one. Only graphs that differ were timed: of the others the table says that they "
    "are the same."
)
FUSIONS_HELP = Message(
    "What each of the largest fusions is worth in this model. Slower without it: time with the "
    "operators of this kernel each in one of its own / time of fused. It was checked that all "
    "other kernels compute what they do in fused."
)
_FUSIONS_NOT_ADDITIVE = Message(
    "Each ratio is of the whole model, with one fusion denied. They do not add up to the speedup "
    "of fused over unfused."
)
_HURTS = Message("The model is faster without {names:name}: the whole interval is below 1.")
_FUSIONS_LEFT_OUT = Message(
    "These fusions were not recorded, because they hold fewer operators: {names:name}."
)
_REFUSED = Message(
    "This fusion was not recorded, because it cannot be left out by itself: {why:name}.",
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
            "Each interval is at {level}.",
            "Un-profiled wall time, measured in {n:count} blocks of fresh processes and paired. "
            "Each interval is at {level}.",
            n=facts["blocks"],
            level=level_text(1 - facts["alpha"]),
        ),
        (_FUSIONS_NOT_ADDITIVE if of_fusions(table) else NOT_ADDITIVE).text(),
    ]
    if of_fusions(table):
        return (*notes, *_fusion_notes(table))
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


def of_fusions(table: pd.DataFrame) -> bool:
    """Whether its rows are fused kernels."""
    return bool(table.attrs["of"] == "fusion")


def ablation_title(table: pd.DataFrame | None, *, compiles: bool = False) -> str:
    """What the table is called; where there is none, by whether the engine `compiles`, so that its
    fusions are left out, and no optimizers."""
    if compiles if table is None else of_fusions(table):
        return say("What each fusion brings")
    return say("What each optimizer brings")


def ablation_help(table: pd.DataFrame | None, *, compiles: bool = False) -> Message:
    """What its figures are."""
    return FUSIONS_HELP if (compiles if table is None else of_fusions(table)) else ABLATION_HELP


def _fusion_notes(table: pd.DataFrame) -> list[str]:
    hurts = [str(name) for name in table.loc[table["removed_high"] < 1, "optimizer"]]
    notes = [_HURTS.text(names=", ".join(hurts))] if hurts else []
    if table.attrs["left_out"]:
        notes.append(_FUSIONS_LEFT_OUT.text(names=", ".join(table.attrs["left_out"])))
    return notes + [_REFUSED.text(why=why) for why in table.attrs["refused"]]
