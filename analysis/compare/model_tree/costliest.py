"""The part of a model that takes most of the time of one trace, and its longest instance."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fusescope.analysis.compare.model_tree.paths import Located
from fusescope.analysis.compare.model_tree.tree import ModelTree
from fusescope.analysis.work_units.units import OUTSIDE, Units

_FEWEST = 3  # instances, of which one can be longer than the others
_LAYERS = 4  # copies, from which what repeats are layers
_LONGER = 1.25  # times the median of the others
_NEARLY_ALL = 0.8  # of the time, in a module of which there is one: that says nothing


@dataclass(frozen=True)
class Costliest:
    """The type of module whose own operators, without those of modules inside it, take most, by its
    path, outermost first; where modules say nothing, the operator or op type of most time.

    `ns` is the time of all its `instances` per unit of work, `share` its part of all kernels' time,
    `outside` the part that runs in no module, and `outside_talking` what of that is communication.
    With `is_range` it is a range that the program marks around its calls. Where one instance takes
    far longer than the others, `longest` is its path, `longest_ns` its time and `others_ns` the
    median of the others, per unit. `backward_ns` is the part of its time in the backward pass, None
    where nothing links that to it. With `is_repeat` it is a layer that repeats in the order of
    kernels, named by how many it has. `classes` are the classes of its own operators with their
    times per unit, the largest first, where they are of several.
    """

    names: tuple[str, ...]
    is_module: bool
    instances: int
    ns: float
    share: float
    outside: float = 0.0
    outside_talking: float = 0.0
    is_range: bool = False
    longest: tuple[str, ...] = ()
    longest_ns: float = 0.0
    others_ns: float = 0.0
    is_repeat: bool = False
    backward_ns: float | None = None
    classes: tuple[tuple[str, float], ...] = ()


def costliest(tree: ModelTree, located: Located, units: Units) -> Costliest | None:
    """Return the costliest part of the tree of one trace; None where nothing took time."""
    whole_ns = tree.total_ns[0]
    if not whole_ns:
        return None
    times_of_places = _times_of_places(located, units)
    by_module = _times(located, times_of_places)
    outside = by_module.pop((), {})
    is_repeat = tree.levels.modules == "repeat"
    if is_repeat:  # two halves of a step are no layers
        by_module = {types: of for types, of in by_module.items() if len(of) >= _LAYERS}
    if by_module:
        types = max(by_module, key=lambda each: sum(by_module[each].values()))
        times = by_module[types]
        share = sum(times.values()) / whole_ns
        if share < _NEARLY_ALL or len(times) > 1:
            found = Costliest(
                types, not is_repeat, len(times), 0.0, share, sum(outside.values()) / whole_ns,
                _talking_ns(located, units) / whole_ns, tree.levels.modules == "annotation",
                is_repeat=is_repeat,
            )  # fmt: skip
            found = _with_times(found, times, tree.unit_counts[0])
            found = replace(found, classes=_classes(located, units, types))
            if not tree.levels.backward:
                return found
            backward = _backward_ns(located, times_of_places, types)
            return replace(found, backward_ns=backward / tree.unit_counts[0])
    return _operator(tree)


def _backward_ns(located: Located, times: np.ndarray, types: tuple[str, ...]) -> float:
    """Return the time of the backward pass of all modules of these types."""
    places = located.places
    return sum(
        float(times[place])
        for place, path in enumerate(places.modules)
        if places.is_backward(place) and tuple(path) == types
    )


def _classes(
    located: Located, units: Units, types: tuple[str, ...]
) -> tuple[tuple[str, float], ...]:
    """Return the classes of what runs directly in modules of these types, the largest first, with
    their times per unit; none where all is of one class."""
    trace, places = located.trace, located.places
    is_of_types = np.array([tuple(path) == types for path in places.modules], dtype=bool)
    chosen = is_of_types[places.of] & (units.unit_of != OUTSIDE)
    classes = trace.operators["op_class"].astype(str)
    of_calls = classes.to_numpy()[trace.calls["operator"].to_numpy()[chosen]]
    times = trace.calls["dur_ns"][chosen].groupby(of_calls).sum().sort_values(ascending=False)
    classes_ns = tuple((str(name), ns / units.count) for name, ns in times.items() if ns)
    return classes_ns if len(classes_ns) > 1 else ()


def _with_times(found: Costliest, times: dict[tuple[str, ...], float], count: int) -> Costliest:
    found = replace(found, ns=sum(times.values()) / count)
    longest = max(times, key=lambda path: times[path])
    others = [ns for path, ns in times.items() if path != longest]
    if len(times) < _FEWEST or times[longest] < _LONGER * float(np.median(others)):
        return found
    return replace(
        found,
        longest=longest,
        longest_ns=times[longest] / count,
        others_ns=float(np.median(others)) / count,
    )


def _talking_ns(located: Located, units: Units) -> int:
    """Return the time of communication in no module, in all units, in ns."""
    trace, places = located.trace, located.places
    operators = trace.calls["operator"].to_numpy()
    talks = trace.operators["is_communication"].to_numpy(dtype=bool)[operators]
    is_outside = np.array([not types for types in places.modules], dtype=bool)[places.of]
    chosen = talks & is_outside & (units.unit_of != OUTSIDE)
    return int(trace.calls["dur_ns"].to_numpy()[chosen].sum())


def _times_of_places(located: Located, units: Units) -> np.ndarray:
    """Return the time in all units of what runs directly at each place, in ns."""
    chosen = units.unit_of != OUTSIDE
    return np.bincount(
        located.places.of[chosen],
        weights=located.trace.calls["dur_ns"].to_numpy("float64")[chosen],
        minlength=len(located.places.modules),
    )


def _times(
    located: Located, times: np.ndarray
) -> dict[tuple[str, ...], dict[tuple[str, ...], float]]:
    """Return the times of places by the types of the modules of each, then by their instances;
    those in no module by ()."""
    places = located.places
    found: dict[tuple[str, ...], dict[tuple[str, ...], float]] = {}
    for types, path, ns in zip(places.modules, places.instances, times.tolist(), strict=True):
        if ns:
            instances = found.setdefault(tuple(types), {})
            instances[tuple(path)] = instances.get(tuple(path), 0.0) + ns
    return found


def _operator(tree: ModelTree) -> Costliest | None:
    """Return the operator of the framework, or the op type, that takes most of all."""
    times: dict[str, int] = {}
    for _, _, node in tree.walk():
        name = next((of for kind, of in node.steps if kind in ("operator", "op_type")), None)
        if name is not None:
            times[name] = times.get(name, 0) + node.total_ns[0]
    name = max(times, key=lambda each: times[each], default=None)
    if name is None:
        return None
    ns = times[name]
    return Costliest((name,), False, 1, ns / tree.unit_counts[0], ns / tree.total_ns[0])
