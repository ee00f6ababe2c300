"""One model whose operators have other names on each side, as before and after fusion: it is known
by the sizes of its products, and told by class."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from fusescope.analysis.advice.explanation import explain_trace
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.explanation import explain
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.metrics.heavy_work import heavy_work
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording.explanation import explained_parts, leading_sentence
from fusescope.analysis.wording.explanation.trace import trace_sentence
from tests.step_traces import Kernel, steps_of

SIZES = ("float32[8,3,64,64]; float32[16,3,3,3]", "float32[8,16,62,62]; float32[32,16,3,3]",
         "float32[8,28800]; float32[28800,10]")  # fmt: skip
CLASSES = ("convolution", "convolution", "matrix_product")
# Each product of 50 us, as a framework writes it: what the user calls, 1 us, and what that calls.
EAGER = tuple(
    kernel
    for at, (size, op_class) in enumerate(zip(SIZES, CLASSES, strict=True))
    for kernel in (
        Kernel(f"aten::{op_class}", 1, op_class, inputs=size),
        Kernel(f"aten::mkldnn_{op_class}", 50, op_class, inputs=size),
        Kernel("aten::native_batch_norm", 20, "normalisation", inputs=f"float32[8,{at}]"),
        Kernel("aten::clamp_min", 10, "activation"),
    )
)  # 3 · 81 = 243 us
FUSED = tuple(
    kernel
    for size, op_class in zip(SIZES, CLASSES, strict=True)
    for kernel in (
        Kernel(f"mkldnn::_{op_class}_pointwise", 55, op_class, inputs=size),
        Kernel("aten::empty", 1),
    )
)  # 3 · 56 = 168 us


def on_host(trace: Trace) -> Trace:
    levels = pd.Categorical(["framework_op"] * len(trace.operators))
    return replace(trace, operators=trace.operators.assign(level=levels))


def repeated(step: tuple[Kernel, ...], count: int = 5) -> Trace:
    """A file that marks no steps, in which this step runs so often."""
    return on_host(steps_of([step] * count, marked=False))


def test_repeats_of_one_model_are_compared_whatever_its_operators_are_called() -> None:
    """12 operators a repetition against 3 fused ones and what they allocate: 243 against 168 us."""
    found = explain(repeated(EAGER), repeated(FUSED))
    assert found is not None and found.outcome == "changed"
    unit = found.unit
    assert (unit.kind, unit.before_ns, unit.after_ns) == ("repeat", 243_000, 168_000)
    changes = {tuple(change.where): change for change in found.changes}
    # Convolutions 2 · 51 -> 2 · 55, the product 51 -> 55; norms 60 and activations 30 are gone.
    assert {where[0]: change.change_ns for where, change in changes.items()} == {
        "normalisation": -60_000, "activation": -30_000,
        "convolution": 8_000, "matrix_product": 4_000, "elementwise": 3_000,
    }  # fmt: skip
    assert changes["normalisation",].code == "removed"
    assert found.rest_ns == 0
    text = leading_sentence(found)
    assert "The two sides run different operators, which take 168 µs instead of 243 µs" in text
    told = "".join(part.text for parts in explained_parts(found) for part in parts)
    assert (
        "Operators of the class convolution take 110 µs (mkldnn::_convolution_pointwise) instead "
        "of 102 µs (aten::mkldnn_convolution and aten::convolution): +8.00 µs per repetition."
    ) in told
    assert "Operators of the class activation (aten::clamp_min) run only in the baseline" in told
    assert (
        "Both sides run the same convolutions and matrix products over the same sizes, the "
        "candidate without operators for normalisation and activation, which are probably fused "
        "into them (guessed)."
    ) in text
    back = explain(repeated(FUSED), repeated(EAGER))
    assert back is not None
    assert "the baseline without operators for normalisation and activation" in leading_sentence(
        back
    )
    in_place = (*FUSED, Kernel("graph_0_cpp_fused_1", 80, "unknown"))
    other = explain(repeated(EAGER), repeated(in_place))
    assert other is not None and "probably fused" not in leading_sentence(other)


def test_operators_of_a_processor_are_not_called_kernels() -> None:
    alone = explain_trace(repeated(EAGER))
    assert alone is not None
    text = trace_sentence(alone)
    assert "but its work repeats: one repetition of 12 executions takes 243 µs" in text
    pair = explain(repeated(EAGER), repeated(FUSED))
    assert pair is not None
    assert "kernel" not in text + leading_sentence(pair)


def test_the_verdict_is_on_repetitions_too() -> None:
    found = compare(side_of_trace(repeated(EAGER)), side_of_trace(repeated(FUSED)))
    assert found.verdict.speedup == pytest.approx(243 / 168)
    runs = [side.trace.profiled_runs["dur_ns"] for side in (found.baseline, found.candidate)]
    assert [dur_ns.tolist() for dur_ns in runs] == [[243_000] * 4, [168_000] * 4]


OTHER = (replace(FUSED[0], inputs="float32[8,3,64,64]; float32[24,3,3,3]"), *FUSED[1:])
UNKNOWN = (replace(FUSED[0], inputs=None), *FUSED[1:])
TURNED = (*FUSED[2:4], *FUSED[:2], *FUSED[4:])


@pytest.mark.parametrize("after", [OTHER, UNKNOWN, TURNED, FUSED[:4]])
def test_two_models_are_not_compared(after: tuple[Kernel, ...]) -> None:
    """Weights of another size, of none that is known, in another order, or fewer of them."""
    found = explain(repeated(EAGER), repeated(after))
    assert found is not None
    assert found.outcome == "not_comparable" or found.unit.kind == "file"
    assert "different operators" not in leading_sentence(found)


def test_few_products_are_one_model_only_where_both_run_as_often() -> None:
    """One convolution a repetition: without marks a side may hold two under one size."""
    views = [Kernel(f"aten::view_{at}", 1) for at in range(20)]
    one = (*EAGER[:4], *views)
    fused = (FUSED[0], *[Kernel(f"aten::{name}", 1) for name in ("empty", "resize_", "view")])
    assert explained_kind(repeated(one), repeated(fused)) == "repeat"
    assert explained_kind(repeated(one), repeated(fused, 7)) == "file"


def explained_kind(before: Trace, after: Trace) -> str:
    found = explain(before, after)
    assert found is not None
    return found.unit.kind


def test_an_operator_and_what_it_calls_count_once() -> None:
    trace = on_host(steps_of([EAGER]))
    work = heavy_work(trace, trace.calls["operator"].to_numpy())
    assert [op_class for op_class, _ in work] == list(CLASSES)
    assert work[0][1] == ((8, 3, 64, 64), (16, 3, 3, 3))


def test_kernels_of_a_device_over_the_same_sizes_all_count() -> None:
    product = Kernel("gemm", 50, "matrix_product", inputs=SIZES[2])
    one, three = (steps_of([(product,) * count]) for count in (1, 3))
    works = [heavy_work(trace, trace.calls["operator"].to_numpy()) for trace in (one, three)]
    assert [len(work) for work in works] == [1, 3]
