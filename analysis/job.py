"""Job: what a file says of a job of several ranks: which of them it is of, and its collectives."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

MAX_RANKS = 10**6
MAX_GROUPS = 4096
MAX_COLLECTIVES = 2_000_000  # of one trace
# A group of pipeline stages as Megatron, torchtitan and MindSpeed call it, and groups of more.
_PIPELINE = re.compile(r"(?i)(?<![a-z])(?:pp|pipe|pipeline)(?![a-z])")
_OTHER_WAYS = re.compile(r"(?i)(?<![a-z])(?:tp|tensor|dp|data|cp|context|ep|expert|sp)(?![a-z])")
# A missing text is '', a missing number null.
COLLECTIVE_COLUMNS = {
    "source_row": "int64",
    "group": "category",
    "members": "category",  # its ranks, or what else tells it from groups of the same name
    "kind": "category",  # all_reduce, send_receive, …
    "is_pair": "bool",  # what one rank sends to one other
    "size": "Int64",  # ranks of the group
    "bytes": "Int64",  # that the group moves as a whole
    "number": "Int64",  # among the collectives of the group
    "transfer_ns": "Int64",  # in which data moved, by the profiler's own count
    "link_bytes": "Int64",  # that moved over the links of this rank in that time, likewise
}


@dataclass(frozen=True)
class Group:
    """Ranks that communicate with one another: the `name` that collectives have, what it is for in
    the framework's words ('' where the file does not say it), and its ranks in their order."""

    name: str
    purpose: str = ""
    ranks: tuple[int, ...] = ()


@dataclass(frozen=True)
class Job:
    """The `rank` of a file among `world` ranks, each None where the file does not say it. `ids` are
    texts that files of one job share, such as those of its communicators."""

    rank: int | None = None
    world: int | None = None
    groups: tuple[Group, ...] = ()
    ids: tuple[str, ...] = ()

    @property
    def stage(self) -> tuple[int, int] | None:
        """Return the stage of the pipeline that the rank is, counted from 1, and how many there
        are; None where no group of the file is one of stages."""
        for group in self.groups:
            is_pipeline = _PIPELINE.search(group.purpose) and not _OTHER_WAYS.search(group.purpose)
            if is_pipeline and len(group.ranks) > 1 and self.rank in group.ranks:
                return group.ranks.index(self.rank) + 1, len(group.ranks)
        return None


@dataclass(frozen=True, eq=False)
class Collectives:
    """What a file says of executions of collectives beside their times: a row each, by the source
    row of their calls in ascending order; columns as in COLLECTIVE_COLUMNS."""

    table: pd.DataFrame

    def __post_init__(self) -> None:
        found = {str(name): str(dtype) for name, dtype in self.table.dtypes.items()}
        if found != COLLECTIVE_COLUMNS:
            raise ValueError("collectives: other columns than they must have")
        if (np.diff(self.table["source_row"].to_numpy()) <= 0).any():
            raise ValueError("collectives: rows go back")


def collectives_frame(**columns: object) -> pd.DataFrame:
    """Return the table of `Collectives` from columns that are known; the others are empty."""
    count = len(columns["source_row"])  # type: ignore[arg-type]
    empty = {"category": [""] * count, "bool": [False] * count, "Int64": [None] * count}
    return pd.DataFrame(
        {
            name: pd.array(columns.get(name, empty.get(dtype)), dtype=dtype)  # type: ignore[call-overload]
            for name, dtype in COLLECTIVE_COLUMNS.items()
        }
    )
