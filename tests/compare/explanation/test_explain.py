"""What is said of two traces: causes, places and times that can be checked by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fusescope.analysis.compare.explanation import explain
from fusescope.analysis.compare.explanation.explanation import Change, Explanation
from fusescope.analysis.messages import language
from fusescope.analysis.report.explanation.explanation_json import explanation_values
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording.explanation import leading_sentence
from tests.step_traces import Kernel, steps_of

NORM = Kernel("layer_norm_kernel", 5, "normalisation")
QKV = Kernel("gemm_qkv", 40, "matrix_product")
ATTENTION = Kernel("flash_fwd_kernel", 30, "attention")
SOFTMAX = Kernel("softmax_forward", 10, "softmax")
MLP = Kernel("gemm_mlp", 80, "matrix_product")
GELU = Kernel("gelu_kernel", 7, "activation")
LAYER = (NORM, QKV, ATTENTION, SOFTMAX, NORM, MLP, GELU)  # 177 us
STEP = LAYER * 8


def said(before: Trace, after: Trace) -> Explanation:
    found = explain(before, after)
    assert found is not None
    assert sum(c.change_ns for c in found.changes) + found.rest_ns == found.unit.change_ns
    return found


def only(found: Explanation) -> Change:
    assert len(found.changes) == 1, found.changes
    return found.changes[0]


def with_kernel(old: Kernel, *new: Kernel) -> tuple[Kernel, ...]:
    """The step with other kernels in place of one."""
    return tuple(each for kernel in STEP for each in (new if kernel == old else (kernel,)))


def test_the_same_trace_did_not_change() -> None:
    found = said(steps_of([STEP] * 3), steps_of([STEP] * 3))
    assert (found.outcome, found.changes, found.rest_ns) == ("no_change", (), 0)
    assert found.unit.before_ns == found.unit.after_ns == 8 * 177_000
    assert found.unit.counts == (3, 3)
    assert found.drift == 1.0


def test_a_slower_kernel_is_named_with_its_time_and_how_often_it_runs() -> None:
    slow = replace(SOFTMAX, us=16)
    change = only(said(steps_of([STEP] * 3), steps_of([with_kernel(SOFTMAX, slow)] * 3)))
    assert (change.code, change.change_ns, change.repeats) == ("time", 8 * 6_000, 8)
    assert [kernel.name for kernel in change.before] == ["softmax_forward"]
    assert (change.before_ns, change.after_ns) == (80_000, 128_000)


def test_new_kernels_stand_before_what_they_prepare() -> None:
    quantise = [Kernel(f"quantise_{tensor}", 4) for tensor in "qkv"]
    found = said(steps_of([STEP] * 2), steps_of([with_kernel(ATTENTION, *quantise, ATTENTION)] * 2))
    change = only(found)
    assert (change.code, change.change_ns, change.repeats) == ("added", 8 * 12_000, 8)
    assert change.where[-1] == "flash_fwd_kernel"
    assert change.values["kernels"] == 3
    assert found.outcome == "changed"


def test_kernels_that_are_gone_are_removed() -> None:
    change = only(said(steps_of([STEP]), steps_of([with_kernel(GELU)])))
    assert (change.code, change.change_ns, change.repeats) == ("removed", -8 * 7_000, 8)


def test_kernels_that_a_compiler_made_one_are_fused() -> None:
    fused = Kernel("triton_poi_fused_gelu_mm_0", 3)
    bias = Kernel("add_bias_kernel", 5)
    before = with_kernel(GELU, bias, GELU)
    change = only(said(steps_of([before]), steps_of([with_kernel(GELU, fused)])))
    assert (change.code, change.change_ns, change.repeats) == ("fused", -8 * 9_000, 8)
    back = only(said(steps_of([with_kernel(GELU, fused)]), steps_of([before])))
    assert (back.code, back.change_ns) == ("split", 8 * 9_000)


def test_another_kernel_for_the_same_work_replaces_it() -> None:
    other = Kernel("sage_fwd_kernel", 24, "attention")
    change = only(said(steps_of([STEP]), steps_of([with_kernel(ATTENTION, other)])))
    assert (change.code, change.change_ns, change.repeats) == ("replaced", -8 * 6_000, 8)


def test_one_slow_layer_is_named_as_one() -> None:
    slow = tuple(replace(kernel, us=2 * kernel.us) for kernel in LAYER)
    step = LAYER * 5 + slow + LAYER * 2
    change = only(said(steps_of([STEP] * 2), steps_of([step] * 2)))
    assert (change.code, change.change_ns) == ("place", 177_000)
    assert (change.values["layer"], change.values["layers"]) == (6, 8)


def test_one_execution_that_takes_far_longer_is_an_outlier_spread_over_the_steps() -> None:
    stalled = (replace(MLP, us=480), *STEP[1:])
    slow = tuple(replace(kernel, us=480) if at == 5 else kernel for at, kernel in enumerate(STEP))
    assert stalled != slow
    change = only(said(steps_of([STEP] * 4), steps_of([STEP, STEP, slow, STEP])))
    assert (change.code, change.change_ns) == ("outlier", 100_000)
    assert change.values["longest_ns"] == 480_000
    assert change.values["of"] == 32


def test_executions_count_wherever_they_stand_in_the_model() -> None:
    """A map of the model tells the layers of one product apart: it runs 8 times in 4 steps."""
    slow = tuple(replace(kernel, us=480) if at == 5 else kernel for at, kernel in enumerate(STEP))
    before = steps_of([STEP] * 4)
    after = steps_of([STEP, STEP, slow, STEP])
    rows = after.operators.index[after.operators["name"] == "gemm_mlp"]
    other = after.operators.loc[rows].assign(operator=len(after.operators), module="mlp.7")
    at = after.calls["operator"].to_numpy().copy()
    last = np.flatnonzero(at == after.operators["operator"][rows[0]])[7::8]  # of each step
    at[last] = len(after.operators)
    apart = replace(
        after,
        operators=pd.concat([after.operators, other], ignore_index=True),
        calls=after.calls.assign(operator=at),
    )
    assert only(said(before, apart)).values["of"] == 32


def test_a_file_without_a_device_has_one_idle_time_of_no_cause_of_the_host() -> None:
    """Operators of the host with 100 us between two of them, and 300 after the change, in which
    Python runs: no device waits for it."""

    def waiting(us: int) -> Trace:
        step = [Kernel("aten::mm", 500), Kernel("aten::add", 500, after_us=us)]
        span = (0, "frame", "code.py(1): forward", 0, (1000 + us) * 1000)
        launches = [(0, 0.0), (0, 499.0 + us)]
        trace = steps_of([step], spans=[span], launches=launches)
        level = trace.operators["level"].astype("str").replace("device_kernel", "framework_op")
        return replace(trace, operators=trace.operators.assign(level=level.astype("category")))

    found = said(waiting(100), waiting(300))
    change = only(found)
    assert (change.code, change.change_ns, change.host) == ("idle", 200_000, ())
    assert leading_sentence(found).startswith(
        "No operator runs for 300 µs instead of 100 µs: +200 µs per step."
    )


def test_other_clocks_are_said_as_such() -> None:
    slower = tuple(replace(kernel, us=kernel.us * 1.08) for kernel in STEP)
    found = said(steps_of([STEP]), steps_of([slower]))
    assert found.outcome == "clock"
    assert only(found).change_ns == pytest.approx(8 * 177_000 * 0.08, abs=2)
    assert found.drift == pytest.approx(1.08)


def test_a_change_beside_clocks_keeps_the_times_of_the_files() -> None:
    """A softmax of 20 instead of 10 us is a change of 10 us in each of 8 layers, as its table of
    kernels shows; the other 167 us of a layer take 2 % longer."""
    slower = tuple(
        replace(kernel, us=kernel.us * (2.0 if kernel == SOFTMAX else 1.02)) for kernel in STEP
    )
    codes = {change.code: change for change in said(steps_of([STEP]), steps_of([slower])).changes}
    time, clock = codes["time"], codes["clocks"]
    assert (time.before_ns, time.after_ns, time.change_ns) == (80_000, 160_000, 80_000)
    assert clock.change_ns == pytest.approx(8 * 167_000 * 0.02, abs=20)
    assert clock.change_ns == clock.after_ns - clock.before_ns
    assert (clock.values["kernels"], clock.values["all_kernels"]) == (5, 6)


@pytest.mark.usefixtures("translations")
def test_clocks_count_only_the_kernels_that_follow_and_have_their_change() -> None:
    """Of 177 us of a layer 157 are faster: 40 of QKV and 80 of MLP by 5 %, 30 of attention by 6 %
    and 7 of GELU by 4 %. The norms keep their time and softmax takes 1 % longer."""
    factors = {QKV: 0.95, ATTENTION: 0.94, MLP: 0.95, GELU: 0.96, SOFTMAX: 1.01}
    faster = tuple(replace(kernel, us=kernel.us * factors.get(kernel, 1.0)) for kernel in STEP)
    found = said(steps_of([STEP]), steps_of([faster]))
    change = next(each for each in found.changes if each.code == "clocks")
    assert change.change_ns == pytest.approx(-8 * (2000 + 1800 + 4000 + 280), abs=5)
    assert change.before_ns == 8 * 157_000
    assert (
        "4 of 6 kernels that are the same on both sides, with 1.26 ms of 1.42 ms, take 4.0 % to "
        "6.0 % less time (the median by time is 5.0 %), as with higher clocks"
    ) in leading_sentence(found)
    with language.speaking("zh"):
        assert "6 种核函数中有 4 种" in leading_sentence(found)


def test_clocks_count_kernels_as_their_table_does_also_those_that_a_compiler_numbers() -> None:
    """silu_31 runs elsewhere as silu_29 of the other file: the table has 3 rows on both sides."""
    gemm, mul = Kernel("gemm", 90), Kernel("mul", 80)
    silu = [Kernel(f"triton_poi_fused_silu_{number}", 10) for number in (31, 29)]
    steps = (
        (gemm, silu[0], mul),
        tuple(replace(kernel, us=kernel.us * 0.95) for kernel in (gemm, mul, silu[1])),
    )
    sides = []
    for step in steps:
        trace = steps_of([step * 3])
        types = [name.removesuffix("_31").removesuffix("_29") for name in trace.texts("name")]
        sides.append(
            replace(trace, operators=trace.operators.assign(op_type=pd.Categorical(types)))
        )
    change = only(said(*sides))
    assert change.code == "clocks"
    assert [kernel.name for kernel in change.after] == [kernel.name for kernel in change.before]
    assert [kernel.ns for kernel in change.after] == [256_500, 228_000, 28_500]
    assert (change.values["kernels"], change.values["all_kernels"]) == (3, 3)


def test_two_kernels_of_five_are_slower_without_other_clocks() -> None:
    """Two products take 20 % longer, as on a rank with a slow device; the other three kernels, as
    many again in time, do not: one clock runs all."""
    names = ("gemm_a", "gemm_b", "norm", "gelu", "softmax")
    step = [Kernel(name, us) for name, us in zip(names, (400, 400, 90, 90, 90), strict=True)]
    slow = [replace(one, us=480) if one.name.startswith("gemm") else one for one in step]
    found = said(steps_of([step * 3] * 3), steps_of([slow * 3] * 3))
    assert {change.code for change in found.changes} == {"time"}
    assert sum(change.change_ns for change in found.changes) == 6 * 80_000


def test_clocks_of_all_kernels_say_one_shift_or_its_range() -> None:
    def leading(last: float) -> str:
        slower = tuple(replace(k, us=k.us * (last if k == GELU else 1.08)) for k in STEP)
        return leading_sentence(said(steps_of([STEP]), steps_of([slower])))

    assert "The 6 kernels that are the same on both sides all take 8.0 % longer" in leading(1.08)
    assert (
        "The 6 kernels that are the same on both sides all take 8.0 % to 10.0 % longer (the "
        "median by time is 8.0 %), as with lower clocks"
    ) in leading(1.1)


def test_a_shift_that_only_the_heaviest_kernel_shares_is_no_clocks() -> None:
    """MLP has 80 of 177 us and takes 1 % longer; the others lie between 4 % less and 4 % more."""
    factors = {QKV: 1.04, ATTENTION: 0.97, MLP: 1.01, GELU: 0.96, SOFTMAX: 1.01, NORM: 1.01}
    other = tuple(replace(kernel, us=kernel.us * factors[kernel]) for kernel in STEP)
    found = said(steps_of([STEP]), steps_of([other]))
    assert "clocks" not in {change.code for change in found.changes}


def test_idle_time_is_a_change_of_its_own() -> None:
    waits = (replace(NORM, after_us=100), *STEP[1:])
    change = only(said(steps_of([STEP] * 3), steps_of([waits] * 3)))
    assert (change.code, change.change_ns) == ("idle", 100_000)


def test_a_shorter_window_of_the_same_work_is_no_change() -> None:
    found = said(steps_of([LAYER] * 30, marked=False), steps_of([LAYER] * 20, marked=False))
    assert (found.outcome, found.changes) == ("no_change", ())
    assert found.unit.kind == "repeat"
    assert found.unit.before_ns == 177_000
    assert found.unit.counts == (29, 19)


def test_slower_repeats_are_slower_though_fewer_fit_into_the_window() -> None:
    waits = (replace(NORM, after_us=50), *LAYER[1:])
    before, after = steps_of([LAYER] * 20, marked=False), steps_of([waits] * 15, marked=False)
    found = said(before, after)
    assert (found.outcome, found.unit.change_ns) == ("changed", 50_000)
    assert only(found).code == "idle"


def test_kernels_of_other_names_that_take_the_same_time_did_not_change() -> None:
    renamed = tuple(replace(kernel, name=f"{kernel.name}_v2") for kernel in STEP)
    found = said(steps_of([STEP]), steps_of([renamed]))
    assert found.changes == ()
    assert found.outcome in ("no_change", "not_comparable")


@pytest.mark.parametrize("op_class", ["elementwise", "matrix_product"])
def test_two_kernels_far_apart_or_of_other_work_are_not_one_since_they_take_as_long(
    op_class: str,
) -> None:
    last = Kernel("optimizer_add", 117, op_class)
    first = Kernel("gemm_embed", 116, "matrix_product")
    found = said(steps_of([(*STEP, last)]), steps_of([(first, *STEP)]))
    assert {(change.code, change.change_ns) for change in found.changes} == {
        ("removed", -117_000), ("added", 116_000)
    }  # fmt: skip


def test_a_kernel_of_unknown_class_may_be_one_that_was_renamed() -> None:
    """A name that no rule knows says nothing of what the kernel computes."""
    kernel = Kernel("gemm_embed", 116, "matrix_product")
    renamed = Kernel("x_embed", 117, "unknown")
    found = said(steps_of([(*STEP, kernel)]), steps_of([(*STEP, renamed)]))
    assert found.changes == ()


def test_collectives_are_compared_by_name_wherever_they_run() -> None:
    first = Kernel("hcom_allReduce__170_1_1", 50, "communication")
    second = Kernel("hcom_allReduce__346_5_1", 90, "communication")
    before, after = (first, *STEP), (*STEP[:20], second, *STEP[20:])
    change = only(said(steps_of([before]), steps_of([after])))
    assert (change.code, change.change_ns, change.where) == (
        "communication",
        40_000,
        ("allReduce",),
    )


@pytest.mark.parametrize("side", [0, 1])
def test_a_collective_of_one_side_is_said_to_run_only_there(side: int) -> None:
    """400 us in each step of one side: no time of 0 ns in 0 executions is made up for the other."""
    talk = Kernel("ncclDevKernel_AllReduce_Sum_bf16", 400, "communication")
    steps = [steps_of([STEP] * 3), steps_of([(*STEP, talk)] * 3)]
    found = said(*(steps if side else steps[::-1]))
    values = explanation_values(found)
    assert values is not None
    [told] = (one["sentence"] for one in values["changes"] if one["code"] == "communication")
    assert f"runs only in the {('baseline', 'candidate')[side]}, in 1 execution" in told
    assert f"{'−+'[side]}400 µs per step" in told and "0 ns" not in told


@pytest.mark.parametrize(("units", "named"), [(1, ""), (3, " in 3 steps")])
def test_executions_of_several_units_are_said_to_be_of_so_many(units: int, named: str) -> None:
    """Softmax runs 8 times in a step, once for 2 ms instead of 10 us: of 24 in three steps."""
    places = [at for at, kernel in enumerate(STEP) if kernel == SOFTMAX]
    slow = [*STEP]
    slow[places[3]] = replace(SOFTMAX, us=2_000)
    found = said(steps_of([STEP] * units), steps_of([*[STEP] * (units - 1), slow]))
    values = explanation_values(found)
    assert values is not None
    [told] = (one["sentence"] for one in values["changes"] if one["code"] == "outlier")
    assert told.startswith(
        f"One of {8 * units} executions of softmax (softmax_forward){named} takes 2.00 ms in the "
        "candidate"
    )


def test_kernels_over_one_large_dimension_are_told_together() -> None:
    common = tuple(replace(kernel, inputs="float16[4096,1024]") for kernel in STEP)
    head = [
        Kernel(
            "gemm_head", 300, "matrix_product", inputs="float16[4096,1024]; float16[1024,50257]"
        ),
        Kernel("exp_kernel", 90, inputs="float32[4096,50257]"),
        Kernel("sum_kernel", 60, "reduction", inputs="float32[4096,50257]"),
    ]
    found = said(steps_of([common]), steps_of([(*common, *head)]))
    change = only(found)
    assert (change.code, change.change_ns) == ("added", 450_000)
    assert change.values["size"] == 50257
    assert "so probably the LM head and the loss: +450 µs" in leading_sentence(found)
    small = [replace(kernel, inputs=str(kernel.inputs).replace("50257", "8192")) for kernel in head]
    assert "LM head" not in leading_sentence(
        said(steps_of([common]), steps_of([(*common, *small)]))
    )


def test_blocks_in_another_order_are_the_same_blocks() -> None:
    other = tuple(replace(kernel, name=f"backward_{kernel.name}") for kernel in LAYER)
    forward_first, interleaved = (LAYER + other) * 4, LAYER * 4 + other * 4
    found = said(steps_of([forward_first]), steps_of([interleaved]))
    assert (found.outcome, found.changes) == ("no_change", ())


def test_a_model_with_fewer_layers_is_said_to_have_them() -> None:
    found = said(steps_of([LAYER * 12]), steps_of([LAYER * 9]))
    change = only(found)
    assert (change.code, change.change_ns, change.repeats) == ("repeats", -3 * 177_000, 3)
    assert (change.values["before"], change.values["after"]) == (12, 9)
    assert [each.copies for each in found.layers[0]] == [12]
    assert [each.kernels for each in found.layers[1]] == [7]


def test_a_kernel_elsewhere_over_other_tensors_is_not_the_one_that_moved() -> None:
    small = Kernel("cast_kernel", 8, inputs="float32[64]")
    large = Kernel("cast_kernel", 900, inputs="float32[4096,50257]")
    found = said(steps_of([(small, *STEP)]), steps_of([(*STEP[:7], large, *STEP[7:])]))
    codes = {change.code: change.change_ns for change in found.changes}
    assert codes == {"added": 900_000, "removed": -8_000}


def test_kernels_that_all_run_on_another_stream_are_those_of_their_shapes() -> None:
    """The k-th product of one shape is the k-th of that shape, not the one that stands nearest."""
    products = [
        Kernel("gemm_small", 20, "matrix_product", inputs="float32[64,64]"),
        Kernel("gemm_small", 22, "matrix_product", inputs="float32[96,64]"),
    ]
    step = [each for pair in [products] * 20 for each in (NORM, pair[0], SOFTMAX, pair[1], GELU)]
    beside = {each: replace(each, at_us=5.0) for each in products}
    order = sorted(step, key=lambda each: each in products)
    found = said(steps_of([step]), steps_of([[beside.get(each, each) for each in order]]))
    assert {change.code for change in found.changes} <= {"idle"}


def test_what_the_host_does_at_other_moments_of_the_same_idle_time_is_no_change() -> None:
    """The device waits 300 us in both files: before 200 us for one function and 100 us for another,
    after the other way round."""

    def waiting(first: int, second: int) -> Trace:
        step = [Kernel("a", 50, after_us=first), Kernel("b", 50, after_us=second)]
        starts = (first, first + 50 + second)
        spans = [
            (0, "frame", "model.py(1): prepare", 0, first * 1000 - 1000),
            (0, "frame", "other.py(2): check", first * 1000 - 500, (starts[1] - 1) * 1000),
        ]
        launches = [(0, float(start - 1)) for start in starts]
        return steps_of([step], spans=spans, launches=launches)

    found = said(waiting(200, 100), waiting(100, 200))
    assert (found.outcome, found.changes) == ("no_change", ())
    more = said(waiting(200, 100), waiting(200, 200))
    assert [change.change_ns for change in more.changes] == [100_000]


def test_one_repeated_kernel_that_is_gone_is_not_told_by_its_size() -> None:
    add = Kernel("add_kernel", 10, inputs="float32[512,3072]")
    small = replace(add, inputs="float32[64,64]")
    step = [each for at in range(8) for each in (*LAYER, add if at < 6 else small)]
    change = only(said(steps_of([step]), steps_of([STEP])))
    assert (change.code, change.change_ns, change.repeats) == ("removed", -80_000, 8)


def test_a_kernel_that_a_compiler_made_of_two_under_the_operator_of_the_first_is_fused() -> None:
    add = Kernel("add_kernel", 8, by="aten::add")
    norm = Kernel("layer_norm_kernel", 9, "normalisation", by="aten::layer_norm")
    one = Kernel("triton_poi_fused_add_layer_norm_7", 10, "normalisation", by="aten::add")
    product = Kernel("gemm", 90, "matrix_product", by="aten::mm")
    change = only(said(steps_of([[add, norm, product] * 6]), steps_of([[one, product] * 6])))
    assert (change.code, change.change_ns, change.repeats) == ("fused", -42_000, 6)


def test_a_product_that_adds_the_bias_of_what_was_fused_into_it_is_the_same_product() -> None:
    """Convolution, normalisation and activation, 120 + 8 + 7 us, became one convolution of 50: the
    convolutions take 70 less, and kernels of 8 and 7 us are gone, six times."""
    tensors = "float32[1,32,48,48]; float32[32,32,3,3]"
    norm, relu = Kernel("norm", 8, "normalisation"), Kernel("relu", 7, "activation")
    before = [
        kernel
        for at in range(6)
        for kernel in (Kernel(f"Conv_{at}", 120, "convolution", inputs=tensors), norm, relu)
    ]
    fused = [
        Kernel(f"y{at}_nchwc", 50, "convolution", inputs=f"{tensors}; float32[32]")
        for at in range(6)
    ]
    found = said(steps_of([before] * 3), steps_of([fused] * 3))
    assert [(change.code, change.change_ns, change.repeats) for change in found.changes] == [
        ("operator", -6 * 70_000, 6),
        ("removed", -6 * 8_000, 6),
        ("removed", -6 * 7_000, 6),
    ]


@pytest.mark.parametrize("factor", [2, 4])
def test_another_batch_is_said_with_what_as_much_work_takes(factor: int) -> None:
    step = tuple(replace(kernel, inputs="float16[8,1024]; float16[1024,64]") for kernel in STEP)
    more = tuple(
        replace(each, us=1.8 * each.us, inputs=f"float16[{8 * factor},1024]; float16[1024,64]")
        for each in step
    )
    found = said(steps_of([step] * 2), steps_of([more] * 2))
    assert found.batch == factor
    # 8 x 177 us x 1.8 = 2.55 ms
    each = {
        2: "1.274 ms instead of 1.416 ms (−10.0 %)",
        4: "637.2 µs instead of 1.416 ms (−55.0 %)",
    }
    assert f"are {factor}.00× as large in one dimension" in leading_sentence(found)
    assert f"for as much work it takes {each[factor]}" in leading_sentence(found)
    assert said(steps_of([step]), steps_of([step])).batch is None


def test_two_models_are_not_explained() -> None:
    other = tuple(Kernel(f"unrelated_{at % 9}", 11 + at % 5, "unknown") for at in range(60))
    found = said(steps_of([STEP]), steps_of([other]))
    assert (found.outcome, found.difference) == ("not_comparable", "models")


def test_a_side_without_kernels_is_not_explained() -> None:
    assert explain(steps_of([STEP]), steps_of([()])) is None


def test_a_side_of_collectives_alone_is_explained() -> None:
    talk = Kernel("ncclDevKernel_AllReduce_Sum_bf16", 50, "communication")
    for before, after in (((NORM, MLP), (talk,)), ((talk,), (NORM, MLP))):
        said(steps_of([before]), steps_of([after]))


KERNELS = st.builds(
    Kernel,
    name=st.sampled_from(["gemm", "norm", "softmax", "gelu", "copy", "add"]),
    us=st.integers(1, 500).map(float),
    op_class=st.sampled_from(["matrix_product", "normalisation", "elementwise", "communication"]),
    by=st.sampled_from([None, "aten::mm", "aten::add"]),
    inputs=st.sampled_from([None, "float32[8,1024]", "float32[8,2048]"]),
    after_us=st.integers(0, 30).map(float),
)
STEPS = st.lists(st.lists(KERNELS, min_size=1, max_size=30), min_size=1, max_size=4)


@settings(max_examples=60, deadline=None)
@given(STEPS, STEPS, st.booleans())
def test_changes_and_the_rest_add_up_whatever_is_compared(
    before: list[list[Kernel]], after: list[list[Kernel]], marked: bool
) -> None:
    found = said(steps_of(before, marked=marked), steps_of(after, marked=marked))
    for change in found.changes:  # what only one side runs names nothing of the other
        assert not (change.code == "added" and change.before)
        assert not (change.code == "removed" and change.after)


def test_more_kernels_than_names_can_be_compared_have_no_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """10^6 kernels that all have names of their own take no minutes: nothing repeats."""
    monkeypatch.setattr("fusescope.analysis.compare.explanation.MOST_DISTINCT", 20)
    many = tuple(Kernel(f"kernel_{at}_x", 10, "unknown") for at in range(21))
    found = said(steps_of([many]), steps_of([many]))
    assert (found.outcome, found.difference, found.changes) == ("not_comparable", "names", ())
    assert found.unit.before_ns == found.unit.after_ns == 210_000
    assert said(steps_of([many[:20]]), steps_of([many[:20]])).outcome == "no_change"


def block(*kernels: tuple[str, int, str]) -> tuple[Kernel, ...]:
    """Kernels that the operator of their name launched, four times."""
    return tuple(
        Kernel(f"{name}_kernel", us, op_class, by=f"aten::{name}", inputs="float32[64,128]")
        for name, us, op_class in kernels
    ) * 4  # fmt: skip


BLOCKS = (
    block(("conv", 40, "convolution"), ("relu", 4, "activation")),
    block(("qkv", 50, "matrix_product"), ("sdpa", 30, "attention")),
    block(("mlp", 80, "matrix_product"), ("gelu", 10, "activation")),
    block(("gru", 60, "recurrent"), ("dropout", 5, "elementwise")),
)


@settings(max_examples=20, deadline=None)
@given(st.permutations(range(len(BLOCKS))), st.sampled_from(["relu", "sdpa", "gelu", "dropout"]))
def test_blocks_in_another_order_under_other_names_join_by_what_launched_them(
    order: list[int], slow: str
) -> None:
    """One kernel takes twice as long; which block it is in, and where, makes no difference."""
    after = [
        replace(
            kernel, name=f"other_{kernel.name}", us=kernel.us * (1 + (kernel.by == f"aten::{slow}"))
        )
        for at in order
        for kernel in BLOCKS[at]
    ]
    before = [kernel for each in BLOCKS for kernel in each]
    found = said(steps_of([before] * 3), steps_of([after] * 3))
    change = only(found)
    [lasts] = {kernel.us for kernel in before if kernel.by == f"aten::{slow}"}
    assert change.change_ns == 4 * lasts * 1000 and found.rest_ns == 0
    assert [kernel.name for kernel in change.after] == [f"other_{slow}_kernel"]


def test_without_names_and_launchers_blocks_in_another_order_are_not_compared() -> None:
    """Classes alone tell no block from another one."""
    nameless = [replace(kernel, by=None) for each in BLOCKS for kernel in each]
    other = [
        replace(kernel, by=None, name=f"other_{kernel.name}", us=kernel.us * 2)
        for each in reversed(BLOCKS)
        for kernel in each
    ]
    found = said(steps_of([nameless] * 3), steps_of([other] * 3))
    assert (found.outcome, found.difference) == ("not_comparable", "models")


def test_shapes_that_stand_out_are_said_where_others_of_the_operator_vary() -> None:
    """Ten copies of ten shapes take 10 us more and less in turn and are no change; two of another
    take 140 instead of 40 us each, +200 us: less than twice the standard error of all twelve."""

    def copies(first: int, second: int, large: int) -> list[Kernel]:
        copy = Kernel("copy_", first, "copy", "aten::copy_")
        small = [
            replace(copy, us=(first, second)[at % 2], inputs=f"float32[{at + 1},7]")
            for at in range(10)
        ]
        odd = [replace(copy, us=large, inputs="float32[128,192]")] * 2
        return [MLP, *small, MLP, *odd, MLP]

    found = explain(steps_of([copies(100, 90, 40)] * 3), steps_of([copies(90, 100, 140)] * 3))
    assert found is not None
    [change] = found.changes
    assert (change.change_ns, change.where[-1]) == (200_000, "float32[128,192]")
    assert (found.rest_ns, found.unit.change_ns) == (0, 200_000)
