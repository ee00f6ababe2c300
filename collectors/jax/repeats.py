"""What a program computes in several of its operators, each for itself: XLA copies what is cheap
into every fusion that reads it.

Instructions are numbered by what they compute: of equal opcode, attributes and operands they have
one number, also across fusions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from fusescope.collectors.jax.module_text import Computation, Instruction, ModuleText
from fusescope.collectors.jax.pieces import HOW, split

# Compute nothing, or numbers that depend on nothing but a shape.
_NO_WORK = frozenset(
    (
        "parameter", "constant", "tuple", "get-tuple-element", "bitcast", "copy", "reshape",
        "transpose", "broadcast", "iota", "slice",
    )
)  # fmt: skip
# Two of them are two, whatever they read.
_NEVER_EQUAL = ("custom-call", "rng", "rng-bit-generator", "while", "conditional", "infeed")
_MAX_DEPTH = 16


def recomputed(module: ModuleText) -> int:
    """How many operators of the user's code are computed in more than one operator of the program.
    What one of them became, such as the 80 instructions of an `erf`, counts once."""
    numbering = _Numbering(module)
    entry = module.computations[module.entry]
    given = [numbering.new("input", str(place)) for place in range(len(entry.parameters))]
    numbering.computation(entry, given, "", 0)
    again = {number for number, owners in numbering.owners.items() if len(owners) > 1}
    counted: dict[int, int] = {}  # number -> the operator of the code that it belongs to
    for number in sorted(again):  # what it reads has a lower one
        name = numbering.told[number].op_name
        near = {
            counted[read]
            for read in numbering.reads[number]
            if read in again and numbering.told[read].op_name == name
        }
        own = min(near, default=number)
        counted |= {one: own for one, of in counted.items() if of in near} | {number: own}
    return len({*counted.values()})


@dataclass
class _Numbering:
    """`owners`: the program's operators that compute a number; `told`: the first instruction that
    did; `reads`: the numbers of what it reads."""

    module: ModuleText
    owners: dict[int, set[str]] = field(default_factory=dict)
    told: dict[int, Instruction] = field(default_factory=dict)
    reads: dict[int, Sequence[int]] = field(default_factory=dict)
    _known: dict[tuple[object, ...], int] = field(default_factory=dict)
    _tuples: dict[int, Sequence[int]] = field(default_factory=dict)

    def new(self, *key: object) -> int:
        """The number of what is known by this key."""
        return self._known.setdefault(key, len(self._known))

    def computation(self, own: Computation, given: Sequence[int], owner: str, depth: int) -> int:
        """The number of its result; `owner` is the operator it is a part of, '' for none."""
        made: dict[str, int] = {}
        for one in own.instructions.values():
            read = [made[name] for name in one.operands]
            made[one.name] = self._instruction(one, read, given, owner, depth)
        return made[own.root.name]

    def _instruction(
        self, one: Instruction, read: Sequence[int], given: Sequence[int], owner: str, depth: int
    ) -> int:
        called = list(self.module.called_by(one))
        if one.opcode == "parameter":
            return given[int(one.argument)]
        if one.opcode in ("fusion", "call") and len(called) == 1 and depth < _MAX_DEPTH:
            inside = owner or (one.name if one.opcode == "fusion" else "")
            return self.computation(called[0], read, inside, depth + 1)
        if one.opcode == "tuple":
            number = self.new("tuple", *read)
            self._tuples[number] = read
            return number
        if one.opcode == "get-tuple-element" and read[0] in self._tuples:
            return self._tuples[read[0]][one.numbers("index")[0]]
        if one.opcode in _NEVER_EQUAL:
            number = self.new("one", owner, one.name)
        else:
            shapes = tuple(shape.text for shape in one.shapes)
            inner = tuple(self._meaning(computation, depth) for computation in called)
            kept = [part for part in split(one.rest) if part.partition("=")[0] not in HOW]
            names = {computation.name for computation in called}
            told = [part for part in kept if part.partition("=")[2].lstrip("%") not in names]
            key = (one.opcode, shapes, one.argument, tuple(told), inner, *read)
            number = self.new(*key)
        if one.opcode not in _NO_WORK:
            self.owners.setdefault(number, set()).add(owner or one.name)
        self.told.setdefault(number, one)
        self.reads.setdefault(number, read)
        return number

    def _meaning(self, own: Computation, depth: int) -> int:
        """Equal for computations, such as that of a sum, that do the same under other names."""
        if depth >= _MAX_DEPTH:
            return self.new("computation", own.name)
        inner = _Numbering(self.module, _known=self._known)
        given = [self.new("argument", str(place)) for place in range(len(own.parameters))]
        return inner.computation(own, given, "", depth + 1)
