"""Rows of the model tree as text, for the dashboard, the report and the terminal."""

from __future__ import annotations

from dataclasses import dataclass

from fusescope.analysis import units
from fusescope.analysis.advice.explanation.model_tree import TracedTree
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.model_tree import ModelTree, Node, model_tree
from fusescope.analysis.compare.timing.verdict import Verdict
from fusescope.analysis.messages import say
from fusescope.analysis.report.text import unbroken, with_unit
from fusescope.analysis.trace import Trace
from fusescope.analysis.units import ChangeColumns, Column, change_columns, column_of
from fusescope.analysis.wording.trees import model_tree as words

_SLIGHT = 0.005  # of the whole change, below which a change has no colour


@dataclass(frozen=True)
class TreeRow:
    """A part of the model on both sides; `kind` is what its change means: faster, slower or same.
    Of one trace `before` is its time, `after` that of each of its instances or executions, and
    `change` its share.

    `names` are its modules, operator and shapes, outermost first. Of a part that one side lacks the
    times of that side are dashes.
    """

    names: tuple[str, ...]
    instances: str
    executions: str
    before: str
    after: str
    change: str
    share: str
    kind: str
    is_open: bool
    rows: tuple[TreeRow, ...]


@dataclass(frozen=True)
class TreeRows:
    """The whole tree: its title, what its times are, the heads of its columns, and its rows."""

    title: str
    basis: str
    heads: tuple[str, ...]
    rows: tuple[TreeRow, ...]


def tree_rows(comparison: Comparison) -> TreeRows | None:
    """Return the rows of the tree of a comparison, open where the largest change is; None where it
    has no tree."""
    tree = model_tree(comparison)
    if tree is None:
        return None
    columns = _columns(tree)
    heads = (
        say("Part of the model"),
        say("Kernels and copies") if _on_device(comparison) else say("Executions"),
        with_unit(say("Baseline"), columns.unit),
        with_unit(say("Candidate"), columns.unit),
        with_unit(say("Change"), columns.unit) if tree.has_changes else "",
        say("Share of the operators' change") if tree.has_shares else "",
    )
    return TreeRows(
        words.title(tree.levels),
        words.basis_with_shares(tree),
        heads,
        _rows(tree, tree.roots, columns, comparison.verdict, is_open=True),
    )


def trace_tree_rows(traced: TracedTree, trace: Trace) -> TreeRows:
    """Return the rows of the tree of one trace, open where the longest time is."""
    tree = traced.tree
    nodes = [node for _, _, node in tree.walk()]
    times = column_of(tree.times_ns(node)[0] for node in nodes)
    each = column_of(_each_ns(tree, node) for node in nodes)
    heads = (
        say("Part of the model"),
        say("Kernels and copies") if _has_kernels(trace) else say("Executions"),
        with_unit(say("Time"), times.unit),
        with_unit(say("Each"), each.unit),
        say("Share of operator time"),
        "",
    )
    rows = _rows_of_one(tree, tree.roots, (times, each), is_open=True)
    return TreeRows(words.title(tree.levels), words.basis_of_one(tree), heads, rows)


def _columns(tree: ModelTree) -> ChangeColumns:
    """Return the columns in which all parts of a tree are written."""
    return change_columns([tree.change_row(node) for _, _, node in tree.walk()])


def _rows_of_one(
    tree: ModelTree, nodes: tuple[Node, ...], columns: tuple[Column, Column], *, is_open: bool
) -> tuple[TreeRow, ...]:
    return tuple(
        _row_of_one(tree, node, columns, is_open=is_open and place == 0)
        for place, node in enumerate(nodes)
    )


def _each_ns(tree: ModelTree, node: Node) -> float | None:
    """Return the time of one instance or execution of a part; None where it has no more."""
    is_part = node.kind in ("module", "repeat") and node.instances[0]
    several = node.instances[0] if is_part else tree.executions(node)[0]
    return tree.times_ns(node)[0] / several if several > 1 else None


def _row_of_one(
    tree: ModelTree, node: Node, columns: tuple[Column, Column], *, is_open: bool
) -> TreeRow:
    (times, each), each_ns = columns, _each_ns(tree, node)
    return TreeRow(
        names=words.step_texts(tree, node),
        instances=words.instances_text(node),
        executions=units.count(tree.executions(node)[0]),
        before=times.number(tree.times_ns(node)[0]),
        after="" if each_ns is None else each.number(each_ns),
        change=units.percent(node.total_ns[0] / max(1, tree.total_ns[0])),
        share="",
        kind="same",
        is_open=is_open,
        rows=_rows_of_one(tree, node.children, columns, is_open=is_open),
    )


def _has_kernels(trace: Trace) -> bool:
    return bool((trace.operators["level"] == "device_kernel").any())


def _on_device(comparison: Comparison) -> bool:
    """Return whether both sides run kernels, of which an operator may launch several."""
    return all(_has_kernels(side.trace) for side in (comparison.baseline, comparison.candidate))


def _rows(
    tree: ModelTree,
    nodes: tuple[Node, ...],
    columns: ChangeColumns,
    verdict: Verdict,
    *,
    is_open: bool,
) -> tuple[TreeRow, ...]:
    """Return these nodes as rows: of those inside an open one, the first is open, too."""
    return tuple(
        _row(tree, node, columns, verdict, is_open=is_open and place == 0)
        for place, node in enumerate(nodes)
    )


def _row(
    tree: ModelTree, node: Node, columns: ChangeColumns, verdict: Verdict, *, is_open: bool
) -> TreeRow:
    before, after, change = columns.numbers(*tree.change_row(node))
    first, second = tree.executions(node)
    share = tree.share(node)
    return TreeRow(
        names=words.step_texts(tree, node),
        instances=words.instances_text(node),
        executions=_executions(first, second),
        before=before,
        after=after,
        change=change if tree.has_changes else "",
        share="" if share is None else unbroken(units.percent(share)),
        kind=_kind(tree, tree.change_ns(node), verdict),
        is_open=is_open,
        rows=_rows(tree, node.children, columns, verdict, is_open=is_open),
    )


def _executions(before: float, after: float) -> str:
    if before == after:
        return units.count(before)
    return say("{before:count} → {after:count}", before=before, after=after)


def _kind(tree: ModelTree, change_ns: float, verdict: Verdict) -> str:
    is_shown = tree.has_changes and verdict.has_direction
    if not is_shown or abs(change_ns) <= _SLIGHT * abs(tree.whole_change_ns):
        return "same"
    return "slower" if change_ns > 0 else "faster"
