"""One layer, or one execution, that takes far longer than those like it; changes of layout."""

from __future__ import annotations

import numpy as np
import pandas as pd

from fusescope.analysis.advice.explanation.blocks import folded
from fusescope.analysis.advice.explanation.explanation import Saving
from fusescope.analysis.advice.kinds.conversions import changes_layout
from fusescope.analysis.align.repeats import Repeat, walk
from fusescope.analysis.compare.explanation.sides import ExplainedSide
from fusescope.analysis.compare.explanation.single import longest_call

_BEYOND = 3.0  # times the others of its kind
_LAYER = 1.25  # times the other layers
_FEWEST = 6  # executions, or layers, that one is compared with
_LIKE = 0.5  # of what the layer takes longer, by which the others may differ among themselves


def unusual(side: ExplainedSide, least_ns: float) -> list[Saving]:
    """Return executions, and the one layer, that take far longer than the others of their kind; of
    a layer without what single executions in it take longer."""
    found = _outliers(side, least_ns)
    ns = side.ns.copy()
    for at, (excess_ns, _) in found.items():
        ns[at] -= excess_ns
    return [
        *(_outlier(side, at, *each) for at, each in found.items()),
        *slow_layer(side, ns, least_ns),
    ]


def _outliers(side: ExplainedSide, least_ns: float) -> dict[int, tuple[float, int]]:
    """Return executions that took more than three times as long as those at the same place of other
    units, and, where all units have it, as those of the same kernel and shapes: by how much a unit
    is longer for it, and how long the others take. Where the file does not have the shapes, it may
    be another size."""
    profile = side.profile
    found: dict[int, tuple[float, int]] = {}
    if profile.count >= 3:
        others = (profile.totals_ns - profile.longest_ns) / (profile.count - 1)
        excess = (profile.longest_ns - others) / profile.count
        far = (profile.longest_ns > _BEYOND * others) & (excess >= least_ns)
        found |= {
            int(at): (float(excess[at]), int(others[at])) for at in np.flatnonzero(far).tolist()
        }
    inputs = side.trace.texts("inputs")
    order = np.argsort(profile.operators, kind="stable")
    edges = np.flatnonzero(np.diff(profile.operators[order], prepend=-1))
    for places in np.split(order, edges[1:]) if len(order) else []:
        usual = float(np.median(side.ns[places]))
        far_off = places[side.ns[places] > _BEYOND * usual]
        if len(places) < _FEWEST or len(far_off) != 1 or not inputs[profile.operators[places[0]]]:
            continue  # several are another kind of work under the same name
        at = int(far_off[0])
        if side.ns[at] - usual >= least_ns and at not in found:
            found[at] = (float(side.ns[at]) - usual, round(usual))
    return found


def _outlier(side: ExplainedSide, at: int, excess_ns: float, usual_ns: int) -> Saving:
    profile = side.profile
    values: dict[str, str | int | float] = {
        "of": int((profile.operators == profile.operators[at]).sum()) * profile.count,
        "longest_ns": int(profile.longest_ns[at]),
        "usual_ns": usual_ns,
        "unit": int(profile.longest_unit[at]),
    }
    before = side.times_of([at], [excess_ns])
    calls = np.array([longest_call(side, at)])
    return Saving(
        "outlier", round(excess_ns), 1, side.module_of([at]), before, values=values, calls=calls
    )


def slow_layer(side: ExplainedSide, all_ns: np.ndarray, least_ns: float) -> list[Saving]:
    """Return the one layer of at least six that takes far longer than the others, which are alike
    among themselves; `all_ns` are the times of the kernels of a unit."""
    repeats = [repeat for _, repeat in walk(folded(side))]
    for repeat in sorted(repeats, key=lambda each: -each.copies):
        if repeat.copies < _FEWEST or len(set(repeat.lengths)) > 1:
            continue
        found = _slow_layer(side, all_ns, repeat, least_ns)
        if found is not None:
            return [found]
    return []


def _slow_layer(
    side: ExplainedSide, all_ns: np.ndarray, repeat: Repeat, least_ns: float
) -> Saving | None:
    ns = all_ns[repeat.start : repeat.stop].reshape(repeat.copies, -1)
    times = ns.sum(axis=1)
    at = int(np.argmax(times))
    usual = float(np.median(np.delete(times, at)))
    excess = float(times[at]) - usual
    others = np.abs(np.delete(times, at) - usual)
    if times[at] < _LAYER * usual or excess < least_ns or others.max() > _LIKE * excess:
        return None
    beyond = ns[at] - np.median(ns, axis=0)
    inside = np.flatnonzero(beyond >= 0.1 * excess)
    if _is_of_other_size(side, repeat, at, inside):
        return None
    places = inside + repeat.start + at * ns.shape[1]
    return Saving(
        "layer",
        round(excess),
        1,
        side.module_of(places.tolist()),
        side.times_of(places.tolist(), all_ns[places].tolist()),
        evidence="ordered",
        values={
            "layer": at + 1,
            "layers": repeat.copies,
            "takes_ns": round(float(times[at])),
            "usual_ns": round(usual),
        },
        calls=side.calls_at(places),
    )


def _is_of_other_size(side: ExplainedSide, repeat: Repeat, at: int, inside: np.ndarray) -> bool:
    """Return whether a layer works on other tensors at these places than all others do, as one
    larger parameter of an optimizer: then it is more work, not slower."""
    operators = side.profile.operators[repeat.start : repeat.stop].reshape(repeat.copies, -1)
    inputs = side.trace.texts("inputs")
    own = [inputs[operator] for operator in operators[at, inside].tolist()]
    others = np.delete(operators[:, inside], at, axis=0)
    known = [{inputs[operator] for operator in column.tolist()} - {""} for column in others.T]
    return any(
        bool(mine) and bool(of) and mine not in of for mine, of in zip(own, known, strict=True)
    )


def layout_changes(side: ExplainedSide, least_ns: float) -> list[Saving]:
    """Return kernels that only change the layout of tensors."""
    texts = {name: side.trace.texts(name) for name in ("op_type", "op_class")}
    chosen = changes_layout(pd.DataFrame(texts, dtype="object"))
    places = np.flatnonzero(chosen[side.profile.operators])
    ns = side.ns[places]
    if not len(places) or float(ns.sum()) < least_ns:
        return []
    before = side.times_of(places.tolist(), ns.tolist())
    calls = side.calls_at(places)
    return [Saving("layout", round(float(ns.sum())), len(places), before=before, calls=calls)]
