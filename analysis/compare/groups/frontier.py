"""Frontier: which values cross the boundaries of groups, on either side, and where that differs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property

import msgspec

Crossing = dict[int, set[str]]


class Mismatch(msgspec.Struct, frozen=True):
    """A group whose boundary differs: values that only one side (original, optimised) reads from
    other groups or hands out to them."""

    group: int
    reads: tuple[tuple[str, ...], tuple[str, ...]]
    writes: tuple[tuple[str, ...], tuple[str, ...]]


class Frontier:
    """Groups by number, values by name; side 0 is the original graph, 1 the optimised one.

    `outputs` are the values that the whole model returns; `equal_to` gives values that cannot be
    told apart one name, so that either may be read in place of the other.
    """

    def __init__(self, outputs: Iterable[str], equal_to: Callable[[str], str]) -> None:
        self._outputs = set(outputs)
        self._equal_to = equal_to
        self._made: tuple[dict[str, set[int]], ...] = ({}, {})
        self._read: tuple[dict[str, set[int]], ...] = ({}, {})
        self._makes: tuple[Crossing, ...] = ({}, {})
        self._reads: tuple[Crossing, ...] = ({}, {})

    def add_made(self, side: int, value: str, group: int) -> None:
        """On this side the group makes the value."""
        self._made[side].setdefault(value, set()).add(group)
        self._makes[side].setdefault(group, set()).add(value)

    def add_read(self, side: int, value: str, group: int) -> None:
        """On this side the group reads the value."""
        self._read[side].setdefault(value, set()).add(group)
        self._reads[side].setdefault(group, set()).add(value)

    def mismatches(self) -> list[Mismatch]:
        """The groups whose boundary is not the same on both sides."""
        groups = {group for table in (*self._makes, *self._reads) for group in table}
        found = []
        for group in sorted(groups):
            (reads_0, writes_0), (reads_1, writes_1) = (self._crossing(s, {group}) for s in (0, 1))
            if (reads_0, writes_0) != (reads_1, writes_1):
                found.append(
                    Mismatch(
                        group,
                        (_sorted(reads_0 - reads_1), _sorted(reads_1 - reads_0)),
                        (_sorted(writes_0 - writes_1), _sorted(writes_1 - writes_0)),
                    )
                )
        return found

    def neighbours(self, mismatch: Mismatch) -> set[int]:
        """The fewest groups at the other end of what differs that settle it; else all of them."""
        own = {mismatch.group}
        made = [_ends(self._makers, values) for values in mismatch.reads]
        read = _ends(self._readers, (*mismatch.writes[0], *mismatch.writes[1]))
        for some in (made[0], made[1], made[0] | made[1], read):
            joined = some | own
            if some - own and self._crossing(0, joined) == self._crossing(1, joined):
                return some - own
        return (made[0] | made[1] | read) - own

    def _crossing(self, side: int, groups: set[int]) -> tuple[set[str], set[str]]:
        """What these groups, taken as one, read from others and hand out to them."""
        made = {value for group in groups for value in self._makes[side].get(group, ())}
        read = {value for group in groups for value in self._reads[side].get(group, ())}
        wanted = {v for v in made if v in self._outputs or self._read[side].get(v, set()) - groups}
        equal = self._equal_to
        return {equal(value) for value in read - made}, {equal(value) for value in wanted}

    @cached_property
    def _makers(self) -> Mapping[str, set[int]]:
        return self._ends_of(self._made)

    @cached_property
    def _readers(self) -> Mapping[str, set[int]]:
        return self._ends_of(self._read)

    def _ends_of(self, sides: tuple[dict[str, set[int]], ...]) -> dict[str, set[int]]:
        """Value -> the groups of both sides at it, or at one that is equal to it."""
        found: dict[str, set[int]] = {}
        for side in sides:
            for value, groups in side.items():
                found.setdefault(self._equal_to(value), set()).update(groups)
        return found


def _ends(groups_at: Mapping[str, set[int]], values: Iterable[str]) -> set[int]:
    return {group for value in values for group in groups_at.get(value, ())}


def _sorted(values: set[str]) -> tuple[str, ...]:
    return tuple(sorted(values))
