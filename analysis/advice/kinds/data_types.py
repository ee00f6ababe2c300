"""Data types: heavy operators that compute in a wider type than the others."""

from __future__ import annotations

import re

import numpy as np

from fusescope.analysis.advice.finding import Finding
from fusescope.analysis.advice.subject import Answer, Subject
from fusescope.analysis.operators.classes import is_heavy

_DTYPE = re.compile(r"(u?int|float|bfloat)(\d+)")
_MIN_NARROW = 0.25  # of the executions, from which a narrow type is that of the model


def wide_types(subject: Subject) -> Answer:
    """Heavy operators whose first input is wider than that of a quarter or more of them, where they
    take 2 % of the run or more.

    What moving them to the narrow type could save is taken to be in proportion to its bits.
    """
    texts = subject.texts
    heavy = np.array([is_heavy(name) for name in texts["op_class"]], dtype=bool)
    if not heavy.any():
        return () if set(texts["op_class"]) - {"", "unknown"} else "no_types"
    inputs = subject.operators["inputs"].array
    told = [*map(_DTYPE.match, inputs.categories), None]  # the last is null's
    bits_of = np.array([int(found[2]) if found is not None else 0 for found in told])
    bits = bits_of[inputs.codes]
    known = heavy & (bits > 0)
    if not known.any():
        return "no_dtypes" if any(inputs.categories) else "no_shapes"
    counts = subject.operators["count"].to_numpy(dtype=float)
    whole = float(counts[known].sum())
    narrow = min(
        of
        for of in set(bits[known].tolist())
        if counts[known & (bits <= of)].sum() >= _MIN_NARROW * whole
    )
    wide = known & (bits > narrow)
    time_ns = subject.time_of(wide)
    if not subject.matters(time_ns):
        return ()
    times = subject.operators["per_run_ns"].to_numpy(dtype=float)
    names = subject.names(wide)
    largest = int(np.argmax(np.where(wide, times, -1.0)))
    usual = int(np.argmax(np.where(known & (bits == narrow), times, -1.0)))
    most_ns = float((times * (1 - narrow / np.maximum(bits, 1)))[wide].sum())
    return (
        Finding(
            "wide_types",
            values={
                "operators": int(wide.sum()),
                "time_ns": time_ns,
                "share": subject.share(time_ns),
                "wide": _name(told[inputs.codes[largest]]),
                "narrow": _name(told[inputs.codes[usual]]),
                "operator": names[0],
            },
            at_most_ns=most_ns,
            share=subject.share(time_ns),
            basis="modelled",
            where="operators",
            names=names,
            confidence="low",
        ),
    )


def _name(found: re.Match[str] | None) -> str:
    return found[0] if found is not None else "unknown"
