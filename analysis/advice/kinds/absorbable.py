"""Light after heavy: normalisations and activations that follow a heavy operator one by one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pandas as pd

from fusescope.analysis.advice import prediction
from fusescope.analysis.advice.finding import Finding
from fusescope.analysis.advice.kinds.chains import are_fused, in_lanes
from fusescope.analysis.advice.subject import Answer, Subject, shown_chain
from fusescope.analysis.metrics.breakdown import steady_calls
from fusescope.analysis.metrics.warmup import steady_runs
from fusescope.analysis.operators.classes import CONVERSIONS, POINTWISE
from fusescope.analysis.trace import Trace

_HEAVY = frozenset(("convolution", "matrix_product", "grouped_product"))
_LIGHT = frozenset(POINTWISE)
# Between two operators they hand on what is there.
_ASIDE = frozenset((*CONVERSIONS, "data_movement", "copy", "embedding", "kv_cache"))
# While a model is trained, its normalisations cannot be folded into the weights.
_LEARNS = re.compile(r"backward|grad|train|optimi[sz]er", re.IGNORECASE)
_BATCH = re.compile(r"batch_?norm|^bn", re.IGNORECASE)
_DIMS = re.compile(r"\[([\d,]*)\]")
_MIN_PART = 0.01  # of the light time of its chain: operators that only call others have less


def light_after_heavy(subject: Subject) -> Answer:
    """After a convolution or matrix product of inference, on its stream: a BatchNormalization of
    its channels, elementwise operators and activations on what it wrote.

    Only of files without graphs, as `light_chains`, and where no operator learns. That a tensor is
    the one that the heavy operator wrote follows from its channels, then from its shape.
    """
    trace, comparison = subject.trace, subject.comparison
    if subject.side.graph is not None or (
        comparison is not None and comparison.fusion.source == "graphs"
    ):
        return ()
    classes, names, types = (trace.texts(of) for of in ("op_class", "name", "op_type"))
    if not _HEAVY & set(classes):
        return "no_types" if set(classes) <= {"", "unknown"} else ()
    if _LEARNS.search("\n".join({*names, *types})):
        return ()
    if not trace.operators["inputs"].notna().any():
        return "no_shapes"
    steady = steady_runs(trace)
    calls = steady_calls(trace)
    if calls.empty or calls["start_ns"].isna().any() or (calls["n"] > 1).any():
        return "no_start_times"
    of, lanes, dur_ns = in_lanes(calls)
    chains = _chains(trace, of, lanes, classes, types)
    ran, took = of.tolist(), dur_ns.tolist()
    heavy_ns, light_ns = 0.0, 0.0
    absorbed: set[int] = set()
    patterns: Counter[tuple[int, ...]] = Counter()
    executions = 0
    for at, chain in chains:
        whole = sum([took[one] for one in chain])
        real = [ran[one] for one in chain if took[one] >= _MIN_PART * whole]
        heavy_ns += took[at]
        light_ns += whole
        executions += len(real)
        absorbed.update(real)
        patterns[(ran[at], *real)] += 1
    runs = max(1, len(steady.runs))
    light_ns, heavy_ns = light_ns / runs, heavy_ns / runs
    if not absorbed or not subject.matters(light_ns):
        return ()
    gain = prediction.absorbed(light_ns, heavy_ns).at_most(light_ns)
    mask = np.isin(subject.operators["operator"].to_numpy(), list(absorbed))
    usual = patterns.most_common(1)[0][0]
    return (
        Finding(
            "light_after_heavy",
            values={
                "executions": max(1, round(executions / runs)),
                "time_ns": light_ns,
                "share": subject.share(light_ns),
                "batch_norm": any(_is_batch(types[one]) for one in absorbed),
                "example": shown_chain([types[one] or "unknown" for one in usual]),
            },
            at_most_ns=light_ns,
            share=subject.share(light_ns),
            gain=gain,
            where="operators",
            names=subject.names(mask),
            confidence="low",
        ),
    )


def _chains(
    trace: Trace, of: np.ndarray, lanes: np.ndarray, classes: list[str], types: list[str]
) -> Iterator[tuple[int, list[int]]]:
    """Places of heavy executions, and of the light ones that follow each on its lane."""
    number, texts = pd.factorize(np.array(trace.texts("inputs"), dtype=object))
    shapes = [[_dims(part) for part in text.split("; ")] for text in texts]
    reads = number.tolist()
    is_fused = are_fused(trace, "name").tolist()
    is_light = [
        (kind in _LIGHT or (kind == "normalisation" and _is_batch(op_type))) and not fused
        for kind, op_type, fused in zip(classes, types, is_fused, strict=True)
    ]
    is_aside = [kind in _ASIDE for kind in classes]
    is_heavy = np.array([kind in _HEAVY for kind in classes], dtype=bool)
    goes_on = np.array(is_light, dtype=bool) | np.array(is_aside, dtype=bool)
    # Whether a call may be in the chain of the one before it on its lane; the last ends them all.
    goes_on = np.append((lanes[1:] == lanes[:-1]) & goes_on[of[1:]], False)
    starts = np.flatnonzero(is_heavy[of] & goes_on)
    ran, follows = of.tolist(), goes_on.tolist()
    fits: dict[tuple[int, int], bool] = {}
    for at in starts.tolist():
        heavy = reads[ran[at]]
        tensor: tuple[int, ...] = ()
        chain: list[int] = []
        place = at
        while follows[place]:
            place += 1
            op = ran[place]
            if is_aside[op]:
                continue
            first = reads[op]
            if tensor:
                if shapes[first][0] != tensor:
                    break
            else:
                pair = (first, heavy)
                if pair not in fits:
                    fits[pair] = _fits(shapes[first][0], shapes[heavy])
                if not fits[pair]:
                    break
                tensor = shapes[first][0]
            chain.append(place)
        if chain:
            yield at, chain


def _dims(text: str) -> tuple[int, ...]:
    found = _DIMS.search(text)
    return tuple(int(part) for part in found[1].split(",") if part) if found is not None else ()


def _is_batch(op_type: str) -> bool:
    return _BATCH.search(op_type.rpartition("::")[2]) is not None


def _fits(first: tuple[int, ...], heavy: list[tuple[int, ...]]) -> bool:
    """Whether a tensor has the channels that the weights of a heavy operator make."""
    if len(first) < 2 or len(heavy) < 2:
        return False
    if len(heavy[1]) > 2:  # of a convolution, output channels first
        return heavy[1][0] in (first[1], first[-1]) and len(first) == len(heavy[1])
    return any(first[-1] in weights for weights in heavy[1:])
