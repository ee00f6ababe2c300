"""ONNX Runtime's graph optimizers by the names that `disabled_optimizers` takes.

The engine ignores names that it does not know, so the names of all versions stand in one list.
Whether the list is complete is checked by effect: with all of it disabled, a model must come out
as with optimisation off. Transformers log their names at severity 0; rewrite rules, which run
inside Level1_RuleBasedTransformer and Level2_RuleBasedTransformer, have theirs in the library.
"""

from __future__ import annotations

import difflib

# version that was looked at -> names that the one before it did not have
BY_VERSION = {
    "1.20": (
        # convolutions and layout, what changes most vision models
        "NchwcTransformer", "ConvBNFusion", "ConvActivationFusion", "ConvAddActivationFusion",
        "ConvMulFusion", "ConvAddFusion", "Pad_Fusion", "FuseReluClip", "NhwcTransformer",
        # matrix products
        "MatMulAddFusion", "GemmActivationFusion", "MatMul_BatchNormalization_Fusion",
        "MatmulTransposeFusion", "MatMulScaleFusion", "GemmSumFusion", "GemmTransposeFusion",
        "MatMulActivationFusion",
        # what every model has
        "ConstantFolding", "CommonSubexpressionElimination", "TransposeOptimizer",
        "TransposeOptimizer_CPUExecutionProvider", "ReshapeFusion", "EliminateIdentity",
        "EliminateDropout", "CastElimination", "ConstantSharing", "UnsqueezeElimination",
        "EliminateSlice", "ExpandElimination", "NoopElimination", "PreShapeNodeElimination",
        "DivMulFusion", "NotWhereFusion", "LabelEncoderFusion", "FreeDimensionOverrideTransformer",
        # transformers
        "LayerNormFusionL1", "LayerNormFusionL2", "SimplifiedLayerNormFusion",
        "SkipLayerNormFusion", "GeluFusionL1", "GeluFusionL2", "BiasGeluFusion", "FastGeluFusion",
        "QuickGeluFusion", "GeluApproximation", "AttentionFusion", "EmbedLayerNormFusion",
        "BiasSoftmaxFusion", "BiasDropoutFusion", "GatherSliceToSplitFusion",
        "GatherToSliceFusion",
        # quantised and half precision
        "QDQSelectorActionTransformer", "QDQPropagationTransformer", "QDQFinalCleanupTransformer",
        "QDQS8ToU8Transformer", "DoubleQDQPairsRemover", "EnsureUniqueDQForNodeUnit",
        "ClipQuantRewrite", "ReluQuantRewrite", "DynamicQuantizeMatMulFusion",
        "MatMulIntegerToFloatFusion", "MatMulNBitsFusion", "Avx2WeightS8ToU8Transformer",
        "RocmBlasAltImpl",
    ),
    "1.31": (
        "BiasSkipLayerNormFusion", "GroupQueryAttentionFusion", "GroupQueryAttentionPreNormFusion",
        "SliceConcatToSpaceToDepthFusion", "CastChainElimination", "WeightBiasQuantization",
        "WhereDummyDq", "DQMatMulNBitsFusion", "MatMulNBitsMlpFusion", "MatMulNBitsQkvFusion",
        "FuseFp16InitializerToFp32NodeTransformer",
    ),
}  # fmt: skip
NAMES = tuple(name for names in BY_VERSION.values() for name in names)


def all_but(name: str) -> tuple[str, ...]:
    """Every listed optimizer except that one; '' for every one."""
    return tuple(other for other in NAMES if other != name)


def nearest(name: str) -> tuple[str, ...]:
    """The listed name that differs only in case, else up to three that look like it."""
    spelled = {listed.lower(): listed for listed in NAMES}
    if name.lower() in spelled:
        return (spelled[name.lower()],)
    near = difflib.get_close_matches(name.lower(), list(spelled), n=3, cutoff=0.6)
    return tuple(spelled[match] for match in near)
