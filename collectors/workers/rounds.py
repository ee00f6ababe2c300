"""Un-profiled rounds: every session once, in the order of the plan, on two clocks."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeVar

from fusescope.collectors.workers.jobs import Lane, LaneRuns


class Runs(Protocol):
    """What can be run: a session of any engine."""

    def run(self) -> None:
        """One run of the whole model."""
        ...


Session = TypeVar("Session", bound=Runs)


def _as_it_is(session: Runs) -> None:
    pass


def interleaved(
    creation: Sequence[Lane],
    rounds: Sequence[Sequence[Lane]],
    warmup_rounds: int,
    opened: Callable[[Lane], Session],
    turned: Callable[[Session], None] = _as_it_is,
) -> list[LaneRuns]:
    """Opens the sessions in the order of `creation`, warms them up, and times the rounds; none of
    the sessions is left afterwards. Where each needs settings of the process for itself, `turned`
    sets those before each run, untimed."""
    sessions = {lane: opened(lane) for lane in creation}
    for _ in range(warmup_rounds):
        for session in sessions.values():
            turned(session)
            session.run()
    runs = _timed(sessions, rounds, turned)
    sessions.clear()
    gc.collect()
    return runs


def _timed(
    sessions: Mapping[Lane, Session],
    rounds: Sequence[Sequence[Lane]],
    turned: Callable[[Session], None],
) -> list[LaneRuns]:
    """Wall and process CPU time of every run, garbage collection off."""
    runs = {lane: LaneRuns(lane.variant, lane.copy, [], []) for lane in sessions}
    gc.collect()
    gc.disable()
    try:
        for order in rounds:
            for lane in order:
                execute = sessions[lane].run
                turned(sessions[lane])
                cpu = time.process_time_ns()
                wall = time.perf_counter_ns()
                execute()
                wall = time.perf_counter_ns() - wall
                cpu = time.process_time_ns() - cpu
                runs[lane].wall_ns.append(wall)
                runs[lane].cpu_ns.append(cpu)
    finally:
        gc.enable()
    return list(runs.values())
