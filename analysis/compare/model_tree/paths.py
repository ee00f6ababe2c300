"""Paths: where in the model each call of a trace stands, as modules, operator and shapes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from fusescope.analysis.compare.joining.same_place import runs_of, same_place
from fusescope.analysis.host_activity import ANNOTATION, HostActivity
from fusescope.analysis.metrics.hierarchy import scopes_of
from fusescope.analysis.trace import Trace

Kind = Literal["module", "repeat", "backward", "unplaced", "operator", "op_type", "shapes", "more"]
Source = Literal["stack", "annotation", "scope", "repeat"]
Step = tuple[Kind, str]
OUTSIDE_MODULES: Step = ("module", "")
OUTSIDE_LAYERS: Step = ("repeat", "")
BACKWARD: Step = ("backward", "")
UNPLACED: Step = ("unplaced", "")
NO_SHAPES: Step = ("shapes", "")
MAX_MODULES = 24  # of one path, the outermost ones
NUMBERED = "#"  # what stands for the number of a part among others of its kind
_MODULE = "nn.Module: "
_INSTANCE = re.compile(r"_\d+$")
_OPERATOR = re.compile(r"[\w.]+::")  # of a framework, as in 'aten::mul'
_NUMBER = re.compile(r"(?<![A-Za-z0-9])\d+(?![A-Za-z0-9])")
_EDGE_NUMBERS = re.compile(r"(?:[_.:/ -]+#)+$|^(?:#[_.:/ -]+)+")
_NEARLY_ALL = 0.9  # of the launches of a thread, in a range that then says nothing of their place
_FEWEST = 0.02  # of the time of a trace, which must stand in modules for them to be a level


@dataclass(frozen=True)
class Levels:
    """Which levels a tree has, which are those that all its files show: where its
    modules come from, None without any; whether operators launched the kernels; and shapes. With
    `backward` the backward pass stands in the modules whose forward operators it belongs to."""

    modules: Source | None
    operators: bool
    shapes: bool
    backward: bool = False


@dataclass(frozen=True, eq=False)
class Places:
    """The place in the model of each call of a trace: `modules` has the modules of each place, and
    `instances` the same with their numbers; `of` is the place of each call, `unknown` that of calls
    whose place the file does not show, such as those launched before it begins. Places from
    `backward_from` on are of the backward pass of their modules, None without any."""

    modules: Sequence[tuple[str, ...]]
    instances: Sequence[tuple[str, ...]]
    of: np.ndarray
    unknown: int = -1
    backward_from: int | None = None

    def is_backward(self, place: int) -> bool:
        """Return True of a place in the backward pass of its modules."""
        return self.backward_from is not None and place >= self.backward_from

    def has_modules(self, trace: Trace) -> bool:
        """Return True where more than very little of the time of a trace stands in modules."""
        is_inside = np.array([bool(modules) for modules in self.modules], dtype=bool)
        dur_ns = trace.calls["dur_ns"].to_numpy()
        inside_ns = int(dur_ns[is_inside[self.of]].sum())
        return inside_ns > _FEWEST * int(dur_ns.sum())


@dataclass(frozen=True, eq=False)
class Located:
    """A trace, and the place of each of its calls."""

    trace: Trace
    places: Places


def located(*traces: Trace) -> tuple[Levels, tuple[Located, ...]]:
    """Return the levels that all these traces show, and the places of their calls by the first
    source of modules that all have; in no module where they have none in common."""
    source, places = None, [_nowhere(trace) for trace in traces]
    for name, find in _SOURCES.items():
        found = find(traces)
        if len({each.backward_from is None for each in found}) > 1:
            found = [_places_in_stacks(trace, links_backward=False) for trace in traces]
        if all(each.has_modules(trace) for each, trace in zip(found, traces, strict=True)):
            source, places = name, found
            break
    levels = Levels(
        source,
        all(any(map(_OPERATOR.match, trace.texts("launched_by"))) for trace in traces),
        all(any(trace.texts("inputs")) for trace in traces),
        all(each.backward_from is not None for each in places),
    )
    completed = (_completed(trace, each) for trace, each in zip(traces, places, strict=True))
    return levels, tuple(map(Located, traces, completed))


def operator_steps(trace: Trace, levels: Levels) -> list[tuple[Step, ...]]:
    """Return the steps below modules of each operator of a trace: the operator of the framework
    that launched it, else its op type, then its shapes, '' where the file has none of it."""
    columns = (trace.texts(column) for column in ("launched_by", "op_type", "name", "inputs"))
    found: list[tuple[Step, ...]] = []
    for launcher, op_type, name, inputs in zip(*columns, strict=True):
        is_launched = levels.operators and _OPERATOR.match(launcher)
        head: Step = ("operator", launcher) if is_launched else ("op_type", op_type or name)
        found.append((head, ("shapes", inputs)) if levels.shapes else (head,))
    return found


def without_number(name: str) -> str:
    """Return the name that the numbered copies of a part of a model share: 'layer' of 'layer_5',
    'model.layers.#.mlp' of 'model.layers.5.mlp', 'Bottleneck' of '0-Bottleneck'."""
    return _EDGE_NUMBERS.sub("", _NUMBER.sub(NUMBERED, name)) or name


def _completed(trace: Trace, places: Places) -> Places:
    """Return places in which a call without one has that of the call that stands where it does in
    another run of the same kernels."""
    like = same_place(trace, places.of == places.unknown, runs_of(trace))
    of = np.where(like >= 0, places.of[like], places.of)
    return replace(places, of=of)


def _nowhere(trace: Trace) -> Places:
    return Places([()], [()], np.zeros(len(trace.calls), dtype="int64"))


def _places_in_stacks(trace: Trace, *, links_backward: bool = True) -> Places:
    """Return the modules of PyTorch whose Python frames stand around the launch of each call; of a
    call of a backward pass those around the forward operator that it belongs to."""
    stacks = trace.stacks
    if stacks is None:
        return _nowhere(trace)
    rows = trace.calls["source_row"].to_numpy("int64", na_value=-1)
    modules: list[tuple[str, ...]] = [()]
    instances: list[tuple[str, ...]] = [()]
    for name, parent in zip(stacks.names, stacks.parents.tolist(), strict=True):
        types, numbered = modules[parent + 1], instances[parent + 1]
        if name.startswith(_MODULE) and len(types) < MAX_MODULES:
            module = name[len(_MODULE) :]
            types, numbered = (*types, _INSTANCE.sub("", module)), (*numbered, module)
        modules.append(types)
        instances.append(numbered)
    of = stacks.of(rows) + 1
    forward = stacks.forward_of(rows) + 1
    is_linked = np.array([bool(types) for types in modules], dtype=bool)[forward]
    if not links_backward or not is_linked.any():
        return Places(modules, instances, of, unknown=0)
    count = len(modules)
    of = np.where(is_linked, forward + count, of)
    return Places(modules * 2, instances * 2, of, unknown=0, backward_from=count)


def _places_in_annotations(trace: Trace) -> Places:
    """Return the ranges that the program marked, such as NVTX's, around the launch of each call;
    without those of operators, and without those that hold nearly all of the launches."""
    host = trace.host
    if host is None or not len(host.launch_rows):
        return _nowhere(trace)
    chains, chain_of = _open_annotations(host)
    around = _ranges_around_all(host, chains, chain_of)
    instances = [
        tuple(name for name in chain if without_number(name) not in around)[:MAX_MODULES]
        for chain in chains
    ]
    rows = trace.calls["source_row"].to_numpy("int64", na_value=-1)
    at = np.minimum(np.searchsorted(host.launch_rows, rows), len(host.launch_rows) - 1)
    unknown = len(instances)
    instances.append(())
    of = np.where(host.launch_rows[at] == rows, chain_of[at], unknown)
    modules = [tuple(map(without_number, chain)) for chain in instances]
    return Places(modules, instances, of, unknown)


def _open_annotations(host: HostActivity) -> tuple[list[tuple[str, ...]], np.ndarray]:
    """Return the distinct chains of annotations around launches, the empty one first, and which of
    them holds each launch."""
    is_range = np.array([not _OPERATOR.match(name) for name in host.names], dtype=bool)
    chosen = np.flatnonzero((host.kind_of == ANNOTATION) & is_range[host.name_of])
    numbers: dict[tuple[str, ...], int] = {(): 0}
    found = np.zeros(len(host.launch_rows), dtype="int64")
    for lane in np.unique(host.lanes[chosen]).tolist():
        spans = chosen[host.lanes[chosen] == lane]
        launches = np.flatnonzero(host.launch_lanes == lane)
        launches = launches[np.argsort(host.launch_ns[launches], kind="stable")]
        starts, ends = host.starts_ns[spans].tolist(), host.ends_ns[spans].tolist()
        names = [host.names[at] for at in host.name_of[spans].tolist()]
        opened: list[int] = []
        following = 0
        for launch, now in zip(launches.tolist(), host.launch_ns[launches].tolist(), strict=True):
            while following < len(starts) and starts[following] <= now:
                opened = [span for span in opened if ends[span] > starts[following]]
                opened.append(following)
                following += 1
            opened = [span for span in opened if ends[span] > now]
            chain = tuple(names[span] for span in opened)
            found[launch] = numbers.setdefault(chain, len(numbers))
    return list(numbers), found


def _ranges_around_all(
    host: HostActivity, chains: Sequence[tuple[str, ...]], chain_of: np.ndarray
) -> set[str]:
    """Return the ranges that hold nearly all launches of each thread on which they stand, such as
    those of steps."""
    places: set[str] = set()
    parts: set[str] = set()
    for lane in np.unique(host.launch_lanes).tolist():
        on_lane = chain_of[host.launch_lanes == lane]
        held: dict[str, int] = {}
        for chain, count in zip(*np.unique(on_lane, return_counts=True), strict=True):
            for stem in set(map(without_number, chains[int(chain)])):
                held[stem] = held.get(stem, 0) + int(count)
        places |= {stem for stem, count in held.items() if count >= _NEARLY_ALL * len(on_lane)}
        parts |= {stem for stem, count in held.items() if count < _NEARLY_ALL * len(on_lane)}
    return places - parts


def _places_in_names(traces: Sequence[Trace]) -> list[Places]:
    """Return, of each trace, the modules that the names of operators begin with, as in
    'Default/network/conv1-Conv2d/Conv2D-op1'. Fusion may leave one operator in each module, so one
    file that has several in one shows them for all."""
    names = [trace.texts("name") for trace in traces]
    return [_places_by_name(trace, names) for trace in traces]


def _places_by_name(trace: Trace, of_all: Sequence[Sequence[str]]) -> Places:
    names = trace.texts("name")
    operators = trace.calls["operator"].to_numpy()
    times = np.bincount(
        operators, weights=trace.calls["dur_ns"].to_numpy("float64"), minlength=len(names)
    )
    scopes = scopes_of(names, times.tolist(), None, _FEWEST, of_all) or [()] * len(names)
    modules = [tuple(map(without_number, scope)) for scope in scopes]
    return Places(modules, scopes, operators)


_SOURCES: dict[Source, Callable[[Sequence[Trace]], list[Places]]] = {
    "stack": lambda traces: [*map(_places_in_stacks, traces)],
    "annotation": lambda traces: [*map(_places_in_annotations, traces)],
    "scope": _places_in_names,
}
