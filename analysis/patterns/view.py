"""View: a graph as an optimiser sees it, with what does nothing taken out and constants known."""

from __future__ import annotations

from functools import cached_property

from fusescope.analysis.graph import Graph, Node, Tensor

STANDARD = ("", "ai.onnx")
# Their result is their input; engines remove them first. Dropout only where it does not train.
_TRANSPARENT = ("Identity", "Dropout")
# Engines do not compute these ahead: random values, and weights that are stored quantised.
_NOT_FOLDED = frozenset(
    ("DequantizeLinear", "QuantizeLinear", "RandomNormal", "RandomUniform", "RandomNormalLike",
     "RandomUniformLike", "Multinomial", "Bernoulli", "If", "Loop", "Scan")
)  # fmt: skip


class View:
    """Producers and consumers of a graph's tensors, looking through Identity and Dropout."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._alias: dict[str, str] = {}
        for node in graph.nodes:
            if self._is_transparent(node):
                self._alias[node.outputs[0]] = self.source(node.inputs[0])
        self.outputs = frozenset(self.source(name) for name in graph.outputs)

    def source(self, tensor: str) -> str:
        """The tensor whose values this one carries."""
        return self._alias.get(tensor, tensor)

    def producer(self, tensor: str) -> Node | None:
        """The node that computes a tensor; None for model inputs and weights."""
        return self.graph.producer.get(self.source(tensor))

    @cached_property
    def _readers(self) -> dict[str, list[Node]]:
        readers: dict[str, list[Node]] = {}
        for node in self.graph.nodes:
            if not self._is_transparent(node):
                for name in (*node.inputs, *node.captured):
                    if name:
                        readers.setdefault(self.source(name), []).append(node)
        return readers

    def consumers(self, tensor: str) -> list[Node]:
        """The nodes that read a tensor; a node stands once per read."""
        return self._readers.get(self.source(tensor), [])

    @cached_property
    def by_type(self) -> dict[str, list[Node]]:
        """Nodes of the standard operators that make something, by op type, in graph order."""
        nodes: dict[str, list[Node]] = {}
        for node in self.graph.nodes:
            makes = bool(node.outputs and node.outputs[0])
            if makes and node.domain in STANDARD and not self._is_transparent(node):
                nodes.setdefault(node.op_type, []).append(node)
        return nodes

    @cached_property
    def constants(self) -> frozenset[str]:
        """Tensors whose values are known before the model runs."""
        known = {t.name for t in self.graph.tensors if t.constant and not t.overridable}
        for node in self.graph.nodes:
            inputs = [name for name in (*node.inputs, *node.captured) if name]
            if node.op_type == "Constant" or (
                inputs and node.op_type not in _NOT_FOLDED and all(n in known for n in inputs)
            ):
                known.update(name for name in node.outputs if name)
        return frozenset(known)

    def is_constant(self, tensor: str) -> bool:
        """True for weights that nobody can replace and for what is computed of them alone."""
        return tensor in self.constants

    def tensor(self, name: str) -> Tensor:
        """Dtype and shape of a tensor, unknown ones where the graph does not say."""
        known = self.graph.tensor.get(name) or Tensor(name)
        if known.shape is None and self.source(name) != name:
            return self.graph.tensor.get(self.source(name)) or known
        return known

    def values(self, name: str) -> tuple[float, ...] | None:
        """The numbers of a small constant, None where the graph does not hold them."""
        return self.tensor(self.source(name)).values

    def _is_transparent(self, node: Node) -> bool:
        if node.op_type not in _TRANSPARENT or node.domain not in STANDARD:
            return False
        if not node.inputs or not node.inputs[0] or not node.outputs:
            return False
        uses_mask = len(node.outputs) > 1 and node.outputs[1] in self.graph.consumers
        may_train = len(node.inputs) > 2 and bool(node.inputs[2])
        return not (uses_mask or may_train)
