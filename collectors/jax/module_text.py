"""HLO modules as text: their computations and instructions, each with the line that says it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

_HEAD = re.compile(r"^(ENTRY )?%?([\w.\-]+) ?(?:\(.*)?\{$")
_LINE = re.compile(r"^\s+(ROOT )?%?([\w.\-]+) = ")
_OPCODE = re.compile(r"\s*([a-z][\w\-]*)\(")
_NAME = re.compile(r"%([\w.\-]+)")
_COMMENT = re.compile(r"/\*.*?\*/")
_ARRAY = re.compile(r"([a-z]+[0-9]*[a-z0-9]*)\[([\d,]*)\](?:\{([\d,]*)[^}]*\})?")
_OP_NAME = re.compile(r'metadata=\{[^{}]*?op_name="([^"]*)"')
_METADATA = re.compile(r",? ?(?:metadata|frontend_attributes|sharding)=\{[^{}]*\}")


@dataclass(frozen=True)
class Shape:
    """An array: dtype as HLO calls it, sizes, and axes from the one that varies fastest."""

    dtype: str
    sizes: tuple[int, ...]
    layout: tuple[int, ...]

    @property
    def text(self) -> str:
        """As HLO writes it, without the layout."""
        return f"{self.dtype}[{','.join(map(str, self.sizes))}]"

    @property
    def is_plain(self) -> bool:
        """Whether the last axis varies fastest, then the one before it, and so on."""
        return self.layout == tuple(reversed(range(len(self.sizes))))


@dataclass(frozen=True)
class Instruction:
    """One line: `shape` and `rest` (attributes) as text, `operands` by name, `argument` what stands
    in their place for a parameter or a constant, `op_name` the framework's name for it."""

    name: str
    opcode: str
    shape: str
    operands: tuple[str, ...]
    argument: str
    rest: str
    is_root: bool
    op_name: str = ""

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """Its arrays, one after the other where it is a tuple."""
        return tuple(_shape(match) for match in _ARRAY.finditer(_COMMENT.sub("", self.shape)))

    @property
    def is_tuple(self) -> bool:
        """Whether its result is a tuple."""
        return self.shape.startswith("(")

    def attribute(self, name: str) -> str:
        """The text of an attribute: 'kLoop' of 'kind'; '' where there is none."""
        found = re.search(
            rf"(?:^|, ){name}=(\{{[^{{}}]*\}}|\"(?:[^\"\\]|\\.)*\"|[^,{{\s]+)", self.rest
        )
        return found[1].strip('"') if found else ""

    def numbers(self, name: str) -> tuple[int, ...]:
        """The numbers of an attribute that lists some."""
        return tuple(map(int, re.findall(r"-?\d+", self.attribute(name))))

    @property
    def called(self) -> tuple[str, ...]:
        """Names after a % among its attributes: computations, as far as there are such."""
        return tuple(_NAME.findall(self.rest))


@dataclass
class Computation:
    """Instructions in order, each after those that it reads."""

    name: str
    instructions: dict[str, Instruction] = field(default_factory=dict)

    @property
    def root(self) -> Instruction:
        """The one whose result is the computation's."""
        found = [one for one in self.instructions.values() if one.is_root]
        return found[0] if found else list(self.instructions.values())[-1]

    @property
    def parameters(self) -> list[Instruction]:
        """In the order in which they are passed."""
        found = [one for one in self.instructions.values() if one.opcode == "parameter"]
        return sorted(found, key=lambda one: int(one.argument))


@dataclass(frozen=True)
class ModuleText:
    """Computations by name, and which of them is the entry."""

    computations: Mapping[str, Computation]
    entry: str

    def called_by(self, instruction: Instruction) -> Iterator[Computation]:
        """The computations that an instruction names, in order."""
        for name in instruction.called:
            if name in self.computations:
                yield self.computations[name]


def parse_module(text: str) -> ModuleText:
    """The module in the text that XLA writes. Raises ValueError for what is none."""
    computations: dict[str, Computation] = {}
    entry, own = "", None
    for line in text.splitlines():
        if own is None or not line.startswith(" "):
            head = _HEAD.match(line)
            if head:
                own = computations[head[2]] = Computation(head[2])
                entry = head[2] if head[1] else entry
            continue
        found = _instruction(line)
        if found is not None:
            own.instructions[found.name] = found
    if entry not in computations:
        raise ValueError("the program has no entry")
    return ModuleText(computations, entry)


def _instruction(line: str) -> Instruction | None:
    head = _LINE.match(line)
    if head is None:
        return None
    rest = line[head.end() :]
    end = _closing(rest, 0) if rest.startswith("(") else rest.find(" ")
    shape, rest = rest[:end], rest[end:]
    opcode = _OPCODE.match(rest)
    if opcode is None:
        raise ValueError(f"an instruction cannot be read: {line.strip()[:80]}")
    start = opcode.end() - 1
    end = _closing(rest, start)
    argument, attributes = rest[start + 1 : end - 1], rest[end:].removeprefix(", ")
    is_leaf = opcode[1] in ("parameter", "constant")
    operands = () if is_leaf else tuple(_operands(argument))
    told = _OP_NAME.search(attributes)
    attributes = _METADATA.sub("", f", {attributes}").removeprefix(", ") if attributes else ""
    return Instruction(
        name=head[2],
        opcode=opcode[1],
        shape=shape,
        operands=operands,
        argument=argument if is_leaf else "",
        rest=attributes,
        is_root=bool(head[1]),
        op_name=told[1] if told else "",
    )


def _closing(text: str, start: int) -> int:
    """The place behind the bracket that closes the one at `start`; quoted ones do not count."""
    depth, at, quoted = 0, start, False
    while at < len(text):
        letter = text[at]
        if letter == "\\" and quoted:
            at += 1
        elif letter == '"':
            quoted = not quoted
        elif not quoted and letter in "({":
            depth += 1
        elif not quoted and letter in ")}":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    raise ValueError("a bracket is not closed")


def _operands(argument: str) -> Sequence[str]:
    """'f32[8]{0} %a, %b' -> a, b."""
    return [match[1] for match in _NAME.finditer(_COMMENT.sub("", argument))]


def _shape(match: re.Match[str]) -> Shape:
    sizes = tuple(int(size) for size in match[2].split(",") if size)
    layout = tuple(int(axis) for axis in (match[3] or "").split(",") if axis)
    if len(layout) != len(sizes):
        layout = tuple(reversed(range(len(sizes))))
    return Shape(match[1], sizes, layout)
