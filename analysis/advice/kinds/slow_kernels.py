"""Slow kernels: operators that an optimizer made and whose kernel moves data slowly."""

from __future__ import annotations

import numpy as np

from fusescope.analysis.advice.finding import Finding, Gain
from fusescope.analysis.advice.optimizers import MADE_BY
from fusescope.analysis.advice.settings import conditions_of, why_no_conditions
from fusescope.analysis.advice.subject import Answer, Subject
from fusescope.analysis.operators.classes import is_heavy

_SLOW = 0.25  # of the rate at which the other light operators of the run move their bytes
# What its parts move if they run by themselves, as parts of what it moves: each reads and writes
# what the one operator kept for itself.
_APART = (2.0, 4.0, 1.0)
_OTHERS = ("elementwise", "activation")


def slow_kernel(subject: Subject) -> Answer:
    """For each op type that an optimizer of the engine makes: light operators that move their bytes
    at a quarter of the rate of the run's elementwise operators and activations, or less, and that
    could save 2 % of the run.

    Without the optimizer their parts run, at that rate.
    """
    told = conditions_of(subject.side)
    if told is None:
        return why_no_conditions(subject.side)
    if told.level == "none":
        return ()
    texts = subject.texts
    moved = subject.under.operators["bytes"].to_numpy("float64", na_value=np.nan)
    moved = moved * subject.operators["count"].to_numpy(dtype=float)
    time_ns = subject.operators["per_run_ns"].to_numpy(dtype=float)
    known = (moved > 0) & (time_ns > 0)
    if not known.any():
        return "no_sizes"
    made = texts["op_type"].isin(list(MADE_BY)).to_numpy(dtype=bool)
    others = known & ~made & texts["op_class"].isin(_OTHERS).to_numpy(dtype=bool)
    if not others.any():
        return ()
    rate = float(moved[others].sum() / time_ns[others].sum())  # bytes a ns
    light = np.array([not is_heavy(name) for name in texts["op_class"]], dtype=bool)
    slow = known & made & light & (moved <= _SLOW * rate * time_ns)
    found = []
    for op_type in dict.fromkeys(texts["op_type"][slow]):
        chosen = slow & (texts["op_type"] == op_type).to_numpy(dtype=bool)
        spent_ns, size = subject.time_of(chosen), float(moved[chosen].sum())
        value, low, high = (spent_ns - part * size / rate for part in _APART)
        if not subject.matters(value):
            continue
        found.append(
            Finding(
                "slow_kernel",
                values={
                    "operators": int(chosen.sum()),
                    "op_type": op_type,
                    "optimizer": MADE_BY[op_type],
                    "time_ns": spent_ns,
                    "share": subject.share(spent_ns),
                    "rate": size / spent_ns,
                    "others": rate,
                },
                at_most_ns=spent_ns,
                share=subject.share(spent_ns),
                gain=Gain(value, low, high, "modelled"),
                where="operators",
                names=subject.names(chosen),
            )
        )
    return tuple(found)
