"""The model tree in a terminal: the parts of the largest changes, each below what holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from fusescope.analysis import units
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.model_tree import ModelTree, Node, model_tree
from fusescope.analysis.messages import paragraph, say
from fusescope.analysis.text import clean_text
from fusescope.app.cli.printing.heads import head_with_unit

if TYPE_CHECKING:
    from fusescope.analysis.advice.explanation.model_tree import TracedTree

_ROWS = 12
_NAME_CHARS = 64
_NAME_CHARS_OF_ONE = 48  # beside one column more


def print_model_tree(console: Console, comparison: Comparison) -> None:
    """Print the tree; nothing where the comparison has none."""
    tree = model_tree(comparison)
    if tree is None:
        return
    from fusescope.analysis.wording.trees import model_tree as words

    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(say("part of the model"))
    parts = list(tree.walk())
    shown = [parts[place] for place in sorted(_largest(tree))]
    times = [tree.change_row(node) for *_, node in shown]
    columns = units.change_columns(times)
    heads = (say("baseline"), say("candidate"), *([say("change")] if tree.has_changes else []))
    for head in heads:
        table.add_column(head_with_unit(head, columns.unit), justify="right", no_wrap=True)
    for (depth, _, node), found in zip(shown, times, strict=True):
        name = "  " * depth + _name(tree, node, _NAME_CHARS)
        table.add_row(name, *columns.numbers(*found)[: len(heads)])
    console.print(f"\n{words.title(tree.levels)}", style="bold")
    console.print(words.basis(tree))
    console.print(table)


def print_trace_tree(console: Console, traced: TracedTree | None) -> None:
    """Print the tree of one trace, and which part takes most; nothing without a tree."""
    if traced is None:
        return
    from fusescope.analysis.wording.trees import model_tree as words

    tree, most = traced.tree, traced.costliest
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(say("part of the model"))
    parts = list(tree.walk())
    shown = [parts[place] for place in sorted(_largest(tree))]
    times = units.column_of(tree.times_ns(node)[0] for *_, node in shown)
    of_time = head_with_unit(say("time"), times.unit)
    for head in (say("executions"), of_time, say("of operator time")):
        table.add_column(head, justify="right", no_wrap=True)
    for depth, _, node in shown:
        share = units.percent(node.total_ns[0] / max(1, tree.total_ns[0]))
        executions = units.count(tree.executions(node)[0])
        time = times.number(tree.times_ns(node)[0])
        table.add_row("  " * depth + _name(tree, node, _NAME_CHARS_OF_ONE), executions, time, share)
    console.print(f"\n{words.title(tree.levels)}", style="bold")
    if most is not None:
        told = paragraph(*map(str, words.costliest_said(most, tree.unit_kind, traced.unit_name)))
        console.print(clean_text(told, 1000))
    console.print(words.basis_of_one(tree))
    console.print(table)


def _name(tree: ModelTree, node: Node, chars: int) -> str:
    """Return the names of a part in one line, with how many modules it stands for."""
    from fusescope.analysis.wording.trees import model_tree as words

    name = clean_text(" › ".join(words.step_texts(tree, node)), 1000)
    return f"{units.middle_cut(name, chars)} {words.instances_text(node)}".rstrip()


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
