"""Tail: some un-profiled runs take much longer than most."""

from __future__ import annotations

import numpy as np
import pandas as pd

from fusescope.analysis.advice.finding import Finding
from fusescope.analysis.advice.subject import Answer, Subject

_MIN_RUNS = 20
_MIN_RATIO = 1.5  # the 95th percentile over the median
_MIN_DRIFT = 1.2  # early runs over late ones
_MOST = 0.7  # of the growth of a slow run, from which its CPU time explains it


def run_tail(subject: Subject) -> Answer:
    """The 95th percentile of un-profiled runs is 1.5 times their median, or more.

    What a remedy could save of the mean run is the mean minus the median; nothing where other runs
    are as much faster as these are slower.
    """
    sampled = subject.trace.sampled_runs
    if sampled.empty:
        return "no_samples"
    counted = sampled.loc[~sampled["warmup"]]
    dur_ns = counted["dur_ns"].to_numpy(dtype=float)
    if len(dur_ns) < _MIN_RUNS:
        return "too_few_samples"
    median, p95 = (float(value) for value in np.percentile(dur_ns, (50, 95)))
    if not median or p95 < _MIN_RATIO * median:
        return ()
    most_ns = float(dur_ns.mean()) - median
    if most_ns < 1:  # shown in whole ns
        return ()
    return (
        Finding(
            "run_tail",
            values={
                "p95_ns": p95,
                "median_ns": median,
                "ratio": p95 / median,
                "runs": len(dur_ns),
                "cause": _cause(counted),
            },
            at_most_ns=most_ns,
            share=most_ns / float(dur_ns.mean()),
            confidence="low",
            of_ns=float(dur_ns.mean()),
        ),
    )


def _cause(runs: pd.DataFrame) -> str:
    """What the slow runs have in common: runs get faster or slower, each process for itself; else
    their CPU time, which grows where the processor is slower and not where threads wait for it."""
    early = [_early(block) for _, block in runs.groupby("block", dropna=False, observed=True)]
    ratio = float(np.median(early))
    if ratio > _MIN_DRIFT:
        return "warm_up"
    if ratio < 1 / _MIN_DRIFT:
        return "throttling"
    dur_ns = runs["dur_ns"].to_numpy(dtype=float)
    cpu_ns = runs["cpu_ns"].to_numpy(dtype=float, na_value=np.nan)
    slow, usual = dur_ns >= np.percentile(dur_ns, 95), dur_ns <= np.median(dur_ns)
    grown = float(np.median(dur_ns[slow]) / np.median(dur_ns[usual]))
    with_cpu = float(np.median(cpu_ns[slow]) / np.median(cpu_ns[usual])) if cpu_ns.all() else np.nan
    if np.isnan(with_cpu) or grown <= 1:
        return "other"
    part = (with_cpu - 1) / (grown - 1)  # of the growth that is CPU time
    return "slower" if part > _MOST else "waited" if part < 1 - _MOST else "other"


def _early(block: pd.DataFrame) -> float:
    """The median of the first third of runs over that of the last third."""
    dur_ns = block["dur_ns"].to_numpy(dtype=float)
    third = max(1, len(dur_ns) // 3)
    last = float(np.median(dur_ns[-third:]))
    return float(np.median(dur_ns[:third])) / last if last else 1.0
