"""Every rewrite that the fusion pass knows. To add a pattern, add an entry.

Each is tried in this order, so what could lose an operator to another pattern stands before it:
the half of a Gelu is also a factor of the matrix product behind, the scale of scores one of theirs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from fusescope.analysis import patterns
from fusescope.analysis.patterns.conditions import dtype, number, op_types, scalar, single_use
from fusescope.analysis.patterns.pattern import Block, Site
from fusescope.analysis.patterns.template import Step
from fusescope.collectors.fusion import attention, convolutions, elementwise, products
from fusescope.collectors.fusion.rewrite import LEVELS, Level, Rewrite, ranks, stored

_FLOAT = dtype("x", "float32")
_STATISTICS = stored("scale", "shift", "mean", "var")
_GELU = (
    _FLOAT, single_use, scalar("root"), elementwise.gelu_root, number("one", 1.0),
    number("half", 0.5), stored("root", "one", "half"),
)  # fmt: skip
_TANH = {
    "three": 3.0, "k1": 0.044715, "one1": 1.0, "k2": 0.7978845608028654, "one": 1.0, "half": 0.5,
}  # fmt: skip
_TANH_NUMBERS = (*(number(name, value) for name, value in _TANH.items()), stored(*_TANH))


def _each_float(site: Site) -> Iterator[Block]:
    """Both matrices are float32."""
    for name in ("a", "b"):
        yield from dtype(name, "float32")(site)


REWRITES: tuple[Rewrite, ...] = (
    Rewrite(
        "attention",
        "O3",
        attention.ATTENTION,
        "MultiHeadAttention",
        (single_use, scalar("root"), stored("root"), attention.heads_fit, attention.mask_fits,
         dtype("q", "float32")),
        attention.attention,
    ),
    Rewrite(
        "layer-norm",
        "O3",
        patterns.LAYER_NORM,
        "LayerNormalization",
        (*patterns.LAYER_NORM.ways[0].conditions, number("two", 2.0), scalar("epsilon"),
         stored("two", "epsilon"), _FLOAT),
        elementwise.layer_norm,
    ),
    Rewrite(
        "bias-gelu",
        "O3",
        elementwise.BIAS_GELU,
        "BiasGelu",
        (*_GELU, elementwise.bias_of_last_axis),
        elementwise.bias_gelu,
    ),
    Rewrite("gelu", "O3", elementwise.GELU, "Gelu", _GELU, elementwise.gelu),
    Rewrite(
        "fast-gelu",
        "O3",
        patterns.FAST_GELU,
        "FastGelu",
        (_FLOAT, single_use, *_TANH_NUMBERS),
        elementwise.fast_gelu,
    ),
    Rewrite(
        "quick-gelu",
        "O3",
        patterns.QUICK_GELU,
        "QuickGelu",
        (_FLOAT, single_use, scalar("alpha"), stored("alpha")),
        elementwise.quick_gelu,
    ),
    Rewrite(
        "conv-bn",
        "O1",
        patterns.CONV_BN,
        "Conv",
        (single_use, convolutions.no_training, convolutions.one_statistic_a_channel,
         stored("w"), _STATISTICS, convolutions.stored_bias, _FLOAT),
        convolutions.fold_normalisation,
    ),
    Rewrite(
        "conv-constant",
        "O1",
        patterns.CONV_CONSTANT,
        "Conv",
        (single_use, stored("w", "k"), convolutions.stored_bias, convolutions.one_a_channel,
         _FLOAT),
        convolutions.fold_constant,
    ),
    Rewrite(
        "matmul-add",
        "O2",
        patterns.MATMUL_ADD,
        "Gemm",
        (single_use, ranks("2", range(2, 3), "x", "w"), products.bias_fits, _FLOAT),
        products.gemm,
    ),
    Rewrite(
        "transpose-gemm",
        "O2",
        products.TRANSPOSED_GEMM,
        "Gemm",
        (single_use, _each_float),
        products.transposed_gemm,
    ),
    Rewrite(
        "scale-transpose-matmul",
        "O2",
        products.SCALED_PRODUCT,
        "FusedMatMul",
        (single_use, stored("ka", "kb", "k"), products.single_factors,
         ranks("2 or more", range(2, 65), "a", "b"), _each_float),
        products.fused_product,
    ),
    Rewrite(
        "conv-activation",
        "O2",
        patterns.CONV_ACTIVATION,
        "FusedConv",
        (convolutions.plain, op_types("y", *convolutions.ACTIVATIONS), single_use,
         convolutions.clip_bounds, _FLOAT),
        convolutions.fused_conv,
    ),
    Rewrite(
        "gemm-activation",
        "O2",
        patterns.GEMM_ACTIVATION,
        "FusedGemm",
        (op_types("y", *products.ACTIVATIONS), single_use, products.two_axes, _FLOAT),
        products.fused_gemm,
    ),
    Rewrite(
        "skip-layer-norm",
        "O3",
        elementwise.SKIP_LAYER_NORM,
        "SkipLayerNormalization",
        (elementwise.bias_used_once, elementwise.last_axis, dtype("p", "float32")),
        elementwise.skip_layer_norm,
    ),
    Rewrite(
        "conv-add-activation",
        "O3",
        patterns.CONV_ADD_ACTIVATION,
        "FusedConv",
        (convolutions.plain, op_types("y", *convolutions.ACTIVATIONS), single_use,
         convolutions.same_shape, convolutions.clip_bounds, _FLOAT),
        convolutions.fused_conv,
    ),
    Rewrite(
        "conv-add",
        "O3",
        patterns.CONV_ADD,
        "FusedConv",
        (convolutions.plain, single_use, convolutions.same_shape, _FLOAT),
        convolutions.fused_conv,
    ),
    Rewrite(
        "mul-add",
        "O3",
        elementwise.AFFINE,
        "BatchNormalization",
        (single_use, convolutions.no_training, convolutions.one_statistic_a_channel,
         stored("k", "k2"), elementwise.stored_statistics, elementwise.value_a_channel,
         _FLOAT),
        elementwise.affine,
    ),
)  # fmt: skip
NAMES = tuple(rewrite.name for rewrite in REWRITES)
_ORDER = tuple(LEVELS)


def at_most(level: Level, maximum: Level) -> bool:
    """Whether what needs `level` is done at the level `most`."""
    return _ORDER.index(level) <= _ORDER.index(maximum)


def level_of(op_types: tuple[str, ...]) -> Level | None:
    """The level at which operators of these types, in the order that data flows through them,
    become one; None where no rewrites do that."""
    found = [level for made, level in _made(op_types) if len(op_types) > 1]
    return _ORDER[min(found)] if found else None


def holds(op_types: tuple[str, ...], part: tuple[str, ...]) -> bool:
    """Whether the operators hold those of `part` in one piece."""
    size = len(part)
    return any(op_types[at : at + size] == part for at in range(len(op_types) - size + 1))


def known_types() -> frozenset[str]:
    """Every op type that stands in some pattern."""
    return frozenset(
        op_type
        for rewrite in REWRITES
        for form in rewrite.pattern.templates
        for step in form.steps
        for op_type in step.op_types
    )


@lru_cache(maxsize=4096)
def _made(op_types: tuple[str, ...]) -> frozenset[tuple[str, int]]:
    """(op type, level) of the single operators that rewrites make of these."""
    if len(op_types) == 1:
        return frozenset({(op_types[0], 0)})
    return frozenset(
        (rewrite.makes, max(level, _ORDER.index(rewrite.level)))
        for rewrite in REWRITES
        for form in rewrite.pattern.templates
        if len(form.steps) <= len(op_types)
        for level in _levels(form.steps, op_types)
    )


def _levels(steps: tuple[Step, ...], op_types: tuple[str, ...]) -> set[int]:
    """Levels at which consecutive parts of these operators become the operators of the steps."""
    if not steps:
        return set() if op_types else {0}
    found = set()
    for size in range(1, len(op_types) - len(steps) + 2):
        for made, level in _made(op_types[:size]):
            if made in steps[0].op_types:
                found |= {max(level, other) for other in _levels(steps[1:], op_types[size:])}
    return found
