"""An Ascend op_summary.csv."""

from __future__ import annotations

import random
from collections.abc import Iterator

from benchmarks.traces.times import us

_SUMMARY_HEAD = (
    "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),"
    "Task Duration(us),Task Wait Time(us),Block Num,Mix Block Num,HF32 Eligible,Input Shapes,"
    "Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats,Context ID,"
    "aicore_time(us),aic_total_cycles,aic_mac_time(us),aic_mac_ratio,aic_scalar_time(us),"
    "aic_scalar_ratio,aic_mte1_time(us),aic_mte1_ratio,aic_mte2_time(us),aic_mte2_ratio,"
    "aic_fixpipe_time(us),aic_fixpipe_ratio,aic_icache_miss_rate,aiv_time(us),aiv_total_cycles,"
    "aiv_vec_time(us),aiv_vec_ratio,cube_utilization(%)\n"
)
_SUMMARY_OPS = [
    "MatMulV2",
    "Add",
    "Mul",
    "Cast",
    "TransData",
    "LayerNorm",
    "SoftmaxV2",
    "FlashAttentionScore",
    "BatchMatMulV2",
    "RealDiv",
    "hcom_allReduce_",
    "Transpose",
    "StridedSliceD",
    "ConcatD",
    "Gelu",
    "ReduceSumD",
    "Sub",
    "Sigmoid",
    "SwiGlu",
    "RmsNorm",
]


def op_summary(count: int, seed: int = 0, *, names: int = 4000) -> Iterator[str]:
    """An Ascend op_summary.csv of `count` tasks on three streams; of each kind of operator there
    are so many `names`."""
    chance = random.Random(seed)
    yield _SUMMARY_HEAD
    now = 1_727_650_800_000_000_123  # ns
    for task in range(count):
        kind = _SUMMARY_OPS[int(chance.random() ** 2 * len(_SUMMARY_OPS))]
        dur, wait = (int(1000 * chance.lognormvariate(mean, 1)) for mean in (2.5, 0.3))
        now += dur + wait
        core = "AI_CORE" if task % 3 else "AI_VECTOR_CORE"
        dur_us = dur / 1000
        yield (
            f"0,4294967295,{task},{task % 3},{kind}_{task % names},{kind},dynamic,{core},"
            f'{us(now)}\t,{us(dur)},{us(wait)},24,0,NO,"""8,128,768;768,768""",DT_BF16;DT_BF16,'
            f'ND;ND,"""8,128,768""",DT_BF16,ND,N/A,{dur_us * 0.9:.3f},{dur * 18 // 10},'
            f"{dur_us * 0.5:.3f},0.500,{dur_us * 0.1:.3f},0.100,{dur_us * 0.2:.3f},0.200,"
            f"{dur_us * 0.4:.3f},0.400,{dur_us * 0.1:.3f},0.100,0.010,0,0,0,0,"
            f"{dur_us * 50 / (dur_us + 1):.3f}\n"
        )
