"""What each optimizer of the engine, or each fusion, is worth, as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from fusescope.analysis import units
from fusescope.analysis.compare.ablation import ablation
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.report.text import known
from fusescope.analysis.wording.ablation import (
    ablation_help,
    ablation_notes,
    ablation_ratio,
    of_fusions,
)


@dataclass(frozen=True)
class Worth:
    """One optimizer: operators and speedup lost without it, and what it alone brings."""

    optimizer: str
    nodes_without: str
    removed: str
    nodes_only: str
    added: str


@dataclass(frozen=True)
class AblationTable:
    """Optimizers, or fusions, which have no figures of their own alone; the one whose removal
    costs most first."""

    of_fusions: bool
    rows: tuple[Worth, ...]
    notes: tuple[str, ...]


def ablation_table(comparison: Comparison) -> AblationTable | None:
    """The ablation recorded with the candidate; None where there is none."""
    experiment = comparison.candidate.experiment
    table = None if experiment is None else ablation(experiment)
    if table is None:
        return None
    return AblationTable(
        of_fusions=of_fusions(table),
        rows=tuple(_worth(row) for _, row in table.iterrows()),
        notes=(ablation_help(table).text(), *ablation_notes(table)),
    )


def _worth(row: pd.Series[Any]) -> Worth:
    return Worth(
        optimizer=str(row["optimizer"]),
        nodes_without=_nodes(row["nodes_all"], row["nodes_without"]),
        removed=ablation_ratio(row, "removed"),
        nodes_only=_nodes(row["nodes_none"], row["nodes_only"]),
        added=ablation_ratio(row, "added"),
    )


def _nodes(before: Any, after: Any) -> str:
    if known(after) is None:
        return units.MISSING
    return f"{units.count(known(before))} → {units.count(known(after))}"
