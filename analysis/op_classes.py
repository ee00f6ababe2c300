"""Operator classes: which op types are heavy, light, or not operators of the model at all.

Heavy classes are limited by arithmetic; light ones by memory traffic and dispatch, which is
what fusion removes. A fused operator takes the class of its heaviest member.
"""

from __future__ import annotations

import re
from functools import lru_cache

HEAVY = ("convolution", "matrix_product", "attention", "recurrent")
LIGHT = (
    "elementwise",
    "activation",
    "normalisation",
    "pooling",
    "reduction",
    "data_movement",
    "layout",
)
OTHER = ("communication", "unknown")
OP_CLASSES = HEAVY + LIGHT + OTHER

LABELS = {
    "convolution": "convolution",
    "matrix_product": "matrix product",
    "attention": "attention",
    "recurrent": "recurrent",
    "elementwise": "elementwise",
    "activation": "activation",
    "normalisation": "normalisation",
    "pooling": "pooling",
    "reduction": "reduction",
    "data_movement": "data movement",
    "layout": "layout",
    "communication": "communication",
    "unknown": "unknown",
}

_TYPES: dict[str, str] = {
    "convolution": """Conv ConvTranspose ConvInteger QLinearConv FusedConv NhwcConv NhwcFusedConv
        QLinearConvTranspose DeformConv Conv2D DepthwiseConv2D DepthwiseConv2dNative Conv3D
        Conv2DBackpropInput Conv2DBackpropFilter""",
    "matrix_product": """Gemm MatMul FusedMatMul FusedGemm MatMulInteger QLinearMatMul QGemm
        MatMulIntegerToFloat DynamicQuantizeMatMul MatMulNBits TransposeMatMul Einsum BatchMatMul
        BatchMatMulV2 MatMulV2 MatMulV3 GroupedMatmul QMoE MoE MatMulBnb4 MatMulFpQ4 GemmFloat8
        GemmFastGelu""",
    "attention": """Attention MultiHeadAttention GroupQueryAttention QAttention QOrderedAttention
        DecoderMaskedMultiHeadAttention DecoderMaskedSelfAttention PackedAttention
        PackedMultiHeadAttention LongformerAttention SparseAttention PagedAttention
        DecoderAttention LinearAttention FlashAttentionScore FlashAttentionScoreGrad
        FusedInferAttentionScore PromptFlashAttention IncreFlashAttention""",
    "recurrent": "LSTM GRU RNN DynamicQuantizeLSTM AttnLSTM DynamicRNN",
    "activation": """Relu LeakyRelu PRelu Clip Sigmoid HardSigmoid HardSwish Tanh Elu Selu Celu
        Softplus Softsign ThresholdedRelu Mish Gelu FastGelu QuickGelu BiasGelu Silu Swish SwiGLU
        Softmax LogSoftmax Hardmax BiasSoftmax QLinearSigmoid QLinearLeakyRelu QLinearSoftmax
        Erf Relu6 SoftmaxV2 GeluGrad BiasSplitGelu BiasDropout Shrink""",
    "normalisation": """BatchNormalization InstanceNormalization LayerNormalization
        SimplifiedLayerNormalization SkipLayerNormalization SkipSimplifiedLayerNormalization
        EmbedLayerNormalization GroupNorm GroupNormalization SkipGroupNorm LRN
        RMSNormalization LpNormalization MeanVarianceNormalization RmsNorm LayerNorm
        AddLayerNorm AddRmsNorm LayerNormV3 BatchNorm""",
    "pooling": """MaxPool AveragePool GlobalAveragePool GlobalMaxPool LpPool GlobalLpPool
        QLinearAveragePool QLinearGlobalAveragePool MaxUnpool MaxRoiPool RoiAlign NhwcMaxPool
        MaxpoolWithMask MaxPoolV3 AvgPoolV2""",
    "reduction": """ReduceMean ReduceSum ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2
        ReduceLogSum ReduceLogSumExp ReduceSumSquare ArgMax ArgMin TopK CumSum ReduceSumInteger
        QLinearReduceMean ReduceMeanD""",
    "elementwise": """Add Sub Mul Div Pow Sqrt Exp Log Neg Abs Sum Min Max Mean Mod Floor Ceil Round
        Reciprocal Sign Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh Acosh Atanh And Or Not Xor
        Equal Greater GreaterOrEqual Less LessOrEqual Where IsNaN IsInf BitShift BitwiseAnd
        BitwiseOr BitwiseXor BitwiseNot QLinearAdd QLinearMul Dropout Identity Inverse Square
        Rsqrt Addcmul Addcdiv RotaryEmbedding RotaryPositionEmbedding BiasAdd Adds Muls
        QuickGeluGrad Affine Scale ImageScaler""",
    "data_movement": """Concat Split Slice Gather GatherElements GatherND Scatter ScatterElements
        ScatterND Pad Expand Tile Resize Upsample GridSample Compress OneHot NonZero Unique Range
        ConstantOfShape Constant QLinearConcat ConcatD StridedSliceD Trilu
        EyeLike ReverseSequence CropAndResize GatherV2 NonMaxSuppression Size Shape
        RandomNormal RandomUniform RandomNormalLike RandomUniformLike Bernoulli SpaceToDepth
        DepthToSpace Col2Im CenterCropPad""",
    "layout": """Reshape Transpose Squeeze Unsqueeze Flatten Cast CastLike ReorderInput
        ReorderOutput QuantizeLinear DequantizeLinear DynamicQuantizeLinear TransData
        MemcpyFromHost MemcpyToHost Memcpy TransposeD Im2col""",
    "communication": """HcclAllReduce HcclAllGather HcclReduceScatter HcclBroadcast HcclSend
        HcclReceive AllReduce AllGather AllToAll ReduceScatter Broadcast NcclAllReduce""",
}
_CLASS_OF = {name.lower(): op_class for op_class, names in _TYPES.items() for name in names.split()}
# Light to heavy: the class of a fused operator is its last member's in this order.
_RANKED = {name: rank for rank, name in enumerate((*reversed(LIGHT), *reversed(HEAVY)))}


@lru_cache(maxsize=65536)
def op_class(op_type: str | None) -> str:
    """The class of an op type, 'unknown' for None and for types in no table.

    A type made of several known ones ('Conv_Add_Relu', 'Conv+Relu') takes the heaviest.
    """
    if not op_type:
        return "unknown"
    known = _CLASS_OF.get(op_type.lower())
    if known is not None:
        return known
    parts = [_CLASS_OF.get(part.lower()) for part in re.split(r"[+_|,/ ]+", op_type) if part]
    return heaviest([part for part in parts if part is not None])


def heaviest(classes: list[str]) -> str:
    """The class a fused operator of these member classes belongs to; 'unknown' for none."""
    ranked = [name for name in classes if name in _RANKED]
    return max(ranked, key=_RANKED.__getitem__) if ranked else "unknown"


def is_light(name: str) -> bool:
    """True for the classes that the small-op ratio counts."""
    return name in LIGHT


def is_heavy(name: str) -> bool:
    """True for classes limited by arithmetic."""
    return name in HEAVY
