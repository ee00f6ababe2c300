"""Stacks: where in the host's code the calls of a trace come from, as a tree of names."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MAX_NODES = 20_000  # of one trace; what would need more ends at the last one that fits


@dataclass(frozen=True, eq=False)
class Stacks:
    """A tree of calls of the host, and the node in which each call of the trace was started.

    `names` and `parents` have an entry a node, parents before their children, -1 for none. `rows`
    are the `source_row` of calls, ascending, `nodes` the node of each. `forward` has of a call of a
    backward pass the node of the forward operator that it belongs to, -1 of others; None where no
    call has one.
    """

    names: tuple[str, ...]
    parents: np.ndarray
    rows: np.ndarray
    nodes: np.ndarray
    forward: np.ndarray | None = None

    def __post_init__(self) -> None:
        if len(self.names) != len(self.parents) or len(self.rows) != len(self.nodes):
            raise ValueError("stacks: columns differ in length")
        if (self.parents >= np.arange(len(self.parents))).any():
            raise ValueError("stacks: a node stands before its parent")
        if (self.parents < -1).any():
            raise ValueError("stacks: a parent is not in the tree")
        for nodes in (self.nodes, self.nodes if self.forward is None else self.forward):
            if len(nodes) != len(self.rows):
                raise ValueError("stacks: columns differ in length")
            if len(nodes) and not -1 <= nodes.min() <= nodes.max() < len(self.names):
                raise ValueError("stacks: a node is not in the tree")

    def of(self, source_rows: np.ndarray) -> np.ndarray:
        """The node of each of these rows of the file; -1 where it is not known."""
        return self._at(source_rows, self.nodes)

    def forward_of(self, source_rows: np.ndarray) -> np.ndarray:
        """Return the node of the forward operator of each of these rows; -1 for none."""
        if self.forward is None:
            return np.full(len(source_rows), -1)
        return self._at(source_rows, self.forward)

    def _at(self, source_rows: np.ndarray, nodes: np.ndarray) -> np.ndarray:
        if not len(self.rows):
            return np.full(len(source_rows), -1)
        places = np.minimum(np.searchsorted(self.rows, source_rows), len(self.rows) - 1)
        return np.where(self.rows[places] == source_rows, nodes[places], -1)
