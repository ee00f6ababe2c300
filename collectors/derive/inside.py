"""`inside:<kernel>`: our kernels in the engine's own session, where the engine leaves operators.

The engine optimises the model as for `fused`; in the graph that it makes, each group of operators
that one of our kernels can run becomes one operator of a library that is built here, for this
recording. What the engine fuses itself stays its own, nothing is cut, and nothing is optimised a
second time, which finds more: so the variant differs from `fused` by the kernels alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import onnx
import onnxruntime as ort

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import MAX_DIFFERENCE
from fusescope.analysis.graph import Graph
from fusescope.collectors import kernels
from fusescope.collectors.derive.cut import Piece
from fusescope.collectors.derive.replacement import with_kernels
from fusescope.collectors.derive.segments import finite_difference
from fusescope.collectors.errors.engine import clean
from fusescope.collectors.kernels.group import Group
from fusescope.collectors.kernels.loading import groups_of
from fusescope.collectors.kernels.native import compiler, library
from fusescope.collectors.models import graphs
from fusescope.collectors.models.array import Array
from fusescope.collectors.models.model import name_nodes, save
from fusescope.collectors.runtimes.onnxruntime import PROVIDERS, GraphSession, session_options
from fusescope.collectors.variants import Variant
from fusescope.collectors.workers.given import load_inputs
from fusescope.collectors.workers.jobs import Derived, DeriveJob, SessionSettings

_LISTED = 3  # groups that are undone and named
_COMPARED_BYTES = 256 << 20  # of results that are held at a time


def derive(job: DeriveJob, variant: Variant, _model: onnx.ModelProto) -> Derived:
    """The engine's graph with our operators in it, and their library. Raises FuseScopeError where
    there is no compiler, the engine leaves nothing for the kernel, or no kernel computes what the
    engine does."""
    kernel, told = kernels.find(variant.argument), compiler.found()
    folder = Path(job.folder)
    model, graph = _optimised(job.settings, folder)
    groups = groups_of(graph, kernel)
    if not groups:
        raise FuseScopeError("kernel_nothing_inside", pattern=kernel.replaces, variant=variant.name)
    made = library.of(groups, _shapes(graph), job.settings.threads)
    built = compiler.build(made.files, library.SOURCE, folder / "library", told)
    settings = msgspec.structs.replace(job.settings, kernel_library=str(built))
    checking = _Checking(model, graph, settings, made.programs, folder)
    verified = checking.verified(groups)
    undone = len(groups) - len(verified.groups)
    if not verified.groups:
        first = verified.undone[0]
        raise FuseScopeError(
            "kernels_undone", operator=first.name[:60], difference=first.difference
        )
    facts: dict[str, str | int | float | bool] = {
        "graph_optimization": variant.optimization,
        "graph_optimized": "before our operators were put in",
        "groups": len(verified.groups),
        "operators_in_groups": sum(len(group.nodes) for group in verified.groups),
        "groups_run_by": f"kernel {kernel.name}, compiled by {clean(compiler.version(told))}",
        "kernel_output_difference": verified.difference,
    }
    if undone:
        listed = "; ".join(
            f"{one.name[:60]}: output difference {one.difference:.2g}"
            for one in verified.undone[:_LISTED]
        )
        facts |= {"groups_undone": undone, "groups_undone_because": listed}
    return Derived(str(verified.model), kernel_library=str(built), settings=facts)


@dataclass(frozen=True)
class _Undone:
    """A group that stays as the engine has it."""

    name: str
    difference: float


@dataclass(frozen=True)
class _Verified:
    """The rewritten model's file, the groups in it, the largest difference of their results, and
    those that were undone."""

    model: Path
    groups: Sequence[Group]
    difference: float
    undone: Sequence[_Undone]


class _Checking:
    """The rewritten model against the engine's graph, on the values of the recording."""

    def __init__(
        self,
        model: onnx.ModelProto,
        graph: Graph,
        settings: SessionSettings,
        programs: Mapping[str, int],
        folder: Path,
    ) -> None:
        self._model = model
        self._graph = graph
        self._settings = settings
        self._programs = programs
        self._folder = folder

    def verified(self, groups: Sequence[Group]) -> _Verified:
        """Undoes the first group whose result differs, and tries again without it: what follows
        reads it. Every turn leaves fewer groups."""
        left, undone = list(groups), list[_Undone]()
        path = self._folder / "model.onnx"
        while left:
            rewritten = _rewritten(self._model, left, self._programs, self._graph)
            save(rewritten, path)
            differences = list(self._differences(rewritten, left))
            wrong = next((n for n, d in enumerate(differences) if not d < MAX_DIFFERENCE), None)
            if wrong is None:
                return _Verified(path, left, max(differences), undone)
            undone.append(_Undone(left.pop(wrong).name, differences[wrong]))
        return _Verified(path, (), 0.0, undone)

    def _differences(self, rewritten: onnx.ModelProto, groups: Sequence[Group]) -> Iterator[float]:
        """max|a-b| / max|a| of the result of each group, in their order."""
        for names in _chunks([group.output for group in groups], self._graph):
            theirs = self._values(self._model, names)
            ours = self._values(rewritten, names)
            for name in names:
                yield finite_difference(theirs[name].reshape(-1), ours[name].reshape(-1))

    def _values(self, model: onnx.ModelProto, names: Sequence[str]) -> dict[str, Array]:
        """Tensors of a run of the model, nothing optimised further."""
        shown = onnx.ModelProto()
        shown.CopyFrom(model)
        known = {output.name for output in shown.graph.output}
        shown.graph.output.extend(
            onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None)
            for name in names
            if name not in known
        )
        path = self._folder / "shown.onnx"
        save(shown, path)
        settings = msgspec.structs.replace(self._settings, model=str(path))
        try:
            session = ort.InferenceSession(
                str(path), session_options(settings), providers=PROVIDERS
            )
            return dict(zip(names, session.run(list(names), load_inputs(settings)), strict=True))
        finally:
            path.unlink()


