"""A referee of fusion groups that knows nothing of how they were found.

It reads the model file and the engine's own file of the optimised graph, runs both with every
intermediate tensor as an output, and checks by names and by values:

partition   every node of the model is in one group, every optimised one in one group or inserted;
boundary    what a group reads and hands out is what the model file says;
values      the optimised nodes of a group read and make the values of that boundary, and no others;
inserted    what an inserted node makes is what it reads, but for layout, shape and dtype;
gone        groups without optimised nodes hand out constants, one of their inputs, or nothing;
smaller     no group falls into parts that have the same boundary in both graphs.

Left out of boundaries: initialisers, and tensors that do not depend on the model's inputs while
nothing in the optimised graph runs in their maker's place. Such a maker's reads need not be listed
(Shape reads a tensor without needing its values), nor those of nodes that nobody needs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import onnx
import onnxruntime as ort

Array = Any
_RANDOM = {"RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial"}
TOLERANCE = 2e-4
HALF_TOLERANCE = 5e-3
QUANTISED = {"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"}
QUANTISED_TOLERANCE = 5e-2


class Claim(Protocol):
    """What is judged: names of nodes, and the model's names of the tensors at the boundary."""

    @property
    def original(self) -> tuple[str, ...]: ...
    @property
    def optimised(self) -> tuple[str, ...]: ...
    @property
    def inputs(self) -> tuple[str, ...]: ...
    @property
    def outputs(self) -> tuple[str, ...]: ...


@dataclass(frozen=True)
class Finding:
    """One broken rule; `group` is the claim's position, -1 for none."""

    rule: str
    group: int
    what: str

    def __str__(self) -> str:
        return f"{self.rule} {self.group}: {self.what}"


class Side:
    """One graph: its nodes by name, and the values of its tensors for each of the given feeds,
    which are several inputs of equal shapes."""

    def __init__(self, path: Path, feeds: Sequence[Mapping[str, Array]]) -> None:
        self._path = path
        self._feeds = feeds
        model = onnx.load(str(path), load_external_data=False)
        self.graph = model.graph
        self.outputs = [value.name for value in self.graph.output]
        self.nodes = {node.name: node for node in self.graph.node}
        self.weights = {tensor.name for tensor in self.graph.initializer}
        self.weights |= {node.output[0] for node in self.graph.node if node.op_type == "Constant"}
        self.producer = {name: n.name for n in self.graph.node for name in n.output if name}
        self.reads = {node.name: tuple(_reads(node)) for node in self.graph.node}
        self.readers: dict[str, list[str]] = {}
        for name, read in self.reads.items():
            for tensor in read:
                self.readers.setdefault(tensor, []).append(name)
        del self.graph.initializer[:]

    @cached_property
    def values(self) -> list[dict[str, Array]]:
        """Per feed: tensor -> value, of everything that is computed or fed."""
        wanted = [name for name in self.producer if name not in self.weights]
        extra = onnx.ModelProto(
            graph=onnx.GraphProto(
                output=[onnx.ValueInfoProto(name=n) for n in wanted if n not in self.outputs]
            )
        )
        settings = ort.SessionOptions()
        settings.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        settings.log_severity_level = 3
        settings.intra_op_num_threads = 1  # a second one spins where the tests have no core free
        # Files that follow each other are one message: repeated fields append.
        session = ort.InferenceSession(
            self._path.read_bytes() + extra.SerializeToString(),
            settings,
            providers=["CPUExecutionProvider"],
        )
        asked = [*dict.fromkeys([*wanted, *self.outputs])]
        return [
            {**feed, **dict(zip(asked, session.run(asked, dict(feed)), strict=True))}
            for feed in self._feeds
        ]

    @cached_property
    def constant(self) -> set[str]:
        """Tensors that do not depend on the inputs; shapes are equal in all feeds."""
        found = set(self.weights)
        for node in self.graph.node:
            read = self.reads[node.name]
            shape = node.op_type in ("Shape", "Size") and all(
                np.array_equal(self.values[0][node.output[0]], other[node.output[0]])
                for other in self.values[1:]
            )
            if node.op_type not in _RANDOM and (shape or all(name in found for name in read)):
                found.update(name for name in node.output if name)
        return found

    def needed(self, nodes: Iterable[str]) -> set[str]:
        """Nodes that an output of the model, or one of these nodes, depends on."""
        todo = [*self.outputs, *(tensor for name in nodes for tensor in self.reads[name])]
        found = set(nodes)
        while todo:
            maker = self.producer.get(todo.pop())
            if maker is not None and maker not in found:
                found.add(maker)
                todo.extend(self.reads[maker])
        return found


