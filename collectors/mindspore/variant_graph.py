"""The graph of one variant, and which of the model's tensors its tensors hold.

The model's graph is the program with graph kernels off: the operators that MindSpore hands to its
graph kernels. Its values, and those of each variant, are what kernels wrote in a run on the same
inputs, with the weights moved a little.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from fusescope.analysis.experiment import TensorMatch
from fusescope.analysis.graph import Attribute, Graph, Node, Tensor
from fusescope.analysis.text import clean_text
from fusescope.collectors.mindspore.dumped import Values
from fusescope.collectors.mindspore.program import Given, Kernel, Program, scope_in
from fusescope.collectors.models.array import Array
from fusescope.collectors.tensors.candidates import Candidates
from fusescope.collectors.tensors.difference import difference_of
from fusescope.collectors.tensors.sketches import distance
from fusescope.collectors.tensors.tolerances import tolerance_of

OWN = "%"  # before the names of a variant's tensors, as before none of the model's
LISTED_CHARS = 400
# Operators that write into their first input; ScatterNd and others make a tensor of their own.
_ASSIGNS = re.compile(r"Assign|Apply[A-Z]|Scatter(Nd)?(Update|Add|Sub|Mul|Div|Max|Min)$")

ValueOf = Callable[[str], Array | None]


@dataclass
class Originals:
    """The tensors that the model's operators make, with their values."""

    graph: Graph
    value: ValueOf
    _candidates: Candidates = field(default_factory=Candidates)
    _dtypes: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        for name in self.graph.producer:
            array = self.value(name)
            if array is not None:
                self._candidates.add(name, array)
                known = self.graph.tensor.get(name)
                self._dtypes.add((known.dtype if known is not None else None) or "")

    def matches(self, own: str, array: Array | None) -> list[TensorMatch]:
        """The tensors of the model that have these values: one, or several that are equal."""
        if array is None:
            return []
        tolerance = tolerance_of(self._dtypes)
        found = []
        for pair in self._candidates.pairs(own, array, False, tolerance):
            known = self.value(pair.original)
            if pair.axes or known is None:
                continue
            a, b = known.reshape(-1), array.reshape(-1)
            if distance(a, b) <= tolerance:
                found.append(TensorMatch(pair.original, own, "value", "", *difference_of([a], [b])))
        return found


def model_graph(program: Program, values: Values, file: str) -> Graph:
    """The graph of the model's operators."""
    kernels = [_node(kernel, file, lambda name: name) for kernel in program.kernels]
    return Graph(
        tuple(kernels),
        tuple(_tensors(program.given, program.kernels, values.array, lambda name: name)),
        _inputs(program),
        tuple(dict.fromkeys(program.outputs)),
    )


def graph_of(
    program: Program, value: ValueOf, model: Originals, file: str
) -> tuple[Graph, tuple[TensorMatch, ...]]:
    """The variant's graph, which returns the model's tensors, and the matches. Raises ValueError
    for a program that returns other tensors than the model."""
    returned = dict(zip(program.outputs, model.graph.outputs, strict=True))
    named = {**_assigned(program, model.graph), **returned}
    written = {name for kernel in program.kernels for name in kernel.writes if name}
    given = {one.name for one in program.given}

    def called(name: str) -> str:
        if name in given:
            return name
        return named.get(name) or OWN + name

    nodes = tuple(_node(kernel, file, called) for kernel in program.kernels)
    tensors = tuple(_tensors(program.given, program.kernels, value, called))
    matches: list[TensorMatch] = []
    for name in sorted(written):
        if name not in named:
            matches += model.matches(OWN + name, value(name))
            continue
        original, array = named[name], value(name)
        known = model.value(original)
        if known is not None and array is not None:
            a, b = known.reshape(-1), array.reshape(-1)
            matches.append(TensorMatch(original, original, "name", "", *difference_of([a], [b])))
    return Graph(nodes, tensors, _inputs(program), model.graph.outputs), tuple(matches)


def _assigned(program: Program, model: Graph) -> dict[str, str]:
    """What kernels write into parameters -> the model's tensors, in its order: MindSpore keeps that
    order, and does not dump what a graph kernel writes in place. Empty where the operators are not
    the same."""
    originals = [node for node in model.nodes if _ASSIGNS.match(node.op_type)]
    kernels = [kernel for kernel in program.kernels if _assigning(kernel)]
    if [[node.op_type] for node in originals] != [_assigning(kernel) for kernel in kernels]:
        return {}
    return {
        kernel.writes[0]: node.outputs[0]
        for node, kernel in zip(originals, kernels, strict=True)
        if node.outputs and kernel.writes and kernel.writes[0]
    }


def _assigning(kernel: Kernel) -> list[str]:
    """Types of the operators of a kernel that write into a parameter."""
    types = kernel.operators if kernel.inside else (kernel.op_type,)
    return [one for one in types if _ASSIGNS.match(one)]


def _inputs(program: Program) -> tuple[str, ...]:
    """What a run is given that differs from run to run: inputs, and parameters that it changes."""
    changed = _changed(program.kernels)
    return tuple(one.name for one in program.given if not one.is_weight or one.name in changed)


def _node(kernel: Kernel, file: str, called: Callable[[str], str]) -> Node:
    attributes: dict[str, Attribute] = {}
    if kernel.inside:
        names = dict.fromkeys(one.expanded or one.name for one in kernel.inside)
        attributes["listed"] = clean_text(", ".join(names), LISTED_CHARS)
    if kernel.event:
        attributes["event"] = clean_text(kernel.event)
    if kernel.view:
        attributes["view"] = 1
    line = next((line for where, line in reversed(kernel.code) if where == file), None)
    if line is not None:
        attributes["source"] = clean_text(f"{Path(file).name}:{line}")
    return Node(
        kernel.name,
        kernel.op_type,
        tuple(map(called, kernel.reads)),
        tuple(called(name) if name else "" for name in kernel.writes),
        attributes=attributes,
        scope=clean_text(scope_in(kernel.name)),
    )


def _tensors(
    given: Iterable[Given],
    kernels: Sequence[Kernel],
    value: ValueOf,
    called: Callable[[str], str],
) -> list[Tensor]:
    changed = _changed(kernels)
    found: dict[str, Tensor] = {
        one.name: Tensor(
            one.name,
            one.dtype or None,
            one.shape,
            constant=one.is_weight and one.name not in changed,
        )
        for one in given
    }
    for name in (name for kernel in kernels for name in kernel.writes if name):
        array = value(name)
        own = called(name)
        known = (str(array.dtype), tuple(array.shape)) if array is not None else (None, None)
        found[own] = Tensor(own, *known)
    return list(found.values())


def _changed(kernels: Iterable[Kernel]) -> set[str]:
    """What is read by kernels that write into a parameter that they are given: also the others of
    their inputs, since a graph kernel does not say which it is."""
    return {name for kernel in kernels if _assigning(kernel) for name in kernel.reads}


class _Described(msgspec.Struct):
    name: str


class _Info(msgspec.Struct):
    op_desc: list[_Described]


def told_otherwise(kernels: Iterable[Kernel], infos: Mapping[str, bytes]) -> int:
    """How many graph kernels AKG's own file tells of otherwise than the program. Equal kernels
    share a file, which has the names of one of them, so types are compared, in order."""
    odd = 0
    for kernel in kernels:
        if kernel.info in infos:
            told = msgspec.json.decode(infos[kernel.info], type=_Info)
            odd += [one.name for one in told.op_desc] != [one.op_type for one in kernel.inside]
    return odd
