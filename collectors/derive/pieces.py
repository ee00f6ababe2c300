"""The pieces of a model, written down: a model file for each, and what it reads, makes and frees.

All pieces run once on the way, because the types of what they read are known only then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import onnx
import onnxruntime as ort

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.derive.cut import Piece, node_by_node, reads
from fusescope.collectors.kernels.group import Group
from fusescope.collectors.models.array import Array
from fusescope.collectors.runtimes.onnxruntime import PROVIDERS, options
from fusescope.collectors.workers.jobs import KernelCall, Step, Steps

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
    initializers = {tensor.name: tensor for tensor in model.graph.initializer}
    outputs = tuple(output.name for output in model.graph.output)
    last_use = {
        name: index
        for index, piece in enumerate(pieces)
        for node in piece.nodes
        for name in reads(node)
    }
    last_use.update(dict.fromkeys(outputs, len(pieces)))
    values = {name: ort.OrtValue.ortvalue_from_numpy(array) for name, array in feeds.items()}
    steps: list[Step] = []
    for index, piece in enumerate(pieces):
        if before_node is not None:
            for node in piece.nodes:
                before_node(node, values)
        used, writes, free = _boundary(piece, index, last_use, values)
        fed = {name: values[name] for name in used if name in values}
        constants = [initializers[name] for name in used if name in initializers]
        file = folder / f"{index:05d}.onnx"
        try:
            file.write_bytes(_model_of(model, piece, fed, constants, writes).SerializeToString())
        except (ValueError, onnx.onnx_cpp2py_export.checker.ValidationError):
            raise FuseScopeError("piece_too_big", operator=_last(piece)) from None
        ran = _run(file, fed, writes, library)
        call = None
        if piece.group is not None and make_call is not None:
            call = make_call(piece.group, [n for n in free if n not in feeds], values, ran[0])
            file.unlink()
        values.update(zip(writes, ran, strict=True))
        for name in free:
            values.pop(name, None)
        if freed is not None:
            freed(free)
        steps.append(Step("" if call else str(file), tuple(fed), writes, free, call))
    for name in outputs:
        if name not in values:
            raise FuseScopeError("piece_constant_output", output=name[:60])
    return Steps(tuple(steps), outputs)


def _boundary(
    piece: Piece, index: int, last_use: Mapping[str, int], values: Mapping[str, Any]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """What the piece at `index` reads from outside, what of its own is read later (its first value
    where nothing is: an engine returns something), and what nobody reads after it."""
    made = [name for node in piece.nodes for name in node.output if name]
    inside = set(made)
    used = tuple(dict.fromkeys(n for node in piece.nodes for n in reads(node) if n not in inside))
    writes = tuple(n for n in made if last_use.get(n, -1) > index) or tuple(made[:1])
    alive = (*(name for name in used if name in values), *writes)
    free = tuple(n for n in dict.fromkeys(alive) if last_use.get(n, index) <= index)
    return used, writes, free


def _run(
    file: Path, fed: Mapping[str, Any], writes: Sequence[str], library: str | None
) -> list[Any]:
    settings = options("none", threads=1, spin=False, library=library)
    session = ort.InferenceSession(str(file), settings, providers=PROVIDERS)
    made: list[Any] = session.run_with_ort_values(writes, dict(fed))
    return made


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
            raise FuseScopeError("piece_reads_no_tensor", operator=_last(piece), input=name[:60])
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


def _last(piece: Piece) -> str:
    return piece.nodes[-1].name[:60]
