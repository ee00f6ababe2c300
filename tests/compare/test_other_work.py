"""Two models in one comparison: their weights have other sizes, or nothing shows that they are
one. One model in another batch, precision, or number of shards is one model."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis import wording
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.joining.weights import other_weights, weights_text
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.readers import read_path
from fusescope.analysis.report.exports.comparison_json import comparison_values
from fusescope.analysis.trace import Trace, calls_frame, operators_frame, runs_frame
from fusescope.analysis.wording.explanation import leading_sentence
from tests.compare.test_joined_time import Op, trace_of
from tests.conftest import SHARED_TRACES

Size = tuple[int, int]


def product(weight: Size, rows: int, ns: int, dtype: str = "float16") -> Op:
    inputs, outputs = weight
    shapes = f"{dtype}[{rows},{inputs}]; {dtype}[{inputs},{outputs}]"
    return (f"gemm_{inputs}_{outputs}", "aten::mm", "matrix_product", shapes, ns)


def model_of(
    label: str, width: int, inner: int, rows: int = 8, shards: int = 1, dtype: str = "float16"
) -> Trace:
    """One layer of a transformer: qkv, output, up and down, of which each of `shards` devices has a
    part; and as much time in a kernel without shapes."""
    part = width // shards
    weights = [(width, 3 * part), (part, width), (width, inner // shards), (inner // shards, width)]
    products = [product(weight, rows, 100, dtype) for weight in weights]
    return trace_of(label, [*products, ("add_kernel", "aten::add", "elementwise", None, 100)])


def of(first: Trace, second: Trace) -> Comparison:
    return compare(side_of_trace(first), side_of_trace(second))


def test_weights_of_other_sizes_are_two_models() -> None:
    """All kernels of both are launched by the same operators, so by these all time joins."""
    comparison = of(model_of("small", 64, 256), model_of("large", 96, 480))
    verdict = comparison.verdict
    assert (verdict.outcome, verdict.reason, verdict.speedup) == (
        "cannot_tell",
        "different_sizes",
        None,
    )
    assert wording.verdict_sentence(comparison) == (
        "small and large are two models, or one model in two sizes"
    )
    first = comparison.diagnostics[0]
    assert (first.code, first.values) == (
        "different_sizes",
        {"before": "64 × 192, 64 × 64", "after": "96 × 288, 96 × 96"},
    )
    assert all(figure.change is None for figure in comparison.figures)
    explanation = comparison.explanation
    assert explanation is not None
    assert (explanation.outcome, explanation.difference) == ("not_comparable", "weights")
    assert explanation.changes == ()
    assert leading_sentence(explanation) == (
        "The weights of the matrix products have different sizes (64 × 192, 64 × 64 in the "
        "baseline, 96 × 288, 96 × 96 in the candidate), so nothing is said of what changed."
    )
    values = comparison_values(comparison)
    assert values["verdict"]["reason"] == "different_sizes"
    assert values["verdict"]["latency_change"] is None
    assert values["explanation"]["weights"] == {
        "before": [[64, 192], [64, 64]],
        "after": [[96, 288], [96, 96]],
    }


@given(
    width=st.sampled_from([64, 128, 4096]),
    inner=st.sampled_from([176, 256, 11008]),
    rows=st.tuples(st.integers(1, 300), st.integers(1, 300)),
    shards=st.tuples(st.sampled_from([1, 2, 4, 8]), st.sampled_from([1, 2, 4, 8])),
    dtypes=st.tuples(*2 * [st.sampled_from(["float32", "float16", "float8_e4m3"])]),
)
def test_batch_precision_and_shards_are_one_model(
    width: int,
    inner: int,
    rows: tuple[int, int],
    shards: tuple[int, int],
    dtypes: tuple[str, str],
) -> None:
    """Whatever a device has of a weight, one of its sizes is the width of the layers."""
    traces = [
        model_of(label, width, inner, *each)
        for label, each in zip("ab", zip(rows, shards, dtypes, strict=True), strict=True)
    ]
    assert other_weights(*traces) is None


def test_half_of_the_time_decides() -> None:
    """Of 100 ns in products 40 have the size 64 in common on each side, then 60."""
    for common, expected in ((40, ("32 × 32", "48 × 48")), (60, None)):
        first, second = (
            trace_of(
                label,
                [product((64, 64), 8, common), product((width, width), 8, 100 - common)],
            )
            for label, width in (("a", 32), ("b", 48))
        )
        found = other_weights(first, second)
        assert (None if found is None else tuple(map(weights_text, found))) == expected


def test_too_little_is_known_of_sizes() -> None:
    """Of products 60 of 100 ns have no shapes; or products are 5 of 100 ns."""
    hidden = trace_of(
        "hidden",
        [product((32, 32), 8, 40), ("gemm", "aten::mm", "matrix_product", None, 60)],
    )
    few = trace_of(
        "few", [product((32, 32), 8, 5), ("conv", "aten::conv2d", "convolution", None, 95)]
    )
    plain = trace_of("plain", [product((48, 48), 8, 100)])
    assert other_weights(hidden, plain) is None
    assert other_weights(plain, few) is None


def kernels(label: str, classes: tuple[str, str, str]) -> Trace:
    """Twelve kernels of 100 ns that all have names of their own, without shapes; one in three is
    launched by aten::add."""
    launchers = ("aten::add", None, None)
    return trace_of(
        label,
        [(f"{label}{at}", launchers[at % 3], classes[at % 3], None, 100) for at in range(12)],
    )


ATTENTION, POOLING = (
    ("elementwise", "attention", "normalisation"),
    ("elementwise", "pooling", "convolution"),
)


def test_nothing_shows_that_two_files_are_of_one_model() -> None:
    """A third of both is launched by aten::add, which joins; no kernel and no shape agrees."""
    comparison = of(kernels("a", ATTENTION), kernels("b", POOLING))
    assert comparison.verdict.reason == "models_unknown"
    assert comparison.verdict.speedup is None
    assert wording.verdict_sentence(comparison) == ("Nothing shows that a and b are the same model")
    assert comparison.diagnostics[0].code == "models_unknown"
    assert comparison.diagnostics[0].values == {"before": 0.0, "after": 0.0}
    assert all(figure.change is None for figure in comparison.figures)
    explanation = comparison.explanation
    assert explanation is not None and explanation.difference == "models"


def test_many_runs_make_no_verdict_of_two_models() -> None:
    """Six runs of 1,200 ns against six of 2,400: 2 times slower, were they one model."""
    traces = []
    for one, ns in ((kernels("a", ATTENTION), 100), (kernels("b", POOLING), 200)):
        runs = runs_frame(
            run=range(6),
            kind=["step"] * 6,
            start_ns=[run * 12 * ns for run in range(6)],
            dur_ns=[12 * ns] * 6,
            profiled=[True] * 6,
        )
        calls = calls_frame(
            operator=[*range(12)] * 6,
            run=[at // 12 for at in range(72)],
            start_ns=[at * ns for at in range(72)],
            dur_ns=[ns] * 72,
        )
        traces.append(replace(one, runs=runs, calls=calls))
    assert of(*traces).verdict.reason == "models_unknown"


def test_a_compiled_model_without_shapes_is_one_model() -> None:
    """What inductor fused is named by its kernels, and ran one by one on the other side."""
    eager = trace_of(
        "eager",
        [
            ("elementwise_kernel<mul>", "aten::mul", "elementwise", None, 300),
            ("elementwise_kernel<add>", "aten::add", "elementwise", None, 300),
            ("elementwise_kernel<relu>", "aten::relu", "activation", None, 300),
        ],
    )
    compiled = trace_of(
        "compiled", [("triton_poi_fused_add_mul_relu_0", None, "activation", None, 300)]
    )
    members = operators_frame(
        **{column: compiled.operators[column] for column in ("operator", "name", "op_class")},
        level=["device_kernel"],
        members=["add + mul + relu"],
        members_source=["op_types"],
    )
    compiled = replace(compiled, operators=members)
    comparison = of(eager, compiled)
    assert comparison.verdict.reason == "single_run"
    assert comparison.verdict.speedup == pytest.approx(3.0)


def test_an_opaque_region_is_compared_with_a_doubt_by_one_profiler_only() -> None:
    eager = model_of("eager", 64, 256)
    region = trace_of("compiled", [("Torch-Compiled Region: 0/0", None, "unknown", None, 250)])
    comparison = of(eager, region)
    assert comparison.verdict.reason == "single_run"
    assert comparison.verdict.speedup == pytest.approx(2.0)
    assert comparison.diagnostics[0].code == "model_not_shown"
    elsewhere = replace(region, meta=replace(region.meta, tool="another profiler"))
    assert of(eager, elsewhere).verdict.reason == "models_unknown"


KINETO = "third_party/kineto"
QWEN = tuple(f"{KINETO}/{gpu}-Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz" for gpu in ("h100", "mi300"))
BERT = tuple(f"{KINETO}/{gpu}-bert-small.json.gz" for gpu in ("h100", "mi300"))
QWEN_8B = f"{KINETO}/sglang_Qwen3-8B_prefilldecode.json.gz"
# Pairs of files, and the reason of the verdict on each.
REAL = {
    (QWEN[0], QWEN_8B): "different_sizes",
    (QWEN[1], QWEN_8B): "different_sizes",
    (QWEN[0], BERT[1]): "different_sizes",
    (QWEN[0], "third_party/nsys/mfu_before.sqlite"): "models_unknown",
    QWEN: "single_run",
    BERT: "single_run",
    (
        "third_party/ascend_torch_npu/2025-01-level0-rank0",
        "third_party/ascend_torch_npu/2025-01-level1-rank0",
    ): "single_run",
    ("captured/torch/cbr_eager.json", "captured/torch/cbr_compiled_freezing.json"): "few_runs",
}


@pytest.mark.usefixtures("shared_traces")
@pytest.mark.parametrize("pair", REAL)
def test_real_pairs(pair: tuple[str, str]) -> None:
    traces = [read_path(SHARED_TRACES / path) for path in pair]
    assert all(isinstance(trace, Trace) for trace in traces)
    assert of(*traces).verdict.reason == REAL[pair]  # type: ignore[arg-type]
