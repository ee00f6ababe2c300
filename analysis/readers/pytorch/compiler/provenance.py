"""Provenance: which operators of the model are in each kernel, by the compiler's own map.

Names do not tell it: kernels of equal source share one name. The compiler numbers the calls of its
generated program, so the n-th kernel of a name within a call of the graph is the n-th number of
that name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from fusescope.analysis.operators.members import Members, members_text
from fusescope.analysis.originals import MAX_ORIGINALS, Original
from fusescope.analysis.readers.building.replays import adds_up, placed
from fusescope.analysis.readers.pytorch.compiler.compiled_graph import CompiledGraph
from fusescope.analysis.readers.pytorch.compiler.fx_graph import VIEWS, Node, type_of_name
from fusescope.analysis.readers.pytorch.dispatch import CALL, GENERATED
from fusescope.analysis.readers.pytorch.event import Span
from fusescope.analysis.readers.pytorch.steps import Steps

T = TypeVar("T")
# In place of names that no program has: a kernel, and one that adds up what that before it left.
_BARE, _REST = "a kernel", "the rest of a kernel"
_TEMPLATE = re.compile(r"triton_tem_fused")


@dataclass(frozen=True)
class Ran:
    """What ran inside a call of a compiled graph: a kernel, or an operator with all inside it.

    `rows` are positions among the rows of the trace. `is_bare`: a kernel that no operator launched,
    as when a recorded graph of the device is played again.
    """

    time_ns: int
    name: str
    rows: tuple[int, ...]
    is_bare: bool = False


@dataclass(frozen=True)
class Provenance:
    """Members of rows by position, and the originals that they name; how many calls fit."""

    members: Mapping[int, str]
    originals: tuple[Original, ...]
    fitting: int


def joined(
    calls: Sequence[tuple[Span, Sequence[Ran]]], graphs: Sequence[CompiledGraph], steps: Steps
) -> Provenance | None:
    """What the graphs tell of the calls, which are in order of time; None where none fits."""
    fits = _Fits(graphs)
    found = [fits.of(call, ran) for call, ran in calls]
    if all(fit is None for fit in found):
        return None
    places = _places([call for call, _ in calls], [fit[0] if fit else -1 for fit in found], steps)
    graph_at: dict[int, int] = {}
    members: dict[int, str] = {}
    fitting = 0
    for (_, ran), fit, place in zip(calls, found, places, strict=True):
        if fit is None or graph_at.setdefault(place, fit[0]) != fit[0]:
            continue
        fitting += 1
        told = fits.told(fit[0])
        for at, step in fit[1].items():
            text = told.text(step, place)
            if text:
                members.update(dict.fromkeys(ran[at].rows, text))
    nodes = [
        node for place, graph in sorted(graph_at.items()) for node in fits.told(graph).nodes(place)
    ]
    return Provenance(members, tuple(nodes[:MAX_ORIGINALS]), fitting)


def _places(calls: Sequence[Span], graphs: Sequence[int], steps: Steps) -> list[int]:
    """Which call of its run each is; without steps, of the shortest sequence that repeats."""
    if steps.spans:
        counted: Counter[int | None] = Counter()
        places = []
        for call in calls:
            run = steps.at(call.start_ns)
            places.append(counted[run])
            counted[run] += 1
        return places
    for length in range(1, len(graphs) // 2 + 1):
        if all(graphs[at] == graphs[at - length] for at in range(length, len(graphs))):
            return [at % length for at in range(len(graphs))]
    return list(range(len(graphs)))


# Positions of what ran -> the steps of the program that it is, several where they have it together.
_Places = dict[int, tuple[str, ...]]
_Fit = tuple[int, _Places]


class _Fits:
    """Finds the graph of each call, once for calls that ran the same."""

    def __init__(self, graphs: Sequence[CompiledGraph]) -> None:
        self._graphs = graphs
        self._known: dict[tuple[str, ...], _Fit | None] = {}
        self._told: dict[int, _Told] = {}

    def of(self, call: Span, ran: Sequence[Ran]) -> _Fit | None:
        """The position of the graph, and the steps of the program that each of `ran` is."""
        found = CALL.match(call.name)
        key = found[1] if found else ""
        names = (key, *map(_name, ran))
        if names not in self._known:
            self._known[names] = self._fit(key, names[1:])
        return self._known[names]

    def told(self, graph: int) -> _Told:
        if graph not in self._told:
            self._told[graph] = _Told(self._graphs[graph])
        return self._told[graph]

    def _fit(self, key: str, names: Sequence[str]) -> _Fit | None:
        """That of its key; else the first of those that fit, where all of them tell the same."""
        found: list[_Fit] = []
        for at, graph in enumerate(self._graphs):
            if graph.key and key not in ("", "None", graph.key):
                continue
            steps = _steps_of(graph.steps, names)
            if steps and graph.key and graph.key == key:
                return at, steps
            found += [(at, steps)] if steps else []
        if not found:
            return None
        first = self._graphs[found[0][0]]
        is_one = all(_same(first, self._graphs[at]) for at, _ in found)
        return found[0] if is_one else None


def _same(one: CompiledGraph, other: CompiledGraph) -> bool:
    return (one.steps, one.nodes_of, one.sources) == (other.steps, other.nodes_of, other.sources)


def _steps_of(steps: Sequence[str], names: Sequence[str]) -> _Places | None:
    """Position among `names` -> steps; None where the generated kernels are others, or fewer.

    Calls of libraries are found by name between the generated kernels around them; kernels of
    theirs that nothing launched by its name are by their place.
    """
    generated = [_plain(name) for name in names if GENERATED.match(name)]
    if generated != [_kernel(step) for step in steps if GENERATED.match(step)]:
        return None
    found: dict[int, str] = {}
    at = 0
    for step in steps:
        wanted, is_generated = _kernel(step), GENERATED.match(step) is not None
        ahead = at
        while ahead < len(names):
            here = GENERATED.match(names[ahead]) is not None
            if here and not is_generated:
                ahead = len(names)
            elif here or (not is_generated and _short(names[ahead]) == _short(wanted)):
                break
            else:
                ahead += 1
        if ahead < len(names):
            found[ahead], at = step, ahead + 1
    if not generated and len(found) < len(steps):
        return None
    return {at: (step,) for at, step in found.items()} | _by_place(steps, names, found)


def _by_place(steps: Sequence[str], names: Sequence[str], found: Mapping[int, str]) -> _Places:
    """Bare kernels between two generated ones, as far as their place tells what they are of."""
    waiting = _between([(GENERATED.match(one) is not None, one) for one in steps])
    bare = _between([(GENERATED.match(one) is not None, at) for at, one in enumerate(names)])
    known = set(found.values())
    more: _Places = {}
    for calls, places in zip(waiting, bare, strict=True):
        left = [step for step in calls if step not in known]
        kernels = [at for at in places if names[at] in (_BARE, _REST)]
        if left:
            rests = [names[at] == _REST for at in kernels]
            more |= zip(kernels, placed(left, rests), strict=True)
    return more


def _between(marked: Iterable[tuple[bool, T]]) -> list[list[T]]:
    """What stands before the first mark, between each two, and behind the last."""
    parts: list[list[T]] = [[]]
    for is_mark, one in marked:
        if is_mark:
            parts.append([])
        else:
            parts[-1].append(one)
    return parts


def _name(ran: Ran) -> str:
    """Its name; of a kernel of a library that no operator launched, whether it stands alone."""
    if not ran.is_bare or GENERATED.match(ran.name) is not None:
        return ran.name
    return _REST if adds_up(ran.name) else _BARE


def _plain(name: str) -> str:
    """A kernel's name without its graph: 'graph_0_cpp_fused_add_1' -> 'cpp_fused_add_1'."""
    if name.startswith("graph_"):
        return name[len("graph_") :].partition("_")[2]
    return name.removesuffix(".kd")


