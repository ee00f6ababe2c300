"""Fusion: which original operators became which operators of either side, group by group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Diagnostic

# kept: one operator on each side, of the same type; fused: fewer operators than before;
# replaced: others, but not fewer; split: one became several; folded: computed when the model is
# loaded; removed: nothing takes its place, its result is its input or is not needed; loaded: a
# Constant that the engine reads as a weight.
Kind = Literal["kept", "fused", "replaced", "split", "folded", "removed", "loaded"]
# name: tensor names on both sides; value: tensors with the same values on the same input;
# structure: the engine's node names and the graphs' shape; merged: a boundary could not be proven,
# so neighbours were joined; members: the trace names the originals; compiler: the
# compiler's own map names them, call by call; inferred: same type, shapes
# and order in two traces without graphs; launched_by: all kernels that one operator of the
# framework launched; listed: generated kernels with what launched the types that their names list;
# op_class: kernels of one class that nothing else ties together.
KnownBy = Literal[
    "name", "value", "structure", "merged", "members", "compiler", "inferred", "launched_by",
    "listed", "op_class",
]  # fmt: skip


# Groups of two traces without graphs, whose members nobody has told.
UNPROVEN: tuple[KnownBy, ...] = ("inferred", "launched_by", "listed", "op_class")

Names = frozenset[str]  # of operators


class Operator(msgspec.Struct, frozen=True, gc=False):
    """One operator of a group; `scope` is the module it belongs to, '' if unknown.

    `row` is its row in the trace of the side that ran it, given where names are not unique (one
    GPU kernel runs for many operators of the model). `place` is its line of source code, '' if
    unknown.
    """

    name: str
    op_type: str
    scope: str = ""
    row: int | None = None
    place: str = ""


class Part(msgspec.Struct, frozen=True):
    """One group of one side's own: operators of the model, and those that run in their place, each
    in graph order; without the latter where nothing does."""

    original: tuple[Operator, ...]
    operators: tuple[Operator, ...]


class Shared(msgspec.Struct, frozen=True):
    """Operators of the model that a part of the baseline and a part of the candidate share;
    `places` are those of the two parts in `Group.parts`."""

    original: tuple[Operator, ...]
    places: tuple[int, int]


class Group(msgspec.Struct, frozen=True, gc=False):
    """The smallest set of operators with the same boundary tensors in all three graphs.

    `original` are the model's operators, `baseline` and `candidate` those that either side ran in
    their place, each in graph order; `inputs` and `outputs` name the boundary tensors as the model
    does, weights left out. `bytes_inside` are bytes of tensors that are written and read only
    inside, per side (None: a size is unknown). `difference` is max|a-b| and max|a-b| / max|a| of
    the candidate's outputs against the model's, None where not recorded. `recomputed` are originals
    of which several kernels compute the same. `parts` are each side's own groups, in model order,
    where both sides have several: then either runs operators together that the other runs apart,
    and no boundary inside divides both. Otherwise there are none.
    """

    id: int
    kind: Kind
    known_by: KnownBy
    original: tuple[Operator, ...]
    baseline: tuple[Operator, ...]
    candidate: tuple[Operator, ...]
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    bytes_inside: tuple[int | None, int | None] = (None, None)
    difference: tuple[float | None, float | None] | None = None
    recomputed: tuple[str, ...] = ()
    parts: tuple[tuple[Part, ...], tuple[Part, ...]] = ((), ())

    @property
    def side_by_side(self) -> tuple[Shared, ...]:
        """What each two parts share, in model order; every original is in exactly one of these.
        () without parts."""
        places = [
            {one.name: at for at, part in enumerate(side) for one in part.original}
            for side in self.parts
        ]
        shared: dict[tuple[int, int], list[Operator]] = {}
        for one in self.original if all(self.parts) else ():
            shared.setdefault((places[0][one.name], places[1][one.name]), []).append(one)
        return tuple(Shared(tuple(original), at) for at, original in shared.items())


@dataclass(frozen=True)
class Fusion:
    """All groups of a comparison.

    `original_nodes` are the operators of the model file, `mapped_nodes` those in a group (all, or
    a diagnostic says why not). `inserted` are operators of (baseline, candidate) that only change
    layout, shape or dtype between groups. `boundary_mismatches` counts groups whose boundary
    differs between the graphs. `source` is where the groups come from; 'none' has no groups.
    `fused` are the names of those of (baseline, candidate) that stand for several of the model's
    or run in the blocked layout, known of graphs alone.
    """

    source: Literal["graphs", "members", "inferred", "none"]
    groups: tuple[Group, ...] = ()
    original_nodes: int = 0
    mapped_nodes: int = 0
    optimised_nodes: int = 0
    inserted: tuple[tuple[Operator, ...], tuple[Operator, ...]] = ((), ())
    boundary_mismatches: int = 0
    diagnostics: tuple[Diagnostic, ...] = ()
    fused: tuple[Names, Names] = (frozenset(), frozenset())

    @property
    def largest(self) -> int:
        """Original operators of the largest group."""
        return max((len(group.original) for group in self.groups), default=0)

    @property
    def joined(self) -> tuple[Group, ...]:
        """Groups that are several on both sides."""
        return tuple(group for group in self.groups if all(group.parts))

    def group(self, id: int) -> Group:
        """The group of that id; KeyError when there is none."""
        for group in self.groups:
            if group.id == id:
                return group
        raise KeyError(id)


def group_places(names: Sequence[str], claims: Sequence[Sequence[Operator]]) -> list[int]:
    """For each operator of a trace, by its name, the place in `claims` of who has it; else -1.

    What two of them claim is in neither: a trace cannot tell whose time it was.
    """
    named: dict[str, int] = {}
    rows: dict[int, int] = {}
    for index, operators in enumerate(claims):
        for operator in operators:
            if operator.row is None:
                name = clean_text(operator.name)
                if named.setdefault(name, index) != index:
                    named[name] = -1
            elif rows.setdefault(operator.row, index) != index:
                rows[operator.row] = -1
    if not named:
        return [rows.get(row, -1) for row in range(len(names))]
    return [rows.get(row, named.get(name, -1)) for row, name in enumerate(names)]
