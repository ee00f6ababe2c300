"""The model tree in a terminal: the parts of the largest changes, each below what holds it."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table

from analysis import units
from analysis.compare.comparison import Comparison
from analysis.compare.model_tree import ModelTree, model_tree
from analysis.messages import say
from analysis.text import clean_text
from analysis.wording.trees import model_tree as words

_ROWS = 12
_NAME_CHARS = 64


def print_model_tree(console: Console, comparison: Comparison) -> None:
    """Print the tree; nothing where the comparison has none."""
    tree = model_tree(comparison)
    if tree is None:
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(say("part of the model"))
    heads = (say("before"), say("after"), *([say("change")] if tree.has_changes else []))
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    for cells in _lines(tree):
        table.add_row(*cells)
    console.print(f"\n{words.title(tree.levels)}", style="bold")
    console.print(words.basis(tree))
    console.print(table)


def _lines(tree: ModelTree) -> Iterator[tuple[str, ...]]:
    """Yield the cells of the largest parts, in the order of the tree."""
    parts = list(tree.walk())
    shown = _largest(tree)
    for place, (depth, _, node) in enumerate(parts):
        if place not in shown:
            continue
        (before_ns, after_ns), change_ns = tree.times_ns(node), tree.change_ns(node)
        before, after = units.durations_apart(before_ns, after_ns, change_ns)
        name = clean_text(" › ".join(words.step_texts(node)), 1000)
        name = f"{units.middle_cut(name, _NAME_CHARS)} {words.instances_text(node)}".rstrip()
        yield (
            "  " * depth + name,
            before if node.executions[0] else units.MISSING,
            after if node.executions[1] else units.MISSING,
            *([units.duration(change_ns, signed=True)] if tree.has_changes else []),
        )


def _largest(tree: ModelTree) -> set[int]:
    """Return the places of the parts with the largest changes and of what holds them, no more than
    _ROWS together."""
    parts = list(tree.walk())
    holders: list[tuple[int, ...]] = []
    around: list[int] = []
    for place, (depth, _, _) in enumerate(parts):
        around = [*around[:depth], place]
        holders.append(tuple(around))

    def size(place: int) -> float:
        node = parts[place][2]
        return abs(tree.change_ns(node)) if tree.has_changes else max(tree.times_ns(node))

    shown: set[int] = set()
    for place in sorted(range(len(parts)), key=size, reverse=True):
        wanted = shown.union(holders[place])
        if len(wanted) <= _ROWS:
            shown = wanted
    return shown
