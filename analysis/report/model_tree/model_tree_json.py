"""The model tree as JSON: a flat list, each part below the one that holds it (docs/json.md)."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.model_tree import ModelTree, Node, model_tree
from fusescope.analysis.compare.model_tree.paths import BACKWARD, UNPLACED, Step
from fusescope.analysis.compare.model_tree.repeat_name import repeat_name

if TYPE_CHECKING:
    from fusescope.analysis.advice.explanation.model_tree import TracedTree


def by_part(comparison: Comparison) -> list[dict[str, Any]]:
    """Return the parts of the model tree, each before what it holds; none without a tree."""
    tree = model_tree(comparison)
    if tree is None:
        return []
    return [_part(tree, depth, (*above, *node.steps), node) for depth, above, node in tree.walk()]


def _part(tree: ModelTree, depth: int, steps: tuple[Step, ...], node: Node) -> dict[str, Any]:
    (before_ns, after_ns), change_ns = tree.times_ns(node), tree.change_ns(node)
    has_changes = tree.has_changes
    return {
        **_place(steps, node, depth),
        "instances": _both(*(node.instances if node.kind == "module" else (None, None))),
        "executions": _both(*tree.executions(node)),
        "unit": tree.unit_kind,
        "units": _both(*tree.unit_counts),
        "before_ns": before_ns,
        "after_ns": after_ns,
        "gain_ns": before_ns - after_ns if has_changes else None,
        "delta_ns": change_ns if has_changes else None,
        "share": tree.share(node),
    }


def tree_of_trace_values(traced: TracedTree | None) -> dict[str, Any] | None:
    """Return the tree of one trace as a flat list, each part before what it holds, and which takes
    most; None without a tree."""
    if traced is None:
        return None
    tree, most = traced.tree, traced.costliest
    parts = [
        _part_of_one(tree, depth, (*above, *node.steps), node) for depth, above, node in tree.walk()
    ]
    return {
        "unit": tree.unit_kind,
        "units": tree.unit_counts[0],
        "costliest": None if most is None else asdict(most),
        "parts": parts,
    }


def _part_of_one(
    tree: ModelTree, depth: int, steps: tuple[Step, ...], node: Node
) -> dict[str, Any]:
    layers = [repeat_name(name) for kind, name in steps if kind == "repeat" and name]
    return {
        **_place(steps, node, depth),
        "layers": [layer.kernels for layer in layers],
        "kernels_of_copies": [[layer.fewest, layer.most] for layer in layers],
        "instances": node.instances[0] if node.kind in ("module", "repeat") else None,
        "executions": tree.executions(node)[0],
        "ns": tree.times_ns(node)[0],
        "share": node.total_ns[0] / max(1, tree.total_ns[0]),
    }


def _place(steps: tuple[Step, ...], node: Node, depth: int) -> dict[str, Any]:
    """Return where in the model a part stands."""
    return {
        "module": "/".join(name for kind, name in steps if kind == "module" and name),
        "operator": _named(steps, "operator"),
        "op_type": _named(steps, "op_type"),
        "shapes": _named(steps, "shapes"),
        "kind": node.kind,
        "is_placed": UNPLACED not in steps,
        "is_backward": BACKWARD in steps,
        "depth": depth,
        "is_leaf": not node.children,
        "parts": max(node.instances) if node.kind == "more" else None,
    }


def _named(steps: tuple[Step, ...], kind: str) -> str | None:
    return next((name for of, name in steps if of == kind), None)


def _both(baseline: float | None, candidate: float | None) -> dict[str, float | None]:
    return {"baseline": baseline, "candidate": candidate}
