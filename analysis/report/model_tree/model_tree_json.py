"""The model tree as JSON: a flat list, each part below the one that holds it (docs/json.md)."""

from __future__ import annotations

from typing import Any

from analysis.compare.comparison import Comparison
from analysis.compare.model_tree import ModelTree, Node, model_tree
from analysis.compare.model_tree.paths import UNPLACED, Step


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
        "module": "/".join(name for kind, name in steps if kind == "module" and name),
        "operator": _named(steps, "operator"),
        "op_type": _named(steps, "op_type"),
        "shapes": _named(steps, "shapes"),
        "kind": node.kind,
        "is_placed": UNPLACED not in steps,
        "depth": depth,
        "is_leaf": not node.children,
        "parts": max(node.instances) if node.kind == "more" else None,
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


def _named(steps: tuple[Step, ...], kind: str) -> str | None:
    return next((name for of, name in steps if of == kind), None)


def _both(baseline: float | None, candidate: float | None) -> dict[str, float | None]:
    return {"baseline": baseline, "candidate": candidate}
