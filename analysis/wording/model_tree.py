"""The words of the model tree: its title, what its times are, and the names of its parts."""

from __future__ import annotations

from analysis.compare.model_tree import Levels, Node
from analysis.messages import Message

TITLES = {
    True: Message("Modules, operators and shapes"),
    False: Message("Operators and shapes"),
}
TREE_HELP = Message(
    "The time of all kernels by module of the model, operator that launched them, and the shapes "
    "of its inputs. Modules of one type in one place count together. Where a module or operator "
    "has one part alone, both are in one row. What a row holds adds up to it."
)
KEYS_HELP = Message("Arrow keys go from row to row, open and close them.")
TREE_BASIS = Message("Kernel time {mean}, as profiled; {order}.")
OUTSIDE = Message("outside all modules")
NO_SHAPES = Message("shapes not in the file")
MORE = Message("{n:count} part with a smaller change", "{n:count} parts with smaller changes")
INSTANCES = Message("×{n:count}")
INSTANCES_DIFFER = Message("×{before:count} → ×{after:count}")


def title(levels: Levels) -> str:
    """Return what the tree of these levels is called."""
    return TITLES[levels.modules is not None].text()


def step_texts(node: Node) -> tuple[str, ...]:
    """Return the name of each step of a node; of those from a file as it has them."""
    return tuple(name or _unnamed(kind, node) for kind, name in node.steps)


def _unnamed(kind: str, node: Node) -> str:
    if kind == "more":
        return MORE.text(n=node.instances[0])
    return (NO_SHAPES if kind == "shapes" else OUTSIDE).text()


def instances_text(node: Node) -> str:
    """Return how many modules of its type a node stands for on each side, '' for one."""
    if node.kind == "more" or max(node.instances) < 2:
        return ""
    before, after = node.instances
    if before == after or not before or not after:
        return INSTANCES.text(n=max(node.instances))
    return INSTANCES_DIFFER.text(before=before, after=after)
