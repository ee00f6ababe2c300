"""Tail: some un-profiled runs take much longer than most."""

from __future__ import annotations

import numpy as np

from analysis.advice.finding import Finding
from analysis.advice.subject import Answer, Subject

_MIN_RUNS = 20
_MIN_RATIO = 1.5  # the 95th percentile over the median


def run_tail(subject: Subject) -> Answer:
    """The 95th percentile of un-profiled runs is 1.5 times their median, or more.

    What a remedy could save of the mean run is the mean minus the median.
    """
    sampled = subject.trace.sampled_runs
    if sampled.empty:
        return "no_samples"
    dur_ns = sampled.loc[~sampled["warmup"], "dur_ns"].to_numpy(dtype=float)
    if len(dur_ns) < _MIN_RUNS:
        return "too_few_samples"
    median, p95 = (float(value) for value in np.percentile(dur_ns, (50, 95)))
    if not median or p95 < _MIN_RATIO * median:
        return ()
    most_ns = max(0.0, float(dur_ns.mean()) - median)
    third = max(1, len(dur_ns) // 3)
    early = float(np.median(dur_ns[:third]) / np.median(dur_ns[-third:]))
    return (
        Finding(
            "run_tail",
            values={
                "p95_ns": p95,
                "median_ns": median,
                "ratio": p95 / median,
                "runs": len(dur_ns),
                "cause": "warm_up" if early > 1.2 else "throttling" if early < 1 / 1.2 else "other",
            },
            at_most_ns=most_ns,
            share=most_ns / float(dur_ns.mean()),
            confidence="low",
            of_ns=float(dur_ns.mean()),
        ),
    )
