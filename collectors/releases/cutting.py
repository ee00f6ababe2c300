"""A cut: the least part of a model around some of its operators that shows a difference."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.graph import Graph, Node
from fusescope.collectors.workers.jobs import CutOutJob
from fusescope.collectors.workers.pool import WorkerPool

RINGS = 6  # of neighbours; beyond them the whole model is the better example


@dataclass(frozen=True)
class Cut:
    """A model of `nodes` operators in `file` that shows it, of the model's `of`."""

    file: Path
    nodes: int
    of: int


def cut_out(
    pool: WorkerPool,
    model: Path,
    graph: Graph,
    names: Sequence[str],
    folder: Path,
    shows: Callable[[Path], bool],
) -> Cut | None:
    """The operators `names` of the working copy `model` with as few rings of neighbours as it takes
    until `shows` is true of the file; None where no cut shows it. Files go into the folder."""
    for number, nodes in enumerate(_rings(graph, names)):
        file = folder / f"cut{number}.onnx"
        inputs, outputs = _boundary(graph, nodes)
        tensors = {
            name: (tensor.dtype, tensor.shape)
            for name in (*inputs, *outputs)
            if (tensor := graph.tensor.get(name)) is not None
            and tensor.dtype is not None
            and tensor.shape is not None
        }
        job = CutOutJob(str(model), str(file), tuple(nodes), inputs, outputs, tensors)
        try:
            pool.run("cut_out", job, int)
            if shows(file):
                return Cut(file, len(nodes), len(graph.nodes))
        except FuseScopeError as error:
            if error.code == "release_interrupted":
                raise
    return None


def _rings(graph: Graph, names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The operators, then with those next to them, and so on, in the order of the graph; what is
    computed from weights alone comes with whoever reads it."""
    chosen = set(names)
    before: set[str] = set()
    for _ in range(RINGS + 1):
        chosen |= _from_weights(graph, chosen)
        if chosen == before:
            return
        before = set(chosen)
        yield tuple(node.name for node in graph.nodes if node.name in chosen and _counts(node))
        for node in [graph.node[name] for name in before]:
            makers = (graph.producer.get(name) for name in node.inputs)
            chosen |= {one.name for one in makers if one is not None}
            chosen |= {r.name for name in node.outputs for r in graph.consumers.get(name, ())}


def _from_weights(graph: Graph, chosen: set[str]) -> set[str]:
    """Operators that these read and that depend on no input of the model."""
    found: set[str] = set()
    open_ = [graph.node[name] for name in chosen]
    while open_:
        for name in open_.pop().inputs:
            maker = graph.producer.get(name)
            if maker is None or maker.name in found | chosen or not _is_constant(graph, maker):
                continue
            found.add(maker.name)
            open_.append(maker)
    return found


def _is_constant(graph: Graph, node: Node, depth: int = 0) -> bool:
    if depth > 20:
        return False
    for name in filter(None, (*node.inputs, *node.captured)):
        tensor, maker = graph.tensor.get(name), graph.producer.get(name)
        if tensor is not None and tensor.constant:
            continue
        if maker is None or not _is_constant(graph, maker, depth + 1):
            return False
    return True


def _counts(node: Node) -> bool:
    """The working copy has no nodes for constants."""
    return node.op_type != "Constant"


def _boundary(graph: Graph, nodes: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Tensors that these operators read from outside, and those of theirs that others read, or
    nobody does."""
    inside = [graph.node[name] for name in nodes]
    made = {name for node in inside for name in node.outputs if name}
    chosen = set(nodes)
    inputs = dict.fromkeys(
        name
        for node in inside
        for name in (*node.inputs, *node.captured)
        if name and name not in made and not _is_weight(graph, name)
    )
    outputs = dict.fromkeys(
        name
        for node in inside
        for name in node.outputs
        if name
        and (
            name in graph.returned
            or not graph.consumers.get(name)
            or any(reader.name not in chosen for reader in graph.consumers[name])
        )
    )
    return tuple(inputs), tuple(outputs)


def _is_weight(graph: Graph, name: str) -> bool:
    tensor, maker = graph.tensor.get(name), graph.producer.get(name)
    return (tensor is not None and tensor.constant) or (
        maker is not None and maker.op_type == "Constant"
    )
