"""HLO modules: what XLA stores of each compiled program, as far as an operator table needs it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from fusescope.analysis.operators.members import Members
from fusescope.analysis.readers.building.trace_tables import shape_text
from fusescope.analysis.readers.xla.computations import (
    MAX_TENSORS,
    Module,
    Raw,
    read_computations,
    together,
)
from fusescope.analysis.readers.xla.origins import origins

_NAMES: Mapping[str, str] = {
    "pred": "bool", "s8": "int8", "s16": "int16", "s32": "int32", "s64": "int64", "u8": "uint8",
    "u16": "uint16", "u32": "uint32", "u64": "uint64", "f16": "float16", "f32": "float32",
    "f64": "float64", "bf16": "bfloat16", "c64": "complex64", "c128": "complex128",
    "s4": "int4", "u4": "uint4", "f8e5m2": "float8_e5m2", "f8e4m3fn": "float8_e4m3fn",
}  # fmt: skip
# What carries values into, out of and around in a fusion, and computes nothing.
_PLUMBING = frozenset(
    ("parameter", "constant", "tuple", "get-tuple-element", "bitcast", "broadcast", "iota")
)
_WORKSPACE = re.compile(r"; int8\[\d+\]$")  # scratch memory that libraries ask for
_MAX_MEMBERS = 256  # of a fusion
_MAX_CHARS = 32_768  # of the names of its originals
_MAX_ALL_CHARS = 16_777_216  # of those of all instructions of a program
_MAX_REACHED = 64  # computations that a fusion reaches through fusions inside it
_TEXT = re.compile(r"\s*%?([\w.-]+) = (.*)", re.DOTALL)
_ARRAY = re.compile(r"\b([a-z][a-z0-9]{1,7})\[([\d,<=]*)\]")
_OPCODE = re.compile(r"[\])}] ([a-z][\w-]*)\(")


@dataclass(frozen=True)
class Instruction:
    """One operator of a program: opcode, tensors as canonical text, its originals, and the opcodes
    inside a fusion. `turn` is its place among what the program runs one after the other, None for
    what is inside of one of them, or runs nothing."""

    opcode: str
    inputs: str
    outputs: str
    members: Members | None = None
    op_name: str = ""  # the framework's name for it
    types: tuple[str, ...] = ()
    turn: int | None = None


def read_module(proto: memoryview) -> dict[str, Instruction]:
    """Instruction name -> Instruction, of an `HloProto`. Raises DamagedMessage."""
    module = read_computations(proto)
    originals = _short(origins(module))
    summaries = {own: _summary(c.instructions) for own, c in module.computations.items()}
    found = {
        raw.name: _instruction(raw, computation.instructions, summaries, originals)
        for computation in module.computations.values()
        for raw in computation.instructions.values()
    }
    for turn, name in enumerate(_scheduled(module)):
        found[name] = replace(found[name], turn=turn)
    return found


def _scheduled(module: Module) -> Iterator[str]:
    """The instructions that the program runs, in its order."""
    entry = module.computations.get(module.entry)
    instructions = entry.instructions if entry is not None else {}
    for identity in dict.fromkeys(module.schedule):
        raw = instructions.get(identity)
        if raw is not None and raw.opcode not in _PLUMBING:
            yield raw.name


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


# Opcodes that a computation holds, each once, and the computations of fusions in it.
_Summary = tuple[tuple[str, ...], tuple[int, ...]]


def _instruction(
    raw: Raw,
    computation: Mapping[int, Raw],
    summaries: Mapping[int, _Summary],
    originals: Mapping[str, tuple[str, ...]],
) -> Instruction:
    operands = [computation[i].outputs for i in raw.operands[:MAX_TENSORS] if i in computation]
    types = _inside(raw, summaries) if raw.opcode == "fusion" else ()
    names = originals.get(raw.name)
    if names is not None:
        members: Members | None = Members(names, "parts")
    else:
        members = Members(types, "op_types") if types else None
    outputs = raw.outputs
    if raw.opcode == "custom-call":
        outputs = _WORKSPACE.sub("", outputs)
    return Instruction(raw.opcode, together(operands), outputs, members, raw.op_name, types)


def _short(originals: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Without those whose names would take too much room, alone or all together."""
    found = {}
    room = _MAX_ALL_CHARS
    for name, texts in originals.items():
        size = sum(map(len, texts))
        if size <= min(_MAX_CHARS, room):
            found[name] = texts
            room -= size
    return found


def _summary(computation: Mapping[int, Raw]) -> _Summary:
    opcodes: dict[str, None] = {}
    called: dict[int, None] = {}
    for part in computation.values():
        if part.opcode == "fusion":
            called.update(dict.fromkeys(part.called))
        elif part.opcode and part.opcode not in _PLUMBING:
            opcodes[part.opcode] = None
    return tuple(opcodes)[:_MAX_MEMBERS], tuple(called)[:_MAX_REACHED]


def _inside(fusion: Raw, summaries: Mapping[int, _Summary]) -> tuple[str, ...]:
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


def _arrays(text: str) -> str:
    found = [
        (_NAMES[match[1]], match[2].replace("<=", ""))
        for match in _ARRAY.finditer(text)
        if match[1] in _NAMES
    ][:MAX_TENSORS]
    return shape_text([dtype for dtype, _ in found], [sizes for _, sizes in found])
