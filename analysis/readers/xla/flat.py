"""A program as one list of instructions, with fusions and calls opened: who reads whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fusescope.analysis.readers.xla.computations import Computation, Module, Raw

# Computations that run as instructions of their own, in the place of the one that calls them.
_INLINE = frozenset(("call", "async-start"))
_LOOPS = frozenset(("while", "conditional"))
# What moves values; of weights and inputs alone that is not an operator of its own.
_MOVES = frozenset(
    (
        "broadcast", "iota", "reshape", "transpose", "copy", "convert", "slice", "reverse",
        "concatenate", "pad", "dynamic-slice",
    )
)  # fmt: skip
_MAX_STEPS = 600_000  # of going through a program
_MAX_DEPTH = 16  # of computations inside one another

_Ref = int | list[int]  # an instruction, or those of a tuple; -1: not known


@dataclass(frozen=True)
class Item:
    """One instruction that computes or moves something: what it reads, by place in the list, the
    name of the instruction that runs it (its fusion's), and whether it only hands on weights,
    inputs and constants."""

    raw: Raw
    reads: tuple[int, ...]
    runs_in: str
    is_source: bool


def flattened(module: Module) -> tuple[list[Item], list[Raw]] | None:
    """The instructions in an order in which they can run, and the calls that were opened; None for
    a program beyond the limits."""
    made = _Flattening(module)
    try:
        for root in made.roots():
            made.computation(module.computations[root], [], 0)
    except _TooLarge:
        return None
    return made.items, made.calls


class _TooLarge(Exception):
    pass


class _Flattening:
    def __init__(self, module: Module) -> None:
        self.module = module
        self.items: list[Item] = []
        self.calls: list[Raw] = []
        self._steps = 0

    def roots(self) -> list[int]:
        """Computations that nothing opens: the entry, and bodies of loops."""
        opened: set[int] = set()
        for computation in self.module.computations.values():
            for raw in computation.instructions.values():
                if raw.opcode not in _LOOPS:
                    opened.update(raw.called)
        return [own for own in self.module.computations if own not in opened]

    def computation(
        self, own: Computation, given: Sequence[_Ref], depth: int, fusion: str = ""
    ) -> _Ref:
        """Adds its instructions; what its result is. `fusion` is the one that it is inside of."""
        refs: dict[int, _Ref] = {}
        last = 0
        for identity, raw in own.instructions.items():
            read = [refs.get(operand, -1) for operand in raw.operands]
            self._step(1 + len(read))
            refs[identity] = self._instruction(raw, read, given, depth, fusion)
            last = identity
        return refs.get(own.root, refs.get(last, -1))

    def _instruction(
        self, raw: Raw, read: list[_Ref], given: Sequence[_Ref], depth: int, fusion: str
    ) -> _Ref:
        if raw.opcode == "parameter":
            return given[raw.number] if 0 <= raw.number < len(given) else -1
        if raw.opcode == "constant":
            return -1
        if raw.opcode == "bitcast" and len(read) == 1:
            return read[0]
        if raw.opcode == "tuple":
            return [ref if isinstance(ref, int) else next(iter(ref), -1) for ref in read]
        if raw.opcode == "get-tuple-element" and read:
            return _element(read[0], raw.number)
        if len(raw.called) == 1 and depth < _MAX_DEPTH:
            called = self.module.computations.get(raw.called[0])
            if called is not None and raw.opcode == "fusion":
                return self.computation(called, read, depth + 1, fusion or raw.name)
            if called is not None and raw.opcode in _INLINE and not fusion:
                self.calls.append(raw)
                return self.computation(called, read, depth + 1)
        flat: list[int] = []
        for ref in read:
            flat += [ref] if isinstance(ref, int) else ref
        self._step(len(flat))
        reads = tuple(ref for ref in flat if ref >= 0)
        data = reads
        if raw.opcode == "dynamic-slice" and read and isinstance(read[0], int):
            data = (read[0],) if read[0] >= 0 else ()  # where to cut is computed
        is_move = raw.opcode in _MOVES and all(self.items[at].is_source for at in data)
        self.items.append(Item(raw, reads, fusion or raw.name, is_move))
        return len(self.items) - 1

    def _step(self, count: int) -> None:
        self._steps += count
        if self._steps > _MAX_STEPS:
            raise _TooLarge


def _element(ref: _Ref, number: int) -> _Ref:
    if isinstance(ref, int):
        return ref
    return ref[number] if 0 <= number < len(ref) else -1
