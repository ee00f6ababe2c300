"""What stands above a side of a timeline: what is drawn, and what is not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fusescope.analysis.messages import Said
from fusescope.analysis.metrics.breakdown import distinct_operators
from fusescope.analysis.timeline.depth import MAX_DEPTH
from fusescope.analysis.timeline.lane import Lane
from fusescope.analysis.timeline.run import DrawnRun
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording.timeline import drawn as wording
from fusescope.analysis.work_units import run_word

_LATE = 0.01  # part of a run that its operators may end after it without a word


def caption(
    trace: Trace,
    unprofiled_ns: float | None,
    run: DrawnRun,
    found: Sequence[Lane],
    too_deep: int,
) -> Said:
    operators = distinct_operators(trace, np.unique(run.calls["operator"].to_numpy()[run.own]))
    is_whole = not run.in_order and run.shown_ns is None
    facts = [
        wording.EXECUTIONS.of(operators=operators, n=run.total - run.others)
        if is_whole and run.total - run.others > operators
        else wording.OPERATORS.of(n=operators)
    ]
    if run.place is not None:
        facts.append(run.place)
    if run.run_ns and unprofiled_ns is not None:
        facts.append(wording.BOTH_TIMES.of(time=run.run_ns, unprofiled=unprofiled_ns))
    elif run.busy_ns is not None and run.run_ns:
        facts.append(wording.time_of_file(run.busy_ns, run.run_ns))
    elif run.run_ns:
        facts.append(wording.PROFILED.of(time=run.run_ns))
    if len(found) == 1 and found[0].label and not found[0].label.startswith("CPU"):
        facts.append(wording.ON_LANE.of(lane=found[0].label))
    sentences: list[Said] = []
    if run.others:
        sentences.append(wording.others_text(run.others, int(run.cut.sum())))
    ends_ns = (run.start_ns + run.dur_ns)[run.own]
    late_ns = int(ends_ns.max(initial=0)) - run.run_ns
    if is_whole and run.run_ns and late_ns > _LATE * run.run_ns:  # else the axis would be a riddle
        sentences.append(wording.OUTLIVED[run_word(trace)].of(late=late_ns))
    if run.in_order:
        sentences.append(wording.in_order_text(bool((run.calls["n"] > 1).any())))
    if run.unplaced:
        sentences.append(wording.unplaced_text(run.unplaced))
    if run.shown_ns is not None:
        sentences.append(wording.cut_text(len(run.calls), run.total))
    if too_deep:
        sentences.append(wording.too_deep_text(too_deep, MAX_DEPTH))
    return wording.caption(facts, sentences)


def folded(found: Sequence[Lane]) -> Said | None:
    """The sentence on the lanes that are folded; None where none is."""
    small = [lane for lane in found if lane.is_small]
    if not small:
        return None
    busy, all_busy = (sum(lane.busy_ns for lane in each) for each in (small, found))
    share = busy / all_busy if all_busy else 0.0
    return wording.folded_text(len(small), sum(lane.calls for lane in small), busy, share)
