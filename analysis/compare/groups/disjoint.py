"""Disjoint sets: things found to belong together, one by one."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

Item = TypeVar("Item", bound=Hashable)


class DisjointSets(Generic[Item]):
    """Sets of items; each is known by one of its items. Every item starts in a set of its own."""

    def __init__(self) -> None:
        self._parent: dict[Item, Item] = {}

    def find(self, item: Item) -> Item:
        """The item that the set of `item` is known by."""
        parent = self._parent
        while (above := parent.get(item, item)) != item:
            parent[item] = parent.get(above, above)
            item = above
        return item

    def join(self, kept: Item, other: Item) -> bool:
        """Makes one set of two, known by `kept`'s item; whether they were two until now."""
        first, second = self.find(kept), self.find(other)
        if first == second:
            return False
        self._parent[second] = first
        return True

    def join_all(self, items: Iterable[Item]) -> None:
        """Makes one set of the sets of all these items, known by the first one's."""
        first: list[Item] = []
        for item in items:
            if first:
                self.join(first[0], item)
            else:
                first.append(item)