def _kernel(step: str) -> str:
    return step.rpartition(":")[0]


def _short(name: str) -> str:
    """'extern_kernels.addmm', 'torch.ops.aten.addmm.default' and 'aten::addmm' -> 'addmm'."""
    word = name.rpartition("::")[2]
    parts = word.split(".")
    if parts[0] == "torch" and len(parts) > 3:
        return parts[3].strip("_")
    return parts[-1].strip("_")


class _Told:
    """What a graph tells of its steps: originals are nodes as the compiler was given them, else
    those of the optimised graph."""

    def __init__(self, graph: CompiledGraph) -> None:
        self._types = {node.name: node.op_type for node in graph.optimised}
        given = {node.name for node in graph.given}
        is_traced = any(name in given for names in graph.sources.values() for name in names)
        self._nodes: tuple[Node, ...] = graph.given if is_traced else graph.optimised
        self._sources = graph.sources if is_traced else None
        self._order = {node.name: at for at, node in enumerate(self._nodes)}
        found: dict[str, set[str]] = {}
        where: dict[str, set[str]] = {}
        opened = set()
        for step, nodes in _nodes_of(graph).items():
            computed = [name for name in nodes if self._types.get(name, type_of_name(name))
                        not in VIEWS]  # fmt: skip
            for name in computed:
                where.setdefault(name, set()).add(step)
            if any(not self._sources_of(name) for name in computed):
                opened.add(step)
            found[step] = self._all_sources(computed) or self._all_sources(nodes)
        repeated = [name for name, steps in where.items() if len(steps) > 1]
        self._recomputed = self._all_sources(repeated)
        self._untraced = _with_readers(self._nodes, found, opened)
        self._of = {
            step: tuple(sorted(names, key=self._order.__getitem__)) for step, names in found.items()
        }

    def text(self, steps: Sequence[str], place: int) -> str:
        """The members of these steps, '' where nothing is known of them."""
        names = dict.fromkeys(name for step in steps for name in self._of.get(step, ()))
        return members_text(Members(tuple(_label(name, place) for name in names)))

    def nodes(self, place: int) -> Iterable[Original]:
        """The originals of the graph in a call at that place of the run."""
        for node in self._nodes:
            yield Original(
                _label(node.name, place),
                node.op_type,
                node.place,
                node.op_type not in VIEWS,
                node.name in self._recomputed,
                node.name not in self._untraced,
            )

    def _sources_of(self, name: str) -> tuple[str, ...]:
        sources = (name,) if self._sources is None else self._sources.get(name, ())
        return tuple(source for source in sources if source in self._order)

    def _all_sources(self, names: Iterable[str]) -> set[str]:
        return {source for name in names for source in self._sources_of(name)}


