"""Kernels of serving engines and of optimizers, as profiles of them name them."""

from __future__ import annotations

import pytest

from fusescope.analysis.operators.classes import (
    HEAVY,
    LABELS,
    LIGHT,
    OP_CLASSES,
    heaviest,
    is_heavy,
    is_light,
    kernel_class,
)

# vLLM, SGLang, TensorRT-LLM, FlashInfer, CK, AITER, DeepGEMM, Triton, Apex, PyTorch.
KERNELS = {
    "grouped_product": [
        "fused_moe_kernel",
        "fused_moe_kernel_gptq_awq",
        "void moe_wna16_gemm_kernel<__nv_bfloat16, 4>(float const*)",
        (
            "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<"
            "cutlass::gemm::GroupProblemShape<cute::tuple<int, int, int>>>>"
        ),
        "void deep_gemm::sm90_fp8_gemm_1d2d_impl<0u, 4096u, (deep_gemm::GemmType)1>(float*)",
        "_matmul_ogs_NNT_bf16xbf16xmxfp4_128x256x128x1_swiglu",
        "bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x8x512_s6_et128x8_m128x8x32_sm100f",
        "_ZN5aiter50fmoe_bf16_blockscaleFp8_g1u1_vs_silu_1tg_ps_32x256E",
        "_ZN2ck15kernel_moe_gemmINS_12GridwiseMoeGemmE",
        "void marlin_moe_wna16::Marlin<__nv_bfloat16, 8>(int4 const*)",
    ],
    "routing": [
        "void vllm::moe::topkGatingSoftmax<8, 128, 4, 16, 32, int>(float const*)",
        "void vllm::moe::moe_align_block_size_kernel<int>(int const*)",
        "void vllm::moe::count_and_sort_expert_tokens_kernel<int>(int const*)",
        "void vllm::moe::moe_sum_kernel<c10::BFloat16, 8>(c10::BFloat16*)",
        "void moe_fused_gate_kernel<cutlass::bfloat16_t, float>(void*)",
        "_ZN7ck_tile6kentryILi4ENS_16MoeSortingKernelE",
        "void moe::dev::routing::routingCustom::routingIndicesClusterKernel<int>(int)",
        "_compute_expt_data_memset_x",
        "void tensorrt_llm::kernels::cutlass_kernels::finalizeMoeRoutingKernel<float>(float)",
    ],
    "kv_cache": [
        (
            "void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, __nv_bfloat16, "
            "(vllm::Fp8KVCacheDataType)0>(__nv_bfloat16 const*)"
        ),
        "void vllm::concat_and_cache_mla_kernel<unsigned short>(unsigned short const*)",
        "void (anonymous namespace)::store_kvcache<2048l, 4, false, long>(StoreKVCacheParams)",
        "create_flashinfer_kv_indices_triton",
        "set_mla_kv_buffer_kernel",
        "void flashinfer::AppendPagedKVCacheKernel<128u, 8u, __half>(int)",
        "void tensorrt_llm::kernels::applyBiasRopeUpdateKVCacheV2<__half, __half>(int)",
    ],
    "rotary": [
        "void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*)",
        "void rotary_embedding_kernel<c10::BFloat16, true>(long const*, c10::BFloat16*)",
        "void flashinfer::BatchQKApplyRotaryPosIdsCosSinCacheKernel<true, 128u>(int)",
        "rotary_kernel",
        "_triton_mrope_forward",
        "void tensorrt_llm::kernels::fusedQKNormRopeKernel<128, false>(void*)",
    ],
    "quantisation": [
        "void vllm::dynamic_per_token_scaled_fp8_quant_kernel_strided<c10::BFloat16>(void*)",
        "void per_token_group_quant_8bit_kernel<c10::BFloat16, c10::Float8_e4m3fn>(void*)",
        "_per_token_group_quant_fp8",
        "quant_per_block_int8_kernel",
        "void vllm::scaled_fp8_quant_kernel<c10::Half, c10::Float8_e4m3fn>(void*)",
        "_ZN5aiter37dynamic_per_group_scaled_quant_kernelIDF16bE",
    ],
    "sampling": [
        "void flashinfer::sampling::TopPSamplingFromProbKernel<1024u, float, int>(float*)",
        "void flashinfer::sampling::TopKTopPSamplingFromProbKernel<1024u, float>(float*)",
        "void flashinfer::sampling::TopPRenormProbKernel<1024u, float>(float*)",
        "void at::native::(anonymous namespace)::sampleMultinomialOnce<float, float>(long*)",
        "rejection_random_sample_kernel",
        "void vllm::apply_repetition_penalties_kernel<float>(float*)",
    ],
    "optimizer": [
        (
            "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<"
            "TensorListMetadata<4>, FusedAdamMathFunctor<float, 4, ADAM_MODE(1), false>>(int)"
        ),
        "void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float, float>>(int)",
        "void multi_tensor_apply_kernel<TensorListMetadata<3>, FusedSgdMathFunctor<float>>(int)",
    ],
    "embedding": [
        "void at::native::(anonymous namespace)::compute_grad_weight_embedding<float>(int)",
        "void (anonymous namespace)::embedding_backward_feature_kernel<float>(int)",
    ],
    "cast": [
        (
            "void at::native::vectorized_elementwise_kernel<4, "
            "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::lambda>(int)"
        ),
        "void at::native::unrolled_elementwise_kernel<at::native::float8_copy_kernel_cuda>(int)",
    ],
    "attention": [
        "void flashinfer::BatchPrefillWithPagedKVCacheKernel<KTraits, PagedParams>(int)",
        "void flashinfer::BatchDecodeWithPagedKVCacheKernel<(PosEncodingMode)0>(int)",
        "_ZN7ck_tile6kentryILi2ENS_38FmhaBatchPrefillWithPagedKVCacheKernelE",
        "void paged_attention_ll4mi_QKV_mfma16_kernel<0, (vllm::Fp8KVCacheDataType)0>(int)",
        "kernel_unified_attention_2d",
        "_fwd_grouped_kernel_stage1",
        "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7",
        "_ZN5aiter41mla_a16w16_qh16_m16x4_n16x1_coex0_mask1_psE",
    ],
    "normalisation": [
        "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi64E",
        "void flashinfer::norm::FusedAddRMSNormKernel<8u, __nv_bfloat16>(void*)",
        "void vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(void*)",
    ],
    "activation": ["void vllm::act_and_mul_kernel<c10::BFloat16, &vllm::silu_kernel>(void*)"],
    # Names that only look like one of those.
    "pooling": ["void at::native::max_pool_forward_nchw<float>(int)"],
    "convolution": ["_ZN2ck16tensor_operation6device39kernel_grouped_conv_fwd_xdl4gemm"],
    "data_movement": ["void at::native::upsample_nearest2d_out_frame<float>(int)"],
    "unknown": ["my_property_kernel", "_fwd_kernel"],
}


@pytest.mark.parametrize(
    ("name", "expected"), [(name, of) for of, names in KERNELS.items() for name in names]
)
def test_kernels_are_what_engineers_call_them(name: str, expected: str) -> None:
    assert kernel_class(name) == expected


def test_only_products_of_experts_are_heavy_of_the_steps_of_serving() -> None:
    assert is_heavy("grouped_product") and not is_light("grouped_product")
    steps = ("routing", "kv_cache", "rotary", "quantisation", "sampling", "embedding")
    for name in (*steps, "optimizer", "cast", "copy"):
        assert is_light(name) and not is_heavy(name)
    assert set(LABELS) == set(OP_CLASSES) and not set(HEAVY) & set(LIGHT)


def test_what_is_fused_takes_the_class_that_costs_most() -> None:
    assert heaviest(["cast", "elementwise"]) == "elementwise"
    assert heaviest(["rotary", "kv_cache"]) == "rotary"
    assert heaviest(["quantisation", "normalisation"]) == "normalisation"
    assert heaviest(["copy", "cast"]) == "copy"
    assert heaviest(["routing", "grouped_product"]) == "grouped_product"
