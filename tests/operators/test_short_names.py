"""Short forms of kernel names: what is computed, on which type and tile, and never two alike."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.advice.finding import Finding
from fusescope.analysis.operators.short_names import short_kernel_names, short_name, short_names
from fusescope.analysis.readers import find
from fusescope.analysis.readers.input.folder import folder_sources
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording.findings import names_text
from fusescope.analysis.wording.fusion.became import becomes_cell, originals_text

TENSILE = (
    "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT16x16x512_MI16x16x1_SN_LDSB1_AFC1_AG0_AFEM1_"
    "ASEM1_CLR1_CADS0_DTLA0_GRVWA8_GRVWB8_GSUAMBSK_ISA942_IU1_K1_{}_WG32_4_2"
)
ADD = (
    "void at::native::vectorized_elementwise_kernel<{}, at::native::CUDAFunctor_add<c10::BFloat16>,"
    " std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>)"
)
CUTLASS = "cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn_align8"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (TENSILE, "Tensile GEMM TN bf16 MT16x16x512 MI16x16x1"),
        (
            "Cijk_Ailk_Bjlk_HHS_BH_MT128x64x32_MI32x32x8x1_SN_K1",
            "Tensile GEMM NT fp16 MT128x64x32 MI32x32x8x1",
        ),
        ("Cijk_Ailk_Bljk_SB_MT32x32x16_SN_K1", "Tensile GEMM NN fp32 MT32x32x16"),
        (
            f"void cutlass::Kernel2<{CUTLASS}>({CUTLASS}::Params)",
            "CUTLASS tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn sm80",
        ),
        (
            (
                "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_warpgroupsize1x1x1_"
                "execute_segment_k_off_kernel__5x_cublas"
            ),
            "cuBLAS gemm TN bf16 64x64x64 sm90",
        ),
        (
            (
                "igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x256x32_wt32x32x8_ws1x2_wr2x2_"
                "ta1x8x2x1_1x4x1x64_tb1x8x4x1_1x4x1x64"
            ),
            "MIOpen igemm fwd nhwc bf16 bt128x256x32",
        ),
        (ADD.format(8), "vectorized_elementwise_kernel<CUDAFunctor_add> bf16"),
        (
            "_ZN2ck16tensor_operation6device32kernel_grouped_conv_fwd_xdl_cshfILi256ELi128ELi64ELi8E",
            "ck grouped_conv_fwd_xdl_cshf 256x128x64x8",
        ),
        ("volta_scudnn_128x128_stridedB_splitK_small_nn_v1",) * 2,
        ("Default/network-Net/layer1/Conv2D-op7",) * 2,
    ],
)
def test_library_operation_type_and_tile_stay(name: str, expected: str) -> None:
    assert short_name(name) == expected


def test_what_tells_two_apart_is_added() -> None:
    names = [TENSILE.format("ULSGRO0"), TENSILE.format("ULSGRO1"), ADD.format(8), ADD.format(4)]
    assert list(short_names([*names, "relu"], chars=70).values()) == [
        "Tensile GEMM TN bf16 MT16x16x512 MI16x16x1 · ULSGRO0",
        "Tensile GEMM TN bf16 MT16x16x512 MI16x16x1 · ULSGRO1",
        "vectorized_elementwise_kernel<CUDAFunctor_add> bf16 · 8",
        "vectorized_elementwise_kernel<CUDAFunctor_add> bf16 · 4",
        "relu",
    ]
    # Alone each needs nothing added.
    assert short_names(names[:1]) == {names[0]: "Tensile GEMM TN bf16 MT16x16x512 MI16x16x1"}


def test_names_of_the_same_words_are_told_apart_by_a_hash() -> None:
    names = [TENSILE.format("SS1_ULSGRO2"), TENSILE.format("ULSGRO2_SS1")]
    first, second = short_names(names, chars=70).values()
    assert re.fullmatch("Tensile GEMM TN bf16 MT16x16x512 MI16x16x1 #[0-9a-f]{4}", first)
    assert second[:-4] == first[:-4] and second != first


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("jit(f_3d)/jit(main)/conv_general_dilated conv.py:77:0", "conv_general_dilated"),
        ("jit(step)/transpose(jvp(net))/dot_general", "dot_general"),
        ("jit(step)/while/body/dot_general", "while/body/dot_general"),
    ],
)
def test_an_operation_of_a_jax_program_is_called_by_its_own_name(name: str, expected: str) -> None:
    assert short_name(name) == expected


def test_names_that_fit_stay() -> None:
    short = "void addition_kernel<float>(float*, int)"
    assert short_names([short], chars=60) == {short: short}


@given(
    st.lists(
        st.text(alphabet="ab_<>(): 12,…#·", max_size=90)
        | st.builds(TENSILE.format, st.text(alphabet="XY_1", max_size=9))
        | st.builds(ADD.format, st.integers(0, 99)),
        max_size=12,
    ),
    st.integers(32, 90),
)
def test_forms_are_short_and_different_where_names_are(names: list[str], chars: int) -> None:
    found = short_names(names, chars)
    assert list(found) == list(dict.fromkeys(names))
    assert len(set(found.values())) == len(found)
    assert all(len(form) <= chars for form in found.values())


@pytest.mark.parametrize(
    ("files", "least", "least_gemms"),
    [("mi300", 50, 5), pytest.param("", 100, 20, marks=pytest.mark.exhaustive)],
)
def test_real_names_are_told_apart(
    shared_traces: Path, files: str, least: int, least_gemms: int
) -> None:
    names: dict[str, None] = {}
    sources = folder_sources(shared_traces / "third_party" / "kineto")
    for recording in find([source for source in sources if files in source.path]).recordings:
        if isinstance(recording.value, Trace):
            names |= dict.fromkeys(recording.value.operators["name"].astype(str))
    found = short_names(names)
    assert len(found) > least and len(set(found.values())) == len(found)
    assert all(len(form) <= 60 for form in found.values())
    gemms = [form for name, form in found.items() if name.startswith("Cijk_") and len(name) > 60]
    assert all(form.startswith("Tensile GEMM ") and " MT" in form for form in gemms)
    assert len(gemms) > least_gemms


def test_kernels_of_a_pattern_are_each_short() -> None:
    tensile = TENSILE.format("a")
    pattern = f"{tensile} ×2 + layer_norm_kernel"
    assert short_names([pattern], 80) == {
        pattern: "Tensile GEMM TN bf16 MT16x16x512 MI16x16x1 ×2 + layer_norm_kernel"
    }


def test_groups_and_findings_name_kernels_of_libraries_by_their_short_form() -> None:
    short = "Tensile GEMM TN bf16 MT16x16x512 MI16x16x1"
    row = {"pattern": f"aten::mm + {TENSILE}", "becomes": f"{TENSILE} ×2", "kind": "launched"}
    assert originals_text(row) == f"aten::mm + {short}"
    assert becomes_cell(row) == f"{short} ×2"
    finding = Finding(
        "slow_kernel", values={"operator": TENSILE}, where="operators", names=(TENSILE,)
    )
    assert names_text(finding) == short


def test_a_kernel_that_is_its_type_in_a_namespace_is_called_by_its_type() -> None:
    """As in tables of types and in the model tree; two of one type keep what tells them apart, and
    operators of the framework, whose type has their namespace, keep it."""
    names = ["aiter::fmha_fwd_bf16", "sage_fwd", "one::norm", "two::norm", "aten::mm"]
    types = ["fmha_fwd_bf16", "sage_fwd", "norm", "norm", "aten::mm"]
    assert short_kernel_names(names, types, 40) == [
        "fmha_fwd_bf16", "sage_fwd", "one::norm", "two::norm", "aten::mm"
    ]  # fmt: skip
    assert short_kernel_names([names[0]] * 2, [types[0]] * 2, 40) == ["fmha_fwd_bf16"] * 2


_LAMBDA = "(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda(c10::BFloat16)#1}"
_MUL = (
    "at::native::BinaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, "
    "at::native::binary_internal::MulFunctor<float> >"
)


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        (_MUL, ("elementwise_kernel<MulFunctor> bf16", "elementwise…nual_unroll<MulFunctor> bf16")),
        (
            f"at::native::direct_copy_kernel_cuda{_LAMBDA}",
            (
                "elementwise_kernel<…py_kernel_cuda> bf16",
                "elementw…al_unroll<…py_kernel_cuda> bf16",
            ),
        ),
    ],
)
def test_two_forms_never_differ_in_punctuation_alone(inner: str, expected: tuple[str, str]) -> None:
    """Cut in the middle, a '<' beside a '_' would be all that tells the two kernels apart."""
    begins = ("elementwise_kernel<128, 4", "elementwise_kernel_manual_unroll<128, 8")
    rest = f"at::native::gpu_kernel_impl_nocast<{inner}>(at::TensorIteratorBase&)"
    names = [f"void at::native::{begin}, {rest}::{{lambda(int)#1}}>(int, x)" for begin in begins]
    short = tuple(short_names(names, chars=40).values())
    assert short == expected
    alone = tuple(short_names([name], chars=40)[name] for name in names)
    assert alone == expected, "as in a table of one side"
    assert len({re.sub(r"[^\w…]|_", "", name) for name in short}) == 2


def test_wrappers_and_instructions_go_before_what_a_kernel_computes() -> None:
    reduce = (
        "void at::native::reduce_kernel<128, 4, at::native::ReduceOp<c10::BFloat16, at::native::"
        "func_wrapper_t<c10::BFloat16, at::native::MaxNanFunctor<c10::BFloat16> >, unsigned> >()"
    )
    names = [reduce, TENSILE.format("ULSGRO0")]
    assert list(short_names(names, chars=40).values()) == [
        "reduce_kernel<MaxNanFunctor> bf16",
        "Tensile GEMM TN bf16 MT16x16x512",
    ]


def test_parts_of_names_tell_them_apart_before_a_hash_does() -> None:
    """Layout changes before 40 layers: 'dw' tells some of a block apart, and its number the blocks,
    of names that are cut in the middle."""
    names = [
        f"Reorder block{block}/{at}/{layer}/BatchNormalization"
        for block in range(5)
        for at in range(4)
        for layer in ("dw", "project")
    ]
    short = short_names(names, 32)
    assert len(set(short.values())) == 40
    assert not [form for form in short.values() if "#" in form]
    assert all(len(form) <= 32 for form in short.values())
    assert "block3" in short["Reorder block3/2/dw/BatchNormalization"]
