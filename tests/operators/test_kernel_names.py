"""Types of kernels out of their names, in the spelling of every demangler."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.operators import kernel_names
from fusescope.analysis.operators.kernel_names import kernel_members, kernel_type, memory_type

GELU = (
    "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#2}::"
    "operator()() const::{lambda()#4}::operator()() const::{lambda(c10::BFloat16)#1}"
)
GELU_NVIDIA = (
    "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase &, at::native::GeluType)::[lambda() "
    "(instance 2)]::operator ()() const::[lambda(c10::BFloat16) (instance 1)]"
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("attn_fwd", "attn_fwd"),
        ("volta_sgemm_128x64_nt", "volta_sgemm_128x64_nt"),
        ("saxpy(double *, double *, double *, double, int)", "saxpy"),
        ("void addition_kernel<float>(float*, float const*)", "addition_kernel"),
        ("unsigned int count(int)", "count"),
        ("aiter::fmha_fwd_hd128_bf16_rtz", "fmha_fwd_hd128_bf16_rtz"),
        (
            (
                "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<"
                "c10::BFloat16>, std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>)"
            ),
            "vectorized_elementwise_kernel<CUDAFunctor_add>",
        ),
        (
            (
                "void at::native::vectorized_elementwise_kernel<(int)8, at::native::FillFunctor<"
                "float>, at::detail::Array<char *, (int)1>>(int, T2, T3)"
            ),
            "vectorized_elementwise_kernel<FillFunctor>",
        ),
        (
            f"void at::native::vectorized_elementwise_kernel<4, {GELU}, std::array<char*, 2>>(int)",
            "vectorized_elementwise_kernel<GeluCUDAKernelImpl>",
        ),
        (
            f"void at::native::<unnamed>::elementwise<{GELU_NVIDIA}>(int)",
            "elementwise<GeluCUDAKernelImpl>",
        ),
        (
            (
                "void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, "
                "long, unsigned int, 2, 2, -2, true>(at::cuda::detail::TensorInfo<float, int>)"
            ),
            "indexSelectLargeIndex",
        ),
        (
            (
                "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::"
                "func_wrapper_t<float, at::native::sum_functor<float>::operator()(at::TensorIt"
                "erator&)::{lambda(float, float)#1}>, unsigned int, float, 4> >(int)"
            ),
            "reduce_kernel<ReduceOp<func_wrapper_t<sum_functor>>>",
        ),
        (
            "std::enable_if<!(false), void>::type internal::gemvNSP_kernel<float, float, 1, 32>(P)",
            "gemvNSP_kernel",
        ),
        ("std::vector<int> make<cub::Sum> (int)", "make<Sum>"),
        ("void gated<&(op_silu(float)), float>(float const*)", "gated<op_silu>"),
        ("void cutlass::Kernel2<cutlass_80_gemm_bf16>(P)", "Kernel2<cutlass_80_gemm_bf16>"),
        ("_ZN2ck16tensor_operation6device12_GLOBAL__N_16kernelINS_3FooEEE", "kernel"),
        ("triton_poi_fused_add_cos_sin_0", "triton_poi_fused_add_cos_sin"),
        ("triton_poi_fused_add_0d1d2de", "triton_poi_fused_add"),
        ("graph_1_cpp_fused_relu_0", "cpp_fused_relu"),
        ("loop_add_fusion_3", "loop_add_fusion"),
        ("saxpy(int, float*) [clone .kd]", "saxpy"),
        ("[CUDA memcpy Host-to-Device]", "Memcpy HtoD"),
        ("[CUDA memcpy HtoD]", "Memcpy HtoD"),
        ("Memcpy DtoH (Device -> Pinned)", "Memcpy DtoH"),
        ("MEMORY_COPY_DEVICE_TO_DEVICE", "Memcpy DtoD"),
        ("CopyHostToDevice", "Memcpy HtoD"),
        ("Memset (Device)", "Memset"),
        ("[CUDA memset]", "Memset"),
        ("copy_kernel(float*)", "copy_kernel"),
        ("copy(float*)", "copy"),
        ("", ""),
    ],
)
def test_type_of_a_kernel(name: str, expected: str) -> None:
    assert kernel_type(name) == expected


def test_one_type_whatever_the_vector_width() -> None:
    name = "void at::native::vectorized_elementwise_kernel<{}, at::native::AddFunctor<{}> >(int)"
    assert kernel_type(name.format(4, "float")) == kernel_type(name.format(8, "c10::Half"))


def test_members_of_inductor_kernels_only() -> None:
    assert kernel_members("triton_poi_fused_add_relu_0") == ("add + relu", "op_types")
    assert kernel_members("volta_sgemm_128x64_nt") == (None, None)


def test_memory_type_is_empty_for_kernels() -> None:
    assert memory_type("memcpy_kernel(int)") == ""
    assert memory_type("CUDA memset") == "Memset"


@pytest.mark.parametrize(
    "piece", ["<", "a<", "(", "::", "a<b,", "> ", "_ZN1a", "operator<", "x ", "{", "&(", "_MT1"]
)
def test_only_the_first_characters_of_a_name_are_looked_at(piece: str) -> None:
    name = piece * 100_000
    assert kernel_type(name) == kernel_type(name[:4000])
    assert len(kernel_type(name)) <= 120


@given(st.text(alphabet="ab<>(){}[],:& _*0n", max_size=60))
def test_any_text_has_a_short_type(name: str) -> None:
    assert len(kernel_type(name)) <= 120


def test_a_long_name_of_tensile_keeps_what_it_computes() -> None:
    """Types, layout and tile; how the tile is made differs from kernel to kernel."""
    head = "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT16x16x512"
    tail = "_MI16x16x1_SN_LDSB1_AFC1_AG0_AFEM1_ASEM1_CLR1_CADS0_DTLA0_GRVWA8_GRVWB8_GSUAMBSK"
    assert kernel_type(head + tail) == head
    assert kernel_type(f"{head}_SN") == f"{head}_SN"


def test_each_of_very_many_names_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two files of 70,000 names have 5,000 of them in common, and are asked for twice."""
    parsed: list[str] = []
    parse = kernel_names._parse

    def counted(text: str) -> object:
        parsed.append(text)
        return parse(text)

    monkeypatch.setattr(kernel_names, "_parse", counted)
    first = [f"add{at}<int>" for at in range(70_000)]
    second = [f"add{at}<int>" for at in range(65_000, 135_000)]
    kernel_type.cache_clear()
    for names in (first, second, first, second):
        assert [kernel_type(name) for name in names[:2]] == [f"{name[:-5]}" for name in names[:2]]
        for name in names:
            kernel_type(name)
    assert len(parsed) == len(set(parsed)) == 135_000
    kernel_type.cache_clear()
