"""Fleet: the small tables of all ranks together, and what is missing or damaged among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import pandas as pd

from fusescope.analysis.fleet.tables import COLLECTIVES, KERNELS, OPERATORS, STEPS, RankFacts
from fusescope.analysis.messages import Said
from fusescope.analysis.text import distinct_names

DamageCode = Literal["unreadable", "truncated", "rank_twice", "other_job", "other_format"]
_RANK = "rank"
T = TypeVar("T")


@dataclass(frozen=True)
class Damaged:
    """A file that no figure rests on; `said` is the reader's own reason where it has one, `rank`
    the rank of the file where that is known."""

    file: str
    code: DamageCode
    rank: int | None = None
    said: str | Said = ""
    other: str = ""  # the file that stands for that rank; how many ranks its job has


@dataclass(frozen=True, eq=False)
class Fleet:
    """All ranks of a job that can be compared, by rank.

    The tables have a column `rank`. `missing` are ranks that the job has and no file tells of,
    `rows` gives the raw rows of a rank, columns of them or all where none is named,
    `is_being_written` is true while more ranks may come.
    """

    name: str
    ranks: tuple[RankFacts, ...]
    world: int | None
    missing: tuple[int, ...]
    damaged: tuple[Damaged, ...]
    steps: pd.DataFrame
    collectives: pd.DataFrame
    operators: pd.DataFrame
    kernels: pd.DataFrame
    rows: Callable[[int, Sequence[str]], pd.DataFrame]
    is_being_written: bool = False

    @property
    def numbers(self) -> tuple[int, ...]:
        """The ranks, least first."""
        return tuple(facts.rank for facts in self.ranks)


def chosen(
    given: Sequence[RankFacts], failed: Sequence[Damaged] = ()
) -> tuple[tuple[RankFacts, ...], tuple[Damaged, ...], int | None, tuple[int, ...]]:
    """The ranks that can be compared, the files that cannot, the job's size, and missing ranks.

    Left out are files that ended too early; files of another job: their job has another number of
    ranks, or too few for their rank; files of another format than most; and every file of a rank
    but the first by name. A truncated rank is not missing: it is there, and damaged.
    """
    damaged = list(failed)
    world = _most([facts.world for facts in given if facts.world is not None])
    format_ = _most([facts.format for facts in given])
    kept: dict[int, RankFacts] = {}
    names = distinct_names(facts.file for facts in given)
    for facts in sorted(given, key=lambda facts: (facts.rank, facts.is_truncated, facts.file)):
        name = names[facts.file]
        if world is not None and facts.world not in (None, world):
            damaged.append(Damaged(name, "other_job", facts.rank, other=str(facts.world)))
        elif world is not None and facts.rank >= world:
            damaged.append(Damaged(name, "other_job", facts.rank, other=str(facts.world or "")))
        elif facts.format != format_:
            damaged.append(Damaged(name, "other_format", facts.rank, other=facts.tool))
        elif facts.is_truncated:
            damaged.append(Damaged(name, "truncated", facts.rank))
        elif facts.rank in kept:
            other = names[kept[facts.rank].file]
            damaged.append(Damaged(name, "rank_twice", facts.rank, other=other))
        else:
            kept[facts.rank] = facts
    told = {*kept, *(one.rank for one in damaged if one.rank is not None)}
    last = world if world is not None else max(kept, default=-1) + 1
    missing = tuple(rank for rank in range(last) if rank not in told)
    return tuple(kept[rank] for rank in sorted(kept)), tuple(damaged), world, missing


def fleet_of(
    name: str,
    given: Sequence[RankFacts],
    tables: Mapping[str, pd.DataFrame],
    rows: Callable[[int, Sequence[str]], pd.DataFrame],
    failed: Sequence[Damaged] = (),
    *,
    is_being_written: bool = False,
) -> Fleet:
    """The fleet of these files. `tables` are the small ones of all of them, with `sha256` of the
    file in each row."""
    ranks, damaged, world, missing = chosen(given, failed)
    rank_of = {facts.sha256: facts.rank for facts in ranks}
    found = {}
    for table in (STEPS, COLLECTIVES, OPERATORS, KERNELS):
        frame = tables[table]
        number = frame["sha256"].map(rank_of)
        kept = number.notna().to_numpy()
        frame = frame.drop(columns="sha256")
        if not kept.all():  # which would copy all of it
            frame, number = frame[kept].reset_index(drop=True), number[kept]
        frame.insert(0, _RANK, number.to_numpy("int64"))
        found[table] = frame
    return Fleet(
        name,
        ranks,
        world,
        missing,
        damaged,
        found[STEPS],
        found[COLLECTIVES],
        found[OPERATORS],
        found[KERNELS],
        rows,
        is_being_written,
    )


def _most(values: Sequence[T]) -> T | None:
    counts = Counter(values)
    return max(counts, key=lambda value: counts[value]) if counts else None
