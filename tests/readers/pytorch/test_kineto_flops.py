"""FLOPs of PyTorch's traces: which kernel has them, that none are counted twice, known models."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fusescope.analysis.operators.attention_flops import FROM_CAUSAL, FROM_SCORES
from fusescope.analysis.readers import read, read_path
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace

GEMM = "ampere_sgemm_32x32_nn"
MM = {"Input Dims": [[8, 16], [16, 4]]}
WORK = 2 * 8 * 16 * 4


def event(cat: str, name: str, ts: float, dur: float, tid: int = 1, **args: Any) -> dict[str, Any]:
    pid = 0 if cat == "kernel" else 100
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur,
            "args": args}  # fmt: skip


def traced(
    ops: list[tuple[str, float, float, dict[str, Any]]], kernels: Sequence[tuple[str, float]] = ()
) -> pd.DataFrame:
    """Calls with their operators, of ops (name, start, dur, args) and kernels (name, launched)."""
    events = [event("cpu_op", name, ts, dur, **args) for name, ts, dur, args in ops]
    for number, (name, ts) in enumerate(kernels):
        events += [
            event("cuda_runtime", "cudaLaunchKernel", ts, 0.01, correlation=number + 1),
            event("kernel", name, 1000 + number, 0.5, 7, device=0, stream=7,
                  correlation=number + 1),
        ]  # fmt: skip
    file = {"schemaVersion": 1, "deviceProperties": [], "traceEvents": events}
    trace = read(Source("unknown", json.dumps(file).encode()))
    assert isinstance(trace, Trace)
    return joined(trace)


def joined(trace: Trace) -> pd.DataFrame:
    return trace.calls.merge(trace.operators, on="operator", validate="many_to_one")


def counts(rows: pd.DataFrame) -> list[int | None]:
    return [None if pd.isna(value) else int(value) for value in rows["flops"]]


@pytest.mark.parametrize(
    "helper",
    [
        "void splitKreduce_kernel<float, float, float>(cublasSplitKParams<float>)",
        "Cijk_SB_GA.kd",
        "Cijk_Ailk_Bljk_SB_PostGSU8",
        "void reduce_1Block_kernel<float, 128, 7>(float const*)",
    ],
)
def test_helpers_of_a_product_have_none(helper: str) -> None:
    ops = [("aten::mm", 0.0, 50.0, MM)]
    assert counts(traced(ops, [(GEMM, 5), (helper, 6)])) == [WORK, None]
    assert counts(traced(ops, [(helper, 5)])) == [None]


CONVOLUTION = {
    "Input Dims": [[2, 6, 10, 10], [8, 3, 3, 3], [8]],
    "Concrete Inputs": ["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "2"],
}
CONVOLVED = 2 * 2 * 8 * 25 * 27


def test_helpers_of_a_convolution_have_none() -> None:
    ops = [("aten::convolution", 0.0, 50.0, CONVOLUTION)]
    winograd = "void cudnn::winograd_nonfused::winogradForward{}4x4<float, float>(int)"
    kernels = [
        (winograd.format("Data"), 1),
        (winograd.format("Filter"), 2),
        ("volta_sgemm_128x64_nn", 3),
        (winograd.format("Output"), 4),
    ]
    assert counts(traced(ops, kernels)) == [None, None, CONVOLVED, None]
    offsets = "cask_cudnn::computeOffsetsKernel(cask_cudnn::ComputeOffsetsParams)"
    one = [(offsets, 1), ("volta_scudnn_128x64_relu_interior_nn_v1", 2)]
    assert counts(traced(ops, one)) == [None, CONVOLVED]


def gradients(mask: str | None) -> list[tuple[str, float, float, dict[str, Any]]]:
    told = [""] * 3 + ["[0]", "[2]", "[1]", "[1]", "False", "[0]", "2"]
    args = {
        "Input Dims": [[2, 8, 5, 5], [2, 6, 10, 10], [8, 3, 3, 3]],
        "Concrete Inputs": told + ([mask] if mask else []),
    }
    return [("aten::convolution_backward", 0.0, 50.0, args)]


def test_the_two_gradients_of_a_convolution_share_nothing() -> None:
    def found(mask: str | None, *names: str) -> list[int | None]:
        return counts(traced(gradients(mask), [(name, 1 + n) for n, name in enumerate(names)]))

    data, weight = "sm80_xmma_dgrad_implicit_gemm_f32", "sm80_xmma_wgrad_implicit_gemm_f32"
    both = "[True, True, False]"
    assert found(both, data, weight) == [CONVOLVED] * 2
    assert found(both, GEMM, "volta_sgemm_128x64_nt") == [CONVOLVED] * 2
    assert found(both, weight, weight) == [None] * 2  # one of them in two parts
    assert found(both, data) == [None]  # the other one is missing, or this does both
    assert found(both, data, weight, GEMM) == [None] * 3
    assert found("[False, True, True]", weight) == [CONVOLVED]
    assert found("[False, True, True]", data, weight) == [None] * 2
    assert found(None, data, weight) == [CONVOLVED] * 2
    assert found(None, GEMM, weight) == [None] * 2
    assert found("[False, False, True]", weight) == [None]


def test_gradients_of_2021_have_operators_of_their_own() -> None:
    x, weight, grad = [2, 6, 10, 10], [8, 3, 3, 3], [2, 8, 5, 5]
    ops: list[tuple[str, float, float, dict[str, Any]]] = [
        ("aten::cudnn_convolution_backward", 0.0, 50.0, {"Input dims": [x, grad, weight]}),
        ("aten::cudnn_convolution_backward_input", 1.0, 20.0, {"Input dims": [[], grad, weight]}),
        ("aten::cudnn_convolution_backward_weight", 25.0, 20.0, {"Input dims": [[], grad, x]}),
    ]
    kernels = [("dgrad_engine", 5.0), ("cudnn::cnn::wgrad_alg0_engine", 30.0)]
    assert counts(traced(ops, kernels)) == [CONVOLVED] * 2
    assert counts(traced(ops, [*kernels, ("cudnn::cnn::wgrad_alg0_engine", 31.0)])) == [
        CONVOLVED, None, None,
    ]  # fmt: skip


ATTENTION = "aten::_flash_attention_backward"


def test_attention_and_its_gradient() -> None:
    each = [1, 141, 8, 64]
    inner = {"Input Dims": [each] * 3, "Concrete Inputs": [""] * 8 + ["True"]}
    turned = [1, 8, 141, 64]
    ops: list[tuple[str, float, float, dict[str, Any]]] = [
        ("aten::scaled_dot_product_attention", 0.0, 50.0, {"Input Dims": [turned] * 3}),
        ("aten::_flash_attention_forward", 5.0, 30.0, inner),
    ]
    rows = traced(ops, [("flash_fwd_splitkv_kernel", 9), ("flash_fwd_splitkv_combine_kernel", 10)])
    assert counts(rows) == [4 * 8 * 64 * sum(range(1, 142)), None]
    assert rows["flops_source"][0] == FROM_CAUSAL
    gradient: list[tuple[str, float, float, dict[str, Any]]] = [
        (ATTENTION, 0.0, 50.0, {"Input Dims": [each] * 4})
    ]
    names = ["flash_bwd_dot_do_o_kernel", "flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel",
             "flash_bwd_convert_dq_kernel"]  # fmt: skip
    rows = traced(gradient, [(name, 5 + place) for place, name in enumerate(names)])
    assert counts(rows) == [None, 10 * 8 * 64 * 141 * 141, None]
    assert rows["flops_source"][1] == FROM_SCORES


def test_the_host_counts_where_the_time_is() -> None:
    """Of a linear layer its product; of a convolution the operator inside, whose inputs are not
    told; nothing where two operators share the work.
    """
    chain = [("aten::linear", 0.0, 50.0, {"Input Dims": [[8, 16], [4, 16], [4]]}),
             ("aten::addmm", 5.0, 30.0, {"Input Dims": [[4], [8, 16], [16, 4]]})]  # fmt: skip
    assert counts(traced(chain)) == [None, WORK]
    inside = ("aten::_nnpack_spatial_convolution", 5.0, 30.0, {})
    outer = ("aten::convolution", 0.0, 90.0, CONVOLUTION)
    assert counts(traced([outer, inside])) == [None, CONVOLVED]
    again = ("aten::_nnpack_spatial_convolution", 45.0, 30.0, {})
    assert counts(traced([outer, inside, again])) == [None] * 3
    assert counts(traced(gradients("[True, True, False]"))) == [2 * CONVOLVED]
    assert counts(traced(gradients(None))) == [None]


CHAIN = [
    ("aten::linear", {"Input Dims": [[8, 16], [4, 16], [4]]}),
    ("aten::matmul", MM),
    ("my::layer", {}),
    ("aten::mm", MM),
]
KERNELS = st.sampled_from(
    [GEMM, "my_kernel", "splitKreduce_kernel", "nchwToNhwcKernel", "vectorized_add", "attn_fwd"]
)


CHAINS = (
    st.lists(st.sampled_from(CHAIN), min_size=1, max_size=6),
    st.lists(st.tuples(KERNELS, st.integers(0, 19)), max_size=5),
)


@settings(max_examples=25)
@given(*CHAINS)
def test_one_product_is_never_counted_twice(
    chain: list[tuple[str, dict[str, Any]]], kernels: list[tuple[str, int]]
) -> None:
    """However many operators around a product know its shapes, and whatever they launch."""
    ops = [(name, float(level), 20.0 - 2 * level, args) for level, (name, args) in enumerate(chain)]
    rows = traced(ops, [(name, ts + 0.25) for name, ts in kernels])
    assert sum(value or 0 for value in counts(rows)) in (0, WORK)


@pytest.mark.exhaustive
@given(*CHAINS)
def test_one_product_of_many_is_never_counted_twice(
    chain: list[tuple[str, dict[str, Any]]], kernels: list[tuple[str, int]]
) -> None:
    test_one_product_is_never_counted_twice.hypothesis.inner_test(chain, kernels)


def read_trace(path: Path) -> pd.DataFrame:
    trace = read_path(path)
    assert isinstance(trace, Trace)
    return joined(trace)


def test_bert_small_of_two_devices_has_the_flops_of_its_layers(shared_traces: Path) -> None:
    """Four layers of 512 with eight heads, a head over 30,522 words; 141 tokens."""
    tokens, width, inner, words = 141, 512, 2048, 30522
    layer = 4 * width * width + 2 * width * inner
    products = 2 * tokens * (4 * layer + width * width + width * words)
    attention = 4 * (2 * 2 * tokens * tokens * width)
    for name in ("h100-bert-small", "mi300-bert-small"):
        rows = read_trace(shared_traces / f"third_party/kineto/{name}.json.gz")
        assert sum(value or 0 for value in counts(rows)) == products + attention
        of_attention = rows[rows["op_class"] == "attention"]
        assert int(of_attention["flops"].sum()) == attention
        assert rows["flops"].notna().sum() == 4 * 7 + 2


# Convolutions as (in, out, kernel, size of the output), by the papers' tables.
STEM = (3, 64, 7, 112)


def macs(layers: list[tuple[int, int, int, int]]) -> int:
    return sum(i * o * k * k * size * size for i, o, k, size in layers)


def resnet18() -> list[tuple[int, int, int, int]]:
    layers = [STEM] + [(64, 64, 3, 56)] * 4
    for channels, size in ((128, 28), (256, 14), (512, 7)):
        layers += [(channels // 2, channels, 3, size)] + [(channels, channels, 3, size)] * 3
        layers.append((channels // 2, channels, 1, size))
    return layers


def resnet50() -> list[tuple[int, int, int, int]]:
    """With the stride in the 3 x 3 convolutions, as torchvision has it."""
    layers, given, before = [STEM], 64, 56
    for width, size, blocks in ((64, 56, 3), (128, 28, 4), (256, 14, 6), (512, 7, 3)):
        for block in range(blocks):
            layers += [(given, width, 1, size if block else before), (width, width, 3, size),
                       (width, 4 * width, 1, size)]  # fmt: skip
            if block == 0:
                layers.append((given, 4 * width, 1, size))
            given = 4 * width
        before = size
    return layers


def test_training_resnet18_has_three_times_its_flops(shared_traces: Path) -> None:
    """Five steps of 512 images: forward, and two gradients, but none to the images."""
    rows = read_trace(shared_traces / "third_party/kineto/mi300-train_resnet18.json.gz")
    assert macs(resnet18()) == 1_813_561_344
    images = 2 * 5 * 512
    convolutions = images * (3 * macs(resnet18()) - macs([STEM]))
    classifier = images * 3 * 512 * 1000
    assert sum(value or 0 for value in counts(rows)) == convolutions + classifier


def test_resnet50_of_2021_has_the_flops_of_its_gradients(shared_traces: Path) -> None:
    """Six steps of 32 images. Strides were not recorded, so forward is not known."""
    rows = read_trace(shared_traces / "third_party/kineto/resnet50-2021-worker0.json.gz")
    assert macs(resnet50()) == 4_087_136_256
    images = 2 * 6 * 32
    found = rows.groupby("launched_by", observed=True)["flops"].sum().to_dict()
    assert found["aten::cudnn_convolution"] == 0
    weights, given = macs(resnet50()), macs(resnet50()) - macs([STEM])
    assert found["aten::cudnn_convolution_backward_weight"] == images * weights
    assert found["aten::cudnn_convolution_backward_input"] == images * given
    assert found["aten::addmm"] + found["aten::mm"] == 3 * images * 2048 * 1000