def _nodes_of(graph: CompiledGraph) -> dict[str, tuple[str, ...]]:
    """The nodes that each step computes.

    Of a template, such as a product that was tuned, the map also lists the nodes that made what it
    reads: those that another kernel lists are not its own. A producer that is computed inside the
    template has no kernel.
    """
    found = {
        step: tuple(graph.nodes_of.get(step) or graph.nodes_of.get(_kernel(step), ()))
        for step in graph.steps
    }
    elsewhere = {
        name for step, nodes in found.items() if not _TEMPLATE.match(step) for name in nodes
    }
    for step, nodes in found.items():
        own = tuple(name for name in nodes if name not in elsewhere)
        if own and _TEMPLATE.match(step):
            found[step] = own
    return found


def _with_readers(
    nodes: Sequence[Node], found: dict[str, set[str]], opened: Iterable[str]
) -> set[str]:
    """Puts what the compiler does not trace into the steps that read it, and into those that it
    reads from where these hold more than is known; the names of what was put so.

    A pattern that the compiler replaced leaves no trace: its operators are where their results go.
    """
    steps_of: dict[str, set[str]] = {}
    for step, names in found.items():
        for name in names:
            steps_of.setdefault(name, set()).add(step)
    by_name = {node.name: node for node in nodes}
    readers: dict[str, list[str]] = {}
    for node in nodes:
        for name in node.inputs:
            readers.setdefault(name, []).append(node.name)
    inputs = {node.name: list(node.inputs) for node in nodes}
    is_open = set(opened)
    added: dict[str, set[str]] = {}
    for node in nodes:
        if node.name in steps_of or by_name[node.name].op_type in VIEWS:
            continue
        after = _nearest(node.name, readers, steps_of)
        before = _nearest(node.name, inputs, steps_of)
        added[node.name] = after | (before & is_open) or before
    for name, steps in added.items():
        for step in steps:
            found[step].add(name)
    return set(added)


def _nearest(
    start: str, next_to: Mapping[str, Sequence[str]], steps_of: Mapping[str, set[str]]
) -> set[str]:
    """The steps of the nearest nodes in one direction that have any."""
    steps: set[str] = set()
    seen, waiting = {start}, [start]
    while waiting:
        for name in next_to.get(waiting.pop(), ()):
            if name in seen:
                continue
            seen.add(name)
            if name in steps_of:
                steps |= steps_of[name]
            else:
                waiting.append(name)
    return steps


def _label(name: str, place: int) -> str:
    """The name of a node in the run: that of a second call of a graph differs from the first."""
    return f"{name}@{place + 1}" if place else name
