"""Light after heavy: normalisations and activations that follow a heavy operator one by one."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from analysis.advice import prediction
from analysis.advice.finding import Finding
from analysis.advice.kinds.chains import FUSED, in_lanes
from analysis.advice.subject import Answer, Subject, shown
from analysis.metrics.breakdown import steady_calls
from analysis.metrics.warmup import steady_runs

_HEAVY = frozenset(("convolution", "matrix_product"))
_LIGHT = frozenset(("elementwise", "activation"))
_ASIDE = frozenset(("layout", "data_movement"))  # between two operators they hand on what is there
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
    if any(map(_LEARNS.search, names)) or any(map(_LEARNS.search, types)):
        return ()
    if not trace.operators["inputs"].notna().any():
        return "no_shapes"
    steady = steady_runs(trace)
    calls = steady_calls(trace)
    if calls.empty or calls["start_ns"].isna().any() or (calls["n"] > 1).any():
        return "no_start_times"
    of, lanes, dur_ns = in_lanes(calls)
    is_fused = [bool(FUSED.search(name)) for name in names]
    shapes = [[_dims(text) for text in value.split("; ")] for value in trace.texts("inputs")]
    heavy_ns, light_ns = 0.0, 0.0
    absorbed: set[int] = set()
    patterns: Counter[tuple[int, ...]] = Counter()
    executions = 0
    at, tensor, chain, lane = -1, (), [], -1  # type: tuple[int, tuple[int, ...], list[int], int]
    for place in range(len(of) + 1):
        op = int(of[place]) if place < len(of) else -1
        kind = classes[op] if op >= 0 else ""
        if op >= 0 and lanes[place] == lane and at >= 0:
            if kind in _ASIDE:
                continue
            first = shapes[op][0]
            is_light = kind in _LIGHT or (kind == "normalisation" and _is_batch(types[op]))
            known = first == tensor if tensor else _fits(first, shapes[int(of[at])])
            if is_light and known and not is_fused[op]:
                tensor = first
                chain.append(place)
                continue
        if chain:
            whole = float(dur_ns[chain].sum())
            real = [one for one in chain if dur_ns[one] >= _MIN_PART * whole]
            heavy_ns += float(dur_ns[at])
            light_ns += whole
            executions += len(real)
            absorbed.update(int(of[one]) for one in real)
            patterns[tuple(int(of[one]) for one in (at, *real))] += 1
        at, tensor, chain = (place if kind in _HEAVY else -1), (), []
        lane = int(lanes[place]) if op >= 0 else -1
    runs = max(1, len(steady.runs))
    light_ns, heavy_ns = light_ns / runs, heavy_ns / runs
    if not absorbed or not subject.matters(light_ns):
        return ()
    gain = prediction.absorbed(light_ns, heavy_ns)
    mask = np.isin(subject.operators["operator"].to_numpy(), list(absorbed))
    usual = patterns.most_common(1)[0][0]
    return (
        Finding(
            "light_after_heavy",
            values={
                "executions": max(1, round(executions / runs)),
                "time_ns": light_ns,
                "share": subject.share(light_ns),
                "example": shown(" + ".join(types[one] or "unknown" for one in usual)),
            },
            at_most_ns=max(light_ns, gain.high),
            share=subject.share(light_ns),
            gain=gain,
            where="operators",
            names=subject.names(mask),
            confidence="low",
        ),
    )


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
