"""Operators that ran and are in no group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from fusescope.analysis.compare.groups.fusion import Operator
from fusescope.analysis.compare.side import Side
from fusescope.analysis.compare.timing.run_times import RunTimes
from fusescope.analysis.metrics.device import copies_of
from fusescope.analysis.text import clean_text


def ungrouped_of(
    side: Side,
    which: str,
    names: Sequence[str],
    times: RunTimes,
    labels: np.ndarray,
    inserted: Sequence[Operator],
    is_known: bool,
) -> pd.DataFrame:
    """What is in no group and ran, by name, longest first; `names` are those of the operators."""
    told = side.trace.operators
    codes, found_names = pd.factorize(np.array(names, dtype=object))
    mean_ns, executions = times.means_by_label(np.where(labels < 0, codes, -1), len(found_names))
    mean_ns = mean_ns if is_known else mean_ns * np.nan
    first_type = told["op_type"].astype("object").groupby(codes).first()
    added = {clean_text(operator.name) for operator in inserted}
    in_graph = {clean_text(node.name) for node in side.graph.nodes} if side.graph else set()
    talking = np.bincount(codes, told["is_communication"], len(found_names)) > 0
    copies = np.bincount(codes, copies_of(side.trace), len(found_names)) > 0
    ran = np.flatnonzero(executions > 0)
    ran = ran[np.argsort(-mean_ns[ran], kind="stable")]

    def reason(code: int) -> str:
        name = found_names[code]
        if name in added:
            return "inserted"
        if talking[code]:
            return "communication"
        if copies[code]:
            return "copies"
        return "not_in_graph" if side.graph is not None and name not in in_graph else "unmatched"

    columns = {
        "side": [which] * len(ran),
        "name": list(found_names[ran]),
        "op_type": list(first_type.reindex(ran)),
        "reason": [reason(int(code)) for code in ran],
    }
    texts = {name: pd.array(values, dtype="str") for name, values in columns.items()}
    return pd.DataFrame({**texts, "per_run_ns": mean_ns[ran]})
