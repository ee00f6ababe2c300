"""The optimised program of a compiled variant, run once instruction by instruction.

Each instruction that the profile shows is an operator: a fusion, a call of a library, a loop. What
only names memory (tuples, bitcasts that change no order) is none. Instructions inside a loop or a
branch belong to it: how often they run is not known, so neither are their values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax.numpy as jnp

from fusescope.analysis.graph import Attribute, Tensor
from fusescope.analysis.text import clean_text
from fusescope.collectors.jax.execution import Execution
from fusescope.collectors.jax.followed import Followed, Ran
from fusescope.collectors.jax.module_text import Computation, Instruction, ModuleText, Shape
from fusescope.collectors.jax.originals import array_of
from fusescope.collectors.jax.pieces import piece, stored
from fusescope.collectors.jax.products import flops_of
from fusescope.collectors.models.array import Array

# As jax calls the same operators.
PRIMITIVES: Mapping[str, str] = {
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "div", "maximum": "max",
    "minimum": "min", "negate": "neg", "exponential": "exp", "log": "log", "tanh": "tanh",
    "rsqrt": "rsqrt", "sqrt": "sqrt", "logistic": "logistic", "power": "pow", "erf": "erf",
    "dot": "dot_general", "convolution": "conv_general_dilated", "select": "select_n",
    "convert": "convert_element_type", "broadcast": "broadcast_in_dim", "sine": "sin",
    "cosine": "cos", "abs": "abs", "floor": "floor", "exponential-minus-one": "expm1",
    "log-plus-one": "log1p", "concatenate": "concatenate", "while": "while",
    "conditional": "cond", "sort": "sort", "gather": "gather", "pad": "pad",
}  # fmt: skip
_MOVES = frozenset(("copy", "bitcast", "reshape", "transpose", "convert", "tuple"))
PLUMBING = frozenset(("parameter", "constant", "tuple", "get-tuple-element", "bitcast"))
LOOPS = frozenset(("while", "conditional"))
DTYPES: Mapping[str, str] = {
    "pred": "bool", "s8": "int8", "s16": "int16", "s32": "int32", "s64": "int64", "u8": "uint8",
    "u16": "uint16", "u32": "uint32", "u64": "uint64", "f16": "float16", "f32": "float32",
    "f64": "float64", "bf16": "bfloat16", "c64": "complex64", "c128": "complex128",
}  # fmt: skip
_CALLBACK = "callback"  # in the names of custom calls that run a function of Python
_NUMBER = re.compile(r"(?:\.\d+)+$")
_MAX_DEPTH = 16

Ref = str | list["Ref"]  # a tensor, or those of a tuple


@dataclass
class _Made:
    """The result of an instruction: its tensors, and their values, None where not known."""

    ref: Ref
    value: Any


@dataclass
class Program:
    """Goes through a program; `followed` grows. `without_values` counts instructions that could not
    be run, of which `supposed` had a namesake in the model, `problem` is why the first could
    not."""

    module: ModuleText
    followed: Followed
    execution: Execution = field(default_factory=Execution)
    without_values: int = 0
    supposed: int = 0
    problem: str = ""

    def run(self, names: Sequence[str], given: Sequence[Any]) -> list[str]:
        """Runs the entry on these arrays, whose tensors have these names; what it returns. Raises
        ValueError where the program takes others."""
        entry = self.module.computations[self.module.entry]
        shapes = [one.shapes[0] for one in entry.parameters]
        if [shape.sizes for shape in shapes] != [tuple(value.shape) for value in given]:
            raise ValueError("the program takes other inputs than the model")
        for shape, name in zip(shapes, names, strict=True):
            self.followed.given(tensor_of(name, shape))
        passed = [_Made(name, value) for name, value in zip(names, given, strict=True)]
        return _flat(self._computation(entry, passed, 0).ref)

    def _computation(self, own: Computation, given: Sequence[_Made], depth: int) -> _Made:
        made: dict[str, _Made] = {}
        last = {name: one.name for one in own.instructions.values() for name in one.operands}
        for one in own.instructions.values():
            read = [made[name] for name in one.operands]
            made[one.name] = self._instruction(own, one, read, given, depth)
            for name in one.operands:
                if last[name] == one.name and not own.instructions[name].is_root:
                    made[name] = _Made(made[name].ref, None)
        return made[own.root.name]

    def _instruction(
        self,
        own: Computation,
        one: Instruction,
        read: Sequence[_Made],
        given: Sequence[_Made],
        depth: int,
    ) -> _Made:
        if one.opcode == "parameter":
            return given[int(one.argument)]
        if one.opcode == "tuple":
            return _Made([each.ref for each in read], [each.value for each in read])
        if one.opcode == "get-tuple-element" and isinstance(read[0].ref, list):
            (index,) = one.numbers("index")
            values = read[0].value
            return _Made(read[0].ref[index], None if values is None else values[index])
        if one.opcode == "constant":
            name = f"%{one.name}"
            known = tensor_of(name, one.shapes[0])
            self.followed.tensors[name] = Tensor(name, known.dtype, known.shape, constant=True)
            return _Made(name, None)  # pieces have it in their text
        called = list(self.module.called_by(one))
        if one.opcode == "call" and len(called) == 1 and depth < _MAX_DEPTH:
            return self._computation(called[0], read, depth + 1)
        if one.opcode == "bitcast":
            return self._bitcast(own, one, read[0])
        return self._operator(own, one, read)

    def _operator(self, own: Computation, one: Instruction, read: Sequence[_Made]) -> _Made:
        reads = [name for each in read for name in _flat(each.ref)]
        if one.opcode in LOOPS:
            reads += self._inside(one, reads, 0)
        inner = operators_inside(self.module, own, one)
        kinds = {part.opcode for _, part in inner}
        names = [f"%{one.name}"]
        if one.is_tuple:
            names = [f"%{one.name}:{place}" for place in range(len(one.shapes))]
        writes = [tensor_of(name, shape) for name, shape in zip(names, one.shapes, strict=True)]
        attributes: dict[str, Attribute] = {"event": one.name}
        if one.opcode == "fusion":
            attributes["parts"] = clean_text(" ".join(part.opcode for _, part in inner), 400)
        count = flops_of(inner)
        if count is not None:
            attributes["flops"] = count
        moves = bool(kinds) and kinds <= _MOVES
        ran = Ran(one.name, op_type(one, inner), reads, writes, moves, attributes)
        values = self._values(own, one, read)
        known = [None if value is None else array_of(value) for value in values]
        self.followed.ran(ran, known, self._fixed_inside(one, 0))
        if all(value is None for value in values):
            values = self._supposed(one)
        if not one.is_tuple:
            return _Made(names[0], values[0])
        return _Made([*names], values)

    def _bitcast(self, own: Computation, one: Instruction, read: _Made) -> _Made:
        """A tensor of its own only where that is another one of the model."""
        assert isinstance(read.ref, str)
        source = own.instructions[one.operands[0]].shapes[0]
        value = None if read.value is None else reordered(read.value, source, one.shapes[0])
        if self.followed.is_constant(read.ref):
            return _Made(read.ref, value)
        array = None if value is None else array_of(value)
        attributes: dict[str, Attribute] = {"event": one.name, "view": 1}
        written = tensor_of(f"%{one.name}", one.shapes[0])
        ran = Ran(one.name, "bitcast", [read.ref], [written], True, attributes)
        held, before = self.followed.standing_for(ran, array), self.followed.held.get(read.ref)
        if held is None or (before is not None and held.original == before.original):
            return _Made(read.ref, value)
        self.followed.ran(ran, [array])
        return _Made(written.name, value)

    def _inside(self, one: Instruction, reads: Sequence[str], depth: int) -> list[str]:
        """Adds what runs inside a loop or branch, which reads what that reads; what it makes."""
        made: list[str] = []
        for called in self.module.called_by(one):
            for part in called.instructions.values():
                if part.opcode in PLUMBING:
                    continue
                if part.opcode in (*LOOPS, "call") and depth < _MAX_DEPTH:
                    made += self._inside(part, reads, depth + 1)
                if part.opcode == "call":
                    continue
                inner = operators_inside(self.module, called, part)
                written = tensor_of(f"%{part.name}", part.shapes[0])
                attributes: dict[str, Attribute] = {"event": part.name, "inside": one.name}
                ran = Ran(part.name, op_type(part, inner), reads, [written], False, attributes)
                self.followed.ran(ran, [None])
                made.append(written.name)
        return made

    def _values(
        self, own: Computation, one: Instruction, read: Sequence[_Made]
    ) -> list[Any | None]:
        """What the instruction makes, None for what cannot be had."""
        passed = dict(zip(one.operands, read, strict=True))
        try:
            if _CALLBACK in one.attribute("custom_call_target"):
                raise ValueError("it calls a function of Python")  # of a program that is not there
            made = piece(self.module, own, one)
            given = [
                passed[name].value if place is None else passed[name].value[place]
                for name, place in made.given
            ]
            if any(value is None for value in given):
                raise ValueError("what it reads is not known")
            return list(self.execution.run(made.text, given))
        except Exception as error:  # noqa: BLE001 - whatever XLA raises; only identity is lost
            self.without_values += 1
            first = str(error).strip().partition("\n")[0]
            self.problem = self.problem or clean_text(f"{one.name}: {first}", 200)
            return [None] * len(one.shapes)

    def _fixed_inside(self, one: Instruction, depth: int) -> list[Array]:
        """What a fusion computes of no input, each value as it comes up; what cannot be run is left
        out."""
        if one.opcode != "fusion" or depth > _MAX_DEPTH:
            return []
        found: list[Array] = []
        for called in self.module.called_by(one):
            values: dict[str, Any] = {}
            for part in called.instructions.values():
                if part.opcode == "fusion":
                    found += self._fixed_inside(part, depth + 1)
                is_known = all(
                    name in values or called.instructions[name].opcode == "constant"
                    for name in part.operands
                )
                if part.opcode in ("parameter", "constant") or part.is_tuple or not is_known:
                    continue
                try:
                    made = piece(self.module, called, part)
                    given = [values[name] for name, _ in made.given]
                    (values[part.name],) = self.execution.run(made.text, given)
                except Exception:  # noqa: BLE001, S112 - whatever XLA raises
                    continue
                array = array_of(values[part.name])
                if array is not None and part.opcode not in PLUMBING:
                    found.append(array)
        return found

    def _supposed(self, one: Instruction) -> list[Any | None]:
        """For an instruction that could not be run: what the only operator of the model makes that
        has its name and shapes, so that others can be run with it. It proves nothing of the
        instruction itself; were it wrong, nothing behind it would agree with the model."""
        kind, shapes = one.op_name.rpartition("/")[2], [shape.sizes for shape in one.shapes]
        model, originals = self.followed.model, self.followed.originals
        found = [
            node.outputs
            for node in model.nodes
            if node.op_type == kind
            and [model.tensor[name].shape for name in node.outputs if name] == shapes
        ]
        arrays = [originals.array(name) for name in found[0]] if len(found) == 1 else [None]
        if any(array is None for array in arrays):
            return [None] * len(one.shapes)
        self.supposed += 1
        types = [DTYPES.get(shape.dtype, "float32") for shape in one.shapes]
        return [jnp.asarray(array, kind) for array, kind in zip(arrays, types, strict=True)]


def operators_inside(
    module: ModuleText, own: Computation, one: Instruction, depth: int = 0
) -> list[tuple[Computation, Instruction]]:
    """What a fusion in `own` computes, those inside it opened, each with the computation it is in;
    of any other instruction that itself."""
    if one.opcode != "fusion" or depth > _MAX_DEPTH:
        return [(own, one)]
    found: list[tuple[Computation, Instruction]] = []
    for called in module.called_by(one):
        for part in called.instructions.values():
            if part.opcode == "fusion":
                found += operators_inside(module, called, part, depth + 1)
            elif part.opcode not in PLUMBING:
                found.append((called, part))
    return found


def op_type(one: Instruction, inner: Sequence[tuple[Computation, Instruction]]) -> str:
    """As jax calls the operator where it is one, else the name of the fusion without its number."""
    if len(inner) == 1 and one.opcode != "custom-call":
        (_, only) = inner[0]
        known = PRIMITIVES.get(only.opcode)
        return known or (_NUMBER.sub("", only.name) if only.opcode == "reduce" else only.opcode)
    if one.opcode == "custom-call":
        return clean_text(one.attribute("custom_call_target"), 80) or one.opcode
    return _NUMBER.sub("", one.name)


def reordered(value: Any, source: Shape, result: Shape) -> Any | None:
    """The same memory seen as another shape; None where also the type is another one."""
    if source.dtype != result.dtype:
        return None
    axes, _ = stored(source)
    back, sizes = stored(result)
    order = tuple(back.index(axis) for axis in range(len(back)))
    return jnp.transpose(jnp.transpose(value, axes).reshape(sizes), order)


def tensor_of(name: str, shape: Shape) -> Tensor:
    """A tensor of that shape."""
    return Tensor(name, DTYPES.get(shape.dtype), shape.sizes)


def _flat(ref: Ref) -> list[str]:
    if isinstance(ref, str):
        return [ref]
    return [name for each in ref for name in _flat(each)]
