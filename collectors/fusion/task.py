"""The worker behind `fusescope fuse`: prepare, fuse, and write a model that others can run."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import onnx

from analysis.errors import FuseScopeError
from collectors import external_data, model, shapes
from collectors.check import difference_of
from collectors.engine_errors import clean
from collectors.fuse import Fused
from collectors.fuse import FuseJob as Job
from collectors.fusion.fusing import fuse, outputs_of
from collectors.fusion.rules import check
from collectors.fusion.verification import TOLERANCE
from collectors.jobs import Bench, PrepareJob
from collectors.runtimes.onnxruntime import load_inputs
from collectors.zoo import store


def run(job: Job) -> Fused:
    """Raises FuseScopeError for rules, a model or a place to write that do not do."""
    rules = check(job.rules_name, job.rules_text)
    prepared = model.run(job.prepare)
    bench = Bench(
        model=prepared.model,
        inputs=prepared.inputs,
        input_names=tuple(fact.name for fact in prepared.facts),
        threads=job.threads,
        spin=False,
    )
    folder = Path(job.prepare.folder, "fused")
    folder.mkdir()
    result = fuse(onnx.load(prepared.model), bench, rules, folder, seed=job.prepare.seed)
    if not job.out:
        return Fused(result.report)
    fused, problem = _opened(result.model, _declared(job.prepare), bench, folder)
    data = _serialised(fused)
    try:
        Path(job.out).write_bytes(data)
    except OSError as error:
        raise FuseScopeError(
            f"The model could not be written: {(error.strerror or str(error)).lower()}",
            hint="Free some space or choose another place with --out.",
        ) from None
    return Fused(result.report, problem)


def _declared(job: PrepareJob) -> onnx.ModelProto:
    """The model as its file has it, dimensions left open included."""
    folder = Path(job.folder)
    path = store.model_file(job.model, Path(job.cache), folder) if job.zoo else Path(job.model)
    declared, _ = model.load(path, allow_external_data=job.allow_external_data)
    model.modernise(declared)
    return declared


def _opened(
    fused: onnx.ModelProto, declared: onnx.ModelProto, bench: Bench, folder: Path
) -> tuple[onnx.ModelProto, str]:
    """The model with the dimensions that its file leaves open, if it still computes the same with
    another batch; else as it is, and why."""
    wanted = shapes.model_inputs(declared.graph)
    free = [value.name for value in wanted if str in map(type, shapes.dims(value) or [])]
    if not free:
        return fused, ""
    opened = _with_interface(fused, declared)
    batched = {value.name for value in wanted if isinstance((shapes.dims(value) or [1])[0], str)}
    feeds = load_inputs(bench)
    doubled = {
        name: np.concatenate([array, array]) if name in batched else array
        for name, array in feeds.items()
    }
    other = msgspec.structs.replace(bench, inputs=str(folder / "doubled.npz"))
    np.savez(other.inputs, *doubled.values())
    try:
        found = []
        for name, graph in (("declared", declared), ("opened", opened)):
            path = folder / f"{name}.onnx"
            model.save(graph, path)
            found.append(outputs_of(msgspec.structs.replace(other, model=str(path))))
            path.unlink()
    except Exception as error:  # noqa: BLE001 - the engine raises many kinds
        return fused, f"with another batch the engine says: {clean(str(error))}"
    _, relative = difference_of(*found)
    if relative is None or relative > TOLERANCE:
        return fused, "with another batch the results differ"
    return opened, ""


def _with_interface(fused: onnx.ModelProto, declared: onnx.ModelProto) -> onnx.ModelProto:
    """The fused model with the inputs and outputs that the file declares."""
    opened = onnx.ModelProto()
    opened.CopyFrom(fused)
    graph = opened.graph
    kept = {value.name for value in graph.input}
    del graph.input[:], graph.output[:], graph.value_info[:]
    graph.input.extend(value for value in declared.graph.input if value.name in kept)
    graph.output.extend(declared.graph.output)
    return opened


def _serialised(fused: onnx.ModelProto) -> bytes:
    # Saving a model that one file cannot hold has moved its weights into another.
    if any(map(external_data.is_external, external_data.tensors(fused))):
        raise FuseScopeError(
            "The fused model is larger than 2 GB, which one ONNX file cannot hold",
            hint="Leave out --out, and record the variant rules:<file> instead.",
        )
    data: bytes = fused.SerializeToString()
    return data
