"""Light chains: light operators that run one after the other, each on what the last one wrote."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pandas as pd

from analysis.advice import prediction
from analysis.advice.finding import Finding
from analysis.advice.subject import Answer, Subject, shown
from analysis.metrics.breakdown import steady_calls
from analysis.metrics.warmup import steady_runs

_FUSIBLE = frozenset(("elementwise", "activation"))
# What a compiler has fused: it would have taken more, had it seen that it may.
FUSED = re.compile(r"fusion|fused|^triton_|^GraphKernel", re.IGNORECASE)
_MAX_TYPES = 4


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
    fusible = np.array(
        [
            of in _FUSIBLE and not FUSED.search(name) and not FUSED.search(op_type)
            for of, name, op_type in zip(texts, trace.texts("name"), trace.texts("op_type"))
        ],
        dtype=bool,
    )
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


def in_lanes(calls: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Operator, lane and duration of each call, lane after lane and by start; a lane is a stream in
    one run."""
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
    known: dict[tuple[int, int], bool] = {}
    found = np.zeros(len(of) - 1, dtype=bool)
    for place in np.flatnonzero(joined):
        pair = (int(of[place]), int(of[place + 1]))
        if pair not in known:
            written = (outputs[pair[0]] or inputs[pair[0]]).split("; ")[0]
            known[pair] = bool(written) and written in inputs[pair[1]].split("; ")
        found[place] = known[pair]
    return found


def _example(types: list[str], of: np.ndarray, chain: np.ndarray, is_chain: np.ndarray) -> str:
    """The op types of the chain that is there most often."""
    seen: Counter[tuple[int, ...]] = Counter()
    starts = np.flatnonzero(np.r_[True, chain[1:] != chain[:-1]])
    ends = np.r_[starts[1:], len(chain)]
    several = is_chain[chain[starts]]
    for start, end in zip(starts[several].tolist(), ends[several].tolist(), strict=True):
        seen[tuple(of[start:end].tolist())] += 1
    parts = [types[operator] or "unknown" for operator in seen.most_common(1)[0][0]]
    more = "" if len(parts) <= _MAX_TYPES else " + …"
    return shown(" + ".join(parts[:_MAX_TYPES]) + more)
