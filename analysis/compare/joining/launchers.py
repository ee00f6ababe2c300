"""What launched joined operators, where that tells apart those of one name."""

from __future__ import annotations

import pandas as pd

from fusescope.analysis.trace import Trace


def launchers_that_differ(
    rows: pd.DataFrame, baseline: Trace, candidate: Trace
) -> pd.Series | None:
    """Return the operator of the framework that launched each of these joined operators, the
    baseline's where both sides have it, '' where none is known; None where no two rows of one name
    differ in it, or where neither file has launchers."""
    found = [""] * len(rows)
    for role, trace in (("candidate", candidate), ("baseline", baseline)):
        names = trace.texts("launched_by")
        for at, number in enumerate(rows[f"operator_{role}"]):
            if not pd.isna(number):
                found[at] = names[int(number)]
    launched = pd.Series(found, index=rows.index, dtype="object")
    by_name = launched.groupby(rows["name"].astype("object")).nunique()
    return launched if bool((by_name > 1).any()) else None
