"""One block of a model for torch: interleaved rounds, then profiled ones of sessions that were
compiled with an event for each kernel."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import Any

from torch.profiler import profile, record_function

from fusescope.collectors.recording.blocks import plan_block
from fusescope.collectors.torch import devices
from fusescope.collectors.torch.session import TorchSession, prepare_process
from fusescope.collectors.variants import file_name
from fusescope.collectors.workers.jobs import BlockJob as Job
from fusescope.collectors.workers.jobs import BlockMeasured, Lane, ProfiledRuns
from fusescope.collectors.workers.rounds import interleaved

STEP = "ProfilerStep#{}"  # as PyTorch's own schedule calls a run


def run(job: Job) -> BlockMeasured:
    """Runs the block. Every lane has `job.rounds` runs; compiling is not part of any."""
    prepare_process(job.settings)
    plan = plan_block(job.lanes, seed=job.seed, attempt=job.attempt, rounds=job.rounds)

    device = devices.chosen(job.settings.placement)
    caches = device.emptied_caches() if job.settings.placement.flush_l2 else None

    def opened(lane: Lane) -> TorchSession:
        return TorchSession(job.settings, lane.variant)

    def turned(session: TorchSession) -> None:
        session.restore()
        if caches is not None:
            caches.zero_()
            device.synchronise()

    with device.failing():
        before = device.state()
        runs = interleaved(
            plan.creation,
            plan.rounds,
            job.warmup_rounds,
            opened,
            turned,
            settles=not device.is_cpu,
        )
        states = [state for state in (before, device.state()) if state is not None]
        profiles = _profiled(job, device)
    return BlockMeasured(lanes=runs, profiles=profiles, states=states)


def _profiled(job: Job, device: devices.Device) -> list[ProfiledRuns]:
    """Interleaved like the timed rounds. The profiler sees the whole process, so the file of a
    variant is the profiler's, less the events outside its runs."""
    if not job.profiled_variants:
        return []
    lanes = tuple(Lane(variant, 1) for variant in job.profiled_variants)
    rounds = job.profile_warmup_rounds + job.profiled_rounds
    plan = plan_block(lanes, seed=job.seed, attempt=job.attempt, rounds=rounds)
    sessions = {
        lane: TorchSession(job.settings, lane.variant, profiled=True) for lane in plan.creation
    }
    for session in sessions.values():
        session.run_anew()
    folder = Path(job.profiles)
    order: list[Lane] = []
    gc.collect()
    gc.disable()
    try:
        with profile(activities=device.profiled(), record_shapes=True) as profiler:
            for lanes_of_round in plan.rounds:
                for lane in lanes_of_round:
                    sessions[lane].restore()
                    with record_function(STEP.format(len(order))):
                        sessions[lane].run()
                    order.append(lane)
    finally:
        gc.enable()
    whole = folder / "all.json"
    profiler.export_chrome_trace(str(whole))
    document = json.loads(whole.read_bytes())
    whole.unlink()
    found = []
    for lane in sessions:
        file = folder / f"{file_name(lane.variant)}.json"
        steps = {STEP.format(index) for index, ran in enumerate(order) if ran == lane}
        file.write_text(json.dumps(_only(document, steps), separators=(",", ":")))
        found.append(ProfiledRuns(lane.variant, str(file)))
    return found


def _only(document: dict[str, Any], steps: set[str]) -> dict[str, Any]:
    """The profile with what was recorded during these runs, and what has no time."""
    events = document["traceEvents"]
    spans = [
        (event["ts"], event["ts"] + event["dur"])
        for event in events
        if event.get("ph") == "X" and event["name"] in steps
    ]

    def is_kept(event: dict[str, Any]) -> bool:
        if event.get("ph") != "X":
            return event.get("ph") == "M"
        return any(start <= event["ts"] < end for start, end in spans)

    return {**document, "traceEvents": [event for event in events if is_kept(event)]}
