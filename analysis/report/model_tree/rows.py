"""Rows of the model tree as text, for the dashboard, the report and the terminal."""

from __future__ import annotations

from dataclasses import dataclass

from fusescope.analysis import units
from fusescope.analysis.advice.explanation.model_tree import TracedTree
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.model_tree import ModelTree, Node, model_tree
from fusescope.analysis.compare.timing.verdict import Verdict
from fusescope.analysis.messages import say
from fusescope.analysis.report.text import signed_duration, unbroken
from fusescope.analysis.trace import Trace
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
    heads = (
        say("Part of the model"),
        say("Kernels and copies") if _on_device(comparison) else say("Executions"),
        say("Baseline"),
        say("Candidate"),
        say("Change") if tree.has_changes else "",
        say("Share of the operators' change") if tree.has_shares else "",
    )
    return TreeRows(
        words.title(tree.levels),
        words.basis_with_shares(tree),
        heads,
        _rows(tree, tree.roots, comparison.verdict, is_open=True),
    )


def trace_tree_rows(traced: TracedTree, trace: Trace) -> TreeRows:
    """Return the rows of the tree of one trace, open where the longest time is."""
    tree = traced.tree
    heads = (
        say("Part of the model"),
        say("Kernels and copies") if _has_kernels(trace) else say("Executions"),
        say("Time"),
        say("Each"),
        say("Share of operator time"),
        "",
    )
    rows = _rows_of_one(tree, tree.roots, is_open=True)
    return TreeRows(words.title(tree.levels), words.basis_of_one(tree), heads, rows)


def _rows_of_one(tree: ModelTree, nodes: tuple[Node, ...], *, is_open: bool) -> tuple[TreeRow, ...]:
    return tuple(
        _row_of_one(tree, node, is_open=is_open and place == 0) for place, node in enumerate(nodes)
    )


def _row_of_one(tree: ModelTree, node: Node, *, is_open: bool) -> TreeRow:
    ns, executions = tree.times_ns(node)[0], tree.executions(node)[0]
    is_part = node.kind in ("module", "repeat") and node.instances[0]
    several = node.instances[0] if is_part else executions
    return TreeRow(
        names=words.step_texts(tree, node),
        instances=words.instances_text(node),
        executions=units.count(executions),
        before=units.duration(ns),
        after=units.duration(ns / several) if several > 1 else "",
        change=units.percent(node.total_ns[0] / max(1, tree.total_ns[0])),
        share="",
        kind="same",
        is_open=is_open,
        rows=_rows_of_one(tree, node.children, is_open=is_open),
    )


def _has_kernels(trace: Trace) -> bool:
    return bool((trace.operators["level"] == "device_kernel").any())


def _on_device(comparison: Comparison) -> bool:
    """Return whether both sides run kernels, of which an operator may launch several."""
    return all(_has_kernels(side.trace) for side in (comparison.baseline, comparison.candidate))


def _rows(
    tree: ModelTree, nodes: tuple[Node, ...], verdict: Verdict, *, is_open: bool
) -> tuple[TreeRow, ...]:
    """Return these nodes as rows: of those inside an open one, the first is open, too."""
    return tuple(
        _row(tree, node, verdict, is_open=is_open and place == 0)
        for place, node in enumerate(nodes)
    )


def _row(tree: ModelTree, node: Node, verdict: Verdict, *, is_open: bool) -> TreeRow:
    (before_ns, after_ns), change_ns = tree.times_ns(node), tree.change_ns(node)
    before, after = units.durations_apart(
        before_ns, after_ns, change_ns if tree.has_changes else None
    )
    first, second = tree.executions(node)
    share = tree.share(node)
    return TreeRow(
        names=words.step_texts(tree, node),
        instances=words.instances_text(node),
        executions=_executions(first, second),
        before=before if first else units.MISSING,
        after=after if second else units.MISSING,
        change=signed_duration(change_ns) if tree.has_changes else "",
        share="" if share is None else unbroken(units.percent(share)),
        kind=_kind(tree, change_ns, verdict),
        is_open=is_open,
        rows=_rows(tree, node.children, verdict, is_open=is_open),
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
