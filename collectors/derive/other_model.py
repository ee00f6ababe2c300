"""What a variant `model:<file>` runs: another model with the inputs and outputs of the recorded
one, such as a new export of it.

A name that both models have means the same only where the same operators compute it from the same
weights and inputs. Any other tensor or operator of a known name gets a mark, so that lineage never
takes it for that of the recorded model: what it is there, its values say.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import onnx

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.errors.engine import clean
from fusescope.collectors.models import graphs, renaming, shapes
from fusescope.collectors.models import model as models
from fusescope.collectors.variants import Variant
from fusescope.collectors.workers.jobs import Derived, DeriveJob

_LISTED = 6  # inputs or outputs that an error names


def derive(job: DeriveJob, variant: Variant, model: onnx.ModelProto) -> Derived:
    """Raises FuseScopeError for a file that is not a model, and for one whose inputs or outputs are
    others than the recorded model's."""
    path = Path(job.file)
    other, sha256 = models.load(path, allow_external_data=job.allow_external_data)
    models.modernise(other)
    models.name_nodes(other)
    nodes = len(graphs.nodes_of(other.graph))
    models.constants_to_initializers(other.graph)
    fed = {value.name: value for value in shapes.model_inputs(model.graph)}
    given = shapes.model_inputs(other.graph)
    inputs = _paired(tuple(fed.values()), given)
    if inputs is None:
        told = {"recorded": _told(tuple(fed.values())), "given": _told(given)}
        raise FuseScopeError("other_inputs_differ", where=path.name, **told)
    outputs = _paired(model.graph.output, other.graph.output)
    if outputs is None:
        told = {"recorded": _told(model.graph.output), "given": _told(other.graph.output)}
        raise FuseScopeError("other_outputs_differ", where=path.name, **told)
    renamed = {**inputs, **outputs}
    renaming.rename(other, renaming.without_clashes(other, renamed))
    shapes.apply(other, {name: _shape(value) for name, value in fed.items()})
    models.infer_shapes(other)
    _in_order(other.graph, [value.name for value in model.graph.output])
    renaming.rename(other, _marked(model, other))
    target = Path(job.folder) / "model.onnx"
    models.save(other, target)
    return Derived(
        str(target),
        optimization=variant.optimization,
        settings={"model_file": clean(path.name), "model_sha256": sha256, "model_nodes": nodes},
    )


def _paired(
    ours: Sequence[onnx.ValueInfoProto], theirs: Sequence[onnx.ValueInfoProto]
) -> dict[str, str] | None:
    """Their name -> ours: by name where all names are the same, else in order; None where they
    differ in number, type or shape."""
    by_name = {value.name: value for value in theirs}
    if set(by_name) == {value.name for value in ours}:
        theirs = [by_name[value.name] for value in ours]
    if len(ours) != len(theirs) or not all(map(_agree, ours, theirs)):
        return None
    return {their.name: our.name for our, their in zip(ours, theirs, strict=True)}


def _agree(ours: onnx.ValueInfoProto, theirs: onnx.ValueInfoProto) -> bool:
    """Of one type, and of one shape as far as both are fixed."""
    if ours.type.WhichOneof("value") != theirs.type.WhichOneof("value"):
        return False
    if ours.type.tensor_type.elem_type != theirs.type.tensor_type.elem_type:
        return False
    one, other = shapes.dims(ours), shapes.dims(theirs)
    if one is None or other is None:
        return True
    return len(one) == len(other) and all(
        isinstance(a, str) or isinstance(b, str) or a == b for a, b in zip(one, other, strict=True)
    )


def _told(values: Sequence[onnx.ValueInfoProto]) -> str:
    """'x float32 [1, 3], y int64 [1]'."""
    told = []
    for value in values[:_LISTED]:
        dtype = graphs.dtype_name(value.type.tensor_type.elem_type) or "?"
        sizes = ", ".join(str(dim) or "?" for dim in shapes.dims(value) or ())
        told.append(f"{value.name} {dtype} [{sizes}]")
    return clean(", ".join([*told, *(["…"] if len(values) > _LISTED else [])])) or "-"


def _shape(value: onnx.ValueInfoProto) -> tuple[int, ...]:
    """Of an input of the working copy, which fixes every dimension."""
    return tuple(dim for dim in shapes.dims(value) or () if isinstance(dim, int))


def _in_order(graph: onnx.GraphProto, names: Sequence[str]) -> None:
    """Outputs are compared by their place."""
    by_name = {value.name: value.SerializeToString() for value in graph.output}
    del graph.output[:]
    graph.output.extend(onnx.ValueInfoProto.FromString(by_name[name]) for name in names)


def _marked(model: onnx.ModelProto, other: onnx.ModelProto) -> dict[str, str]:
    """New names for the tensors of `other` that are not what `model` calls so. Renames the
    operators of them, too."""
    known, computed = renaming.origins(model.graph), renaming.origins(other.graph)
    kept = {value.name for value in (*other.graph.input, *other.graph.output)}
    wrong = {
        name: name + renaming.MARK
        for name, digest in computed.items()
        if name in known and known[name] != digest and name not in kept
    }
    writes = {node.name: set(node.output) for node in model.graph.node}
    names = {*writes, *(node.name for node in other.graph.node)}
    for node in other.graph.node:
        is_same = all(
            known.get(name) == computed[name] for name in node.output if name
        ) and writes.get(node.name) == set(node.output)
        if node.name in writes and not is_same:
            node.name = renaming.unused(node.name, names)
    return renaming.without_clashes(other, wrong)
