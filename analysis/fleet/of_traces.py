"""The ranks of one job among traces that are open, as a fleet."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from fusescope.analysis.fleet.fleet import Fleet, fleet_of
from fusescope.analysis.fleet.ingest import tables_of
from fusescope.analysis.fleet.tables import ROWS, SMALL, RankTables
from fusescope.analysis.job import Job
from fusescope.analysis.trace import Trace


def fleet_of_traces(name: str, traces: Mapping[int, tuple[str, Trace]]) -> Fleet:
    """Return the fleet of these traces, by rank and each with the name of its file."""
    read = {rank: rank_tables(rank, file, trace) for rank, (file, trace) in traces.items()}
    tables = {
        table: pd.concat(
            [one.tables[table].assign(sha256=one.facts.sha256) for one in read.values()],
            ignore_index=True,
        )
        for table in SMALL
    }
    return fleet_of(
        name,
        [one.facts for one in read.values()],
        tables,
        lambda rank, columns: read[rank].tables[ROWS][list(columns)],
    )


def rank_tables(rank: int, file: str, trace: Trace) -> RankTables:
    """Return the tables of a trace that is open, of this rank and of a file of this name."""
    return tables_of(trace, file, Job(rank, (trace.meta.job or Job()).world))
