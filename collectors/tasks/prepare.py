"""Load or build the model and write the working copy that every variant runs."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import onnx
import onnxruntime as ort

from fusescope.analysis.graph import graph_json
from fusescope.collectors.models import functions, graphs, inputs, shapes
from fusescope.collectors.models import model as models
from fusescope.collectors.workers.jobs import Prepared
from fusescope.collectors.workers.jobs import PrepareJob as Job
from fusescope.collectors.zoo import store


def source(job: Job) -> Path:
    """The model's file; of one that is built in, the cached one."""
    if not job.zoo:
        return Path(job.model)
    return store.model_file(job.model, Path(job.cache), Path(job.folder))


def run(job: Job) -> Prepared:
    """Writes model.onnx, inputs.npz and graph.json into the job's folder, and declared.onnx where
    the model has dynamic dimensions.

    Raises FuseScopeError for a file that is not a model, refused external data, and inputs that
    cannot be made.
    """
    folder = Path(job.folder)
    model, sha256 = models.load(source(job), allow_external_data=job.allow_external_data)
    models.modernise(model)
    models.name_nodes(model)
    calls, calls_file = None, folder / "calls" / "model.onnx"
    if job.expand_functions:
        calls = onnx.ModelProto()
        calls.CopyFrom(model)
        models.constants_to_initializers(calls.graph)
        functions.expand(model)
        models.name_nodes(model)
    nodes = graphs.nodes_of(model.graph)  # of the file: the working copy has no Constant nodes
    models.constants_to_initializers(model.graph)
    wanted = shapes.model_inputs(model.graph)
    names = [value.name for value in wanted]
    given = inputs.load(Path(job.inputs), names) if job.inputs else {}
    fed = {name: array.shape for name, array in given.items()}
    resolved = shapes.resolve(wanted, shapes.fitting(wanted, fed) | job.shapes, job.batch)
    arrays, facts = inputs.make(
        wanted, resolved, seed=job.seed, given=given, ranges=job.input_ranges
    )
    batch = shapes.batch_of(wanted, resolved, job.batch)
    declared = folder / "declared.onnx" if shapes.are_dynamic(wanted) else None
    if declared is not None:
        declared.write_bytes(shapes.declarations(model).SerializeToString())
    shapes.apply(model, resolved)
    if calls is not None:
        shapes.apply(calls, resolved)
        calls_file.parent.mkdir()
        models.save(calls, calls_file)
    models.infer_shapes(model)
    graph = msgspec.structs.replace(graphs.from_model(model), nodes=nodes)
    (folder / "graph.json").write_bytes(graph_json(graph))
    np.savez(folder / "inputs.npz", *arrays)
    models.save(model, folder / "model.onnx")
    return Prepared(
        model=str(folder / "model.onnx"),
        inputs=str(folder / "inputs.npz"),
        graph=str(folder / "graph.json"),
        sha256=sha256,
        nodes=len(nodes),
        opset=models.opset_of(model),
        batch=batch,
        facts=facts,
        engine_version=ort.__version__,
        calls=None if calls is None else str(calls_file),
        declared=None if declared is None else str(declared),
    )
