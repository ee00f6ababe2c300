"""Patterns that start with a matrix product."""

from __future__ import annotations

from collections.abc import Iterator

from fusescope.analysis.patterns.conditions import (
    dtype,
    dtype_of,
    op_types,
    rank,
    shape_text,
    single_use,
)
from fusescope.analysis.patterns.convolution import ACTIVATIONS
from fusescope.analysis.patterns.pattern import Block, Pattern, Site, Way
from fusescope.analysis.patterns.template import template

_GEMM_ACTIVATIONS = (
    "Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid", "Elu", "Selu", "Softplus", "Softsign",
    "ThresholdedRelu",
)  # fmt: skip
_GEMM_DTYPES = ("float32", "float16", "bfloat16")


def _fits_gemm(site: Site) -> Iterator[Block]:
    """The right matrix has two axes; the left one two, or more with sizes that are known."""
    left, right = (site.view.tensor(site.tensor(name)).shape for name in ("x", "w"))
    if right is not None and len(right) != 2:
        yield Block("rank", site.tensor("w"), {"axes": len(right), "needs": 2})
    if left is None or right is None or (len(left) != 2 and any(size < 0 for size in left)):
        unknown = "w" if right is None else "x"
        shape = right if right is None else left
        yield Block("unknown_shape", site.tensor(unknown), {"shape": shape_text(shape)})


def _bias_broadcasts(site: Site) -> Iterator[Block]:
    """The bias is [N]; with a left matrix of two axes also [1, N], [M, 1] or [M, N]."""
    left, right, bias = (site.view.tensor(site.tensor(name)).shape for name in ("x", "w", "bias"))
    if left is None or right is None or bias is None or len(right) != 2:
        return
    n = right[1]
    fits = bias == (n,)
    if len(left) == 2:
        fits = fits or bias in ((1, n), (left[0], n), (left[0], 1))
    if not fits and not site.view.is_constant(site.tensor("bias")) and len(bias) > 1:
        joined = f"MatMul + Add of another result with {len(bias)} axes"
        yield Block("no_kernel", values={"operators": joined, "known": ""})
    elif not fits:
        facts = {"have": shape_text(bias), "needs": shape_text((n,))}
        yield Block("shape_or_broadcast", site.tensor("bias"), facts)


def _half_leaky(site: Site) -> Iterator[Block]:
    """LeakyRelu has no float16 kernel and is taken apart before fusion looks at it."""
    if site.node("y").op_type == "LeakyRelu" and dtype_of(site, site.tensor("x")) == "float16":
        yield Block("dtype", site.tensor("x"), {"dtype": "float16", "allowed": "float32"})


def _no_reshape(site: Site) -> Iterator[Block]:
    """With more than two axes the engine reshapes after the product, before the activation."""
    axes = rank(site, site.tensor("x"))
    if site.has("m") and axes is not None and axes != 2:
        yield Block("reshape_between", site.tensor("a"), {"axes": axes})


def _has_addition(site: Site) -> Iterator[Block]:
    if site.node("g" if site.has("g") else "m").op_type == "MatMul" and not site.has("a"):
        yield Block("needs_gemm", values={"activation": site.node("y").op_type})


MATMUL_ADD = Pattern(
    title="",
    templates=(
        template(
            """
            m = MatMul(x, w)
            a = Add(m, bias)
            """
        ),
    ),
    ways=(
        Way(
            "MatMulAddFusion",
            "basic",
            (single_use, dtype("x", *_GEMM_DTYPES), _fits_gemm, _bias_broadcasts),
        ),
    ),
    absorbed=("a",),
)
GEMM_ACTIVATION = Pattern(
    title="",
    templates=(
        template(
            f"""
            g = Gemm|MatMul(x, w, *)
            y = {ACTIVATIONS}(g, *)
            """
        ),
        template(
            f"""
            m = MatMul(x, w)
            a = Add(m, bias)
            y = {ACTIVATIONS}(a, *)
            """
        ),
    ),
    ways=(
        Way(
            "GemmActivationFusion",
            "extended",
            (
                _has_addition,
                op_types("y", *_GEMM_ACTIVATIONS),
                single_use,
                _no_reshape,
                dtype("x", "float32", half_from_all=True),
                _half_leaky,
            ),
        ),
    ),
    absorbed=("y",),
    folded=("a",),
)
