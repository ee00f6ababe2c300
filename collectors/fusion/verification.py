"""Verification: what a rewritten group computes, against the original operators."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper, numpy_helper

from fusescope.analysis.experiment import MAX_DIFFERENCE
from fusescope.analysis.graph import Graph, Node, Tensor
from fusescope.analysis.patterns import View
from fusescope.collectors.errors.engine import clean
from fusescope.collectors.fusion.working import Working, shell, use_contrib
from fusescope.collectors.models import graphs
from fusescope.collectors.models.array import Array
from fusescope.collectors.runtimes.onnxruntime import PROVIDERS, options
from fusescope.collectors.tensors.difference import difference_of

TOLERANCE = MAX_DIFFERENCE  # max|a-b| / max|a|
_DRAWS = ("normal", "positive")  # the second where the first gives no finite numbers, or zeros


class EngineRefused(Exception):
    """The engine does not run a rewritten group; the text says why."""


class Verification:
    """Runs groups of nodes alone on random inputs of their shapes. `graph` is the original's, with
    the shapes that ran; `seed` makes the inputs, the same for a tensor of the same name."""

    def __init__(self, model: onnx.ModelProto, graph: Graph, seed: int) -> None:
        self._model = model
        self._view = View(graph)
        self._seed = seed
        self._nodes = {node.name: node for node in model.graph.node}
        self._place = {name: index for index, name in enumerate(self._nodes)}
        # Identity nodes, and what is as good as one, by the tensor that they hand on.
        self._handing_on: dict[str, list[str]] = {}
        for node in model.graph.node:
            output = node.output[0] if node.output else ""
            if (source := self._view.source(output)) != output:
                self._handing_on.setdefault(source, []).append(node.name)
        self._weights = {tensor.name: tensor for tensor in model.graph.initializer}

    def difference(self, members: Iterable[str], working: Working, name: str) -> float | None:
        """max|a-b| / max|a| of the outputs that the node `name` writes and the original `members`
        wrote; None where numbers cannot be compared. Raises EngineRefused."""
        wanted = set(members)
        made = {name for known in wanted for name in self._nodes[known].output if name}
        around = {node for tensor in made for node in self._handing_on.get(tensor, ())}
        before = [
            self._nodes[known] for known in sorted(wanted | around, key=self._place.__getitem__)
        ]
        after = working.written(name)
        outputs = [output for output in after[-1].output if output]
        found: float | None = None
        for draw in _DRAWS:
            feeds = self._feeds(before, draw)
            if feeds is None:
                return None
            reference = self._run(before, self._weights, feeds, outputs)
            try:
                result = self._run(after, working.weights, feeds, outputs)
            except Exception as error:  # noqa: BLE001 - the engine raises many kinds
                raise EngineRefused(clean(str(error))) from None
            _, relative = difference_of(reference, result)
            if relative is not None:
                found = max(found or 0.0, relative)
                if any(array is not None and array.any() for array in reference):
                    break
        return found

    def _feeds(self, nodes: Sequence[onnx.NodeProto], draw: str) -> dict[str, Array] | None:
        """Values of what the nodes read from outside; None where a shape is not known."""
        made = {name for node in nodes for name in node.output}
        read = [name for node in _readable(nodes) for name in (*node.inputs, *node.captured)]
        feeds: dict[str, Array] = {}
        for name in dict.fromkeys(read):
            if not name or name in made or name in self._weights:
                continue
            source = self._view.source(name)
            if source in self._weights:
                feeds[name] = numpy_helper.to_array(self._weights[source])
                continue
            array = self._random(self._view.tensor(source), draw)
            if array is None:
                return None
            feeds[name] = array
        return feeds

    def _random(self, tensor: Tensor, draw: str) -> Array | None:
        if tensor.dtype is None or tensor.bytes is None or tensor.shape is None:
            return None
        try:
            dtype = np.dtype(tensor.dtype)
        except TypeError:
            return None
        chance = np.random.default_rng([self._seed, zlib.crc32(tensor.name.encode())])
        if dtype.kind != "f":
            return chance.integers(0, 2, tensor.shape).astype(dtype)
        if draw == "normal":
            return chance.standard_normal(tensor.shape).astype(dtype)
        return chance.uniform(0.5, 1.5, tensor.shape).astype(dtype)

    def _run(
        self,
        nodes: Sequence[onnx.NodeProto],
        weights: dict[str, onnx.TensorProto],
        feeds: dict[str, Array],
        outputs: Sequence[str],
    ) -> list[Array | None]:
        read = {name for node in _readable(nodes) for name in (*node.inputs, *node.captured)}
        model = shell(self._model)
        use_contrib(model)
        types = [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
            )
            for name, array in feeds.items()
            if name in read
        ]
        stored = [weights[name] for name in dict.fromkeys(read) if name in weights]
        results = [onnx.ValueInfoProto(name=name) for name in outputs]
        model.graph.CopyFrom(helper.make_graph(nodes, "group", types, results, stored))
        session = ort.InferenceSession(
            model.SerializeToString(), options("none", threads=1, spin=False), providers=PROVIDERS
        )
        given = {name: array for name, array in feeds.items() if name in read}
        return list(session.run(list(outputs), given))


def _readable(nodes: Sequence[onnx.NodeProto]) -> tuple[Node, ...]:
    return graphs.nodes_of(onnx.GraphProto(node=nodes))
