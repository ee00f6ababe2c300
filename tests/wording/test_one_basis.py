"""Figures and facts of one page rest on one basis, and say which one it is."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pandas as pd
import pytest

from fusescope.analysis.charts.icicle import icicle
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.groups.fusion import Group, Operator
from fusescope.analysis.compare.ledger.operator_texts import sequence_text, told_operators
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.compare.single import run_ns
from fusescope.analysis.doctor import examine, fields
from fusescope.analysis.memory import MemoryUse
from fusescope.analysis.metrics.hierarchy import Node
from fusescope.analysis.trace import Diagnostic, Trace, calls_frame, operators_frame, runs_frame
from fusescope.analysis.wording import opened_sentence
from fusescope.analysis.wording.diagnostics import diagnostic_sentence
from fusescope.analysis.wording.doctor import answer_text, has_sentence
from fusescope.analysis.wording.single import trace_facts, trace_parts
from fusescope.analysis.wording.waterfall import waterfall_steps, waterfall_terms
from tests.whole_files import trace_of

MS = 1_000_000


def weak(**values: object) -> str:
    told = {"of": "run_span", "delta_ns": -10 * MS, "has_shares": True, **values}
    return diagnostic_sentence(Diagnostic("warning", "weak_attribution", values=told))  # type: ignore[arg-type]


def test_a_weak_attribution_names_what_changed_alone_largest_first() -> None:
    """8 and 1 of 10 ms are 80 and 10 %."""
    told = weak(slow_ns=0, dispatch_ns=-1 * MS, profiler_bias_ns=None, communication_ns=-8 * MS)
    assert told == (
        "The operators' own times explain only part of the change. The mean run changed by −10.0 "
        "ms. Beside the operators that compute: communication −8.00 ms (80.0 % of the change) and "
        "idle time −1.00 ms (10.0 % of the change)."
    )
    assert weak(slow_ns=-9 * MS, dispatch_ns=0).endswith(
        "Beside the operators that compute: slow executions −9.00 ms (90.0 % of the change)."
    )
    without = weak(dispatch_ns=-9 * MS, has_shares=False)
    assert without.endswith("Beside the operators that compute: idle time −9.00 ms.")
    assert "The time of the file changed by −10.0 ms." in weak(of="busy_union", slow_ns=-9 * MS)


def test_no_part_of_a_change_is_larger_than_it() -> None:
    """Idle time fell by 38 of 35 ms, so operators took 3 ms more: they are no part of the fall."""
    told = weak(delta_ns=-35 * MS, dispatch_ns=-38 * MS)
    assert told == (
        "The operators' own times do not explain the change. The mean run changed by −35.0 ms. "
        "Beside the operators that compute: idle time −38.0 ms."
    )
    # Two ranks: -143 and -27 ms beside operators that take 169 ms longer leave 1 ms.
    told = weak(delta_ns=-1 * MS, communication_ns=-143 * MS, dispatch_ns=-27 * MS)
    assert told.startswith("The operators' own times do not explain the change.")
    assert "%" not in told
    # Operators are half of it, while the rest has two directions.
    told = weak(delta_ns=-10 * MS, dispatch_ns=-7 * MS, slow_ns=2 * MS)
    assert told.startswith("The operators' own times explain only part of the change.")
    assert told.endswith("idle time −7.00 ms and slow executions +2.00 ms.")


def of_runs(label: str, spans: tuple[int, ...], own_ns: int = MS, copy: int | None = None) -> Trace:
    count, starts = range(len(spans)), [10**9 * run for run in range(len(spans))]
    return Trace(
        replace(trace_of(label, [("conv", "convolution", 1, 1)]).meta, sha256=label * 64),
        runs_frame(
            run=count,
            kind="step",
            start_ns=starts,
            dur_ns=spans,
            span_ns=spans,
            profiled=True,
            copy=pd.array([copy] * len(spans), "Int64"),
        ),
        operators_frame(operator=[0], name=["c"], op_type=["conv"], op_class=["convolution"]),
        calls_frame(
            operator=[0] * len(spans), run=count, start_ns=starts, dur_ns=own_ns, span_ns=own_ns
        ),
    )


def pair_of(first: Trace, second: Trace) -> Comparison:
    return compare(side_of_trace(first), side_of_trace(second))


def test_the_run_that_leads_is_the_one_that_comparisons_are_of() -> None:
    """Five runs of 100 ms and one of 700: 200 ms on average, of a block 100 ms without the ends."""
    spans = (*(100 * MS,) * 5, 700 * MS)
    for copy, leads_ns, facts in (
        (None, 200 * MS, "The mean of 6 steps."),
        (1, 100 * MS, "Typical profiled run; the mean one takes 200 ms."),
    ):
        trace = of_runs("a", spans, copy=copy)
        pair = pair_of(trace, of_runs("b", (50 * MS,) * 6))
        latency = pair.figure("latency").baseline.value
        assert latency == pytest.approx(leads_ns) and run_ns(trace) == latency
        told = "".join(part.text for part in trace_parts(side_of_trace(trace)))
        assert told == f"A step of {trace.meta.file_name} takes {leads_ns // MS} ms as profiled"
        assert trace_facts(side_of_trace(trace)).startswith(facts)


def test_a_waterfall_with_slow_runs_names_them_below() -> None:
    """The baseline's mean run is 200 ms, its typical one 100 ms; the candidate's are both 50."""
    slow = of_runs("a", (*(100 * MS,) * 5, 700 * MS), copy=1)
    pair = pair_of(slow, of_runs("b", (50 * MS,) * 6))
    assert [step.label for step in waterfall_steps(pair)][1] == "slow runs, baseline"
    assert waterfall_terms(pair) == "what slow runs add to the first and what is in no group"
    turned = pair_of(of_runs("b", (50 * MS,) * 6), slow)
    assert waterfall_terms(turned) == (
        "what is in no group and what slow runs add to the second (subtracted)"
    )


def several(counts: tuple[int, ...], code: str = "one_of_devices") -> Trace:
    """A file of devices with so many distinct operators, each of its own run."""
    made = [
        trace_of("f", [(f"c{at}", "convolution", 5, 5) for at in range(count)]) for count in counts
    ]
    note = Diagnostic("info", code, len(counts), values={"shown": "device:0", "others": "…"})  # type: ignore[arg-type]
    units = [
        replace(one, meta=replace(one.meta, variant=f"device:{at}"), diagnostics=(note,))
        for at, one in enumerate(made)
    ]
    return replace(units[0], others=tuple(units[1:]))


def test_an_opened_file_counts_what_each_of_its_parts_has() -> None:
    assert opened_sentence(several((2, 7, 3))) == (
        "test profile: 2 to 7 distinct operators on each device."
    )
    assert opened_sentence(several((3, 3), "one_of_processes")) == (
        "test profile: 3 distinct operators in each process."
    )
    alone = several((4, 9)).others[0]
    assert opened_sentence(alone) == "test profile: 9 distinct operators."


def test_sizes_of_tensors_and_memory_over_time_are_two_facts() -> None:
    bare = trace_of("f", [("c", "convolution", 5, 5)])
    sized = replace(bare, operators=bare.operators.assign(bytes_in=pd.array([4], dtype="Int64")))
    use = MemoryUse("GPU", np.array([0, 5]), np.array([1, 2]))
    for trace, told in ((sized, "read and write"), (replace(bare, memory=(use,)), "memory over")):
        held = has_sentence(examine(trace))
        assert told in held and "peak" not in held
        assert [fields(trace)[name] for name in ("sizes", "peak_memory", "memory")] == [
            "read" in told, False, "memory" in told,
        ]  # fmt: skip
        [answer] = [each for each in examine(trace).answers if each.figure == "memory"]
        assert "Only an experiment that FuseScope recorded" in answer_text(answer)
        assert ("memory over time instead" in answer_text(answer)) is ("memory" in told)


def test_a_group_without_types_of_the_model_is_called_after_what_ran() -> None:
    """A profile of XLA names the parameter that a fused operator reads, without a type."""
    group = Group(
        id=0,
        kind="kept",
        known_by="members",
        original=(Operator("x", ""),),
        baseline=(Operator("loop_transpose_fusion", "loop_transpose_fusion"),),
        candidate=(),
    )
    assert sequence_text(told_operators(group)) == "loop_transpose_fusion"
    untyped = msgspec.structs.replace(group, baseline=(Operator("k", ""),))
    assert sequence_text(told_operators(untyped)) == "x"


TENSILE = (
    "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT16x16x512_MI16x16x1_SN_LDSB1_AFC0_AFEM1_AFEM1_"
    "ASEM1_CLR1_CADS0_DTLA0_DTLB0_DTVA1_DTVB1_EPS0_FDSI0_GRPM1_GRVWA8_GRVWB8_GSUAMB_GLS0_ISA942"
)


def test_boxes_of_kernels_have_their_short_names() -> None:
    nodes = [
        Node(None, "run", "", 10.0, 2),
        Node(0, "operator", TENSILE, 6.0, 1),
        Node(0, "operator", TENSILE.replace("MT16x16x512", "MT32x16x512"), 4.0, 1),
    ]
    figure = icicle(nodes)
    assert figure is not None
    drawn = json.loads(figure.to_json())["data"][0]
    assert drawn["labels"][1:] == [
        "Tensile GEMM TN bf16 MT16x16x512 MI16x16x1", "Tensile GEMM TN bf16 MT32x16x512 MI16x16x1",
    ]  # fmt: skip
    assert all("SAV_UserArgs" not in text for text in drawn["customdata"])


JAX = Path(__file__).parents[2].parent / "shared" / "traces" / "third_party" / "xplane"


@pytest.mark.skipif(not JAX.is_dir(), reason="real traces lie beside a developer's clone only")
def test_the_ledger_of_jax_has_the_names_of_the_table_of_types() -> None:
    from fusescope.analysis.readers import read_path

    names = ("jax_conv_minimal_legacy.xplane.pb", "jax_conv_minimal_08.xplane.pb")
    first, second = (read_path(JAX / name) for name in names)
    assert isinstance(first, Trace) and isinstance(second, Trace)
    pair = pair_of(first, second)
    patterns = pair.ledger.patterns.set_index("pattern")
    assert set(patterns.index) == {
        "loop_transpose_fusion",
        "input_transpose_fusion",  # of the parameter `x`; the other one is of the convolution
        "conv_general_dilated",
    }
    inside = patterns.loc["input_transpose_fusion", ["inside", "ran"]]
    assert inside.tolist() == [1, 2]
    alone_ns = 15_880 / 5  # copies between the kernels of five repetitions
    slow_ns = pair.ledger.reconciliation.slow_ns
    assert slow_ns is not None
    change_ns = pair.op_types["delta_ns"].sum()
    assert alone_ns - patterns["gain_ns"].sum() + slow_ns == pytest.approx(change_ns, abs=1)
