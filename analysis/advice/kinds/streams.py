"""Streams: one does most of the work while the others stand still."""

from __future__ import annotations

import numpy as np
import pandas as pd

from fusescope.analysis.advice.finding import Finding
from fusescope.analysis.advice.kinds.conversions import HOSTS
from fusescope.analysis.advice.subject import Answer, Subject, shown
from fusescope.analysis.metrics.breakdown import steady_calls
from fusescope.analysis.metrics.device import copies_of
from fusescope.analysis.metrics.spans import call_times, union_ns
from fusescope.analysis.metrics.stretch import longest_alone
from fusescope.analysis.metrics.warmup import steady_runs

_MIN_BUSY = 0.05  # of the busiest stream's time: with less a stream only serves the others
_MAX_OTHER = 0.5  # of the busiest stream's time that the second one works
_MIN_SHARE = 0.1  # of the run that could be saved: what depends on what is not known


def stream_imbalance(subject: Subject) -> Answer:
    """Several streams of one device compute, and the second works less than half of the first.
    Streams of copies, communication and of a processor beside the accelerator are not among them.

    What moving work could save is half the difference of the two: then both take as long.
    """
    trace = subject.trace
    steady = steady_runs(trace)
    calls = steady_calls(trace)
    on_device = (trace.operators["level"] == "device_kernel").to_numpy()
    of = calls["operator"].to_numpy()
    on_host = trace.operators["provider"].isin(list(HOSTS)).to_numpy(dtype=bool)
    is_communication = trace.operators["is_communication"].to_numpy()
    computes = on_device & ~is_communication & ~copies_of(trace) & ~on_host
    calls = calls[["device", "stream", "start_ns", "span_ns", "dur_ns"]][computes[of]]
    if calls.empty or calls["device"].nunique() > 1 or calls["stream"].nunique() < 2:
        return ()
    if calls["start_ns"].isna().any():
        return "no_start_times"
    runs = max(1, len(steady.runs))
    starts, lasts = call_times(calls)
    codes, streams = pd.factorize(calls["stream"])
    busy = np.array([union_ns(starts[codes == c], lasts[codes == c]) for c in range(len(streams))])
    busy_ns = busy / runs
    order = np.argsort(-busy_ns, kind="stable")
    first, second = (float(busy_ns[place]) for place in order[:2])
    if second < _MIN_BUSY * first or second > _MAX_OTHER * first:
        return ()
    most_ns = (first - second) / 2
    if (subject.share(most_ns) or 0.0) < _MIN_SHARE:
        return ()
    names = [str(streams[place]) for place in order[:2]]
    return (
        Finding(
            "stream_imbalance",
            values={
                "first": shown(names[0]),
                "second": shown(names[1]),
                "first_ns": first,
                "second_ns": second,
            },
            at_most_ns=most_ns,
            share=subject.share(most_ns),
            confidence="low",
            stretch=longest_alone(trace, computes, *names),
        ),
    )