class Pair:
    """The model and one optimised graph of it, fed the same: which of their tensors are equal."""

    def __init__(self, old: Side, new: Side) -> None:
        self.old, self.new = old, new
        kinds = {node.op_type for node in old.graph.node}
        half = any(
            isinstance(v, np.ndarray) and v.dtype == np.float16 for v in old.values[0].values()
        )
        self.tolerance = HALF_TOLERANCE if half else TOLERANCE
        if kinds & QUANTISED:
            self.tolerance = QUANTISED_TOLERANCE
        self._same: dict[tuple[str, str], bool] = {}

    def equal(self, old: str, new: str) -> bool:
        key = (old, new)
        if key not in self._same:
            self._same[key] = all(
                old in a and new in b and same(a[old], b[new], self.tolerance)
                for a, b in zip(self.old.values, self.new.values, strict=True)
            )
        return self._same[key]


def judge(pair: Pair, claims: Sequence[Claim], inserted: Iterable[str]) -> list[Finding]:
    """Every rule that the claimed groups break."""
    return _Referee(pair, claims, inserted).findings()


class _Referee:
    def __init__(self, pair: Pair, claims: Sequence[Claim], inserted: Iterable[str]) -> None:
        self.old, self.new, self.claims, self.inserted = pair.old, pair.new, claims, set(inserted)
        self.tolerance, self._equal = pair.tolerance, pair.equal
        self.runs = {name for claim in claims if claim.optimised for name in claim.original}
        self.needed = self.old.needed(self.runs & set(self.old.nodes))

    def findings(self) -> list[Finding]:
        found = list(self._partition())
        if found:
            return found
        for place, claim in enumerate(self.claims):
            found += [Finding("boundary", place, what) for what in self._boundary(claim)]
            if claim.optimised:
                found += [Finding("values", place, what) for what in self._values(claim)]
                found += [Finding("smaller", place, what) for what in self._smaller(claim)]
            else:
                found += [Finding("gone", place, what) for what in self._gone(claim)]
        found += [Finding("inserted", -1, what) for what in self._inserted()]
        return found

    def _partition(self) -> Iterator[Finding]:
        for side, placed in (
            (self.old, [name for claim in self.claims for name in claim.original]),
            (self.new, [*(n for c in self.claims for n in c.optimised), *self.inserted]),
        ):
            for name in side.nodes:
                if placed.count(name) != 1:
                    yield Finding("partition", -1, f"{name} is in {placed.count(name)} groups")
            for name in set(placed) - set(side.nodes):
                yield Finding("partition", -1, f"{name} is not a node")
        for place, claim in enumerate(self.claims):
            if not claim.original:
                yield Finding("partition", place, "no original")

    # The boundary, from the model file alone.

    def _is_weight(self, tensor: str) -> bool:
        maker = self.old.producer.get(tensor)
        return tensor in self.old.constant and (maker is None or maker not in self.runs)

    def _counts(self, reader: str) -> bool:
        """Whether a node of the model needs the values of what it reads."""
        if reader in self.runs:
            return True
        made = [name for name in self.old.nodes[reader].output if name]
        return reader in self.needed and not all(name in self.old.constant for name in made)

    def _edges(
        self, claim: Claim, all_reads: bool = False
    ) -> tuple[dict[str, None], dict[str, None]]:
        """Inputs and outputs; with `all_reads` reads of nodes that need no values, too."""
        inside = set(claim.original)
        inputs: dict[str, None] = {}
        outputs: dict[str, None] = {}
        for name in claim.original:
            for tensor in self.old.reads[name]:
                own = self.old.producer.get(tensor) in inside
                counts = all_reads or self._counts(name)
                if not own and not self._is_weight(tensor) and counts:
                    inputs[tensor] = None
            for tensor in self.old.nodes[name].output:
                outside = (
                    reader not in inside and (all_reads or self._counts(reader))
                    for reader in self.old.readers.get(tensor, ())
                )
                handed = tensor in self.old.outputs or any(outside)
                if tensor and handed and not self._is_weight(tensor):
                    outputs[tensor] = None
        return inputs, outputs

    def _boundary(self, claim: Claim) -> Iterator[str]:
        least, most = self._edges(claim), self._edges(claim, all_reads=True)
        for what, must, may, claimed in (
            ("inputs", least[0], most[0], claim.inputs),
            ("outputs", least[1], most[1], claim.outputs),
        ):
            if not set(must) <= set(claimed) <= set(may):
                yield f"{what} are {sorted(must)}, not {sorted(claimed)}"
            if len(set(claimed)) != len(claimed):
                yield f"{what} repeat"

    # Values of both graphs.

    def _new_edges(self, claim: Claim) -> tuple[list[str], list[str]]:
        inside = set(claim.optimised)
        read = dict.fromkeys(
            tensor
            for name in claim.optimised
            for tensor in self.new.reads[name]
            if self.new.producer.get(tensor) not in inside and tensor not in self.new.weights
        )
        made = dict.fromkeys(
            tensor
            for name in claim.optimised
            for tensor in self.new.nodes[name].output
            if tensor
            and (
                tensor in self.new.outputs
                or any(reader not in inside for reader in self.new.readers.get(tensor, ()))
            )
        )
        return list(read), list(made)

    def _values(self, claim: Claim) -> Iterator[str]:
        """Inserted nodes may stand between a group's tensors and those of the boundary."""
        inputs, outputs = self._edges(claim)
        read, made = self._new_edges(claim)
        given = {tensor: {tensor, *self._before(tensor)} for tensor in read}
        handed = {tensor: {tensor, *self._after(tensor)} for tensor in made}
        for tensor in read:
            if tensor in self.new.constant or self._is_own(tensor, claim):
                continue
            if not any(self._equal(i, t) for i in inputs for t in given[tensor]):
                yield f"{tensor} is read, which holds none of the inputs {list(inputs)}"
        for tensor in inputs:
            if not any(self._equal(tensor, t) for name in read for t in given[name]):
                yield f"input {tensor} is not among what is read: {read}"
        for tensor in made:
            if self._comes_back(tensor, claim):
                continue
            if not any(self._equal(o, t) for o in outputs for t in handed[tensor]):
                yield f"{tensor} is handed out, which holds none of the outputs {list(outputs)}"
        for tensor in outputs:
            if not any(self._equal(tensor, t) for name in made for t in handed[name]):
                yield f"output {tensor} is not among what is handed out: {made}"

    def _before(self, tensor: str) -> Iterator[str]:
        """What inserted nodes made it from."""
        maker = self.new.producer.get(tensor)
        if maker in self.inserted:
            for source in self.new.reads[maker]:
                if source not in self.new.weights:
                    yield source
                    yield from self._before(source)

    def _after(self, tensor: str) -> Iterator[str]:
        """What inserted nodes make of it."""
        for reader in self.new.readers.get(tensor, ()):
            if reader in self.inserted:
                for result in filter(None, self.new.nodes[reader].output):
                    yield result
                    yield from self._after(result)

    def _is_own(self, tensor: str, claim: Claim) -> bool:
        """Whether inserted nodes hand a group its own result."""
        return any(self.new.producer.get(t) in claim.optimised for t in self._before(tensor))

    def _comes_back(self, tensor: str, claim: Claim) -> bool:
        """Whether only inserted nodes take it, and only to hand it back to the group."""
        readers = self.new.readers.get(tensor, ())
        return tensor not in self.new.outputs and all(
            reader in claim.optimised
            or (
                reader in self.inserted
                and all(self._comes_back(t, claim) for t in self.new.nodes[reader].output)
            )
            for reader in readers
        )

    def _gone(self, claim: Claim) -> Iterator[str]:
        inputs, outputs = self._edges(claim)
        for tensor in outputs:
            if tensor in self.old.constant:
                continue
            duplicates = (
                name
                for name, maker in self.old.producer.items()
                if maker in self.runs and name not in self.old.weights
            )
            if not any(self._alike(tensor, other) for other in (*inputs, *duplicates)):
                yield f"{tensor} is handed out and nothing runs for it"

    def _alike(self, one: str, other: str) -> bool:
        return all(
            one in v and other in v and same(v[one], v[other], self.tolerance)
            for v in self.old.values
        )

    def _inserted(self) -> Iterator[str]:
        for name in sorted(self.inserted):
            node = self.new.nodes[name]
            read = [t for t in self.new.reads[name] if t not in self.new.weights]
            if any(self._new_alike(*ends) for ends in self._around_quantised(node)):
                continue
            for tensor in filter(None, node.output):
                if not any(self._new_alike(t, tensor) for t in read):
                    yield f"{name} ({node.op_type}) makes {tensor} from {read}"

    def _around_quantised(self, node: onnx.NodeProto) -> Iterator[tuple[str, str]]:
        """What a QuantizeLinear reads, and what the inserted DequantizeLinear makes of it."""
        if node.op_type == "QuantizeLinear":
            for reader in self.new.readers.get(node.output[0], ()):
                if reader in self.inserted:
                    yield node.input[0], self.new.nodes[reader].output[0]
        elif node.op_type == "DequantizeLinear" and node.input[0] in self.new.producer:
            maker = self.new.nodes[self.new.producer[node.input[0]]]
            if maker.op_type == "QuantizeLinear":
                yield maker.input[0], node.output[0]

    def _new_alike(self, one: str, other: str) -> bool:
        """Equal, or both hold one and the same tensor of the model (a blocked one is padded)."""
        if all(same(v[one], v[other], self.tolerance) for v in self.new.values):
            return True
        return any(self._equal(t, one) and self._equal(t, other) for t in self.old.values[0])

    # Parts of a group.

    def _smaller(self, claim: Claim) -> Iterator[str]:
        """Starts from the finest parts that equal values allow, and joins what differs."""
        if len(claim.original) < 2 or not claim.optimised:
            return
        classes = self._classes(claim)
        nodes = [(0, name) for name in claim.original] + [(1, name) for name in claim.optimised]
        part = {node: place for place, node in enumerate(nodes)}

        def join(one: int, other: int) -> bool:
            if one == other:
                return False
            for node, place in part.items():
                if place == other:
                    part[node] = one
            return True

        made: tuple[dict[int, set[Any]], ...] = ({}, {})
        read: tuple[dict[int, set[Any]], ...] = ({}, {})
        for node in nodes:
            side = (self.old, self.new)[node[0]]
            for tensor in filter(None, side.nodes[node[1]].output):
                made[node[0]].setdefault(classes[node[0]].get(tensor, -1), set()).add(
                    (node, tensor)
                )
            for tensor in side.reads[node[1]]:
                if node[0] or self._counts(node[1]):
                    read[node[0]].setdefault(classes[node[0]].get(tensor, -1), set()).add(
                        (node, tensor)
                    )
        # Unmatched tensors tie their maker to their readers; equal values tie their makers.
        for side in (0, 1):
            for node, tensor in made[side].get(-1, ()):
                for other, name in read[side].get(-1, ()):
                    if name == tensor:
                        join(part[node], part[other])
        for value in {*made[0], *made[1]} - {-1}:
            makers = [node for side in (0, 1) for node, _ in made[side].get(value, ())]
            for other in makers[1:]:
                join(part[makers[0]], part[other])
        outside = self._outside(claim, classes)
        changed = True
        while changed:
            changed = False
            values = {*made[0], *made[1], *read[0], *read[1]} - {-1}
            for value in sorted(values):
                makers = [{part[n] for n, _ in made[side].get(value, ())} for side in (0, 1)]
                readers = [{part[n] for n, _ in read[side].get(value, ())} for side in (0, 1)]
                needs = [
                    {reader for reader in readers[side] if reader not in makers[side]}
                    for side in (0, 1)
                ]
                gives = [
                    {m for m in makers[side] if value in outside or readers[side] - {m}}
                    for side in (0, 1)
                ]
                if needs[0] != needs[1] or gives[0] != gives[1]:
                    ends = sorted(set().union(*makers, *readers))
                    for other in ends[1:]:
                        changed |= join(ends[0], other)
        sides: dict[int, tuple[list[str], list[str]]] = {}
        for (side, name), place in part.items():
            sides.setdefault(place, ([], []))[side].append(name)
        whole = [pair for pair in sides.values() if pair[0] and pair[1]]
        if len(whole) > 1:
            yield "; ".join(f"{'+'.join(a)} -> {'+'.join(b)}" for a, b in whole)

    def _classes(self, claim: Claim) -> tuple[dict[str, int], dict[str, int]]:
        """Per side: tensor -> number of the value that tensors of both sides hold."""
        inputs, _ = self._edges(claim)
        read, _ = self._new_edges(claim)
        old = [t for name in claim.original for t in self.old.nodes[name].output if t]
        new = [t for name in claim.optimised for t in self.new.nodes[name].output if t]
        old = [t for t in (*inputs, *old) if t not in self.old.constant and self._tells(t)]
        found: tuple[dict[str, int], dict[str, int]] = ({}, {})
        number = itertools.count()
        for tensor in (*read, *new):
            holds = [t for t in old if self._equal(t, tensor)]
            if not holds:
                continue
            known = {found[0][t] for t in holds if t in found[0]}
            value = min(known) if known else next(number)
            found[1][tensor] = value
            found[0].update(dict.fromkeys(holds, value))
            for side in found:
                side.update({t: value for t, other in side.items() if other in known})
        return found

    def _tells(self, tensor: str) -> bool:
        """Whether its values are many enough to be recognised by."""
        value = self.old.values[0].get(tensor)
        if not isinstance(value, np.ndarray) or not value.size:
            return False
        return len(np.unique(value.ravel()[:: max(1, value.size // 512)])) >= 4

    def _outside(self, claim: Claim, classes: tuple[dict[str, int], dict[str, int]]) -> set[int]:
        _, outputs = self._edges(claim)
        return {classes[0][name] for name in outputs if name in classes[0]}


def same(a: Array, b: Array, tolerance: float) -> bool:
    """Whether `b` holds the values of `a`, in the same or any other layout, shape or dtype."""
    if isinstance(a, list) or isinstance(b, list):
        return (
            isinstance(a, list)
            and isinstance(b, list)
            and len(a) == len(b)
            and all(same(x, y, tolerance) for x, y in zip(a, b, strict=True))
        )
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray) or a.dtype.kind in "USO":
        return np.array_equal(a, b)
    if a.size == b.size and _near(a.ravel(), b.ravel(), tolerance):
        return True
    if a.size == b.size and not _could_be(a, b):
        return False
    moved = itertools.chain(_unblocked(b, a), _transposed(b) if a.size == b.size else ())
    return any(_near(a.ravel(), one, tolerance) for one in moved)


def _could_be(a: Array, b: Array) -> bool:
    """Whether they have as many large values; int8 may be shifted to uint8."""
    if a.dtype.kind != "f" or not a.size:
        return True
    sums = [float(np.abs(array).sum(dtype=np.float64)) for array in (a, b)]
    return bool(np.isclose(*sums, rtol=0.02))


def _near(a: Array, b: Array, tolerance: float) -> bool:
    """max|a-b| <= tolerance * max|a|; whole numbers are equal unless the model is quantised."""
    if {a.dtype, b.dtype} == {np.dtype(np.int8), np.dtype(np.uint8)}:
        # The engine shifts int8 by 128 where its kernels want uint8.
        a, b = (v.astype(np.int16) + (128 if v.dtype == np.int8 else 0) for v in (a, b))
    if a.dtype.kind in "iub" and b.dtype.kind in "iub" and tolerance <= TOLERANCE:
        return bool(np.array_equal(a, b))
    # A few elements tell most tensors apart.
    few = slice(None, None, max(1, a.size // 64))
    scale = _scale(a)
    return _differ(a[few], b[few]) <= tolerance * scale and _differ(a, b) <= tolerance * scale


def _scale(a: Array) -> float:
    finite = np.abs(a.astype(np.float32, copy=False))
    return float(np.max(finite, where=np.isfinite(finite), initial=0.0))


def _differ(a: Array, b: Array) -> float:
    left, right = (v.astype(np.float32, copy=False) for v in (a, b))
    same_infinities = np.isfinite(left) | (left == right) | (np.isnan(left) & np.isnan(right))
    if not same_infinities.all():
        return np.inf
    with np.errstate(invalid="ignore"):
        gap = np.abs(left - right)
    return float(np.max(gap, where=np.isfinite(left), initial=0.0))


def _transposed(b: Array) -> Iterator[Array]:
    axes = [axis for axis, size in enumerate(b.shape) if size > 1]
    if not 2 <= len(axes) <= 5:
        return
    small = b.reshape([b.shape[axis] for axis in axes])
    for order in itertools.permutations(range(len(axes))):
        if list(order) != sorted(order):
            yield np.transpose(small, order).ravel()


def _unblocked(b: Array, a: Array) -> Iterator[Array]:
    """NCHWc: the shape reads [N, C, H, W] with padded channels, memory is [N, C/c, H, W, c]."""
    if b.ndim != 4 or a.size > b.size or a.size * b.shape[1] % b.size:
        return
    channels = a.size * b.shape[1] // b.size
    for block in (16, 8, 32):
        if b.shape[1] % block == 0 and b.shape[1] - channels < block:
            n, c, h, w = b.shape
            whole = b.reshape(n, c // block, h, w, block).transpose(0, 1, 4, 2, 3)
            plain = whole.reshape(n, c, h, w)[:, :channels]
            yield plain.ravel()
            yield from _transposed(plain)
    if a.size < b.size:
        yield b[:, :channels].ravel()


def _reads(node: onnx.NodeProto) -> Iterator[str]:
    yield from (name for name in node.input if name)
    for attribute in node.attribute:
        for body in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
            yield from _captured(body)


def _captured(body: onnx.GraphProto) -> Iterator[str]:
    own = {value.name for value in body.input} | {tensor.name for tensor in body.initializer}
    for node in body.node:
        yield from (name for name in _reads(node) if name not in own)
        own.update(node.output)
    yield from (value.name for value in body.output if value.name not in own)