def _optimised(settings: SessionSettings, folder: Path) -> tuple[onnx.ModelProto, Graph]:
    """What the engine makes of the model at its highest level, every node named, and its graph
    with the shapes that ran."""
    dump, profile = folder / "optimised.onnx", folder / "profile.json"
    GraphSession(settings, "all", profile=folder / "profile", dump=dump).end_profiling(profile)
    events = msgspec.json.decode(profile.read_bytes(), type=list[dict[str, Any]])
    profile.unlink()
    model = onnx.load(str(dump))
    dump.unlink()
    graphs.name_as_profiled(model, events)
    name_nodes(model)
    return model, graphs.from_model(model, graphs.profiled_shapes(events))


def _rewritten(
    model: onnx.ModelProto, groups: Sequence[Group], programs: Mapping[str, int], graph: Graph
) -> onnx.ModelProto:
    """The model with a node for each group, at the place of its last one: all that it reads is made
    before, all that read it come after."""
    last = {group.nodes[-1].name: group for group in groups}
    inner = {node.name for group in groups for node in group.nodes} - last.keys()
    by_name = {node.name: node for node in model.graph.node}
    parts = [
        Piece(tuple(by_name[one.name] for one in last[node.name].nodes), last[node.name])
        if node.name in last
        else Piece((node,))
        for node in model.graph.node
        if node.name not in inner
    ]
    rewritten = with_kernels(model, parts)
    for node in rewritten.graph.node:
        if node.domain == library.DOMAIN:
            program = onnx.helper.make_attribute(library.ATTRIBUTE, programs[node.name])
            node.attribute.append(program)
    _declare(rewritten, groups)
    return rewritten


def _declare(model: onnx.ModelProto, groups: Sequence[Group]) -> None:
    """Shapes of what our operators write: the engine plans memory by them, and asks no library."""
    known = {value.name for value in (*model.graph.value_info, *model.graph.output)}
    model.graph.value_info.extend(
        onnx.helper.make_tensor_value_info(group.output, onnx.TensorProto.FLOAT, group.shape)
        for group in groups
        if group.output not in known
    )


def _shapes(graph: Graph) -> dict[str, tuple[int, ...]]:
    return {tensor.name: tensor.shape for tensor in graph.tensors if tensor.shape is not None}


def _chunks(names: Sequence[str], graph: Graph) -> Iterator[list[str]]:
    """The tensors in order, as many at a time as may be held."""
    chunk: list[str] = []
    used = 0
    for name in names:
        size = graph.bytes_of(name) or 0
        if chunk and used + size > _COMPARED_BYTES:
            yield chunk
            chunk, used = [], 0
        chunk.append(name)
        used += size
    if chunk:
        yield chunk
