"""What the installed engine makes of a model, without timing anything. Imports no engine: a worker
does."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import TensorMatch
from fusescope.analysis.graph import parse_graph
from fusescope.analysis.releases.history import SCHEMA_VERSION, History, Made, Release
from fusescope.collectors import variants
from fusescope.collectors.environments.catalogue import OWN
from fusescope.collectors.files import scratch
from fusescope.collectors.recording.facts import model_facts
from fusescope.collectors.recording.request import Recording
from fusescope.collectors.workers import machine
from fusescope.collectors.workers.jobs import Optimised, OptimiseJob
from fusescope.collectors.workers.pool import WorkerPool

MATCHING_SECONDS = 60.0


def needs_no_recording(names: Sequence[str]) -> bool:
    """Whether `optimise` can do all of these variants: levels of the installed engine, for which
    nothing has to be derived from the model."""
    plain = {one.name for one in variants.VARIANTS if not one.kind}
    return plain.issuperset(names)


def optimise(recordings: Sequence[Recording]) -> tuple[dict[str, History], ...]:
    """What the engine makes of each model, the models side by side, with each variant of its
    recording, by variant: a history of one release, the installed one. Raises FuseScopeError."""
    stop = threading.Event()
    with ThreadPoolExecutor(len(recordings)) as threads:
        running = [threads.submit(_optimised, one, len(recordings), stop) for one in recordings]
        try:
            while wait(running, timeout=0.5, return_when=FIRST_EXCEPTION).not_done:
                if any(future.done() and future.exception() for future in running):
                    break
            return tuple(future.result() for future in running)
        except KeyboardInterrupt:
            raise FuseScopeError("gate_interrupted") from None
        finally:
            stop.set()


def _optimised(recording: Recording, beside: int, stop: threading.Event) -> dict[str, History]:
    plan = recording.plan()
    memory = (recording.memory_bytes or machine.memory_limit_bytes()) // beside
    pool = WorkerPool(plan.model, memory, recording.run_timeout, None, stop.is_set)
    created = datetime.now(UTC).isoformat(timespec="seconds")
    with scratch.folder() as folder:
        whole = folder / "whole.json"
        prepare = recording.prepare_job(plan, folder)
        threads = recording.threads or 1
        job = OptimiseJob(prepare, plan.names, threads, str(whole), MATCHING_SECONDS, memory)
        done = pool.run("optimise", job, Optimised)
        graph = parse_graph(whole.read_bytes(), plan.model)
        facts = model_facts(pool.name, done.model, is_built_in=plan.path is None)
        return {
            name: History(
                schema_version=SCHEMA_VERSION,
                created=created,
                engine=OWN,
                model=facts,
                graph=graph,
                releases=(Release(done.model.engine_version, 0),),
                made=(_made(done, name),),
                command=recording.command,
            )
            for name in plan.names
        }


def _made(done: Optimised, variant: str) -> Made:
    """Raises FuseScopeError where the engine's graph could not be had."""
    if variant not in done.graphs:
        raise FuseScopeError("engine_refused", reason=done.problems[variant])
    graph = parse_graph(Path(done.graphs[variant]).read_bytes(), variant)
    found = done.matches.get(variant)
    if found is None:
        return Made(graph)
    data = Path(found).read_bytes()
    return Made(graph, msgspec.json.decode(data, type=tuple[TensorMatch, ...]))
