"""The worker behind `fusescope fuse`: prepare, fuse, and write a model that others can run."""

from __future__ import annotations

from pathlib import Path

import onnx

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.fuse import Fused
from fusescope.collectors.fuse import FuseJob as Job
from fusescope.collectors.fusion.fusing import fuse
from fusescope.collectors.fusion.opening import opened
from fusescope.collectors.fusion.rules import check
from fusescope.collectors.models import external_data, model
from fusescope.collectors.tasks import prepare
from fusescope.collectors.workers.jobs import PrepareJob, SessionSettings


def run(job: Job) -> Fused:
    """Raises FuseScopeError for rules, a model or a place to write that do not do."""
    rules = check(job.rules_name, job.rules_text)
    prepared = prepare.run(job.prepare)
    settings = SessionSettings(
        model=prepared.model,
        inputs=prepared.inputs,
        input_names=tuple(fact.name for fact in prepared.facts),
        threads=job.threads,
        spin=False,
    )
    folder = Path(job.prepare.folder, "fused")
    folder.mkdir()
    result = fuse(onnx.load(prepared.model), settings, rules, folder, seed=job.prepare.seed)
    if not job.out:
        return Fused(result.report)
    # Saving a model that one file cannot hold has moved its weights into another.
    if any(map(external_data.is_external, external_data.tensors(result.model))):
        raise FuseScopeError("fused_model_too_large")
    fused, problem = opened(result.model, _declared(job.prepare), settings, folder)
    try:
        Path(job.out).write_bytes(fused.SerializeToString())
    except OSError as error:
        raise FuseScopeError(
            "model_unwritable", reason=(error.strerror or str(error)).lower()
        ) from None
    return Fused(result.report, problem)


def _declared(job: PrepareJob) -> onnx.ModelProto:
    """The model as its file has it, dimensions left open included."""
    declared, _ = model.load(prepare.source(job), allow_external_data=job.allow_external_data)
    model.modernise(declared)
    model.name_nodes(declared)  # the engine refuses two of one name
    return declared
