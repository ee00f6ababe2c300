"""Export: a zoo model as an ONNX file."""

from __future__ import annotations

from pathlib import Path

import onnx

from fusescope.collectors.workers.jobs import ExportJob as Job
from fusescope.collectors.zoo import builder, store


def run(job: Job) -> str:
    """Writes model.onnx into the job's folder: the bytes that recordings use, unless the batch is
    fixed. Raises what onnx.checker raises for a model that is not valid."""
    folder = Path(job.folder)
    data = store.model_file(job.model, Path(job.cache), folder).read_bytes()
    model = onnx.load_model_from_string(data)
    if job.batch is not None:
        _fix_batch(model, job.batch)
        data = model.SerializeToString(deterministic=True)
    onnx.checker.check_model(model, full_check=True)
    path = folder / "model.onnx"
    path.write_bytes(data)
    return str(path)


def _fix_batch(model: onnx.ModelProto, batch: int) -> None:
    for value in (*model.graph.input, *model.graph.output):
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param == builder.BATCH:
                dim.dim_value = batch
