"""trace_view.json of MindSpore on a CPU."""

from __future__ import annotations

import random
from collections.abc import Iterator

from benchmarks.traces.times import us

_T0 = 1_795_165_519_457_049_261  # ns
_OPERATORS = 400
_KINDS = ("Conv2D", "MatMul", "BiasAdd", "ReLU", "GraphKernel_Mul_Add_fusion", "Softmax", "Cast")


def cpu_timeline(count: int, seed: int = 0) -> Iterator[str]:
    """A timeline of `count` executions of 400 operators on two threads, in one line."""
    chance = random.Random(seed)
    names = [f"Default/net-Net/{chance.choice(_KINDS)}-op{at}" for at in range(_OPERATORS)]
    yield '[{"ph": "M", "name": "process_name", "pid": 2, "tid": 0, "args": {"name": "CPU OP"}}'
    now = _T0
    for at in range(count):
        dur = 500 + int(chance.lognormvariate(9, 1))
        yield (
            f', {{"ph": "X", "name": "{names[at % _OPERATORS]}", "pid": 2, "tid": {at % 7 // 6}, '
            f'"ts": "{us(now)}", "dur": "{us(dur)}", "cat": "", "args": {{"type": "HostCpuOps"}}}}'
        )
        now += dur + chance.randrange(100, 900)
    yield "]"
