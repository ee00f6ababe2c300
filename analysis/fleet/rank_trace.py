"""A rank's trace out of its raw rows: what Compare opens, when the file itself is elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from fusescope.analysis.fleet.tables import RankFacts
from fusescope.analysis.job import Job
from fusescope.analysis.messages import Message
from fusescope.analysis.trace import (
    CALL_COLUMNS,
    OPERATOR_COLUMNS,
    RUN_COLUMNS,
    Meta,
    Trace,
    calls_frame,
    operators_frame,
    runs_frame,
)

NAME = Message("rank {rank:count}")
_OF_ROWS = ("segment",)


def rank_trace(
    facts: RankFacts, rows: pd.DataFrame, steps: pd.DataFrame, job_id: str = ""
) -> Trace:
    """The trace of a rank from its tables `rows` and `steps`: calls, operators, runs and counters
    as its reader gave them; what was noticed, call stacks and memory are not kept. `job_id` is one
    that all ranks of the fleet share.

    Raises ValueError or KeyError for other tables.
    """
    numbers, firsts, places = np.unique(
        rows["operator"].to_numpy("int64"), return_index=True, return_inverse=True
    )
    own = {
        name: rows[name].iloc[firsts].reset_index(drop=True)
        for name in OPERATOR_COLUMNS
        if name != "operator"
    }
    operators = operators_frame(operator=np.arange(len(numbers)), **_typed(own, OPERATOR_COLUMNS))
    left_out = {*OPERATOR_COLUMNS, *_OF_ROWS}
    told = {name: rows[name] for name in rows.columns if name not in left_out}
    counters = {
        name: values.astype("Float64") for name, values in told.items() if name not in CALL_COLUMNS
    }
    known = {name: values for name, values in told.items() if name in CALL_COLUMNS}
    calls = calls_frame(operator=places, **_typed(known, CALL_COLUMNS), **counters)
    runs = runs_frame(**_typed({name: steps[name] for name in RUN_COLUMNS}, RUN_COLUMNS))
    meta = Meta(
        facts.format,
        facts.tool,
        device=facts.device or None,
        file_name=NAME.text(rank=facts.rank),
        sha256=facts.sha256,
        job=Job(facts.rank, facts.world, ids=(job_id,) if job_id else ()),
    )
    return Trace(meta, runs, operators, calls)


def _typed(columns: dict[str, Any], types: Mapping[str, str]) -> dict[str, Any]:
    return {name: values.astype(types[name]) for name, values in columns.items()}
