"""Classes of op types and of device kernels, as every engine and profiler spells them."""

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.operators.classes import OP_CLASSES, heaviest, kernel_class, op_class
from tests.conftest import SHARED_TRACES

TRACES = SHARED_TRACES / "third_party"
needs_traces = pytest.mark.usefixtures("shared_traces")

TYPES = {
    "convolution": """Conv NhwcFusedConv aten::conv2d aten::convolution_backward
        Conv2DBackpropInputD aten::cudnn_convolution_backward_weight mkldnn::_convolution_pointwise
        CaskConvolution
        Convolution GroupConvolution ConvolutionBackward0 Conv_Add_Relu Conv+Relu""",
    "matrix_product": """Gemm aten::addmm aten::mm aten::_scaled_mm MatMulV2 MatMulV3 BatchMatMulV2
        QuantBatchMatmulV3 FullyConnected gemm AddmmBackward0 dot_general""",
    "grouped_product": """GroupedMatmul QMoE aten::_grouped_mm ragged_dot
        vllm::outplace_fused_experts GatherMatmul _C::cutlass_moe_mm""",
    "kv_cache": """_C_cache_ops::reshape_and_cache_flash concat_and_cache_mla ScatterPaKvCache
        sglang::store_cache""",
    "rotary": "RotaryEmbedding RotaryMul _C::rotary_embedding ApplyRotaryPosEmb RoPE",
    "routing": """MoeGatingTopKSoftmax _moe_C::topk_softmax MoeTokenPermute
        _moe_C::moe_align_block_size MoeFinalizeRoutingV2 sgl_kernel::moe_fused_gate""",
    "sampling": "aten::multinomial sgl_kernel::top_k_top_p_sampling_from_probs ApplyTopKTopP",
    "optimizer": "aten::_fused_adamw_ ApplyAdamW Momentum",
    "quantisation": """QuantizeLinear DynamicQuant _C::static_scaled_fp8_quant FakeQuantize
        AscendQuantV2 aten::quantize_per_tensor""",
    "embedding": "aten::embedding EmbeddingDenseGradV2 aten::embedding_dense_backward",
    "copy": "TensorMove aten::copy_ AtomicAddrClean MemSet aten::clone aten::contiguous",
    "cast": "Cast aten::_to_copy Convert aten::to convert_element_type",
    "attention": """FlashAttentionScore FlashAttentionScoreGrad aten::_flash_attention_forward
        aten::_scaled_dot_product_flash_attention FusedInferAttentionScoreV2
        ScaledDotProductAttention""",
    "recurrent": "LSTM aten::lstm DynamicRNN GRUSequence",
    "activation": """Relu aten::relu_ ReluGrad aten::threshold_backward SwiGlu FastGelu
        GraphKernel_ReLU HSwish""",
    "normalisation": """aten::native_layer_norm NativeBatchNormBackward0 LayerNormV3 AddRmsNorm
        BNTrainingReduce SkipLayerNormalization MVN aten::cudnn_batch_norm_backward""",
    "pooling": """MaxPoolWithArgmaxV1 MaxPoolGradWithArgmaxV1 AdaptiveAvgPool3d CaskPooling
        AdaptiveAvgPool3dGrad aten::max_pool2d_with_indices TiledPooling AvgPool""",
    "softmax": """aten::_softmax aten::log_softmax SoftmaxV2 LogSoftmaxGrad ScaledMaskedSoftmax
        aten::_softmax_backward_data SoftmaxCrossEntropyWithLogits BiasSoftmax""",
    "reduction": """ReduceSumD ReduceMean aten::mean aten::sum_out TopKV2 ArgMaxWithValue NLLLoss
        LpNormReduceV2 BiasAddGrad UnsortedSegmentSum""",
    "elementwise": """Add aten::add_ AxpyV2 Muls RealDiv ForeachAddList Eltwise Subgraph
        PointWise kgen DropOutDoMask AddN GraphKernel_Mul_Add_fusion LogicalNot""",
    "data_movement": """ZerosLike BroadcastTo GatherV2 aten::cat
        StridedSliceD DSAStatelessGenBitMask Broadcast aten::empty""",
    "layout": """TransData Transpose aten::view Reorder Reformat NoOp Reshape aten::t""",
    "communication": """hcom_allReduce_ hcom_broadcast_ HcclAllReduce c10d::allreduce_ all-reduce
        nccl:all_reduce AllGather""",
    "unknown": "MkldnnCustomOp1 PluginV2 fusion custom-call N/A 0 D V2 Grad _ ProfilerStep#5",
}
CATEGORIES = {
    "convolution fusion": "convolution",
    "loop fusion": "elementwise",
    "data formatting": "layout",
    "dynamic-update-slice": "data_movement",
    "autograd::engine::evaluate_function: ReluBackward0": "activation",
}
KERNELS = {
    "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64>(Params)":
        "matrix_product",
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64": "matrix_product",
    "nvjet_tst_192x192_64x4_1x2_h_bz_coopB_TNT": "matrix_product",
    "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64": "matrix_product",
    "void splitKreduce_kernel<float>(cublasSplitKParams<float>)": "matrix_product",
    "triton_tem_fused_addmm_3": "matrix_product",
    "volta_scudnn_128x64_relu_interior_nn_v1": "convolution",
    "void implicit_convolve_sgemm<float, float, 1024>(int)": "convolution",
    "igemm_fwd_gtcx3_nhwc_bf16_bx0": "convolution",
    "void cudnn::cnn::wgrad_alg0_engine<float, 128>(int)": "convolution",
    "_ZN2ck16tensor_operation6device39kernel_grouped_conv_fwd_xdl4gemm": "convolution",
    "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64>>(int)": "attention",
    "aiter::fmha_fwd_hd128_bf16_rtz": "attention",
    "attn_fwd": "attention",
    "sage_fwd": "attention",
    "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float>(int)": "normalisation",
    "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float>(int)":
        "normalisation",
    "triton_red_fused_add_addmm_mul_native_layer_norm_split_view_18": "normalisation",
    "void at::native::(anonymous namespace)::max_pool_backward_nchw<float>(int)": "pooling",
    "void (anonymous namespace)::softmax_warp_forward<float>(float*)": "softmax",
    "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl(int)>":
        "activation",
    "triton_poi_fused_addmm_gelu_view_17": "activation",
    "cpp_fused_linear_view_3": "elementwise",
    "triton_poi_fused_convolution_permute_3": "elementwise",
    "graph_1_cpp_fused_relu_0": "activation",
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, MeanOps>>(int)":
        "reduction",
    "input_reduce_fusion_2": "reduction",
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)":
        "elementwise",
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<TensorListMetadata<2>>(int)":
        "elementwise",
    "triton_poi_fused_add_cos_sin_0": "elementwise",
    "saxpy(double *, double *, double *, double, int)": "elementwise",
    "Memcpy DtoD (Device -> Device)": "copy",
    "Memset (Device)": "copy",
    "void at::native::(anonymous namespace)::CatArrayBatchedCopy<float>(int)": "data_movement",
    "void at::native::elementwise_kernel<128, 4, at::native::direct_copy_kernel_cuda>(int)":
        "copy",
    "void cudnn::ops::nchwToNhwcKernel<float>(int)": "layout",
    "batched_transpose_32x32_half": "layout",
    "loop_convert_fusion": "cast",
    "Reformatting CopyNode for Input Tensor 0 to Conv_0": "layout",
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)":
        "communication",
    "hcom_allReduce__868_0_1": "communication",
    "aclnnMatmul_MatMulV3Common_MatMulV3": "matrix_product",
    "aclnnMm_MatMulCommon_MemSet": "copy",
    "trans_TransData_12": "layout",
    "Conv2DBackpropFilter6_MemSet": "copy",
    "Conv2D4": "convolution",
    "RealDiv53": "elementwise",
    "Default/network/conv1-Conv2d/Conv2D-op12": "convolution",
    "Default/GraphKernel_Mul_Add_fusion-op0": "elementwise",
    "__myl_CastMulMeanAdd_myl0_3": "elementwise",
    "{ForeignNode[/a/MatMul.../b/Softmax]}": "matrix_product",
    "fusion.12": "unknown",
    "0": "unknown",
    "": "unknown",
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "expected"), [(name, of) for of, names in TYPES.items() for name in names.split()]
)
def test_types(name: str, expected: str) -> None:
    assert op_class(name) == expected


