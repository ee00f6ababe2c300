"""What is said of one trace: its unit, its parts and what need not be, checked by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fusescope.analysis.advice import findings
from fusescope.analysis.advice.explanation import explain_subject, explain_trace
from fusescope.analysis.advice.explanation.blocks import message_bytes
from fusescope.analysis.advice.explanation.explanation import (
    Collective,
    Parts,
    Saving,
    TraceExplanation,
)
from fusescope.analysis.advice.explanation.unit import uneven
from fusescope.analysis.advice.sides import advised
from fusescope.analysis.host.runs import idle_of_runs
from fusescope.analysis.host_activity import is_python
from fusescope.analysis.metrics.step import mean_step
from fusescope.analysis.readers import read_path
from fusescope.analysis.readers.building.trace_tables import build_trace
from fusescope.analysis.report.explanation.trace_rows import trace_rows
from fusescope.analysis.trace import Meta, Trace
from fusescope.analysis.wording.explanation.blocks import collectives_text
from fusescope.analysis.wording.explanation.savings import saving_said
from fusescope.analysis.wording.explanation.trace import trace_sentence
from fusescope.analysis.work_units import units_of
from tests.compare.graphs import captures
from tests.conftest import SHARED_TRACES
from tests.host.hosts import Span
from tests.step_traces import Kernel, steps_of

NORM = Kernel("layer_norm_kernel", 5, "normalisation")
QKV = Kernel("gemm_qkv", 40, "matrix_product")
ATTENTION = Kernel("flash_fwd_kernel", 30, "attention")
MLP = Kernel("gemm_mlp", 80, "matrix_product")
GELU = Kernel("gelu_kernel", 7, "activation")
LAYER = (NORM, QKV, ATTENTION, MLP, GELU)  # 162 us


def explained(trace: Trace) -> TraceExplanation:
    found = explain_trace(trace)
    assert found is not None
    parts = found.unit.parts
    assert parts.busy_ns + parts.idle_ns == found.unit.wall_ns
    return found


def only(found: TraceExplanation) -> Saving:
    assert len(found.savings) == 1, found.savings
    return found.savings[0]


def test_copies_of_no_step_that_run_in_steps_are_not_what_a_step_could_save() -> None:
    """A copy of 60 us runs in each step of 100 us, and belongs to none: another part of the program
    started it."""
    trace = steps_of([[replace(MLP, us=40), Kernel("Memcpy HtoD", 60, "copy")]] * 3)
    run = trace.calls["run"].mask(trace.calls["operator"] == 1)
    found = explained(replace(trace, calls=trace.calls.assign(run=run)))
    assert found.unit.parts == Parts(40_000, 0, 60_000, 0)
    assert found.savings == () and "Copies" not in trace_sentence(found)


def test_copies_of_other_sizes_are_timed_on_average() -> None:
    """A copy of 60 us and one of 2 us in each step, or two of 31 us."""

    def each_of(*copies: Kernel) -> str:
        trace = steps_of([[replace(MLP, us=40), *copies]] * 3)
        found = explained(trace)
        assert only(found).code == "copies"
        (row,) = trace_rows(found, trace, [None]).rows
        (kernel,) = row.kernels
        assert kernel.before == "62.0 µs"
        return kernel.before_each

    large = Kernel("Memcpy HtoD", 60, "copy", inputs="float32[4096]")
    small = Kernel("Memcpy HtoD", 2, "copy", inputs="int64[32]")
    assert each_of(large, small) == "2 × 31.0 µs on average"
    assert each_of(*[replace(large, us=31)] * 2) == "2 × 31.0 µs"


def test_steps_of_layers_without_anything_to_save() -> None:
    found = explained(steps_of([LAYER * 8] * 3))
    assert (found.unit.kind, found.unit.count, found.unit.wall_ns) == ("step", 3, 8 * 162_000)
    assert found.unit.parts == Parts(8 * 162_000, 0, 0, 0)
    [layers] = found.layers
    assert (layers.copies, layers.kernels, layers.ns) == (8, 5, 162_000)
    assert (layers.largest.name, layers.largest.ns) == ("gemm_mlp", 80_000)
    assert [(one.op_class, one.ns) for one in found.classes[:2]] == [
        ("matrix_product", 8 * 120_000), ("attention", 8 * 30_000),
    ]  # fmt: skip
    assert found.savings == ()
    assert found.unit.uneven is None


def test_layers_of_passes_are_told_inside_them() -> None:
    """4 passes of 8 layers between a beginning and an end, in a file without steps."""
    ends = (Kernel("embed", 3), Kernel("gather", 3), Kernel("head", 90), Kernel("sample", 4))
    one = explained(steps_of([(*ends[:2], *LAYER * 8, *ends[2:])] * 4))
    assert [(each.copies, each.kernels) for each in one.layers] == [(8, 5)]


def test_communication_beside_computing_is_not_exposed() -> None:
    """100 us of computing, and from 80 us on an all-reduce of 60: 40 of it beside nothing."""
    reduce = Kernel(
        "ncclDevKernel_AllReduce(x)", 60, "communication", inputs="bfloat16[1000,1000]", at_us=80
    )
    found = explained(steps_of([[Kernel("gemm", 100, "matrix_product"), reduce]] * 3))
    assert found.unit.parts == Parts(100_000, 40_000, 0, 0)
    [collective] = found.collectives
    assert (collective.name, collective.each_ns) == ("AllReduce", 60_000)
    assert collective.bytes == 2_000_000
    assert collective.bytes_per_s == pytest.approx(2e6 / 60e-6)
    saving = only(found)
    assert (saving.code, saving.ns) == ("communication", 40_000)


def freeing(count: int) -> Trace:
    """Steps of two kernels of 100 us, 800 us apart, in which the host frees memory twice."""
    spans: list[Span] = []
    launches: list[tuple[int, float]] = []
    for step in range(count):
        begin = step * 1000
        for start, end in ((101, 500), (501, 895)):
            at = ((begin + start) * 1000, (begin + end) * 1000)
            spans.append((0, "operator", "aten::empty", *at))
            spans.append((0, "runtime", "hipFree", *at))
        launches += [(0, begin - 1 if step else 0), (0, begin + 897)]
    kernels = [Kernel("first", 100), Kernel("second", 100, after_us=800)]
    return steps_of([kernels] * count, spans=spans, launches=launches)


def test_idle_time_is_told_by_what_the_host_did_and_how_often() -> None:
    found = explained(freeing(4))
    assert found.unit.parts == Parts(200_000, 0, 0, 800_000)
    idle = found.savings[0]
    assert (idle.code, idle.values["kind"], idle.values["cause"]) == (
        "idle",
        "allocation",
        "hipFree",
    )
    assert idle.values["calls"] == 2
    assert idle.ns == pytest.approx(795_000, rel=0.01)
    assert idle.host[-1] == "hipFree"


def test_idle_time_is_that_of_the_finding() -> None:
    subject = advised(freeing(4))
    explanation = explain_subject(subject)
    assert explanation is not None
    by_kind = {
        one.values["cause"]: one for one in findings(subject).found if one.code == "idle_by_host"
    }
    told = [one for one in explanation.savings if one.code == "idle"]
    assert told
    for one in told:
        assert by_kind[one.values["kind"]].at_most_ns == pytest.approx(one.ns, abs=1)


def test_steps_that_take_longer_than_others_are_told() -> None:
    """As of a training whose allocator begins to free memory in its third step."""
    walls = np.array([118, 116, 1015, 1068, 1076]) * 1_000_000
    found = uneven(walls, np.full(5, 72_000_000))
    assert found is not None
    assert (found.slow, found.of) == ((3, 4, 5), 5)
    assert found.slow_ns == (1_015_000_000, 1_076_000_000)
    assert found.fast_ns == (116_000_000, 118_000_000)
    assert found.busy_ns == (72_000_000, 72_000_000)
    assert uneven(np.array([100, 104, 99, 130]), np.full(4, 90)) is None
    assert uneven(np.array([100, 300]), np.full(2, 90)) is None, "which of two is slow?"


@pytest.mark.parametrize(
    "mark",
    [
        "torch/utils/checkpoint.py(1500): recompute_fn",
        "/opt/venv/lib/python3.11/site-packages/torch/utils/checkpoint.py(1500): recompute_fn",
        "CheckpointFunctionBackward",
        "nn.Module: Conv2d_7",
    ],
)
def test_a_forward_pass_that_runs_again_is_told(mark: str) -> None:
    """Kernel by kernel: forward, forward again inside the backward pass, its own backward."""
    conv, grad = (
        Kernel("conv_fwd", 30, "convolution", by="aten::convolution"),
        Kernel("conv_bwd", 60, "convolution", by="aten::convolution_backward"),
    )
    spans: list[Span] = []
    launches: list[tuple[int, float]] = []
    evaluate = "autograd::engine::evaluate_function: "
    for step in range(2):
        begin = step * 120
        at = [(begin + us) * 1000 for us in (1, 5, 10, 12, 20, 30, 40)]
        spans += [
            (0, "operator", "aten::convolution", at[0], at[1]),
            (1, "operator", f"{evaluate}CheckpointFunctionBackward", at[2], at[6]),
            (1, "operator" if "Function" in mark else "frame", mark, at[3], at[6]),
            (1, "operator", "aten::convolution", at[3] + 100, at[4]),
            (1, "operator", f"{evaluate}ConvolutionBackward0", at[5], at[6]),
        ]
        launches += [(0, begin + 2), (1, begin + 15), (1, begin + 35)]
    if "Module" in mark:
        spans = [(*each[:4], each[4] - 11_000) if each[2] == mark else each for each in spans]
    trace = steps_of([[conv, conv, grad]] * 2, spans=spans, launches=launches)
    found = explained(trace)
    [again] = [one for one in found.savings if one.code == "recomputed"]
    assert (again.ns, again.repeats) == (30_000, 1)
    # What limits the run has it as well: 30 us of a step of 120 us.
    limits = {one.code: one for one in findings(advised(trace)).found}
    assert found.unit.wall_ns == 120_000
    assert (limits["checkpointing"].at_most_ns, limits["checkpointing"].share) == (30_000, 0.25)
    assert again.values["operator"] == "aten::convolution"
    assert (again.values["executions"], again.values["repeated"]) == (4, 2)


def test_what_changes_a_layout_and_runs_again_is_said_to_count_in_both() -> None:
    """Of two transposes of 30 us in a step, the second is of a forward pass that runs again."""
    transpose = Kernel("transpose_nchw", 30, "layout", by="aten::convolution")
    grad = Kernel("conv_bwd", 60, "convolution", by="aten::convolution_backward")
    spans: list[Span] = []
    launches: list[tuple[int, float]] = []
    evaluate = "autograd::engine::evaluate_function: "
    for step in range(2):
        begin = step * 120
        at = [(begin + us) * 1000 for us in (1, 5, 10, 12, 20, 30, 40)]
        spans += [
            (0, "operator", "aten::convolution", at[0], at[1]),
            (1, "operator", f"{evaluate}CheckpointFunctionBackward", at[2], at[6]),
            (1, "operator", "CheckpointFunctionBackward", at[3], at[6]),
            (1, "operator", "aten::convolution", at[3] + 100, at[4]),
            (1, "operator", f"{evaluate}ConvolutionBackward0", at[5], at[6]),
        ]
        launches += [(0, begin + 2), (1, begin + 15), (1, begin + 35)]
    steps = [[transpose, transpose, grad]] * 2
    found = explained(steps_of(steps, spans=spans, launches=launches))
    [layout] = [one for one in found.savings if one.code == "layout"]
    assert (layout.ns, layout.values["again_ns"]) == (60_000, 30_000)
    assert "Of this 30.0 µs is in kernels that run again" in str(saving_said(layout, found.unit))


def test_a_backward_pass_alone_is_no_second_forward_pass() -> None:
    spans: list[Span] = [
        (0, "operator", "autograd::engine::evaluate_function: MmBackward0", 0, 90_000),
        (0, "operator", "aten::mm", 1000, 80_000),
    ]
    found = explained(steps_of([[Kernel("gemm", 50)]] * 1, spans=spans, launches=[(0, 0.002)]))
    assert all(one.code != "recomputed" for one in found.savings)


def test_one_layer_that_takes_longer_than_its_siblings() -> None:
    slow = tuple(
        replace(kernel, us=kernel.us + 60) if kernel == MLP else kernel for kernel in LAYER
    )
    found = explained(steps_of([LAYER * 4 + slow + LAYER * 5] * 2))
    layer = only(found)
    assert (layer.code, layer.ns) == ("layer", 60_000)
    assert (layer.values["layer"], layer.values["layers"]) == (5, 10)
    assert [kernel.name for kernel in layer.before] == ["gemm_mlp"]


def test_one_execution_far_longer_than_those_of_other_steps() -> None:
    """400 us once instead of 40, in one of 4 steps: 90 us a step."""
    slow = (NORM, replace(QKV, us=400), ATTENTION, MLP, GELU)
    trace = steps_of([LAYER * 8, LAYER * 3 + slow + LAYER * 4, LAYER * 8, LAYER * 8])
    found = explained(trace)
    outlier = only(found)
    assert (outlier.code, outlier.ns) == ("outlier", 90_000)
    assert outlier.values["longest_ns"] == 400_000
    assert outlier.values["of"] == 32
    assert [kernel.ns for kernel in outlier.before] == [90_000], "the others are told apart"
    (row,) = trace_rows(found, trace, [None]).rows
    assert row.width == pytest.approx(100 * 90_000 / found.unit.wall_ns), "its part of a step"
    assert row.width < 100
    [kernel] = row.kernels
    assert (kernel.before, kernel.before_each) == (
        "90.0 µs", "one takes 400 µs, the others 40.0 µs",
    )  # fmt: skip


@pytest.mark.parametrize(("inputs", "count"), [("float32[8,8]", 1), (None, 0)])
def test_one_long_execution_of_a_single_step_needs_shapes(inputs: str | None, count: int) -> None:
    """Without them it may be another size, as of the last layer."""
    kernel = Kernel("gemm", 10, "matrix_product", inputs=inputs)
    step = [kernel] * 9 + [replace(kernel, us=200)] + [Kernel("relu", 5)]
    found = explained(steps_of([step]))
    assert sum(one.code == "outlier" for one in found.savings) == count


def test_the_device_has_a_period_of_its_own_where_the_host_is_steps_ahead() -> None:
    """The host marks steps of 50, 50, 50 and 58 us, 52 in the mean, and launches the first one 350
    early; the device takes 100 each. Two kernels of other times were launched before the file
    begins; the last step ends with its last kernel, since the device had no reason to wait."""
    step = [Kernel("gemm", 60, "matrix_product"), Kernel("relu", 30, after_us=10)]
    early = [Kernel("gemm", 300), Kernel("relu", 50)]
    launches = [None, None, *((0, 1.0 + 50 * at + each) for at in range(4) for each in (0, 1))]
    runs = [(50.0 * at, 50.0 * at + (58 if at == 3 else 50)) for at in range(4)]
    spans: list[Span] = [(0, "operator", "aten::mm", 0, 200_000)]
    trace = steps_of([early + step, step, step, step], spans=spans, launches=launches, runs_us=runs)
    found = explained(trace)
    assert (found.unit.count, found.unit.wall_ns) == (4, 100_000)
    assert found.unit.host_ns == 52_000
    assert found.unit.parts == Parts(90_000, 0, 0, 10_000)
    assert found.unit.kernels == 2, "what was launched before the file begins is of no step"
    trace = advised(trace).trace
    step_parts = mean_step(trace)
    assert step_parts is not None
    assert (step_parts.span_ns, step_parts.computing_ns, step_parts.idle_ns) == (
        100_000, 90_000, 10_000,
    ), "findings rest on the same period"  # fmt: skip
    idle = idle_of_runs(trace)
    assert idle is not None
    assert (idle.wall_ns, idle.idle.idle_ns) == (400_000, 40_000)


@pytest.mark.parametrize("before", [1, 2])
def test_steps_launched_before_the_file_began_are_of_no_step(before: int) -> None:
    """Like above, but what runs first are `before` whole steps of 100 us, and a part of one."""
    step = [Kernel("gemm", 60, "matrix_product"), Kernel("relu", 30, after_us=10)]
    early = [Kernel("relu", 250), *step * before]
    launched = ((0, 1.0 + 50 * at + each) for at in range(4) for each in (0, 1))
    launches = [*[None] * len(early), *launched]
    runs = [(50.0 * at, 50.0 * at + 50) for at in range(4)]
    spans: list[Span] = [(0, "operator", "aten::mm", 0, 200_000)]
    trace = steps_of([early + step, step, step, step], spans=spans, launches=launches, runs_us=runs)
    found = explained(trace)
    assert units_of(trace).count == 4
    assert (found.unit.count, found.unit.wall_ns) == (4, 100_000), "those it has the launches of"
    trace = advised(trace).trace
    step_parts = mean_step(trace)
    assert step_parts is not None and step_parts.span_ns == 100_000
    idle = idle_of_runs(trace)
    assert idle is not None
    assert (idle.wall_ns, idle.idle.idle_ns) == (400_000, 40_000), "of the launched ones alone"


@pytest.mark.parametrize(
    ("inputs", "size"),
    [
        ("bfloat16[8816192]", 17_632_384),
        ("float32[2,3]", 24),
        ("int64[]", 8),
        ("strange[4]", None),
        ("float32[2]; float32[2]", None),
        ("", None),
    ],
)
def test_the_bytes_of_a_message_are_those_of_its_only_input(inputs: str, size: int | None) -> None:
    trace = steps_of([[Kernel("reduce", 1, "communication", inputs=inputs or None)]])
    assert message_bytes(trace) == [size]


kernels = st.builds(
    Kernel,
    name=st.sampled_from(["gemm", "relu", "nccl", "Memcpy HtoD"]),
    us=st.integers(1, 50),
    op_class=st.sampled_from(["matrix_product", "communication", "elementwise"]),
    after_us=st.integers(0, 20),
    at_us=st.none() | st.integers(0, 60),
)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.lists(kernels, min_size=1, max_size=12), min_size=1, max_size=6), st.booleans())
def test_parts_add_up_to_the_unit(steps: list[list[Kernel]], marked: bool) -> None:
    found = explained(steps_of(steps, marked=marked))
    parts = found.unit.parts
    assert min(parts.computing_ns, parts.communication_ns, parts.copies_ns, parts.idle_ns) >= 0
    assert found.unit.range_ns[0] <= found.unit.wall_ns <= found.unit.range_ns[1]
    idle = sum(one.ns for one in found.savings if one.code == "idle")
    assert idle <= parts.idle_ns + len(found.savings)


def shared(name: str) -> TraceExplanation:
    path = SHARED_TRACES / name
    if not path.exists():
        pytest.skip(f"{name} is not there")
    trace = read_path(path)
    assert isinstance(trace, Trace)
    return explained(trace)


def test_a_training_without_a_memory_pool_frees_memory_272_times_a_step() -> None:
    found = shared("third_party/kineto/mi300-train_resnet18.json.gz")
    unit, free = found.unit, found.savings[0]
    assert (unit.count, unit.uneven is not None and unit.uneven.slow) == (5, (3, 4, 5))
    assert unit.uneven is not None
    assert unit.uneven.fast_ns[1] / 1e6 == pytest.approx(118.5, rel=0.03)
    assert unit.uneven.slow_ns[1] / 1e6 == pytest.approx(1076, rel=0.03)
    assert unit.parts.busy_ns / 1e6 == pytest.approx(72, rel=0.03)
    assert unit.parts.idle_ns * 5 / 1e6 == pytest.approx(3032.4, rel=0.02)
    assert (free.values["cause"], free.values["all_calls"]) == ("hipFree", 1360)
    assert int(free.values["cause_ns"]) * 5 / 1e6 == pytest.approx(2998, rel=0.02)


def test_a_training_that_waits_for_gradients_and_computes_its_forward_pass_twice() -> None:
    found = shared("third_party/kineto/mi300-resnet_act_checkpoint.json.gz")
    unit = found.unit
    assert unit.wall_ns / 1e6 == pytest.approx(18.93, rel=0.02)
    assert unit.host_ns is not None
    assert unit.host_ns / 1e6 == pytest.approx(16.21, rel=0.001)
    large, small = found.collectives[:2]
    assert (large.bytes, small.bytes) == (2 * 8_816_192, 2 * 2_873_320)
    assert large.each_ns / 1e6 == pytest.approx(9.0, rel=0.05)
    assert small.each_ns / 1e6 == pytest.approx(6.7, rel=0.05)
    exposed = found.savings[0]
    again = next(one for one in found.savings[:3] if one.code == "recomputed")
    assert exposed.code == "communication"
    assert exposed.ns / 1e6 == pytest.approx(11.76, rel=0.02)
    assert (again.values["executions"], again.values["repeated"]) == (117, 57)


def test_products_of_layers_are_told_by_what_they_are() -> None:
    """8 layers of four products; gate/up: 2 · 4096 · 1024 · 6144 operations in 100 us."""

    def mm(us: float, inputs: int, outputs: int) -> Kernel:
        shapes = f"bfloat16[4096,{inputs}]; bfloat16[{inputs},{outputs}]"
        return Kernel(f"gemm_{outputs > 2048}", us, "matrix_product", by="aten::mm", inputs=shapes)

    layer = (
        ATTENTION, mm(20, 1024, 1024), NORM, mm(100, 1024, 6144), GELU, mm(60, 3072, 1024), NORM,
        mm(30, 1024, 1536),
    )  # fmt: skip
    found = explained(steps_of([layer * 8] * 2))
    assert [(one.projection, one.ns) for one in found.products] == [
        ("gate_up", 800_000), ("down", 480_000), ("qkv", 240_000), ("attention_output", 160_000),
    ]  # fmt: skip
    assert "gate/up 800 µs (8 × 100 µs, 515 TFLOP/s)" in trace_sentence(found)
    # Of the kernels of a layer gate/up alone takes 100 us, the other three products 110.
    assert "the largest part is matrix product (gemm_False)" in trace_sentence(found)
    slower = [replace(one, us=120) if one.name == "gemm_True" else one for one in layer]
    assert "the largest part is gate/up: on average 120 µs" in trace_sentence(
        explained(steps_of([slower * 8] * 2))
    )
    assert "Matrix products in the order" not in trace_sentence(explained(steps_of([LAYER * 8])))


def test_one_long_gap_of_a_file_without_host_is_named_by_what_ends_it() -> None:
    """Two steps of 50 + 60 + 300 + 90 us, of which 300 lie before the last kernel of the second."""
    first = [Kernel("a", 50, "matrix_product"), Kernel("b", 60), Kernel("c", 90)]
    second = [*first[:2], Kernel("c", 90, after_us=300)]
    idle = only(explained(steps_of([first, second])))
    assert (idle.ns, idle.values["gap_ns"], idle.values["before"]) == (150_000, 300_000, "c")
    text = trace_sentence(explained(steps_of([first, second])))
    assert "The longest gap, 300 µs, is in step 2 of 2, before c." in text
    alone = trace_sentence(explained(steps_of([second])))
    assert "The longest gap, 300 µs, is before c." in alone
    late = [[*first, Kernel("d", 50)], [Kernel("a", 250)]]
    ends = trace_sentence(explained(steps_of(late, runs_us=[(0, 250), (250, 900)])))
    assert "The longest gap, 400 µs, is in step 2 of 2, after the last kernel." in ends


def test_many_gaps_of_a_length_are_not_told_by_one() -> None:
    kernels = [Kernel(f"k{at}", 50, after_us=20) for at in range(8)]
    [idle] = explained(steps_of([kernels] * 2)).savings
    assert "gap_ns" not in idle.values


def test_what_is_of_no_known_class_is_named() -> None:
    """300 of 350 us in kernels whose names say nothing."""
    step = [Kernel("x_1", 200, "unknown"), Kernel("x_2", 100, "unknown"), Kernel("gemm", 50)]
    found = explained(steps_of([step] * 2))
    assert [(one.name, one.ns) for one in found.unknown] == [("x_1", 200_000), ("x_2", 100_000)]
    assert "85.7 % of their time, 300 µs, is in kernels whose names do not say" in trace_sentence(
        found
    )
    few = [Kernel("gemm", 500, "matrix_product"), Kernel("x_1", 20, "unknown")]
    assert "do not say what they" not in trace_sentence(explained(steps_of([few] * 2)))


def limited_by_host(kind: str, name: str) -> Trace:
    """In each of three steps of 1000 us two kernels of 100, and such code for 390 us before each;
    without a name the launch takes as long."""
    spans: list[Span] = []
    launches: list[tuple[int, float]] = []
    for step in range(3):
        begin = step * 1000
        for at in (0, 500):
            start = (begin + at) * 1000
            if name:
                spans.append((0, kind, name, start, start + 390_000))
            call_ns = start + (390_000 if name else 0)
            spans.append((0, "runtime", "cudaLaunchKernel", call_ns, start + 395_000))
            launches.append((0, begin + at + 392))
    kernels = [Kernel("first", 100, after_us=400), Kernel("second", 100, after_us=400)]
    return steps_of([kernels] * 3, spans=spans, launches=launches)


@pytest.mark.parametrize(
    ("kind", "name", "limit", "saving"),
    [
        (
            "frame", "train.py(7): collate", "waits while the host runs Python and launches, 400",
            "while the host runs Python, in train.py(7): collate.",
        ),
        (
            "annotation", "MPI_Send", "waits while the host runs other code and launches, 400",
            "while the host runs code that launches nothing, in MPI_Send.",
        ),
        ("", "", "waits for the host to launch the next kernel, 400", "launches the next kernel."),
    ],
)  # fmt: skip
def test_a_host_that_takes_longer_than_its_kernels_is_the_limit(
    kind: str, name: str, limit: str, saving: str
) -> None:
    """Nothing is called Python that the file does not show as such: a range may be of any code."""
    text = trace_sentence(explained(limited_by_host(kind, name)))
    assert "The host is the limit: for 800 µs per step, 80.0 % of the time" in text
    assert limit in text and saving in text and "µs on average for each of 2 executions" in text
    assert ("Python" in text) == (kind == "frame")


@pytest.mark.parametrize(
    ("name", "is_so"),
    [
        ("train.py(7): collate", True), ("torch/nn/module.py", True),
        ("<built-in method empty of type>", True), ("MPI_Send", False), ("model_inference", False),
        ("saxpy.cpp(7): main", False), ("<lambda>", False),
    ],
)  # fmt: skip
def test_which_code_is_python(name: str, is_so: bool) -> None:
    assert is_python(name) == is_so


def test_kernels_that_each_layer_names_apart_are_one_part_of_it() -> None:
    """8 layers of two convolutions of 50 and 40 us, an activation of 60 and a norm of 5, as
    compilers of engines name them: the convolutions are the largest part, 90 us, though no name
    takes more than 60."""
    step, types = [], {}
    for layer in range(8):
        step += [
            Kernel(f"Conv_{layer}a", 50, "convolution"), Kernel("relu", 60, "activation"),
            Kernel(f"Conv_{layer}b", 40, "convolution"), NORM,
        ]  # fmt: skip
        types |= {
            f"Conv_{layer}a": "Conv",
            f"Conv_{layer}b": "Conv",
            "relu": "Relu",
            NORM.name: "Norm",
        }
    trace = steps_of([step] * 2)
    op_types = pd.Categorical([types[name] for name in trace.texts("name")])
    operators = trace.operators.assign(op_type=op_types)
    [layers] = explained(replace(trace, operators=operators)).layers
    assert (layers.copies, layers.kernels, layers.ns, layers.range_ns) == (8, 4, 155_000, None)
    assert (layers.largest.name, layers.largest.count, layers.largest.ns) == ("Conv", 2, 90_000)


def test_no_part_of_a_mean_layer_is_said_of_layers_that_are_not_alike() -> None:
    """8 layers of 162 us, in one of which a product takes 880 us instead of 80."""
    slow = tuple(replace(one, us=880) if one.name == "gemm_mlp" else one for one in LAYER)
    found = explained(steps_of([(*LAYER * 3, *slow, *LAYER * 4)] * 2))
    assert found.layers[0].range_ns == (162_000, 962_000)
    text = trace_sentence(found)
    assert (
        "8 layers of 5 kernels take 2.10 ms, between 162 µs and 962 µs each; the largest part of "
        "all is matrix product (gemm_mlp): 1.44 ms in 8 executions." in text
    )
    assert "each; the largest part is" not in text


def test_layers_of_which_one_has_a_kernel_more_say_so() -> None:
    """8 layers of 324 us, in the fourth of which a second product of 80 us runs: 2672 us."""
    layer = (*LAYER, *(replace(one, name=f"{one.name}_of_2") for one in LAYER))
    longer = (*layer[:9], layer[3], layer[9])
    assert (layer[3].name, layer[3].us) == ("gemm_mlp", 80)
    found = explained(steps_of([(*layer * 3, *longer, *layer * 4)] * 2))
    [layers] = found.layers
    assert (layers.copies, layers.kernels_of_copies, layers.largest_of_copies) == (
        8,
        (10, 11),
        (1, 2),
    )
    assert (layers.largest.count, layers.largest.ns) == (9 / 8, 90_000)  # 9 of 80 us in 8 layers
    assert (
        "8 layers of 10 to 11 kernels take 2.67 ms, on average 334 µs each; the largest part is "
        "matrix product (gemm_mlp): on average 90.0 µs of each in 1 to 2 executions."
    ) in trace_sentence(found)


def test_a_capture_says_that_its_graph_does_not_run() -> None:
    found = explain_trace(captures.trace_of(captures.capture(captures.LAYER * 6), "c.json"))
    assert found is not None
    assert found.captured == (1, 24)
    text = trace_sentence(found)
    assert text.startswith("The file captures a graph of 24 kernels, copies and fills, which do")
    assert "idle" not in {one.code for one in found.savings}
    assert "Nothing that takes much time" not in text
    run = explain_trace(captures.trace_of(captures.replay(captures.LAYER * 6), "r.json"))
    assert run is not None and run.captured is None


def test_messages_of_collectives_are_counted_in_bytes_and_elements() -> None:
    reduce = Kernel("ncclDevKernel_AllReduce(x)", 60, "communication", inputs="bfloat16[250,1000]")
    [one] = explained(steps_of([[Kernel("gemm", 100, "matrix_product"), reduce]] * 3)).collectives
    assert (one.bytes, one.elements) == (500_000, 250_000)


def test_rounds_of_copies_and_a_kernel_are_no_layers_of_a_file_without_steps() -> None:
    """Five rounds of two copies in of 20 us, a kernel of 10 us and a copy out of 20 us."""
    names = ["Memcpy HtoD", "Memcpy HtoD", "saxpy", "Memcpy DtoH"] * 5
    lengths = [20_000, 20_000, 10_000, 20_000] * 5
    starts = np.cumsum([0, *lengths[:-1]]).tolist()
    types = ["Memcpy HtoD", "Memcpy HtoD", "saxpy", "Memcpy DtoH"] * 5
    rows = {"name": names, "op_type": types, "start_ns": starts, "dur_ns": lengths}
    rows["level"] = ["device_kernel"] * 20
    found = explained(build_trace(Meta("nsys", "Nsight Systems", file_name="saxpy.sqlite"), rows))
    text = trace_sentence(found)
    assert text.startswith("The file marks no steps: as a whole it spans 350 µs with 20 kernels")
    assert "5 repetitions of 4 kernels and copies take 350 µs, on average 70.0 µs each" in text
    assert "layers" not in text


def test_a_collective_that_takes_far_longer_than_the_others_of_its_name_is_told() -> None:
    """Four of 53, 9, 6 and 4 us, 18 on average, behind 100 us of computing."""
    talk = [
        Kernel("hcom_allReduce__170_1_1", us, "communication", inputs=f"float32[{at},1000]")
        for at, us in enumerate((53, 9, 6, 4))
    ]
    uneven = explained(steps_of([[Kernel("gemm", 100, "matrix_product"), *talk]] * 2))
    by_size = {one.elements: one.longest_ns for one in uneven.collectives}
    assert set(by_size.values()) == {None}  # four sizes are four rows
    same = [replace(one, inputs=None) for one in talk]
    found = explained(steps_of([[Kernel("gemm", 100, "matrix_product"), *same]] * 2))
    [one] = found.collectives
    assert (one.count, one.each_ns, one.longest_ns) == (4, 18_000, 53_000)
    text = trace_sentence(found)
    assert "allReduce (4 of 18.0 µs on average, the longest 53.0 µs)" in text
    assert "4 times allReduce (18.0 µs on average, the longest 53.0 µs)" in text
    alike = [replace(one, us=18) for one in same]
    text = trace_sentence(
        explained(steps_of([[Kernel("gemm", 100, "matrix_product"), *alike]] * 2))
    )
    assert "4 times allReduce (18.0 µs each)" in text and "(4 × 18.0 µs)" in text


def test_a_mean_of_collectives_that_differ_is_no_time_of_each() -> None:
    """Two of 10 and 14 us, 12 on average; and 0.4, 158.6 and 154.9 ms, of which data moves for
    0.3 ms at 20 GB/s."""
    talk = [Kernel("hcom_send__1", us, "communication") for us in (10, 14)]
    found = explained(steps_of([[Kernel("gemm", 50, "matrix_product"), *talk]] * 2))
    [one] = found.collectives
    assert (one.each_ns, one.longest_ns, one.are_alike) == (12_000, None, False)
    text = trace_sentence(found)
    assert "2 times send (12.0 µs on average)" in text
    assert "send (2 × 12.0 µs on average)" in text and "µs each" not in text
    moved = Collective(
        "batchSendRecv", 3, 104_633_333, None, transfer_ns=300_000, link_bytes_per_s=20e9,
        longest_ns=158_600_000, are_alike=False,
    )  # fmt: skip
    assert collectives_text([moved]) == (
        "3 times batchSendRecv (105 ms on average, the longest 159 ms; data moves for 300 µs of "
        "it, at 20.0 GB/s)"
    )


def test_a_collective_of_some_steps_is_not_rounded_to_one_of_each() -> None:
    """One of 88 us in one of two steps, behind 50 us of computing in each."""
    gemm = Kernel("gemm", 50, "matrix_product")
    found = explained(steps_of([[gemm], [gemm, Kernel("hcom_send__1", 88, "communication")]]))
    text = trace_sentence(found)
    assert "on average 0.5 times send (88.0 µs)" in text
    assert "Communication takes 44.0 µs per step" in text and "send (0.5 × 88.0 µs)" in text


def test_a_layer_over_larger_tensors_is_not_slow() -> None:
    """The updates of eight parameters, one of which takes longer than the others."""

    def updates(large: str) -> Trace:
        step = [
            Kernel(name, 25 if at == 4 else 10, inputs=large if at == 4 else "float32[64]")
            for at in range(8)
            for name in ("axpy", "mul", "add", "axpy_2")
        ]
        return steps_of([step] * 2)

    slow = {one.code for one in explained(updates("float32[64]")).savings}
    assert "layer" in slow
    assert "layer" not in {one.code for one in explained(updates("float32[4096,9216]")).savings}
