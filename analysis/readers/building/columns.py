"""Columns of a trace while they are collected, one entry a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


class Columns(dict[str, list[object]]):
    """Equally long columns by name; one that only some rows have is None in the others."""

    def __init__(self, *names: str) -> None:
        super().__init__({name: [] for name in names})
        self.count = 0

    def add(self, **cells: object) -> None:
        """Append one row."""
        for name, cell in cells.items():
            if name not in self:
                self[name] = [None] * self.count
            self[name].append(cell)
        self.count += 1
        if len(cells) < len(self):
            for column in self.values():
                column += [None] * (self.count - len(column))

    def extend(self, rows: Mapping[str, Sequence[object]]) -> None:
        """Append rows, each of which has a name."""
        count = len(rows["name"])
        for name in {**self, **rows}:
            self.setdefault(name, [None] * self.count).extend(rows.get(name, [None] * count))
        self.count += count
