"""Model tree: the time of both sides by module of the model, operator and shapes."""

from __future__ import annotations

from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.ledger.modules import modules
from fusescope.analysis.compare.model_tree.paths import Levels, located
from fusescope.analysis.compare.model_tree.tree import ModelTree, Node, tree_of
from fusescope.analysis.metrics.memo import once

__all__ = ["Levels", "ModelTree", "Node", "model_tree"]


@once
def model_tree(comparison: Comparison) -> ModelTree | None:
    """Return the tree of a pair of traces; None of recordings, whose groups have their modules, and
    where a file has neither modules nor shapes, so that op types say as much."""
    sides = (comparison.baseline, comparison.candidate)
    if any(side.has_model for side in sides) or not modules(comparison.ledger).empty:
        return None
    traces = (sides[0].trace, sides[1].trace)
    levels, (before, after) = located(*traces)
    if levels.modules is None and not levels.shapes:
        return None
    explanation = comparison.explanation
    return tree_of(
        before,
        after,
        levels,
        has_changes=_compares(comparison),
        stands_out=explanation is None or explanation.outcome != "no_change",
    )


def _compares(comparison: Comparison) -> bool:
    """Return True where both sides do the same work."""
    explanation = comparison.explanation
    if explanation is None:
        return comparison.has_changes
    return explanation.outcome != "not_comparable"
