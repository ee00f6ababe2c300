"""Identity: the tensor of the model that a tensor of an optimised graph holds.

Names say it where the engine kept them. Where it did not, tensors that were compared by value say
it, else what an engine's node names and layout operators mean. A tensor about which nothing is
certain has no identity, and its neighbours end up in one group.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from fusescope.analysis.compare.groups.equivalence import duplicates
from fusescope.analysis.experiment import TensorMatch
from fusescope.analysis.graph import Graph, Node, Tensor
from fusescope.analysis.operators.flops import NCHWC_DOMAIN

Evidence = Literal["name", "value", "structure"]

OPENVINO_COPIES = {"Reorder", "Output"}  # of OpenVINO: into another layout, and out of the model
REORDERS = {"ReorderInput", "ReorderOutput"} | OPENVINO_COPIES
LAYOUT = REORDERS | {"Reshape", "Transpose", "Cast", "Squeeze", "Unsqueeze", "Flatten", "Identity"}
XLA_LAYOUT = {"copy", "bitcast", "transpose", "reshape"}
LAYOUT |= XLA_LAYOUT
QUANTISATION = {"QuantizeLinear", "DequantizeLinear"}
_SUMS = {"Add", "Sum"}
_NCHWC_NAME = re.compile(r"^(.*?)(_bn|_mul)?_nchwc(?:_token_\d+)?$", re.DOTALL)


class Identity(msgspec.Struct, frozen=True):
    """The model's tensor, and how that is known."""

    tensor: str
    evidence: Evidence


def identities(
    model: Graph,
    optimised: Graph,
    order: Sequence[Node],
    same: Mapping[str, str],
    matches: Sequence[TensorMatch] = (),
) -> dict[str, Identity]:
    """Optimised tensor -> Identity, for the graph inputs and every node output that has one.

    `order` are the optimised nodes in execution order, `same` the model's twins.
    """
    return _Search(model, optimised, order, same, matches).run()


def only_changes_layout(node: Node, model: Graph) -> bool:
    """True for a node that the engine put in to change layout, shape or dtype."""
    if node.op_type not in LAYOUT:
        return False
    if node.op_type in REORDERS:
        return True
    if _is_known(node, model):
        return False
    makers = (model.producer.get(name) for name in node.outputs)
    return all(maker is None or maker.op_type != node.op_type for maker in makers)


def only_repeats(node: Node, model: Graph) -> bool:
    """True for a node that the engine put in and that can make a tensor out of itself."""
    return node.op_type in LAYOUT | QUANTISATION and not _is_known(node, model)


def _is_known(node: Node, model: Graph) -> bool:
    original = model.node.get(node.name)
    return original is not None and original.op_type == node.op_type


