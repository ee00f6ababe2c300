"""The modules of the model of one trace, with the time of each, and which takes most."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fusescope.analysis.advice.explanation.repeats import places_in_repeats
from fusescope.analysis.advice.explanation.traced import Traced
from fusescope.analysis.compare.graphs.names_by_order import with_own_names_by_order
from fusescope.analysis.compare.model_tree import ModelTree
from fusescope.analysis.compare.model_tree.costliest import Costliest, costliest
from fusescope.analysis.compare.model_tree.paths import Located, located
from fusescope.analysis.compare.model_tree.tree import tree_of_one
from fusescope.analysis.metrics.memo import once
from fusescope.analysis.trace import Trace


@dataclass(frozen=True, eq=False)
class TracedTree:
    """The tree of one trace by units of work of this name, and the part of it that takes most, None
    of a tree without time."""

    tree: ModelTree
    unit_name: str
    costliest: Costliest | None


@once
def tree_of_trace(trace: Trace) -> TracedTree | None:
    """Return the tree of modules, operators and shapes of a trace, with the layers that repeat in
    place of modules that nothing names; None where the file has none of them, so that op types say
    as much, and of one that ends early."""
    if trace.ends_early or not len(trace.calls):
        return None
    traced = Traced.of(with_own_names_by_order(trace))
    levels, (one,) = located(traced.trace)
    repeats = places_in_repeats(traced.side) if levels.modules is None else None
    if repeats is not None:
        levels, one = replace(levels, modules="repeat"), Located(traced.trace, repeats)
    if levels.modules is None and not levels.shapes:
        return None
    tree = tree_of_one(one, traced.units, levels)
    return TracedTree(tree, traced.units.name, costliest(tree, one, traced.units))
