"""Optimizers: those of ONNX Runtime that make an operator."""

from __future__ import annotations

from collections.abc import Mapping

MADE_BY: Mapping[str, str] = {
    "Attention": "AttentionFusion",
    "BiasGelu": "BiasGeluFusion",
    "BiasSoftmax": "BiasSoftmaxFusion",
    "DynamicQuantizeMatMul": "DynamicQuantizeMatMulFusion",
    "EmbedLayerNormalization": "EmbedLayerNormFusion",
    "FastGelu": "FastGeluFusion",
    "FusedConv": "ConvActivationFusion",
    "FusedGemm": "GemmActivationFusion",
    "FusedMatMul": "MatmulTransposeFusion",
    "MatMulIntegerToFloat": "MatMulIntegerToFloatFusion",
    "QuickGelu": "QuickGeluFusion",
    "SkipLayerNormalization": "SkipLayerNormFusion",
}
