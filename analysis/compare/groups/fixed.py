"""Fixed values: what depends on no input of the model, and which operators compute it all the same.

Constants, and what is computed from them, are the same in every run, so no boundary of a group may
rest on them: equal constants prove nothing. Whether an engine computes them in every run is another
question. Recordings of JAX tell it: `makes` of an operator are the model's fixed tensors that it
writes, `holds` those that it computes on the way, both found by their values.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from fusescope.analysis.compare.groups.disjoint import DisjointSets
from fusescope.analysis.compare.groups.equivalence import read_by
from fusescope.analysis.graph import HOLDS, MAKES, Graph, Node


class Fixed:
    """Places of the model's operators of which only fixed tensors come and that run nevertheless:
    those that an operator of the optimised graph computes, and those behind them of which no
    tensor was found: had they been folded, nothing would compute what they read."""

    def __init__(self, model: Graph, nodes: Sequence[Node], first_new: int) -> None:
        self._model, self._nodes = model, nodes
        self._place = {node.name: place for place, node in enumerate(nodes[:first_new])}
        self._made: set[str] = set()  # those that an operator writes
        self.holders: dict[int, list[int]] = {}
        for index in range(first_new, len(nodes)):
            made, held = (_names(nodes[index], key) for key in (MAKES, HOLDS))
            self._made.update(made)
            for name in (*made, *held):
                maker = model.producer.get(name)
                if maker is not None:
                    known = self.holders.setdefault(self._place[maker.name], [])
                    if index not in known:
                        known.append(index)
        self.behind: list[int] = []

    def running(self, folded: Collection[int]) -> set[int]:
        """Of the operators that seemed to be folded those that are not, in order of the model."""
        found = set(self.holders).intersection(folded)
        self.holders = {place: self.holders[place] for place in found}
        for place in sorted(folded) if found else ():
            makers = self._makers(place)
            if place not in found and any(maker in found for maker in makers):
                found.add(place)
                self.behind.append(place)
        return found

    def join(self, sets: DisjointSets[int], readers: Mapping[str, Sequence[int]]) -> None:
        """Joins each with who computes it, of several with the one whose group reads it.

        What lies behind belongs to who computes what it reads, unless that is written: then to who
        reads it.
        """
        for place in sorted(self.holders, reverse=True):
            holders = self.holders[place]
            reading = {sets.find(at) for at in self._readers(place, readers)}
            near = [at for at in holders if sets.find(at) in reading]
            sets.join((near or holders)[0], place)
        known = {*self.holders, *self.behind}
        late: list[int] = []
        for place in self.behind:
            inside = [at for at in self._makers(place, written=False) if at in known]
            if inside and inside[0] not in late:
                sets.join(inside[0], place)
            else:
                late.append(place)
        for place in reversed(late):
            sets.join([*self._readers(place, readers), *self._makers(place)][0], place)

    def _readers(self, place: int, readers: Mapping[str, Sequence[int]]) -> list[int]:
        return [at for name in self._nodes[place].outputs for at in readers.get(name, ())]

    def _makers(self, place: int, *, written: bool = True) -> list[int]:
        """Who makes what it reads; without `written` not what an operator writes as it is."""
        return [
            self._place[self._model.producer[name].name]
            for name in read_by(self._nodes[place])
            if name in self._model.producer and (written or name not in self._made)
        ]


def _names(node: Node, key: str) -> list[str]:
    told = node.attributes.get(key)
    return [str(name) for name in told] if isinstance(told, list) else []
