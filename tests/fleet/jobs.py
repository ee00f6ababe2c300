"""Fleets for tests: simulated jobs that are read in memory, and small tables made by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from benchmarks.fleet_job import Job, traces
from fusescope.analysis.fleet.fleet import Fleet, fleet_of
from fusescope.analysis.fleet.ingest import ingest_source
from fusescope.analysis.fleet.tables import (
    COLLECTIVES,
    KERNELS,
    OPERATORS,
    ROWS,
    SMALL,
    STEPS,
    RankFacts,
)
from fusescope.analysis.readers.input.source import Source


def fleet(job: Job) -> Fleet:
    """The fleet of a simulated job."""
    read = [
        ingest_source(Source(f"rank{rank}.json", data)) for rank, data in enumerate(traces(job))
    ]
    tables = {
        name: pd.concat(
            [one.tables[name].assign(sha256=one.facts.sha256) for one in read], ignore_index=True
        )
        for name in SMALL
    }
    rows = {one.facts.rank: one.tables[ROWS] for one in read}
    return fleet_of("job", [one.facts for one in read], tables, lambda rank, _: rows[rank])


def by_hand(
    collectives: Sequence[dict[str, object]] = (),
    steps: Sequence[dict[str, object]] = (),
    operators: Sequence[dict[str, object]] = (),
    kernels: Sequence[dict[str, object]] = (),
    rows: dict[int, pd.DataFrame] | None = None,
) -> Fleet:
    """A fleet of these rows, each with its `rank`; what is left out has a usual value."""
    defaults: dict[str, dict[str, object]] = {
        COLLECTIVES: {
            "group": "1", "members": "", "size": None, "kind": "all_reduce", "bytes": 1000,
            "index": 0, "is_pair": False, "place": 0, "step": 0, "start_ns": 0, "dur_ns": 0,
            "transfer_ns": None, "before_ns": 0, "before_busy_ns": 0,
        },
        STEPS: {
            "number": 0, "warmup": False, "split_ns": 1000, "computing_ns": 0, "uncovered_ns": 0,
            "free_ns": 0, "communication_ns": 0,
        },
        OPERATORS: {
            "name": "mm", "inputs": "", "op_type": "mm", "op_class": "matrix_product", "calls": 1,
            "total_ns": 0, "median_ns": 0.0,
        },
        KERNELS: {
            "kernel": "mm", "op_class": "matrix_product", "members": "", "least": 1, "median": 1.0,
            "most": 1, "total_ns": 0,
        },
    }  # fmt: skip
    given = {COLLECTIVES: collectives, STEPS: steps, OPERATORS: operators, KERNELS: kernels}
    ranks = sorted({int(str(row["rank"])) for part in given.values() for row in part})
    facts = [RankFacts(rank, f"r{rank}", f"{rank:064x}", "kineto", "PyTorch") for rank in ranks]
    tables = {}
    for name, part in given.items():
        columns = [*defaults[name], "sha256"]
        made = [
            {**defaults[name], **row, "sha256": f"{int(str(row['rank'])):064x}"} for row in part
        ]
        frame = pd.DataFrame(made, columns=columns)
        whole = [n for n in columns if n.endswith("_ns") and n != "median_ns"]
        tables[name] = frame.astype(
            {n: "Int64" for n in (*whole, *(["size", "bytes"] if name == COLLECTIVES else []))}
        )
    return fleet_of("hand", facts, tables, lambda rank, _: (rows or {})[rank])
