"""The explanation of one trace in sentences: every code, in every language, whole."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from fusescope.analysis.advice import findings
from fusescope.analysis.advice.explanation import explain_subject, explain_trace
from fusescope.analysis.advice.explanation.explanation import (
    Parts,
    Saving,
    SavingCode,
    TracedUnit,
    TraceExplanation,
    Uneven,
)
from fusescope.analysis.advice.sides import advised
from fusescope.analysis.compare.explanation.explanation import KernelTime
from fusescope.analysis.messages import language
from fusescope.analysis.metrics.warmup import SLOW_FACTOR
from fusescope.analysis.readers import read_path
from fusescope.analysis.report.one_trace.advice_json import advice_json
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording.explanation.savings import saving_said
from fusescope.analysis.wording.explanation.trace import following_said, trace_sentence
from fusescope.analysis.work_units.work import NO_WORK, Work
from tests.step_traces import Kernel, steps_of

SAMPLES = Path(__file__).parents[2] / "sample_traces"
UNIT = TracedUnit(
    "step", "step", "named", 5, NO_WORK, 100_000_000, (90_000_000, 130_000_000),
    Parts(60_000_000, 20_000_000, 5_000_000, 15_000_000), 40, True,
)  # fmt: skip
KERNEL = (KernelTime("gemm_mlp", 3, 5_000_000, "matrix_product"),)
VALUES: dict[SavingCode, tuple[dict[str, str | int | float], ...]] = {
    "idle": (
        {},
        {"gap_ns": 4_000_000, "before": "gemm_mlp", "unit": 1},
        {"gap_ns": 4_000_000, "before": "", "unit": 1},
        {"kind": "allocation", "cause": "hipFree", "cause_ns": 4_000_000, "freed_by": "hipFree",
         "frees": 272, "freeing_ns": 6_000_000, "least_free_ns": 4_000, "most_free_ns": 40_000},
        *(
            {"kind": kind, "cause": "hipFree", "cause_ns": part, **more}
            for kind in ("data_loading", "synchronisation", "allocation", "copy_waits",
                         "compilation", "garbage_collection", "python", "launching", "queued")
            for part in (5_000_000, 1_000_000)
            for more in ({}, {"calls": 272})
        ),
    ),
    "communication": ({},),
    "copies": ({},),
    "recomputed": ({}, {"operator": "aten::mm", "executions": 117, "repeated": 57}),
    "layout": ({}, {"again_ns": 2_000_000}),
    "product": (
        {"rate": 457e12, "others": 579e12},
        {"rate": 457e12, "others": 579e12, "projection": "gate_up"},
    ),
    "layer": ({"layer": 5, "layers": 10, "takes_ns": 9_000_000, "usual_ns": 4_000_000},),
    "outlier": ({"of": 32, "longest_ns": 8_000_000, "usual_ns": 1_000_000, "unit": 1},),
}  # fmt: skip


@pytest.mark.usefixtures("translations")
@pytest.mark.parametrize("code", get_args(SavingCode))
@pytest.mark.parametrize("spoken", ["en", "zh"])
def test_every_saving_is_a_whole_sentence(code: SavingCode, spoken: str) -> None:
    with language.speaking(spoken):
        for values in VALUES[code]:
            for unit in (UNIT, replace(UNIT, kind="repeat", name=""), replace(UNIT, name="run")):
                for repeats in (1, 7):
                    saving = Saving(code, 5_000_000, repeats, before=KERNEL, values=values)
                    text = str(saving_said(saving, unit))
                    assert "5.00 ms" in text
                    assert text.endswith("." if spoken == "en" else "。")
                    assert not re.search(r"[{}]|\*\*|–", text), text


@pytest.mark.usefixtures("translations")
@pytest.mark.parametrize("spoken", ["en", "zh"])
@pytest.mark.parametrize(
    "unit",
    [
        UNIT,
        replace(UNIT, count=1, range_ns=(100_000_000, 100_000_000), earlier_ns=13_000_000),
        replace(UNIT, host_ns=16_000_000, ahead_ns=29_000_000),
        replace(UNIT, count=1, host_ns=113_000_000, behind_ns=13_000_000),
        replace(UNIT, count=1, host_ns=113_000_000, behind_ns=13_000_000, behind_layers=10),
        replace(UNIT, kind="repeat", name="", evidence="ordered"),
        replace(UNIT, kind="file", name="", count=1),
        replace(UNIT, kind="file", name="", count=1, on_device=False, has_starts=False),
        replace(UNIT, name="run", others=2, set_aside=1),
        replace(UNIT, kind="annotation", work=Work("decode", 32, 32)),
        replace(UNIT, kind="annotation", work=Work("prefill", 15, 15360), count=1),
        replace(UNIT, uneven=Uneven((3, 4, 5), 5, (90, 130), (10, 12), (8, 8))),
        replace(UNIT, uneven=Uneven((2,), 5, (90, 90), (10, 12), (8, 2))),
    ],
)
def test_every_unit_is_said_in_whole_sentences(unit: TracedUnit, spoken: str) -> None:
    with language.speaking(spoken):
        text = trace_sentence(TraceExplanation(unit))
    assert not re.search(r"[{}]|\*\*|–", text), text
    assert text.endswith("." if spoken == "en" else "。")


def test_slow_steps_are_numbered_with_the_time_of_their_kernels() -> None:
    found = Uneven(
        (3, 4, 5), 5, (1_010_000_000, 1_080_000_000), (116_000_000, 118_000_000),
        (72_600_000, 70_800_000),
    )  # fmt: skip
    assert (  # (3 × 72.6 + 2 × 70.8) / 5 = 71.88
        "Steps 3 to 5 of 5 take 1.01 s to 1.08 s, the others 116 ms to 118 ms, for the same "
        "71.9 ms of kernels." in trace_sentence(TraceExplanation(replace(UNIT, uneven=found)))
    )


def test_advice_has_the_explanation_in_json() -> None:
    """A step of 160 us: 100 of computing, 40 of communication that nothing hides, 20 of nothing."""
    reduce = Kernel("ncclDevKernel_AllReduce()", 60, "communication", at_us=80)
    step = [Kernel("gemm", 50, "matrix_product"), Kernel("gemm", 50, "matrix_product")]
    subject = advised(steps_of([[*step, reduce]] * 3))
    values = json.loads(
        advice_json(subject.side, findings(subject), None, explain_subject(subject))
    )["explanation"]
    assert values["unit"]["wall_ns"] == sum(values["unit"]["parts"].values()) == 140_000
    assert values["unit"]["count"] == 3
    [change] = values["changes"]
    assert (change["code"], change["ns"]) == ("communication", 40_000)
    assert change["before"] == [{"name": "AllReduce", "count": 1.0, "ns": 60_000}]
    assert change["sentence"] in values["sentence"]
    assert "of 60.0 µs of communication, the largest part of it in AllReduce" in change["sentence"]


def test_a_part_that_is_all_of_it_is_one_time() -> None:
    """30 us after 100 us of computing, of which nothing is hidden."""
    reduce = Kernel("ncclDevKernel_AllReduce()", 30, "communication")
    found = explain_subject(advised(steps_of([[Kernel("gemm", 100), reduce]] * 3)))
    assert found is not None
    assert (
        "Communication takes 30.0 µs per step, 23.1 % of the time, and nothing hides it, the "
        "largest part of it in AllReduce (1 × 30.0 µs)." in trace_sentence(found)
    )


def test_idle_time_of_steps_that_only_annotations_mark_is_told_of_all_of_them() -> None:
    """601 ms in each of 5 steps of 679 ms: findings of such a file are of the whole file."""
    unit = replace(UNIT, kind="annotation", wall_ns=679_000_000)
    idle = Saving("idle", 601_000_000, values={"kind": "allocation", "cause": "hipFree",
                                               "cause_ns": 599_000_000, "calls": 272})  # fmt: skip
    assert (
        "The device is idle for 601 ms per step, 88.5 % of the time, while the host allocates or "
        "frees memory: 599 ms of it in 272 calls of hipFree. In 5 steps together that idle time "
        "is 3.01 s of 3.40 s." in trace_sentence(TraceExplanation(unit, savings=(idle,)))
    )


def test_a_trace_of_the_host_alone_has_no_idle_device() -> None:
    """Three steps of torch.compile on a CPU, whose host activity is in the file."""
    trace = read_path(SAMPLES / "torch_compile" / "compiled.json.gz")
    assert isinstance(trace, Trace)
    found = explain_trace(trace)
    assert found is not None
    assert not found.unit.on_device
    text = " ".join([trace_sentence(found), *map(str, following_said(found))])
    assert "No operator runs for" in text
    assert "device" not in text


@pytest.mark.usefixtures("translations")
def test_the_largest_is_one_kernel_by_all_its_executions_in_sentence_and_finding() -> None:
    """Of 1,700 us of layout changes 16x32 takes 300 and 300 us over two shapes, 32x32 400, 32x16
    350 and 16x16 350: the largest is 16x32 with 600 us, which is not most of it."""
    kernels = [("16x32", 300, "a"), ("16x32", 300, "b"), ("32x32", 400, "a"), ("32x16", 350, "a"),
               ("16x16", 350, "a")]  # fmt: skip
    step = [Kernel("gemm", 900, "matrix_product")]
    step += [
        Kernel(f"batched_transpose_{tile}_half", us, "layout", inputs=f"float16[{shape}]")
        for tile, us, shape in kernels
    ]
    subject = advised(steps_of([step] * 3))
    sentence = trace_sentence(explain_subject(subject))
    assert (
        "5 kernels only change the layout of tensors: 1.70 ms per step, the largest part of it, "
        "600 µs, in batched_transpose_16x32_half."
    ) in sentence
    assert "most of it" not in sentence
    with language.speaking("zh"):
        assert "用时最多的是 batched_transpose_16x32_half（600 µs）" in trace_sentence(
            explain_subject(subject)
        )
    [finding] = [one for one in findings(subject).found if one.code == "reorders"]
    assert finding.values["operator"] == finding.names[0] == "batched_transpose_16x32_half"
    assert finding.values["time_ns"] == 1_700_000


def test_steps_that_are_left_out_are_said_to_be_long_beside_those_after_them() -> None:
    """Of 650, 390, 190, 180 and 2990 us the first two are left out, 2.2 and 2.1 times the median of
    those after it, 290 and 190 us; the last is the longest of all."""
    steps = [[Kernel("gemm", us, "matrix_product")] for us in (650, 390, 190, 180, 2990)]
    told = trace_sentence(explain_trace(steps_of(steps)))
    assert SLOW_FACTOR == 1.5
    assert "The first 2 steps, each over 1.5× the median of those after it, are left out." in told
    assert "Step 3 of 3 takes 2.99 ms" in told
