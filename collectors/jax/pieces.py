"""Single instructions of a program as programs of their own.

An instruction is taken out with the computations that it calls; what it reads becomes parameters.
A fusion is written as a call of its computation, which is what it means, and layouts are left
out: they do not change what an instruction computes, except for a call of a library, which keeps
them, and a bitcast, which is written as the transposition that it stands for. Names are numbers,
so that equal instructions give one text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from fusescope.collectors.jax.module_text import Computation, Instruction, ModuleText, Shape

# Say how the compiler carries an instruction out, not what it computes.
HOW = (
    "kind", "backend_config", "outer_dimension_partitions", "frontend_attributes", "metadata",
    "control-predecessors", "sharding", "origin", "statistics", "output_to_operand_aliasing",
)  # fmt: skip
_LAYOUT = re.compile(r"(?<=\])\{[^{}]*\}")
_MAX_COMPUTATIONS = 5000


@dataclass(frozen=True)
class Piece:
    """A program of one instruction: its text, and the names of what it is given, in order; elements
    of a tuple have the name of the tuple and their place."""

    text: str
    given: tuple[tuple[str, int | None], ...]


def piece(module: ModuleText, own: Computation, instruction: Instruction) -> Piece:
    """The instruction, which is in that computation, as a program."""
    made = _Writing(module)
    lines: list[str] = []
    names: dict[str, str] = {}
    given: list[tuple[str, int | None]] = []
    for operand in dict.fromkeys(instruction.operands):
        read = own.instructions[operand]
        name = names[operand] = f"v{len(names)}"
        if read.opcode == "constant":
            lines.append(made.line(read, name, names))
        elif not read.is_tuple:
            lines.append(f"%{name} = {read.shapes[0].text} parameter({len(given)})")
            given.append((operand, None))
        else:
            parts = []
            for place, shape in enumerate(read.shapes):
                lines.append(f"%{name}_{place} = {shape.text} parameter({len(given)})")
                parts.append(f"%{name}_{place}")
                given.append((operand, place))
            lines.append(f"%{name} = {_plain(read.shape)} tuple({', '.join(parts)})")
    lines += made.lines(instruction, "result", names, own)
    lines[-1] = f"ROOT {lines[-1]}"
    whole = [*made.computations, "ENTRY %main {", *(f"  {line}" for line in lines), "}"]
    return Piece("\n".join(["HloModule piece", "", *whole, ""]), tuple(given))


@dataclass
class _Writing:
    module: ModuleText
    computations: list[str] = field(default_factory=list)
    _names: dict[str, str] = field(default_factory=dict)

    def lines(
        self, one: Instruction, name: str, names: dict[str, str], own: Computation
    ) -> list[str]:
        """The instruction under that name; `names` are those of what it reads."""
        if one.opcode == "copy":
            return [f"%{name} = {_plain(one.shape)} reshape(%{names[one.operands[0]]})"]
        if one.opcode == "bitcast":
            source = own.instructions[one.operands[0]].shapes[0]
            return list(_as_transposition(names[one.operands[0]], name, source, one.shapes[0]))
        return [self.line(one, name, names)]

    def line(self, one: Instruction, name: str, names: dict[str, str]) -> str:
        operands = ", ".join(f"%{names[operand]}" for operand in one.operands)
        opcode = "call" if one.opcode == "fusion" else one.opcode
        rest = one.rest
        if one.opcode != "custom-call":
            rest = ", ".join(part for part in split(rest) if part.partition("=")[0] not in HOW)
        if one.opcode == "fusion":
            rest = rest.replace("calls=", "to_apply=")
        for called in self.module.called_by(one):
            rest = re.sub(rf"%{re.escape(called.name)}(?![\w.\-])", f"%{self._own(called)}", rest)
        tail = f", {rest}" if rest else ""
        argument = one.argument or operands
        # A library writes in the layout that it was promised.
        shape = _uncommented(one.shape) if one.opcode == "custom-call" else _plain(one.shape)
        return f"%{name} = {shape} {opcode}({argument}){tail}"

    def _own(self, computation: Computation) -> str:
        """The name of a computation here; it is written on the way, those that it calls first."""
        known = self._names.get(computation.name)
        if known is not None:
            return known
        if len(self._names) >= _MAX_COMPUTATIONS:
            raise ValueError("computations call too many others")
        own = self._names[computation.name] = f"c{len(self._names)}"
        names: dict[str, str] = {}
        lines = []
        for one in computation.instructions.values():
            names[one.name] = f"v{len(names)}"
            found = self.lines(one, names[one.name], names, computation)
            if one.is_root:
                found[-1] = f"ROOT {found[-1]}"
            lines += found
        self.computations += [f"%{own} {{", *(f"  {line}" for line in lines), "}", ""]
        return own


def split(rest: str) -> list[str]:
    """Attributes, one text each: commas inside brackets and quotes separate none."""
    found, depth, quoted, start, at = [], 0, False, 0, 0
    while at < len(rest):
        letter = rest[at]
        if letter == "\\" and quoted:
            at += 1
        elif letter == '"':
            quoted = not quoted
        elif not quoted and letter in "({[":
            depth += 1
        elif not quoted and letter in ")}]":
            depth -= 1
        elif not quoted and letter == "," and depth == 0:
            found.append(rest[start:at].strip())
            start = at + 1
        at += 1
    return [part for part in (*found, rest[start:].strip()) if part]


def _plain(shape: str) -> str:
    return _LAYOUT.sub("", _uncommented(shape))


def _uncommented(shape: str) -> str:
    return re.sub(r"/\*.*?\*/", "", shape)


def stored(shape: Shape) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Axes from the one that varies slowest, and the sizes in that order."""
    axes = tuple(reversed(shape.layout))
    return axes, tuple(shape.sizes[axis] for axis in axes)


def _as_transposition(read: str, name: str, source: Shape, result: Shape) -> Sequence[str]:
    if source.dtype != result.dtype:
        if (source.sizes, source.layout) != (result.sizes, result.layout):
            raise ValueError("a bitcast changes type and shape")
        return (f"%{name} = {result.text} bitcast-convert(%{read})",)
    axes, sizes = stored(source)
    back, stored_sizes = stored(result)
    order = tuple(back.index(axis) for axis in range(len(back)))

    def text(found: tuple[int, ...]) -> str:
        return f"{source.dtype}[{','.join(map(str, found))}]"

    def listed(found: Sequence[int]) -> str:
        return ",".join(map(str, found))

    return (
        f"%{name}_a = {text(sizes)} transpose(%{read}), dimensions={{{listed(axes)}}}",
        f"%{name}_b = {text(stored_sizes)} reshape(%{name}_a)",
        f"%{name} = {result.text} transpose(%{name}_b), dimensions={{{listed(order)}}}",
    )
