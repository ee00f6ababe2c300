"""A job of 256 ranks: what a rank costs to read, and how long each question takes, by the clock of
the processor, which other work beside it hardly changes, and by the clock on the wall."""

from __future__ import annotations

import dataclasses
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pandas as pd

from benchmarks.fleet_job import Job, write
from benchmarks.row import Row
from fusescope.analysis.fleet import step_split
from fusescope.analysis.fleet.causes import causes
from fusescope.analysis.fleet.differing import stages
from fusescope.analysis.fleet.fleet import Fleet
from fusescope.analysis.fleet.links import slow_links, transfers
from fusescope.analysis.fleet.outliers import outliers
from fusescope.analysis.fleet.slow_ranks import slow_ranks
from fusescope.analysis.fleet.straggler_free import straggler_free
from fusescope.analysis.fleet.versus import versus
from fusescope.analysis.limits import DEFAULT_LIMITS
from fusescope.analysis.ranks.aligned import aligned
from fusescope.app.fleet import ingesting, store

JOB = Job(nodes=32, devices=8, steps=6, layers=12, slow=100, link=3, unfused=200)
LARGE = Job(nodes=2, devices=8, steps=100, layers=126)  # 200,000 events a rank
_ROUNDS = 3
# Collectives of a rank with 200,000 events; the simulated ones are repeated up to that.
_COLLECTIVES = 2000
_OPERATORS = 400  # by name and shapes

T = TypeVar("T")


def measure() -> list[Row]:
    """CPU time of reading a rank against its events; one process against two; CPU and wall time of
    each question."""
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        paths = write(JOB, folder / "job")
        events = sum(path.read_bytes().count(b'"ph":') for path in paths[:1])
        began = _cpu_s()
        ingesting.ingest([str(folder / "job")], str(folder / "ranks"), DEFAULT_LIMITS, processes=1)
        took = _cpu_s() - began
        place = store.opened(str(folder / "ranks"))
        opened, found = _asked("opening the store", lambda: store.fleet(place))
        rows = [
            Row(
                f"ingest of {len(paths)} ranks of {events:,} events",
                f"{took:.0f} s CPU",
                "",
                f"{took / len(paths) * 1e3:.0f} ms a rank",
            ),
            opened,
        ]
        large = _as_of_200k_events(found)
        executions = len(large.collectives)
        rows += _two_processes(folder)
        rows.append(
            Row(f"questions about {executions:,} executions of collectives", "", "< 2 s each")
        )
        return rows + _questions(large)


def _two_processes(folder: Path) -> list[Row]:
    """Ranks of 200,000 events, read by one process and by two, in turn."""
    paths = write(LARGE, folder / "large")
    events = paths[0].read_bytes().count(b'"ph":')
    times: dict[int, list[float]] = {1: [], 2: []}
    for turn in range(2 * _ROUNDS):
        processes = 1 + turn % 2
        to = folder / f"large_{turn}"
        given = [str(folder / "large")]
        took, _ = _timed(
            lambda to=to, given=given, processes=processes: ingesting.ingest(
                given, str(to), DEFAULT_LIMITS, processes=processes
            )
        )
        times[processes].append(took)
        shutil.rmtree(to)
    one, two = (statistics.median(times[processes]) for processes in (1, 2))
    what = f"ingest of {len(paths)} ranks of {events:,} events"
    return [
        Row(f"{what}, one process", f"{one:.1f} s", ""),
        Row(f"{what}, two processes", f"{two:.1f} s", "1.5 x", f"{one / two:.2f} x one process"),
    ]


def _questions(fleet: Fleet) -> list[Row]:
    """The eleven of docs/fleet.md."""
    side_by_side, found = _asked("  collectives side by side", lambda: aligned(fleet.collectives))
    voted, slow = _asked("  which rank is slow", lambda: slow_ranks(fleet, found))
    assert slow[0].rank == JOB.slow
    by = stages(fleet)
    splits = step_split.by_rank(fleet, by.of)
    asked: dict[str, Callable[[], object]] = {
        "why it is late": lambda: causes(fleet, found, slow[:1]),
        "which link is slow": lambda: slow_links(found),
        "transfer and waiting": lambda: transfers(found),
        "whose kernels differ": lambda: stages(fleet),
        "where steps go": lambda: step_split.by_stage(step_split.by_rank(fleet, by.of)),
        "which operators stand out": lambda: outliers(fleet, by.of),
        "heat map of delays": lambda: step_split.delays(fleet, found),
        "without the slow rank": lambda: straggler_free(fleet, found, slow),
        "against another fleet": lambda: versus(splits, splits),
    }
    return [side_by_side, voted, *(_asked(f"  {what}", ask)[0] for what, ask in asked.items())]


def _as_of_200k_events(fleet: Fleet) -> Fleet:
    """The same with as many collectives and operators as ranks of that size have."""
    per_rank = fleet.collectives.groupby("rank").size()
    times = -(-_COLLECTIVES // int(per_rank.max()))
    copies = []
    last = int(fleet.collectives["index"].max()) + 1
    for at in range(times):
        copy = fleet.collectives.copy()
        copy["index"] += at * last
        copy["place"] += at * int(per_rank.max())
        span = int(copy["start_ns"].max() - copy["start_ns"].min()) + 10**6
        copy["start_ns"] += at * span
        copies.append(copy)
    collectives = pd.concat(copies, ignore_index=True)
    more = -(-_OPERATORS // int(fleet.operators.groupby("rank").size().max()))
    operators = pd.concat(
        [fleet.operators.assign(name=fleet.operators["name"] + f"_{at}") for at in range(more)],
        ignore_index=True,
    )
    return dataclasses.replace(fleet, collectives=collectives, operators=operators)


def _asked(what: str, ask: Callable[[], T]) -> tuple[Row, T]:
    """The row of a question, asked once: the dashboard and the command line keep the answer."""
    began = time.process_time()
    wall_s, answer = _timed(ask)
    cpu_s = time.process_time() - began
    return Row(what, f"{cpu_s:.2f} s CPU", "< 2 s", f"{wall_s:.2f} s on the wall"), answer


def _timed(ask: Callable[[], T]) -> tuple[float, T]:
    began = time.perf_counter()
    answer = ask()
    return time.perf_counter() - began, answer


def _cpu_s() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
