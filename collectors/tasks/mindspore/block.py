"""One block of a model for MindSpore: interleaved rounds, then a profile of each variant."""

from __future__ import annotations

import gc
import os
import re
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.mindspore import process
from fusescope.collectors.recording.blocks import plan_block
from fusescope.collectors.variants import file_name
from fusescope.collectors.workers.jobs import BlockJob as Job
from fusescope.collectors.workers.jobs import BlockMeasured, Lane, ProfiledRuns
from fusescope.collectors.workers.rounds import interleaved

if TYPE_CHECKING:
    from fusescope.collectors.mindspore.session import MindSporeSession

UNPROFILED_RUNS = 1  # MindSpore's schedule has a warm-up, which is not part of the profile
PROFILE = "FRAMEWORK/cpu_op_execute_timestamp_0.txt"
KERNELS = "akg_kernel_meta"
_RAN = re.compile(r"GraphKernel_(\w+)-op\d+;")
_LOGS = "logs"  # of the profiler itself; they name the machine's folders


def run(job: Job) -> BlockMeasured:
    """Runs the block. Every lane has `job.rounds` runs; compiling is not part of any."""
    process.prepare(job.settings.compiled)
    from fusescope.collectors.mindspore.session import MindSporeSession, prepare_process

    prepare_process(job.settings)
    plan = plan_block(job.lanes, seed=job.seed, attempt=job.attempt, rounds=job.rounds)

    sessions: dict[Lane, MindSporeSession] = {}

    def opened(lane: Lane) -> MindSporeSession:
        sessions[lane] = MindSporeSession(job.settings, lane.variant)
        return sessions[lane]

    runs = interleaved(plan.creation, plan.rounds, job.warmup_rounds, opened, MindSporeSession.turn)
    return BlockMeasured(lanes=runs, profiles=_profiled(job, sessions))


def _profiled(job: Job, sessions: Mapping[Lane, MindSporeSession]) -> list[ProfiledRuns]:
    """The profiler sees the whole process, so the variants run one after the other, in an order
    that is drawn for each block. Their sessions are those of the rounds: the profiler changes
    nothing that is compiled, and compiling takes long."""
    if not job.profiled_variants:
        return []
    lanes = tuple(Lane(variant, 1) for variant in job.profiled_variants)
    plan = plan_block(lanes, seed=job.seed, attempt=job.attempt, rounds=1)
    found = []
    for lane in plan.creation:
        session = sessions[lane]
        session.turn()
        folder = Path(job.profiles) / file_name(lane.variant)
        starts, durations = _profile(
            session, folder, job.profile_warmup_rounds + job.profiled_rounds
        )
        if session.generates:
            _keep_told(Path(job.settings.compiled) / KERNELS, folder / KERNELS)
        found.append(
            ProfiledRuns(lane.variant, str(folder / PROFILE), starts, durations, str(folder))
        )
    return found


def _profile(session: MindSporeSession, folder: Path, runs: int) -> tuple[list[int], list[int]]:
    """So many profiled runs: when each started and how long it took, on the clock of the profile,
    whose files lie in the folder afterwards, as they are."""
    from mindspore.profiler import ProfilerActivity, profile, schedule, tensorboard_trace_handler

    parts = folder.with_suffix(".parts")
    plan = schedule(wait=0, warmup=UNPROFILED_RUNS, active=runs, repeat=1, skip_first=0)
    handler = tensorboard_trace_handler(str(parts))
    spans: list[tuple[int, int]] = []
    gc.collect()
    gc.disable()
    try:
        with profile(
            activities=[ProfilerActivity.CPU], schedule=plan, on_trace_ready=handler
        ) as profiler:
            for _ in range(UNPROFILED_RUNS + runs):
                start = time.time_ns()
                session.run()
                spans.append((start, time.time_ns() - start))
                profiler.step()
    finally:
        gc.enable()
    made = next(parts.glob("*_ascend_ms"), None)  # its name is that of the machine
    if made is None or not (made / PROFILE).is_file():
        raise FuseScopeError("mindspore_no_profile")
    os.replace(made, folder)
    shutil.rmtree(folder / _LOGS, ignore_errors=True)
    shutil.rmtree(parts)
    spans = spans[UNPROFILED_RUNS:]
    return [start for start, _ in spans], [took for _, took in spans]


def _keep_told(kernels: Path, folder: Path) -> None:
    """What AKG says of the kernels that ran, where readers of such files look for it: its folder
    has those of all variants."""
    folder.mkdir()
    ran = set(_RAN.findall((folder.parent / PROFILE).read_text()))
    for file in kernels.glob("*.info"):
        if file.stem.removeprefix("Fused_").rpartition("_")[0] in ran:
            shutil.copy(file, folder)
