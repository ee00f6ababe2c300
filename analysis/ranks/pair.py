"""Two files of ranks: whether they are of one job, and what says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from analysis.job import Job
from analysis.ranks.collectives import lasts_of
from analysis.ranks.names import rank_in
from analysis.trace import Meta, Trace

# Two ranks of one job; ranks of recordings at different times; different ranks of which nothing
# says when they ran; jobs of different sizes.
Relation = Literal["one_job", "other_jobs", "unknown_jobs", "other_sizes"]
_SINCE_1970 = 10**18  # ns: a start beyond it is one that two machines agree on
_TOGETHER = 0.5  # of the shorter recording, in which the other one ran as well


@dataclass(frozen=True)
class RankPair:
    """How two files of ranks belong together: the rank of each, how many ranks its job has, and its
    stage of how many, None where nothing says it. It `is_named` where the files have ids of one
    job, else ranks and times suggest it."""

    relation: Relation
    ranks: tuple[int | None, int | None]
    worlds: tuple[int | None, int | None] = (None, None)
    stages: tuple[tuple[int, int] | None, tuple[int, int] | None] = (None, None)
    is_named: bool = False

    @property
    def is_one_job(self) -> bool:
        """Return whether both are ranks of one job."""
        return self.relation == "one_job"

    @property
    def world(self) -> int | None:
        """Return how many ranks the one job has, where a file says it."""
        return next((world for world in self.worlds if world is not None), None)

    @property
    def are_stages(self) -> bool | None:
        """Return whether both are different stages of one pipeline; None where they do not say."""
        one, other = self.stages
        if not self.is_one_job or one is None or other is None or one[1] != other[1]:
            return None
        return one[0] != other[0]


def rank_pair(first: Trace, second: Trace, names: tuple[str, str] = ("", "")) -> RankPair | None:
    """Return how two traces of ranks belong together; None where they are of one rank, or where
    neither the files nor their `names` give the ranks. A rank that only a name gives counts where
    both ran at the same time."""
    return _pair(_Recorded(first, names[0]), _Recorded(second, names[1]))


@dataclass(frozen=True, eq=False)
class _Recorded:
    """A trace and the name of its file."""

    trace: Trace
    name: str

    @cached_property
    def window(self) -> tuple[int, int] | None:
        """The first start and the last end in ns since 1970; None where they are not known."""
        started, calls = self.trace.meta.started_ns, self.trace.calls
        known = calls["start_ns"].notna().to_numpy()
        if started is None or started < _SINCE_1970 or not known.any():
            return None
        starts = calls["start_ns"].to_numpy("int64", na_value=0)[known]
        lasts = lasts_of(calls)[known]
        return started, started + int((starts + lasts).max() - starts.min())


def _pair(first: _Recorded, second: _Recorded) -> RankPair | None:
    """Return how two recordings belong together, as `rank_pair` says it."""
    metas = (first.trace.meta, second.trace.meta)
    if metas[0].sha256 == metas[1].sha256 or any(map(_holds_several, metas)):
        return None
    one, other = (meta.job or Job() for meta in metas)
    worlds = (one.world, other.world)
    if None not in worlds and worlds[0] != worlds[1]:
        return RankPair("other_sizes", (one.rank, other.rank), worlds, is_named=True)
    of_files = (one.rank, other.rank)
    ranks = tuple(
        rank if rank is not None else rank_in(recorded.name)
        for rank, recorded in zip(of_files, (first, second), strict=True)
    )
    if None in ranks or ranks[0] == ranks[1]:
        return None
    pair = RankPair("one_job", (ranks[0], ranks[1]), worlds, (one.stage, other.stage))
    together = _ran_together(first, second)
    if together is not False and set(one.ids) & set(other.ids):
        return RankPair(pair.relation, pair.ranks, worlds, pair.stages, is_named=True)
    if together:
        return pair
    if None in of_files:
        return None
    relation: Relation = "unknown_jobs" if together is None else "other_jobs"
    return RankPair(relation, pair.ranks, worlds, is_named=True)


def ranks_of_one_job(traces: Sequence[tuple[str, Trace]]) -> dict[int, int]:
    """Return which of these traces, each with the name of its file, are ranks of one job: their
    places by their ranks. Of several jobs the one of most ranks; none of a single rank."""
    recorded = [_Recorded(trace, name) for name, trace in traces]
    jobs: list[dict[int, int]] = []
    for first, one in enumerate(recorded):
        job: dict[int, int] = {}
        for place, other in enumerate(recorded):
            pair = None if place == first else _pair(one, other)
            if pair is not None and pair.is_one_job and None not in pair.ranks:
                own, rank = pair.ranks
                job.setdefault(own or 0, first)
                job.setdefault(rank or 0, place)
        jobs.append(dict(sorted(job.items())))
    return max(jobs, key=len, default={})


def _holds_several(meta: Meta) -> bool:
    """Return whether a trace is of several files, or of one process or device of a file."""
    return bool(meta.parts) or bool(meta.variant)


def _ran_together(first: _Recorded, second: _Recorded) -> bool | None:
    """Return whether both were recorded at the same time; None where a file does not say when."""
    one, other = first.window, second.window
    if one is None or other is None:
        return None
    shared = min(one[1], other[1]) - max(one[0], other[0])
    return shared > 0 and shared >= _TOGETHER * min(one[1] - one[0], other[1] - other[0])
