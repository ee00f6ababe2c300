"""What the engine makes of a model, and where the model's tensors are in it: all in one process,
without timing anything."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import msgspec

from fusescope.analysis.graph import graph_json
from fusescope.collectors.recording.trials import Trials
from fusescope.collectors.tasks import prepare
from fusescope.collectors.workers.jobs import Optimised, SessionSettings
from fusescope.collectors.workers.jobs import OptimiseJob as Job


def run(job: Job) -> Optimised:
    """Writes as the job says. Raises FuseScopeError where the model cannot be read, or a variant of
    it cannot run."""
    model = prepare.run(job.prepare)
    settings = SessionSettings(
        model=model.model,
        inputs=model.inputs,
        input_names=tuple(fact.name for fact in model.facts),
        threads=job.threads,
        spin=False,
        declared=model.declared,
    )
    folder = Path(job.prepare.folder)
    first = job.variants[0]
    trials = Trials(settings, first, Path(model.graph), folder, job.memory_bytes, _here)
    problems: dict[str, str] = {}
    for variant in job.variants:
        trials.check(variant)
        problem = trials.checked[variant].graph_problem
        if problem is not None:
            problems[variant] = problem
        elif trials.is_optimised(variant):
            trials.match(variant, job.seconds)
        trials.drop_dump(variant)
    Path(job.graph).write_bytes(graph_json(trials.model_graph()))
    files = {variant: trials.files(variant) for variant in job.variants}
    return Optimised(
        model=model,
        graphs={name: str(of["graph"]) for name, of in files.items() if "graph" in of},
        matches={name: str(of["matches"]) for name, of in files.items() if "matches" in of},
        problems=problems,
    )


def _here(task: str, job: msgspec.Struct, answer: type, seconds: float | None = None) -> Any:
    """Another task, in this process."""
    return importlib.import_module(f"fusescope.collectors.tasks.{task}").run(job)
