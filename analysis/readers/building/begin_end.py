"""Begin and end events of threads, joined into spans."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

_MAX_OPEN = 10_000  # on one thread


class Mark(NamedTuple):
    """A begin or an end: its time in ns, its row in the file, and its thread."""

    time_ns: int
    row: int
    begins: bool
    name: str
    lane: tuple[bytes, bytes]  # process and thread


class Pair(NamedTuple):
    """A begin with its end. `crosses` where spans that began inside of it end later."""

    begin: Mark
    end: Mark
    crosses: bool


@dataclass
class _Open:
    mark: Mark
    has_ended: bool = False


def pairs(marks: Sequence[Mark]) -> tuple[list[Pair], int]:
    """Each end with the last open begin of its thread that has its name, in order of ends, and how
    many marks have no partner.

    An end without a name ends what began last, and one with a name what has none where nothing of
    that name is open. Chrome's format lets ends leave out names, and Perfetto joins in the same
    way. Linear in the number of marks.
    """
    running: dict[object, list[_Open]] = defaultdict(list)
    named: dict[object, list[_Open]] = defaultdict(list)
    found: list[Pair] = []
    unpaired = 0
    for mark in sorted(marks, key=lambda mark: (mark.time_ns, mark.row)):
        stack = running[mark.lane]
        if mark.begins:
            if len(stack) < _MAX_OPEN:
                stack.append(_Open(mark))
                named[mark.lane, mark.name].append(stack[-1])
            else:
                unpaired += 1
            continue
        begun = _begun(mark, stack, named)
        if begun is None:
            unpaired += 1
            continue
        begun.has_ended = True
        crosses = stack[-1] is not begun
        while stack and stack[-1].has_ended:
            stack.pop()
        found.append(Pair(begun.mark, mark, crosses))
    return found, unpaired + sum(not begun.has_ended for s in running.values() for begun in s)


def _begun(mark: Mark, stack: Sequence[_Open], named: dict[object, list[_Open]]) -> _Open | None:
    """The open begin that this mark ends; None where there is none."""
    if not stack:
        return None
    if not mark.name:
        return stack[-1]
    for name in (mark.name, ""):
        alike = named.get((mark.lane, name), [])
        while alike:
            begun = alike.pop()
            if not begun.has_ended:
                return begun
    return None
