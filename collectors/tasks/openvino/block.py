"""One block of a model for OpenVINO: interleaved rounds, then a few whose layers are counted."""

from __future__ import annotations

import gc
import time
from pathlib import Path

import msgspec

from fusescope.collectors.openvino.session import OpenvinoSession
from fusescope.collectors.recording.blocks import plan_block
from fusescope.collectors.variants import file_name
from fusescope.collectors.workers.jobs import BlockJob as Job
from fusescope.collectors.workers.jobs import BlockMeasured, Lane, LaneRuns, ProfiledRuns
from fusescope.collectors.workers.rounds import Runs, interleaved


def run(job: Job) -> BlockMeasured:
    """Runs the block. Every lane has `job.rounds` runs; compiling is not part of any."""
    plan = plan_block(job.lanes, seed=job.seed, attempt=job.attempt, rounds=job.rounds)
    at_once: dict[tuple[str, int], int] = {}

    def opened(lane: Lane) -> Runs:
        session = OpenvinoSession(job.settings, lane.variant)
        at_once[lane.variant, lane.copy] = session.requests
        return session

    runs = interleaved(plan.creation, plan.rounds, job.warmup_rounds, opened)
    measured = [_of_one(one, at_once[one.variant, one.copy]) for one in runs]
    return BlockMeasured(lanes=measured, profiles=_profiled(job))


def _of_one(runs: LaneRuns, requests: int) -> LaneRuns:
    """Of one inference, where a run starts several at once."""
    wall, cpu = ([round(ns / requests) for ns in times] for times in (runs.wall_ns, runs.cpu_ns))
    return LaneRuns(runs.variant, runs.copy, wall, cpu)


def _profiled(job: Job) -> list[ProfiledRuns]:
    """Interleaved like the timed rounds, in sessions of their own."""
    if not job.profiled_variants:
        return []
    lanes = tuple(Lane(variant, 1) for variant in job.profiled_variants)
    rounds = job.profile_warmup_rounds + job.profiled_rounds
    plan = plan_block(lanes, seed=job.seed, attempt=job.attempt, rounds=rounds)
    sessions = {
        lane: OpenvinoSession(job.settings, lane.variant, counted=True) for lane in plan.creation
    }
    counted = {lane: _Counted(session) for lane, session in sessions.items()}
    gc.collect()
    gc.disable()
    try:
        for order in plan.rounds:
            for lane in order:
                counted[lane].run()
    finally:
        gc.enable()
    profiles = []
    for lane, one in counted.items():
        file = Path(job.profiles) / f"{file_name(lane.variant)}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(one.json())
        profiles.append(ProfiledRuns(lane.variant, str(file)))
    return profiles


class _Counted:
    """A session's runs with the engine's counters as they stood after each of them."""

    def __init__(self, session: OpenvinoSession) -> None:
        self._session = session
        self._runs: list[dict[str, object]] = []
        self._layers: dict[str, tuple[str, str]] = {}

    def run(self) -> None:
        """Reading the counters is not part of the run."""
        started = time.perf_counter_ns()
        self._session.run()
        took = time.perf_counter_ns() - started
        real_us: dict[str, int] = {}
        for row in self._session.counters():
            if row.status == row.Status.EXECUTED:
                self._layers.setdefault(row.node_name, (row.node_type, row.exec_type))
                real_us[row.node_name] = round(row.real_time.total_seconds() * 1e6)
        self._runs.append({"start_ns": started, "dur_ns": took, "real_us": real_us})

    def json(self) -> bytes:
        """As analysis.readers.openvino.recorded reads it: the engine's names, and those that the
        variant's graph has."""
        called = self._session.layer_names()
        layers = [
            {"name": name, "type": kind, "exec_type": how, "node": called.get(name, name)}
            for name, (kind, how) in self._layers.items()
        ]
        return msgspec.json.encode(
            {"requests": self._session.requests, "layers": layers, "runs": self._runs}
        )