class _Search:
    def __init__(
        self,
        model: Graph,
        optimised: Graph,
        order: Sequence[Node],
        same: Mapping[str, str],
        matches: Sequence[TensorMatch],
    ) -> None:
        self._model = model
        self._optimised = optimised
        self._order = order
        self._same = same
        self._copies = duplicates(optimised, order)
        self._made = {name for name in model.producer if name}
        self._index = {name: index for index, name in enumerate(model.producer)}
        given = {*model.inputs} - self._made
        self._by_value: dict[str, list[TensorMatch]] = {}
        self._refuted: set[str] = set()
        for match in matches:
            if match.by == "value" and (match.original in self._made or match.original in given):
                self._by_value.setdefault(match.optimised, []).append(match)
            elif match.by == "refuted":
                self._refuted.add(match.optimised)
        self._known: dict[str, Identity] = {
            name: Identity(name, "name") for name in optimised.inputs
        }

    def run(self) -> dict[str, Identity]:
        for node in self._order:
            for name in filter(None, node.outputs):
                if name in self._made and name not in self._refuted and self._fits(name, name):
                    self._known[name] = Identity(name, "name")
        self._pass_layouts()
        self._pass_to_copies()
        for node in self._order:
            for name in filter(None, node.outputs):
                if name not in self._known:
                    self._search(node, name)
            self._pass_forward(node)
        self._pass_layouts()
        self._pass_to_copies()
        return self._known

    def _search(self, node: Node, name: str) -> None:
        guess = self._by_structure(node, name)
        rows = self._by_value.get(name, [])
        if not only_repeats(node, self._model):  # what computes makes no input of the model
            rows = [row for row in rows if row.original in self._made]
        if guess is not None and node.op_type in QUANTISATION and node.name in self._model.node:
            # Codes of different tensors can be equal; the node's own name says more.
            self._known[name] = Identity(guess, "structure")
        elif rows:
            self._known[name] = Identity(self._choose(node, name, rows, guess), "value")
        elif guess is not None and self._fits_in_blocks(guess, name):
            self._known[name] = Identity(guess, "structure")

    def _choose(self, node: Node, name: str, rows: list[TensorMatch], guess: str | None) -> str:
        """Of several tensors with these values the one that structure, shape or order prefer."""
        names = [row.original for row in rows]
        if guess in names:
            return str(guess)
        if only_repeats(node, self._model):
            for above in self._handed_down(node):
                if above in names:
                    return above
        elif node.op_type not in LAYOUT:  # what computes makes another tensor than it reads
            read = {self._known[i].tensor for i in node.inputs if i in self._known}
            rows = [row for row in rows if row.original not in read] or rows
        makers = {row.original: self._model.producer.get(row.original) for row in rows}
        named_alike = [name for name, maker in makers.items() if maker and maker.name == node.name]
        made_alike = [
            name for name, maker in makers.items() if maker and maker.op_type == node.op_type
        ]
        stored = self._optimised.tensor.get(name)
        alike = [
            row.original
            for row in rows
            if row.layout == "" and stored and stored.shape == self._shape(row.original)
        ]
        found = named_alike or made_alike or alike or [row.original for row in rows]
        return min(found, key=lambda name: self._index.get(name, -1))

    def _handed_down(self, node: Node) -> list[str]:
        """Tensors of the model that the engine's own nodes above hand down, nearest first."""
        found: list[str] = []
        while only_repeats(node, self._model) and node.inputs:
            above = self._known.get(node.inputs[0])
            if above is not None:
                found.append(above.tensor)
            maker = self._optimised.producer.get(node.inputs[0])
            if maker is None:
                break
            node = maker
        return found

    # What node names and layout operators mean.

    def _pass_layouts(self) -> None:
        for node in self._order:
            self._pass_forward(node)
        for node in reversed(self._order):
            if not only_changes_layout(node, self._model) or not node.inputs or not node.outputs:
                continue
            source, result = node.inputs[0], node.outputs[0]
            if source not in self._known and result in self._known and self._is_made(source):
                self._known[source] = self._known[result]

    def _pass_to_copies(self) -> None:
        """Engines copy cheap nodes (DequantizeLinear) so that each reader can fuse its own."""
        for name, first in self._copies.items():
            for known, other in ((first, name), (name, first)):
                if known in self._known and other not in self._known:
                    self._known[other] = self._known[known]

    def _pass_forward(self, node: Node) -> None:
        if node.inputs and node.outputs and only_changes_layout(node, self._model):
            source, result = node.inputs[0], node.outputs[0]
            known = self._known.get(source)
            if known is None or result in self._known:
                return
            # XLA also transposes where the model does, and then the values are those of another.
            rows = self._by_value.get(result, ()) if node.op_type in XLA_LAYOUT else ()
            if not rows or known.tensor in {row.original for row in rows}:
                self._known[result] = known

    def _by_structure(self, node: Node, name: str) -> str | None:
        if node.domain == NCHWC_DOMAIN and node.outputs[0] == name:
            return self._blocked(node)
        original = self._model.node.get(node.name)
        if original is None or original.op_type != node.op_type:
            return None
        # A node that took something over keeps its name and type, but not its weights.
        tensors = self._optimised.tensor
        weights = {name for name in node.inputs if name in tensors and tensors[name].constant}
        if not weights <= set(original.inputs):
            return None
        index = node.outputs.index(name)
        outputs = original.outputs
        return outputs[index] if index < len(outputs) and outputs[index] else None

    def _blocked(self, node: Node) -> str | None:
        """ONNX Runtime names a node in blocked layout after the tensor that it first produced,
        and then lets it take over a sum and an activation."""
        found = _NCHWC_NAME.match(node.name)
        if found is None:
            return None
        name = found[1] + (found[2] or "")
        if name not in self._made:
            name = found[1]
        if name not in self._made:
            return None
        if len(node.inputs) > 3 and node.inputs[3]:
            other = self._known.get(node.inputs[3])
            if other is None:
                return None
            summed = self._after_sum(name, other.tensor)
            if summed is None:
                return None
            name = summed
        activation = node.attributes.get("activation")
        if activation and self._model.producer[name].op_type != activation:
            readers = self._model.consumers.get(name, [])
            if len(readers) != 1 or readers[0].op_type != activation or not readers[0].outputs:
                return None
            name = readers[0].outputs[0]
        return name

    def _after_sum(self, name: str, other: str) -> str | None:
        """The sum of `name` and `other`: the next node, unless `name` is past it already."""
        same = self._twin
        for maker in self._makers(name, 2):
            if maker.op_type in _SUMS and same(other) in map(same, maker.inputs):
                return name
        for reader in self._model.consumers.get(name, []):
            summed = reader.op_type in _SUMS and same(other) in map(same, reader.inputs)
            if summed and reader.outputs:
                return reader.outputs[0]
        return None

    def _makers(self, name: str, maximum: int) -> list[Node]:
        """The node that makes a tensor, and the one that makes its first input."""
        found: list[Node] = []
        while len(found) < maximum and name in self._model.producer:
            found.append(self._model.producer[name])
            name = found[-1].inputs[0] if found[-1].inputs else ""
        return found

    def _twin(self, name: str) -> str:
        return self._same.get(name, name)

    # Whether two tensors can be the same at all.

    def _fits(self, original: str, name: str) -> bool:
        """Same dtype and number of elements, as far as both are known."""
        a, b = self._model.tensor.get(original), self._optimised.tensor.get(name)
        if a is None or b is None:
            return True
        if a.dtype is not None and b.dtype is not None and a.dtype != b.dtype:
            return False
        sizes = _elements(a), _elements(b)
        return None in sizes or sizes[0] == sizes[1]

    def _fits_in_blocks(self, original: str, name: str) -> bool:
        """As `_fits`, but channels may be padded to full blocks."""
        a, b = self._model.tensor.get(original), self._optimised.tensor.get(name)
        if a is None or b is None:
            return True
        sizes = _elements(a), _elements(b)
        larger = sizes[0] is not None and sizes[1] is not None and sizes[0] > sizes[1]
        return not larger and (a.dtype is None or b.dtype is None or a.dtype == b.dtype)

    def _is_made(self, name: str) -> bool:
        return name in self._optimised.producer

    def _shape(self, name: str) -> tuple[int, ...] | None:
        tensor = self._model.tensor.get(name)
        return tensor.shape if tensor else None


def _elements(tensor: Tensor) -> int | None:
    if tensor.shape is None or any(size < 0 for size in tensor.shape):
        return None
    count = 1
    for size in tensor.shape:
        count *= size
    return count
