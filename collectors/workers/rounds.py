"""Un-profiled rounds: every session once, in the order of the plan, on two clocks."""

from __future__ import annotations

import gc
import statistics
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

_LAST = 10  # runs of each session that have to be alike
_VARIATION = 0.02
_MOST_ROUNDS = 100
_MOST_SECONDS = 20.0


def _as_it_is(session: Runs) -> None:
    pass


def interleaved(
    creation: Sequence[Lane],
    rounds: Sequence[Sequence[Lane]],
    warmup_rounds: int,
    opened: Callable[[Lane], Session],
    turned: Callable[[Session], None] = _as_it_is,
    *,
    settles: bool = False,
) -> list[LaneRuns]:
    """Opens the sessions in the order of `creation`, warms them up, and times the rounds; none of
    the sessions is left afterwards. Where each needs settings of the process for itself, `turned`
    sets those before each run, untimed. With `settles` they are warmed up until their times are
    steady, as clocks of a device rise first."""
    sessions = {lane: opened(lane) for lane in creation}
    for _ in range(warmup_rounds):
        for session in sessions.values():
            turned(session)
            session.run()
    if settles:
        _settle(list(sessions.values()), turned)
    runs = _timed(sessions, rounds, turned)
    sessions.clear()
    gc.collect()
    return runs


def _settle(sessions: Sequence[Session], turned: Callable[[Session], None]) -> None:
    """Rounds until the last 10 runs of every session have a coefficient of variation below 2 %, at
    most 100 rounds or 20 s: steady state as Georges, Buytaert and Eeckhout find it (Statistically
    rigorous Java performance evaluation, OOPSLA 2007)."""
    times: list[list[int]] = [[] for _ in sessions]
    end = time.monotonic() + _MOST_SECONDS
    for _ in range(_MOST_ROUNDS):
        for session, taken in zip(sessions, times, strict=True):
            turned(session)
            started = time.perf_counter_ns()
            session.run()
            taken.append(time.perf_counter_ns() - started)
        if all(map(_is_steady, times)) or time.monotonic() > end:
            return


def _is_steady(times: Sequence[int]) -> bool:
    last = times[-_LAST:]
    return len(last) == _LAST and statistics.pstdev(last) < _VARIATION * statistics.fmean(last)


def _timed(
    sessions: Mapping[Lane, Session],
    rounds: Sequence[Sequence[Lane]],
    turned: Callable[[Session], None],
) -> list[LaneRuns]:
    """Wall and process CPU time of every run, and the device's own where a session takes it;
    garbage collection off."""
    runs = {lane: LaneRuns(lane.variant, lane.copy, [], []) for lane in sessions}
    devices: dict[Lane, list[int | None]] = {lane: [] for lane in sessions}
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
                devices[lane].append(getattr(sessions[lane], "device_ns", None))
    finally:
        gc.enable()
    return [_with_device(runs[lane], devices[lane]) for lane in runs]


def _with_device(runs: LaneRuns, device_ns: Sequence[int | None]) -> LaneRuns:
    known = [one for one in device_ns if one is not None]
    if not known or len(known) < len(device_ns):
        return runs
    return LaneRuns(runs.variant, runs.copy, runs.wall_ns, runs.cpu_ns, known)
