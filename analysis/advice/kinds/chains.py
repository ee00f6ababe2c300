"""Light chains: light operators that run one after the other, each on what the last one wrote."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pandas as pd

from fusescope.analysis.advice import prediction
from fusescope.analysis.advice.finding import Finding
from fusescope.analysis.advice.subject import Answer, Subject, shown_chain
from fusescope.analysis.metrics.breakdown import steady_calls
from fusescope.analysis.metrics.warmup import steady_runs
from fusescope.analysis.operators.classes import POINTWISE
from fusescope.analysis.trace import Trace

_FUSIBLE = frozenset(POINTWISE)
# What a compiler has fused: it would have taken more, had it seen that it may.
FUSED = re.compile(r"fusion|fused|^triton_|^GraphKernel", re.IGNORECASE)


def light_chains(subject: Subject) -> Answer:
    """Two or more elementwise operators or activations in a row on one stream of which each reads
    a tensor of the shape that the one before it wrote, and that no compiler has made.

    Only of files without graphs: with them the patterns of the model say it. One kernel for a chain
    takes at least as long as its longest operator, so the others are what can be saved.
    """
    trace, comparison = subject.trace, subject.comparison
    if comparison is not None and comparison.fusion.source == "graphs":
        return ()
    if subject.side.graph is not None:
        return ()
    texts = trace.texts("op_class")
    fusible = np.array([of in _FUSIBLE for of in texts], dtype=bool)
    fusible &= ~(are_fused(trace, "name") | are_fused(trace, "op_type"))
    if not fusible.any():
        return "no_types" if set(texts) <= {"", "unknown"} else ()
    steady = steady_runs(trace)
    calls = steady_calls(trace)
    if calls.empty or calls["start_ns"].isna().any() or (calls["n"] > 1).any():
        return "no_start_times"
    if not trace.operators["inputs"].notna().any():
        return "no_shapes"
    of, lanes, dur_ns = in_lanes(calls)
    joined = (lanes[1:] == lanes[:-1]) & fusible[of[1:]] & fusible[of[:-1]]
    joined &= _handed_on(trace.texts("inputs"), trace.texts("outputs"), of, joined)
    chain = np.concatenate(([0], np.cumsum(~joined)))
    lengths = np.bincount(chain)
    whole = np.bincount(chain, weights=dur_ns)
    longest = np.zeros(len(lengths))
    np.maximum.at(longest, chain, dur_ns)
    is_chain = lengths > 1
    count = max(1, len(steady.runs))
    gone_ns = float((whole - longest)[is_chain].sum()) / count
    if not subject.matters(gone_ns):
        return ()
    inside = is_chain[chain]
    members = np.unique(of[inside])
    mask = np.isin(subject.operators["operator"].to_numpy(), members)
    return (
        Finding(
            "light_chains",
            values={
                "executions": max(1, round(float(lengths[is_chain].sum()) / count)),
                "time_ns": float(whole[is_chain].sum()) / count,
                "share": subject.share(float(whole[is_chain].sum()) / count),
                "example": _example(trace.texts("op_type"), of, chain, is_chain),
            },
            at_most_ns=gone_ns,
            share=subject.share(float(whole[is_chain].sum()) / count),
            gain=prediction.chained(gone_ns, "compiler"),
            where="operators",
            names=subject.names(mask),
            confidence="low",
        ),
    )


def are_fused(trace: Trace, column: str) -> np.ndarray:
    """Which operators this column calls fused."""
    told = trace.operators[column].array
    of_text = [FUSED.search(text) is not None for text in told.categories.to_numpy(dtype=object)]
    found: np.ndarray = np.array([*of_text, False], dtype=bool)[told.codes]
    return found


def in_lanes(calls: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Operator, lane and duration of each call, lane after lane and by start; a lane is a stream in
    one run."""
    calls = calls[["operator", "run", "device", "stream", "start_ns", "dur_ns"]]
    calls = calls.sort_values("start_ns", kind="stable")
    devices, lanes_of = (calls[name].cat.codes.to_numpy("int64") for name in ("device", "stream"))
    streams, named = pd.factorize(devices * (lanes_of.max() + 2) + lanes_of)
    runs = pd.factorize(calls["run"].to_numpy("int64", na_value=-1))[0]
    lanes = runs * (len(named) + 1) + streams + 1  # -1: no stream
    order = np.argsort(lanes, kind="stable")
    dur_ns = calls["dur_ns"].to_numpy(dtype=float)[order]
    return calls["operator"].to_numpy()[order], lanes[order], dur_ns


def _handed_on(
    inputs: list[str], outputs: list[str], of: np.ndarray, joined: np.ndarray
) -> np.ndarray:
    """Whether a call reads a tensor of the shape and type that the call before it wrote: the
    first output, or, where a file has inputs only, the first input that both share."""
    told = [out or into for out, into in zip(outputs, inputs, strict=True)]
    wrote, written = pd.factorize(np.array(told, dtype=object))
    reads, read = pd.factorize(np.array(inputs, dtype=object))
    places = np.flatnonzero(joined)
    pairs, of_pair = np.unique(
        wrote[of[places]] * len(read) + reads[of[places + 1]], return_inverse=True
    )
    hands_on = np.zeros(len(pairs), dtype=bool)
    for at, pair in enumerate(pairs.tolist()):
        first = written[pair // len(read)].split("; ")[0]
        hands_on[at] = bool(first) and first in read[pair % len(read)].split("; ")
    found = np.zeros(len(of) - 1, dtype=bool)
    found[places] = hands_on[of_pair]
    return found


def _example(types: list[str], of: np.ndarray, chain: np.ndarray, is_chain: np.ndarray) -> str:
    """The op types of the chain that is there most often."""
    seen: Counter[tuple[int, ...]] = Counter()
    starts = np.flatnonzero(np.r_[True, chain[1:] != chain[:-1]])
    ends = np.r_[starts[1:], len(chain)]
    several = is_chain[chain[starts]]
    for start, end in zip(starts[several].tolist(), ends[several].tolist(), strict=True):
        seen[tuple(of[start:end].tolist())] += 1
    return shown_chain([types[operator] or "unknown" for operator in seen.most_common(1)[0][0]])
