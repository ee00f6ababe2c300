"""Hierarchy: the time of a run as a tree, from what operators have in common down to each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from fusescope.analysis.graph import Graph
from fusescope.analysis.metrics.breakdown import by_operator
from fusescope.analysis.metrics.call_paths import MAX_FRAMES, call_paths
from fusescope.analysis.trace import Trace

Level = Literal["run", "op_class", "op_type", "launcher", "scope", "frame", "operator", "more"]
By = Literal["op_class", "scope", "launcher", "stack"]
MAX_CHILDREN = 40  # of one node; those with least time are one node together
MAX_SCOPES = 12  # levels of modules
_MIN_SHARE = 0.0005  # of the run: nodes with less are one node together
_MIN_SCOPED = 0.5  # of the time, from which names are read as paths of modules


@dataclass(frozen=True)
class Node:
    """One node: its place is its id, `parent` that of the node above, None for the run. `label` is
    a name from the trace, an operator class, or '' where it is not known; `ns` is the time per run
    of all operators below it, `count` how many they are."""

    parent: int | None
    level: Level
    label: str
    ns: float
    count: int


def hierarchies(trace: Trace, graph: Graph | None) -> tuple[By, ...]:
    """The ways in which the time of this trace can be divided, op types first."""
    found: list[By] = ["op_class"]
    table = by_operator(trace)
    if scopes_of(_names(table), table["per_run_ns"].tolist(), graph):
        found.append("scope")
    if table["launched_by"].notna().any():
        found.append("launcher")
    if any(len(path) > 1 for path, _ in call_paths(trace)):
        found.append("stack")
    return tuple(found)


def hierarchy(trace: Trace, graph: Graph | None, by: By) -> tuple[Node, ...]:
    """The tree, parents before their children, children by time: class, op type and operator;
    modules and operator; what launched the operators and operator; or the frames of `call_paths`
    and operator, which counts once for each path. Empty without any time.

    Modules are those of the graph, else the parts of names like 'layer1/0/conv'. The children of a
    node add up to it; those beyond MAX_CHILDREN, or too small to be seen, end in one node of level
    `more`.
    """
    if by == "stack":
        return _tree(call_paths(trace), ["frame"] * MAX_FRAMES)
    table = by_operator(trace)
    times = [float(ns) for ns in table["per_run_ns"]]
    names = _names(table)
    if by == "op_class":
        columns = (table[name].astype("object").fillna("").astype(str) for name in _CLASSES)
        heads: list[tuple[str, ...]] = list(zip(*columns, strict=True))
        levels: Sequence[Level] = _CLASSES
    elif by == "launcher":
        launchers = table["launched_by"].astype("object").fillna("").astype(str)
        heads = [(launcher,) for launcher in launchers]
        levels = ("launcher",)
    else:
        heads = scopes_of(names, times, graph)
        levels = ["scope"] * MAX_SCOPES
    paths = [(*head, name) for head, name in zip(heads, names, strict=True)]
    return _tree(list(zip(paths, times, strict=True)), levels)


_CLASSES: tuple[Level, ...] = ("op_class", "op_type")
_Row = tuple[tuple[str, ...], float]


def _tree(rows: list[_Row], levels: Sequence[Level]) -> tuple[Node, ...]:
    whole_ns = sum(ns for _, ns in rows)
    if whole_ns <= 0:
        return ()
    nodes = [Node(None, "run", "", whole_ns, len(rows))]
    _grow(nodes, 0, _Rows([path for path, _ in rows], [ns for _, ns in rows]), levels, 0)
    return tuple(nodes)


@dataclass(frozen=True)
class _Rows:
    """Paths and the time of the operator of each."""

    paths: list[tuple[str, ...]]
    times: list[float]


def _grow(nodes: list[Node], parent: int, rows: _Rows, levels: Sequence[Level], depth: int) -> None:
    """Add the children of a node, and theirs."""
    groups: dict[tuple[bool, str], _Rows] = {}
    for path, ns in zip(rows.paths, rows.times, strict=True):
        key = (len(path) == depth + 1, path[depth])
        group = groups.get(key)
        if group is None:
            groups[key] = _Rows([path], [ns])
        else:
            group.paths.append(path)
            group.times.append(ns)
    sums = {key: sum(group.times) for key, group in groups.items()}
    ordered = sorted(groups, key=lambda key: -sums[key])
    for place, (is_last, label) in enumerate(ordered):
        ns, inside = sums[is_last, label], groups[is_last, label]
        is_rest = ns < _MIN_SHARE * nodes[0].ns or place >= MAX_CHILDREN - 1
        if is_rest and place < len(ordered) - 1:
            rest = [ns for key in ordered[place:] for ns in groups[key].times]
            nodes.append(Node(parent, "more", "", sum(rest), len(rest)))
            return
        level = "operator" if is_last else levels[depth]
        nodes.append(Node(parent, level, label, ns, len(inside.times)))
        if not is_last:
            _grow(nodes, len(nodes) - 1, inside, levels, depth + 1)


def scopes_of(
    names: Sequence[str],
    times: Sequence[float],
    graph: Graph | None,
    least: float = _MIN_SCOPED,
    beside: Sequence[Sequence[str]] = (),
) -> list[tuple[str, ...]]:
    """Return the modules of each operator; empty where those of operators with no more than the
    part `least` of the time are known, and where each holds one operator, here and in the files
    `beside` of the same model: then it is the first part of this operator's name."""
    found = []
    for name in names:
        node = graph.node.get(name) if graph is not None else None
        scope = node.scope if node is not None else "" if graph is not None else _path(name)
        found.append(tuple(filter(None, scope.split("/")))[:MAX_SCOPES])
    if graph is None and not any(map(_hold_several, (names, *beside))):
        return []
    scoped = sum(ns for ns, path in zip(times, found, strict=True) if path)
    return found if scoped > least * sum(times) and scoped else []


def _hold_several(names: Sequence[str]) -> bool:
    """Return True where several operators of a file have the first part of their path in common."""
    first: dict[str, str] = {}
    for name in set(names):
        part = _path(name).strip("/").partition("/")[0]
        if part and first.setdefault(part, name) != name:
            return True
    return False


def _names(table: pd.DataFrame) -> list[str]:
    """The names of operators, '' where the file has none."""
    return [name if isinstance(name, str) else "" for name in table["name"]]


def _path(name: str) -> str:
    """'Default/network/conv1-Conv2d' of 'Default/network/conv1-Conv2d/Cast-op1'."""
    return name.rpartition("/")[0] if " " not in name and "(" not in name else ""
