"""What a variant ran, operator by operator, as a graph, and which of the model's tensors each of
its tensors holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from fusescope.analysis.experiment import TensorMatch
from fusescope.analysis.graph import HOLDS, MAKES, Attribute, Graph, Node, Tensor
from fusescope.collectors.jax.originals import Deadline, Held, Originals
from fusescope.collectors.models.array import Array


@dataclass(frozen=True)
class Ran:
    """An operator that ran: what it read and wrote. With `moves` it computes nothing, but hands on
    what it reads in another order, shape or precision."""

    name: str
    op_type: str
    reads: Sequence[str]
    writes: Sequence[Tensor]
    moves: bool
    attributes: Mapping[str, Attribute]
    scope: str = ""


@dataclass
class Followed:
    """Grows with every operator that `ran`. Names of its tensors start with a %, as those of the
    model do not; what is returned gets the model's names in the end. `held` says which of the
    model's tensors another one stands for. `one_each`: every operator of the model runs by itself,
    so that of equal fixed tensors each is one of the model's.

    Of what depends on no input, the operators say which of the model's fixed tensors they write
    (`makes`), and which they compute on the way (`holds`; analysis.compare.groups.fixed).
    """

    model: Graph
    originals: Originals
    deadline: Deadline
    nodes: list[Node] = field(default_factory=list)
    tensors: dict[str, Tensor] = field(default_factory=dict)
    held: dict[str, Held] = field(default_factory=dict)
    inputs: list[str] = field(default_factory=list)
    one_each: bool = False
    _claimed: set[str] = field(default_factory=set)

    @cached_property
    def _place(self) -> dict[str, int]:
        """Where in the model a tensor is made."""
        return {name: place for place, name in enumerate(self.model.producer)}

    def given(self, tensor: Tensor) -> None:
        """What is fed: an input, or a weight of a model that has it as a constant."""
        known = self.model.tensor.get(tensor.name)
        is_constant = known is not None and known.constant
        self.tensors[tensor.name] = Tensor(
            tensor.name, tensor.dtype, tensor.shape, constant=is_constant
        )
        if not is_constant:
            self.inputs.append(tensor.name)

    def ran(self, one: Ran, values: Sequence[Array | None], inside: Sequence[Array] = ()) -> None:
        """An operator that made these values, and on the way these that depend on no input. Raises
        TimeoutError after the deadline."""
        self.deadline.check()
        reads = tuple(dict.fromkeys(one.reads))
        of_constants = all(self.tensors[read].constant for read in reads)
        makes: list[str] = []
        for tensor, array in zip(one.writes, values, strict=True):
            if of_constants:
                makes += self._fixed(one, array)
            held = None if of_constants else self.standing_for(one, array)
            if held is not None:
                self.held[tensor.name] = held
            self.tensors[tensor.name] = Tensor(
                tensor.name, tensor.dtype, tensor.shape, constant=of_constants
            )
        names = tuple(tensor.name for tensor in one.writes)
        holds = [name for array in inside for name in self._fixed(one, array)]
        attributes = dict(one.attributes)
        if makes:
            attributes[MAKES] = [*dict.fromkeys(makes)]
        if holds:
            attributes[HOLDS] = [*dict.fromkeys(holds)]
        self.nodes.append(
            Node(one.name, one.op_type, reads, names, attributes=attributes, scope=one.scope)
        )

    def standing_for(self, one: Ran, array: Array | None) -> Held | None:
        """The tensor of the model with these values; of several the one that the same operator
        makes, else for what only moves the one that it reads, else the first.

        What computes makes a tensor that the model makes later than those that it reads, whatever
        the values are: a value that is bounded by a limit out of reach stays as it is.
        """
        found = self.originals.holding(array)
        read = {self.held[name].original for name in one.reads if name in self.held}
        if not one.moves:
            latest = max((self._place[name] for name in read), default=-1)
            found = tuple(held for held in found if self._place[held.original] > latest)
        alike = [h for h in found if self.model.producer[h.original].op_type == one.op_type]
        same = [held for held in found if one.moves and held.original in read]
        return next(iter((*alike, *same, *found)), None)

    def _fixed(self, one: Ran, array: Array | None) -> Sequence[str]:
        """The model's tensors that depend on no input and have these values. Where each runs by
        itself it is the next one, of the same operator if there is such; elsewhere all that are
        equal. One number again and again, and what is only handed on, is found everywhere."""
        found = self.originals.fixed(array)
        if not found or array is None:
            return ()
        is_one_number = bool((array == array.flat[0]).all())
        if not self.one_each:
            return () if is_one_number else found
        left = [name for name in found if name not in self._claimed]
        alike = [name for name in left if self.model.producer[name].op_type == one.op_type]
        chosen = alike[:1] or ([] if is_one_number or one.moves else left[:1])
        self._claimed.update(chosen)
        return chosen

    def is_constant(self, name: str) -> bool:
        """Whether a tensor depends on no input."""
        return self.tensors[name].constant

    def result(self, outputs: Sequence[str]) -> tuple[Graph, tuple[TensorMatch, ...]]:
        """The graph, which returns these tensors in place of the model's, and the matches."""
        model = self.model
        names: dict[str, str] = {}
        nodes = list(self.nodes)
        written = {name for node in nodes for name in node.outputs}
        given = {*model.inputs, *(tensor.name for tensor in model.tensors if tensor.constant)}
        tensors = dict(self.tensors)
        for place, (own, original) in enumerate(zip(outputs, model.outputs, strict=True)):
            if names.get(own) == original or original in given:  # returned as it was given
                continue
            if own in names or own not in written:  # returned twice
                attributes: dict[str, Attribute] = {"event": f"output {place}", "view": 1}
                nodes.append(
                    Node(f"output.{place}", "bitcast", (own,), (original,), attributes=attributes)
                )
                known = tensors[own]
                tensors[original] = Tensor(original, known.dtype, known.shape)
            else:
                names[own] = original
        graph = Graph(
            tuple(_renamed(node, names) for node in nodes),
            tuple(_called(tensor, names) for tensor in tensors.values()),
            tuple(self.inputs),
            tuple(dict.fromkeys(model.outputs)),
        )
        matches = []
        for name, one in self.held.items():
            own = names.get(name, name)
            by: Literal["name", "value"] = "name" if own == one.original else "value"
            matches.append(
                TensorMatch(one.original, own, by, one.layout, one.absolute, one.relative)
            )
        return graph, tuple(matches)


def _renamed(node: Node, names: Mapping[str, str]) -> Node:
    return Node(
        node.name,
        node.op_type,
        tuple(names.get(name, name) for name in node.inputs),
        tuple(names.get(name, name) for name in node.outputs),
        attributes=node.attributes,
        scope=node.scope,
    )


def _called(tensor: Tensor, names: Mapping[str, str]) -> Tensor:
    name = names.get(tensor.name, tensor.name)
    return Tensor(name, tensor.dtype, tensor.shape, tensor.constant)
