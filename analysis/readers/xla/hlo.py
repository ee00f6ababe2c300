"""HLO modules: what XLA stores of each compiled program, read as far as an operator table needs.

Field numbers are those of XLA's published `hlo.proto` and `xla_data.proto`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from analysis.operators.members import Members
from analysis.readers.building.trace_tables import shape_text
from analysis.readers.xla.protobuf import Value, fields, signed, text

# XLA's primitive types, by their number.
_DTYPES: Mapping[int, str] = {
    1: "bool", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "uint8", 7: "uint16",
    8: "uint32", 9: "uint64", 10: "float16", 11: "float32", 12: "float64", 15: "complex64",
    16: "bfloat16", 18: "complex128", 19: "float8_e5m2", 20: "float8_e4m3fn", 21: "int4",
    22: "uint4",
}  # fmt: skip
_NAMES: Mapping[str, str] = {
    "pred": "bool", "s8": "int8", "s16": "int16", "s32": "int32", "s64": "int64", "u8": "uint8",
    "u16": "uint16", "u32": "uint32", "u64": "uint64", "f16": "float16", "f32": "float32",
    "f64": "float64", "bf16": "bfloat16", "c64": "complex64", "c128": "complex128",
    "s4": "int4", "u4": "uint4", "f8e5m2": "float8_e5m2", "f8e4m3fn": "float8_e4m3fn",
}  # fmt: skip
_TUPLE = 13
# What carries values into, out of and around in a fusion, and computes nothing.
_PLUMBING = frozenset(
    ("parameter", "constant", "tuple", "get-tuple-element", "bitcast", "broadcast", "iota")
)
_WORKSPACE = re.compile(r"; int8\[\d+\]$")  # scratch memory that libraries ask for
_MAX_INSTRUCTIONS = 500_000
_MAX_TENSORS = 64
_MAX_DIMS = 32
_MAX_TEXT = 4096  # of one operator's inputs or outputs; one that needs more has no known tensors
_MAX_MEMBERS = 256  # of a fusion
_MAX_REACHED = 64  # computations that a fusion reaches through fusions inside it
_TEXT = re.compile(r"\s*%?([\w.-]+) = (.*)", re.DOTALL)
_ARRAY = re.compile(r"\b([a-z][a-z0-9]{1,7})\[([\d,<=]*)\]")
_OPCODE = re.compile(r"[\])}] ([a-z][\w-]*)\(")


@dataclass(frozen=True)
class Instruction:
    """One operator of a program: opcode, tensors as canonical text, originals of a fusion."""

    opcode: str
    inputs: str
    outputs: str
    members: Members | None = None
    op_name: str = ""  # the framework's name for it


def read_module(proto: memoryview) -> dict[str, Instruction]:
    """Instruction name -> Instruction, of an `HloProto`. Raises DamagedMessage."""
    found: dict[str, Instruction] = {}
    count = 0
    for number, module in _messages(proto):
        if number != 1:
            continue
        computations: list[dict[int, _Raw]] = []
        by_id: dict[int, dict[int, _Raw]] = {}
        for part, value in _messages(module):
            if part != 3:
                continue
            computation, own_id = _computation(value)
            count += len(computation)
            if count > _MAX_INSTRUCTIONS:
                return found
            computations.append(computation)
            by_id[own_id] = computation
        summaries = {own_id: _summary(computation) for own_id, computation in by_id.items()}
        for computation in computations:
            for raw in computation.values():
                found[raw.name] = _instruction(raw, computation, summaries)
    return found


def from_text(line: str) -> tuple[str, Instruction] | None:
    """Name and instruction out of '%fusion.3 = f32[8]{0} fusion(f32[8]{0} %p), kind=kLoop'."""
    match = _TEXT.match(line)
    if match is None:
        return None
    rest = match[2][:4000]
    opcode = _OPCODE.search(rest)
    if opcode is None:
        return match[1], Instruction("", "", "")
    operands = rest[opcode.end() :].split("), ", 1)[0]
    return match[1], Instruction(opcode[1], _arrays(operands), _arrays(rest[: opcode.start() + 1]))


@dataclass
class _Raw:
    name: str = ""
    opcode: str = ""
    outputs: str = ""
    operands: list[int] = field(default_factory=list)
    called: list[int] = field(default_factory=list)
    op_name: str = ""


# Opcodes that a computation holds, each once, and the computations of fusions in it.
_Summary = tuple[tuple[str, ...], tuple[int, ...]]


def _instruction(
    raw: _Raw, computation: Mapping[int, _Raw], summaries: Mapping[int, _Summary]
) -> Instruction:
    operands = [computation[i].outputs for i in raw.operands[:_MAX_TENSORS] if i in computation]
    members = None
    if raw.opcode == "fusion":
        types = _inside(raw, summaries)
        members = Members(types, "op_types") if types else None
    inputs = _together(operands)
    outputs = raw.outputs
    if raw.opcode == "custom-call":
        outputs = _WORKSPACE.sub("", outputs)
    return Instruction(raw.opcode, inputs, outputs, members, raw.op_name)


def _summary(computation: Mapping[int, _Raw]) -> _Summary:
    opcodes: dict[str, None] = {}
    called: dict[int, None] = {}
    for part in computation.values():
        if part.opcode == "fusion":
            called.update(dict.fromkeys(part.called))
        elif part.opcode and part.opcode not in _PLUMBING:
            opcodes[part.opcode] = None
    return tuple(opcodes)[:_MAX_MEMBERS], tuple(called)[:_MAX_REACHED]


def _inside(fusion: _Raw, summaries: Mapping[int, _Summary]) -> tuple[str, ...]:
    """Opcodes of a fusion, those of fusions inside it among them, each once."""
    found: dict[str, None] = {}
    pending = list(dict.fromkeys(fusion.called[:_MAX_REACHED]))
    reached = set(pending)
    for computation in pending:
        opcodes, called = summaries.get(computation, ((), ()))
        found.update(dict.fromkeys(opcodes))
        if len(found) >= _MAX_MEMBERS:
            break
        for inner in called:
            if inner not in reached and len(reached) < _MAX_REACHED:
                reached.add(inner)
                pending.append(inner)
    return tuple(found)[:_MAX_MEMBERS]


def _together(tensors: Sequence[str]) -> str:
    """Canonical text of several tensors; '' where it is too long to be of use."""
    text = "; ".join(text for text in tensors if text)
    return text if len(text) <= _MAX_TEXT else ""


def _computation(data: memoryview) -> tuple[dict[int, _Raw], int]:
    """Instructions by id, and the computation's own id."""
    instructions: dict[int, _Raw] = {}
    own_id = 0
    for number, value in fields(data):
        if number == 2 and not isinstance(value, int):
            raw, identity = _raw(value)
            instructions[identity] = raw
        elif number == 5:
            own_id = signed(value) or 0
    return instructions, own_id


