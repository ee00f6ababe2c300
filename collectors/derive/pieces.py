"""The pieces of a model, written down: a model file for each, and what it reads, makes and frees.

All pieces run once on the way, because the types of what they read are known only then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import onnx
import onnxruntime as ort

from analysis.errors import FuseScopeError
from collectors.derive.cut import Piece, node_by_node, reads
from collectors.kernels.group import Group
from collectors.models.array import Array
from collectors.runtimes.onnxruntime import PROVIDERS, options
from collectors.workers.jobs import KernelCall, Step, Steps

__all__ = ["node_by_node", "write"]

BeforeNode = Callable[[onnx.NodeProto, Mapping[str, Any]], None]
# (group, what it reads and is not used after, what it reads, what the engine made of it)
# -> the call that runs in its place
MakeCall = Callable[[Group, Sequence[str], Mapping[str, Any], Any], KernelCall]


def write(
    model: onnx.ModelProto,
    pieces: Sequence[Piece],
    feeds: Mapping[str, Array],
    folder: Path,
    *,
    before_node: BeforeNode | None = None,
    make_call: MakeCall | None = None,
    freed: Callable[[Sequence[str]], None] | None = None,
    library: str | None = None,
) -> Steps:
    """Writes a model for every piece into `folder` and returns what to run.

    `before_node` sees every node before its piece runs, and the tensors so far, and may change its
    initialisers. With `make_call` a kernel stands in for every group; it is told after each piece
    by `freed` what nobody reads any more. `library` has operators of the user's. Raises
    FuseScopeError for a piece that cannot be a model of its own.
    """
    folder.mkdir(exist_ok=True)
    graph = model.graph
    initializers = {tensor.name: tensor for tensor in graph.initializer}
    outputs = tuple(output.name for output in graph.output)
    last_use = {
        name: place
        for place, piece in enumerate(pieces)
        for node in piece.nodes
        for name in reads(node)
    }
    values = {name: ort.OrtValue.ortvalue_from_numpy(array) for name, array in feeds.items()}
    steps: list[Step] = []
    for place, piece in enumerate(pieces):
        if before_node is not None:
            for node in piece.nodes:
                before_node(node, values)
        made = [name for node in piece.nodes for name in node.output if name]
        inside = set(made)
        used = dict.fromkeys(n for node in piece.nodes for n in reads(node) if n not in inside)
        fed = tuple(name for name in used if name in values)
        constants = [initializers[name] for name in used if name in initializers]
        writes = tuple(
            name for name in made if last_use.get(name, -1) > place or name in outputs
        ) or tuple(made[:1])
        free = tuple(
            name
            for name in dict.fromkeys((*fed, *writes))
            if last_use.get(name, place) <= place and name not in outputs
        )
        file = folder / f"{place:05d}.onnx"
        try:
            one = _model_of(model, piece, {name: values[name] for name in fed}, constants, writes)
            file.write_bytes(one.SerializeToString())
        except (ValueError, onnx.onnx_cpp2py_export.checker.ValidationError):
            raise _no_model(piece, "its weights are too big for a model of their own") from None
        session = ort.InferenceSession(
            str(file),
            options("none", threads=1, spin=False, library=library),
            providers=PROVIDERS,
        )
        ran = session.run_with_ort_values(writes, {name: values[name] for name in fed})
        call = None
        if piece.group is not None and make_call is not None:
            call = make_call(piece.group, [n for n in free if n not in feeds], values, ran[0])
            file.unlink()
        values.update(zip(writes, ran, strict=True))
        for name in free:
            values.pop(name, None)
        if freed is not None:
            freed(free)
        steps.append(Step("" if call else str(file), fed, writes, free, call))
    for name in outputs:
        if name not in values:
            raise FuseScopeError(
                f"A model in pieces cannot return the constant output '{name[:60]}'",
                hint="Leave eager, segments and custom out of the variants.",
            )
    return Steps(tuple(steps), outputs)


def _model_of(
    model: onnx.ModelProto,
    piece: Piece,
    fed: Mapping[str, Any],
    constants: list[onnx.TensorProto],
    writes: Sequence[str],
) -> onnx.ModelProto:
    """The piece alone. Output types are left open: the engine infers them."""
    types = []
    for name, value in fed.items():
        if not value.is_tensor():
            raise _no_model(piece, f"it reads '{name[:60]}', which is no tensor")
        types.append(
            onnx.helper.make_tensor_value_info(name, value.element_type(), list(value.shape()))
        )
    graph = onnx.helper.make_graph(
        piece.nodes,
        piece.nodes[-1].name,
        types,
        [onnx.ValueInfoProto(name=name) for name in writes],
        constants,
    )
    return onnx.helper.make_model(
        graph,
        opset_imports=list(model.opset_import),
        ir_version=max(model.ir_version, 4),
        functions=list(model.functions),
    )


def _no_model(piece: Piece, why: str) -> FuseScopeError:
    return FuseScopeError(
        f"The piece of '{piece.nodes[-1].name[:60]}' cannot run alone: {why}",
        hint="Leave eager, segments and custom out of the variants.",
    )
