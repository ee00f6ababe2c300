"""One trace in; what its unit of work is, what that goes to, and what need not be out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from fusescope.analysis.advice.explanation.blocks import (
    classes_of,
    collectives_of,
    layers_of,
    unknown_of,
)
from fusescope.analysis.advice.explanation.explanation import Collective, Saving, TraceExplanation
from fusescope.analysis.advice.explanation.products import slow_products
from fusescope.analysis.advice.explanation.recomputed import recomputed
from fusescope.analysis.advice.explanation.traced import Traced
from fusescope.analysis.advice.explanation.unit import unit_of
from fusescope.analysis.advice.explanation.unusual import layout_changes, unusual
from fusescope.analysis.advice.explanation.waits import communication, copies, idle
from fusescope.analysis.advice.subject import MIN_SHARE, Subject
from fusescope.analysis.compare.explanation.products import products_of
from fusescope.analysis.compare.graphs.captured import captures_of
from fusescope.analysis.compare.graphs.names_by_order import with_own_names_by_order
from fusescope.analysis.metrics.memo import once
from fusescope.analysis.metrics.spans import lacks_kernels
from fusescope.analysis.operators.link_peaks import link_peaks
from fusescope.analysis.trace import Trace

_SINGLE = 0.005  # of a unit: what one layer or one execution takes longer than the others


def explain_subject(subject: Subject) -> TraceExplanation | None:
    """Return what the trace of a side shows, with matrix products that could be faster; None as of
    `explain_trace`, and of a variant of a recording, whose findings say it."""
    found = explain_trace(subject.trace) if not subject.side.has_model else None
    return None if found is None else _with(found, slow_products(subject, found.products))


def _with(found: TraceExplanation, savings: list[Saving]) -> TraceExplanation:
    return replace(found, savings=_ordered((*found.savings, *savings)))


@once
def explain_trace(trace: Trace) -> TraceExplanation | None:
    """Return what one trace shows; None of a file that ends early, that lacks the kernels of graphs
    that it launched, and that has nothing to say times of."""
    if trace.ends_early or lacks_kernels(trace) or not len(trace.calls):
        return None
    traced = Traced.of(with_own_names_by_order(trace))
    if traced.wall_ns <= 0:
        return None
    side = traced.side
    collectives = collectives_of(traced)
    captured = captures_of(trace)
    savings = _savings(traced, collectives)
    return TraceExplanation(
        unit_of(traced),
        layers_of(side),
        classes_of(side),
        collectives,
        # While a graph is captured the device has nothing to run.
        savings if captured is None else tuple(each for each in savings if each.code != "idle"),
        products_of(side),
        unknown_of(side),
        captured,
        link_peaks(trace.meta.device),
    )


def _savings(traced: Traced, collectives: tuple[Collective, ...]) -> tuple[Saving, ...]:
    """Return what need not be, most time first; what no program can avoid behind it."""
    least_ns = MIN_SHARE * traced.wall_ns
    side = traced.side
    found = [
        *idle(traced, least_ns),
        *communication(traced, collectives, least_ns),
        *copies(traced, least_ns),
        *recomputed(traced, least_ns),
        *layout_changes(side, least_ns),
        *unusual(side, _SINGLE * traced.wall_ns),
    ]
    return _ordered(_with_shared(traced, found))


def _with_shared(traced: Traced, savings: Sequence[Saving]) -> list[Saving]:
    """Return the savings, changes of layout with how much of their time is in a forward pass that
    runs again: it can be saved once."""
    again = next((each.calls for each in savings if each.code == "recomputed"), None)
    if again is None:
        return list(savings)
    ns = traced.trace.calls["dur_ns"].to_numpy()
    shared = []
    for each in savings:
        both = np.intersect1d(each.calls, again) if each.code == "layout" else again[:0]
        if len(both):
            part = float(ns[both].sum()) / max(1.0, float(ns[each.calls].sum()))
            each = replace(each, values={**each.values, "again_ns": round(part * each.ns)})
        shared.append(each)
    return shared


def _ordered(savings: Iterable[Saving]) -> tuple[Saving, ...]:
    return tuple(sorted(savings, key=lambda each: (each.values.get("kind") == "queued", -each.ns)))