def _raw(data: memoryview) -> tuple[_Raw, int]:
    raw, identity = _Raw(), 0
    for number, value in fields(data):
        if number == 1:
            raw.name = text(value) or ""
        elif number == 2:
            raw.opcode = text(value) or ""
        elif number == 3 and not isinstance(value, int):
            raw.outputs = _tensors(value)
        elif number == 7 and not isinstance(value, int):
            names = [text(v) for n, v in fields(value) if n == 2]
            raw.op_name = (names[-1] if names else None) or ""
        elif number == 35:
            identity = signed(value) or 0
        elif number == 36:
            raw.operands += _numbers(value)
        elif number == 38:
            raw.called += _numbers(value)
    return raw, identity


def _tensors(shape: memoryview) -> str:
    """A `ShapeProto` as canonical text; the elements of a flat tuple one after the other."""
    dtype, sizes = 0, []
    parts: list[memoryview] = []
    for number, value in fields(shape):
        if number == 2:
            dtype = signed(value) or 0
        elif number == 3:
            sizes += _numbers(value)
        elif number == 4 and not isinstance(value, int):
            parts.append(value)
    if dtype == _TUPLE:
        return _together([_array(part) for part in parts[:_MAX_TENSORS]])
    return _text(dtype, sizes)


def _array(shape: memoryview) -> str:
    dtype, sizes = 0, []
    for number, value in fields(shape):
        if number == 2:
            dtype = signed(value) or 0
        elif number == 3:
            sizes += _numbers(value)
    return _text(dtype, sizes)


def _text(dtype: int, sizes: Sequence[int]) -> str:
    name = _DTYPES.get(dtype)
    is_known = name is not None and len(sizes) <= _MAX_DIMS
    return shape_text([name or ""], [",".join(map(str, sizes))]) if is_known else ""


def _arrays(text: str) -> str:
    found = [
        (_NAMES[match[1]], match[2].replace("<=", ""))
        for match in _ARRAY.finditer(text)
        if match[1] in _NAMES
    ][:_MAX_TENSORS]
    return shape_text([dtype for dtype, _ in found], [sizes for _, sizes in found])


def _numbers(value: Value) -> list[int]:
    """A repeated integer: one number, or many packed into bytes."""
    if isinstance(value, int):
        return [signed(value) or 0]
    found, at = [], 0
    number = shift = 0
    for at in range(len(value)):
        byte = value[at]
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80 or shift > 63:
            found.append(signed(number & (2**64 - 1)) or 0)
            number = shift = 0
    return found


def _messages(data: memoryview) -> list[tuple[int, memoryview]]:
    return [(number, value) for number, value in fields(data) if not isinstance(value, int)]
