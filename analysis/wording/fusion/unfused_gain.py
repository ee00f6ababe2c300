"""Gains of an engine that are no fusion, as its ablations show."""

from __future__ import annotations

import pandas as pd

from fusescope.analysis.compare.ablation import ablation
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.messages import Message, Part

_NOT_ALL = Message(
    "Not all of it is fusion: without the optimizer {optimizer:name} the number of operators does "
    "not grow ({without} instead of {all}), yet the model takes {factor:factor} as long."
)


def unfused_gain_parts(comparison: Comparison) -> tuple[Part, ...]:
    """Return how much slower `fused` is without the optimizer that is worth most of those that
    leave no fewer operators; () where none was measured to be worth anything."""
    side = comparison.candidate
    if side.experiment is None or side.label != "fused":
        return ()
    table = ablation(side.experiment)
    if table is None or table.attrs["of"] != "optimizer":
        return ()
    is_no_fusion = (table["nodes_without"] <= table["nodes_all"]).fillna(False).astype(bool)
    found = table[is_no_fusion & (table["removed_low"] > 1)]
    if found.empty:
        return ()
    largest: pd.Series = found.iloc[0]
    return _NOT_ALL.parts(
        optimizer=largest["optimizer"],
        without=int(largest["nodes_without"]),
        all=int(largest["nodes_all"]),
        factor=float(largest["removed"]),
    )
