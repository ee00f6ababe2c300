"""Two files of ranks: whether they are of one job, and what says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from fusescope.analysis.job import Job
from fusescope.analysis.ranks.collectives import lasts_of
from fusescope.analysis.ranks.names import rank_in
from fusescope.analysis.trace import Meta, Trace

# Two ranks of one job; ranks of recordings at different times; different ranks of which nothing
# says when they ran; jobs of different sizes.
Relation = Literal["one_job", "other_jobs", "unknown_jobs", "other_sizes"]
_SINCE_1970 = 10**18  # ns: a start beyond it is one that two machines agree on
_MANY = 3  # files that are one job by their ranks, though their clocks are not set alike
_MINUTE = 60 * 10**9  # ns: how far such clocks are apart at most
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
    places by their ranks. Of several jobs the one of most ranks; none of a single rank.

    Three or more files that say different ranks of as many in all are one job if they began within
    a minute, even where their clocks do not show that they ran at the same time."""
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
    return max([*jobs, *_by_what_they_say(recorded)], key=len, default={})


def _by_what_they_say(recorded: Sequence[_Recorded]) -> list[dict[int, int]]:
    """Return jobs by the number of ranks that their files say: places by rank, of those in which
    every rank stands once. Files that have ids of a job share one."""
    by_world: dict[int, list[int]] = {}
    for place, one in enumerate(recorded):
        job = one.trace.meta.job or Job()
        if job.world and job.rank is not None and one.window and not _holds_several(one.trace.meta):
            by_world.setdefault(job.world, []).append(place)
    jobs = []
    for places in by_world.values():
        of = {(recorded[at].trace.meta.job or Job()).rank or 0: at for at in places}
        starts = [window[0] for at in places if (window := recorded[at].window)]
        ids = [set((recorded[at].trace.meta.job or Job()).ids) for at in places]
        share_id = not all(ids) or bool(set.intersection(*ids))
        is_once = len(of) == len(places) >= _MANY
        if is_once and share_id and max(starts) - min(starts) <= _MINUTE:
            jobs.append(dict(sorted(of.items())))
    return jobs


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
