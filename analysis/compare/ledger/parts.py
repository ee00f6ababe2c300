"""Times of the parts of groups that have parts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from fusescope.analysis.compare.groups.fusion import Group, group_places
from fusescope.analysis.compare.timing.run_times import RunTimes


def part_times(
    groups: Sequence[Group],
    at: int,
    side: str,
    names: Sequence[str],
    times: RunTimes,
    is_known: bool,
) -> Iterable[tuple[int, str, int, float]]:
    """Rows of `part_table` for one side."""
    own = [
        (group.id, place, part) for group in groups for place, part in enumerate(group.parts[at])
    ]
    if not own:
        return
    labels = np.array(group_places(names, [part.operators for _, _, part in own]), dtype=int)
    mean_ns, _ = times.means_by_label(labels, len(own))
    for (id_, place, _), ns in zip(own, mean_ns, strict=True):
        yield id_, side, place, float(ns) if is_known else math.nan


def part_table(rows: Iterable[tuple[int, str, int, float]]) -> pd.DataFrame:
    table = pd.DataFrame(list(rows), columns=["group", "side", "part", "per_run_ns"])
    return table.astype({"group": int, "side": "str", "part": int, "per_run_ns": float})