@pytest.mark.parametrize(("name", "expected"), CATEGORIES.items())
def test_types_of_several_words(name: str, expected: str) -> None:
    assert op_class(name) == expected


@pytest.mark.parametrize(("name", "expected"), KERNELS.items())
def test_kernels(name: str, expected: str) -> None:
    assert kernel_class(name) == expected


@pytest.mark.parametrize("name", [name for name in KERNELS if "_" in name and "<" in name])
def test_a_type_that_is_a_kernel_goes_by_its_name(name: str) -> None:
    assert op_class(name) == kernel_class(name)


def test_no_type() -> None:
    assert op_class(None) == op_class("") == "unknown"


def test_the_heaviest_member_decides() -> None:
    assert heaviest(["elementwise", "convolution", "activation"]) == "convolution"
    assert heaviest(["elementwise", "normalisation"]) == "normalisation"
    assert heaviest(["layout", "data_movement"]) == "data_movement"
    assert heaviest(["unknown"]) == heaviest([]) == "unknown"


@given(st.text(max_size=700))
def test_any_text_has_a_class(text: str) -> None:
    assert op_class(text) in OP_CLASSES
    assert kernel_class(text) in OP_CLASSES


@needs_traces
@pytest.mark.parametrize(
    "name",
    [
        "h100-bert-small",
        "mi300-bert-small",
        "mi300-train_resnet18",
        "triton_example",
        *(
            pytest.param(name, marks=pytest.mark.exhaustive)
            for name in ("flux1-base-fmha", "flux1-opt-sage", "resnet50-2021-worker0")
        ),
    ],
)
def test_real_kernels_are_known(name: str) -> None:
    """Less than 2 % of the kernels' time has no class."""
    path = TRACES / "kineto" / f"{name}.json.gz"
    time: Counter[str] = Counter()
    for event in json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]:
        if str(event.get("cat", "")).lower() == "kernel" and event.get("ph") == "X":
            time[kernel_class(event["name"])] += event["dur"]
    assert time["unknown"] < 0.02 * time.total()


@needs_traces
@pytest.mark.parametrize(
    "name",
    ["2023-11-arithmetic", "2024-10-level1-rank0", "2025-01-level0-rank0", "2025-01-level1-rank0"],
)
def test_real_ascend_kernels_are_known(name: str) -> None:
    """By their type, or where it is N/A by their name; level 0 and 1 of one network agree."""
    rows, unknown = 0, 0.0
    with (TRACES / "ascend_torch_npu" / name / "kernel_details.csv").open() as file:
        for rows, row in enumerate(csv.DictReader(file), start=1):
            kind = row["Type"] if row["Type"] != "N/A" else None
            known = op_class(kind) if kind else kernel_class(row["Name"])
            unknown += float(row["Duration(us)"]) if known == "unknown" else 0.0
            if kind and row["Name"].startswith(("aclnn", "trans_", "hcom_")):
                assert kernel_class(row["Name"]) == known, row["Name"]
    assert rows > 100 and unknown == 0.0
