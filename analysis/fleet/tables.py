"""Tables of one rank: its raw rows, and four small ones that answer what is asked of a fleet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd

SCHEMA_VERSION = 1
ROWS, OPERATORS, STEPS, COLLECTIVES, KERNELS = (
    "rows",
    "operators",
    "steps",
    "collectives",
    "kernels",
)
TABLES = (ROWS, OPERATORS, STEPS, COLLECTIVES, KERNELS)
SMALL = (OPERATORS, STEPS, COLLECTIVES, KERNELS)


@dataclass(frozen=True)
class RankFacts:
    """Where the tables of one rank come from.

    `world` is how many ranks its job has, None where the file does not say; `is_truncated` is true
    of a file that ended too early, of which only the start is known. `checks` are the CRC-32 of the
    files of its tables, by their names.
    """

    rank: int
    file: str
    sha256: str
    format: str
    tool: str
    world: int | None = None
    is_truncated: bool = False
    device: str = ""
    checks: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class RankTables:
    """One rank as it is kept: what is known of it, and its tables by name.

    Times are whole ns of the rank's own clock, which is that of no other rank.

    - `rows`: a row for each call, with its operator's columns; `segment` is the place in
      `collectives` of the first collective that began after the middle of the call.
    - `operators`: by name and shapes: `calls`, `total_ns`, and `median_ns` of a call.
    - `steps`: the runs of the trace; of profiled ones `computing_ns`, `uncovered_ns`
      (communication while nothing was computed), `communication_ns`, `free_ns`, which with
      `computing_ns` and `uncovered_ns` makes up `dur_ns`; `number` is the profiler's own.
    - `collectives`: in order of their start, which `place` counts: `group`, `members` (its ranks),
      `size`, `kind`, `bytes`, `index` among those of the group, `is_pair` for what one rank sends
      to one other, `transfer_ns` in which data moved by the profiler's own count (null where the
      file does not say it; stores that were made earlier have no such column), `before_ns` from
      the end of the collectives before it (null for the first), and the part of it in which
      something was computed, `before_busy_ns`.
    - `kernels`: what the rank runs, without communication and copies: executions of each in a step,
      `least`, `median` and `most`.
    """

    facts: RankFacts
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
