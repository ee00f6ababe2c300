"""Normalisations that models write as several operators, and the addition in front of one."""

from __future__ import annotations

from collections.abc import Iterator

from fusescope.analysis.patterns.conditions import (
    dtype,
    never,
    not_constant,
    number,
    opset_from,
    reduced_axes,
    shape_text,
    single_use,
)
from fusescope.analysis.patterns.pattern import Block, Condition, Pattern, Site, Way
from fusescope.analysis.patterns.template import template

_LAYER_NORM_OPSET = 17  # the first with an operator LayerNormalization


def _last_axis(site: Site) -> Iterator[Block]:
    """Both means are over the last axis alone."""
    shape = site.view.tensor(site.tensor("x")).shape
    last = {-1} if shape is None else {-1, len(shape) - 1}
    for step in ("m", "v"):
        if site.has(step):
            axes = reduced_axes(site, site.node(step))
            if axes is not None and (len(axes) != 1 or axes[0] not in last):
                shown = ", ".join(str(axis) for axis in axes)
                yield Block("axis", site.tensor(step), {"axes": shown})


def _weights(site: Site) -> Iterator[Block]:
    """Scale and shift have one axis, as long as the last of the input, and are weights or model
    inputs."""
    sizes: list[tuple[int, ...]] = []
    for name in ("scale", "shift"):
        if name not in site.found.tensors:
            continue
        tensor = site.tensor(name)
        if site.view.producer(tensor) is not None:
            yield from not_constant(site, tensor)
        shape = site.view.tensor(tensor).shape
        if shape is not None and len(shape) != 1:
            yield Block("constant_shape", tensor, {"shape": shape_text(shape), "needs": "one axis"})
        elif shape is not None:
            sizes.append(shape)
    x = site.view.tensor(site.tensor("x")).shape
    if x is not None and x and x[-1] >= 0 and site.has("z"):
        for shape in sizes:
            if shape[0] != x[-1]:
                facts = {"shape": shape_text(shape), "needs": shape_text(x[-1:])}
                yield Block("constant_shape", site.tensor("scale"), facts)
                break


def _is_scaled(site: Site) -> bool:
    return site.view.producer(site.tensor("scale")) is not site.node("d")


def _layer_norm_ways(*conditions: Condition) -> tuple[Way, ...]:
    return (
        Way(
            "LayerNormFusionL1",
            "basic",
            (*conditions, opset_from(_LAYER_NORM_OPSET, "LayerNormalization"),
             dtype("x", "float32", "float16", "float64")),
        ),
        Way(
            "LayerNormFusionL2",
            "extended",
            (*conditions, dtype("x", "float32", "float64", half_from_all=True)),
        ),
    )  # fmt: skip


_MEAN = """
    m = ReduceMean(x, *)
    s = Sub(x, m)
"""
_VARIANCE = """
    v = ReduceMean(q, *)
    e = Add(v, epsilon)
    r = Sqrt(e)
"""
_AFFINE = """
    z = Mul(d, scale)
    y = Add(z, shift)
"""
# Older exporters subtract the mean twice.
_BODIES = (
    f"{_MEAN}\nq = Pow(s, two)\n{_VARIANCE}\nd = Div(s, r)",
    f"{_MEAN}\ns2 = Sub(x, m)\nq = Pow(s, two)\n{_VARIANCE}\nd = Div(s2, r)",
)
_OTHER_BODIES = (
    f"{_MEAN}\nq = Mul(s, s)\n{_VARIANCE}\nd = Div(s, r)",
    f"{_MEAN}\nq = Pow|Mul(s, *)\n{_VARIANCE}\ni = Reciprocal(r)\nd = Mul(s, i)",
)
LAYER_NORM = Pattern(
    title="LayerNorm",
    templates=tuple(template(f"{body}\n{_AFFINE}") for body in _BODIES),
    ways=_layer_norm_ways(single_use, _last_axis, _weights),
    applies=_is_scaled,
)
# The same without what the fused operator needs, or written in another way.
LAYER_NORM_OTHER_FORM = Pattern(
    title="LayerNorm",
    templates=(
        *(template(f"{body}\n{_AFFINE}") for body in _OTHER_BODIES),
        *(template(body) for body in (*_BODIES, *_OTHER_BODIES)),
    ),
    ways=_layer_norm_ways(
        never("form", expected="(x - mean) / Sqrt(mean of Pow(x - mean, 2) + ε), · scale, + shift")
    ),
)
RMS_NORM = Pattern(
    title="RMSNorm",
    templates=(
        template(f"q = Pow(x, two)\n{_VARIANCE}\nd = Div(x, r)\ny = Mul(d, scale)"),
        template(f"q = Pow(x, two)\n{_VARIANCE}\ni = Div(one, r)\nd = Mul(x, i)\n"
                 "y = Mul(d, scale)"),
    ),
    ways=(
        Way(
            "SimplifiedLayerNormFusion",
            "extended",
            (
                single_use,
                _last_axis,
                number("two", 2.0),
                _weights,
                dtype("x", "float32", "float64", half_from_all=True),
            ),
        ),
    ),
    applies=_is_scaled,
)  # fmt: skip
RMS_NORM_OTHER_FORM = Pattern(
    title="RMSNorm",
    templates=(
        template(f"q = Mul(x, x)\n{_VARIANCE}\nd = Div(x, r)\ny = Mul(d, scale)"),
        template(f"q = Pow|Mul(x, *)\n{_VARIANCE}\ni = Reciprocal(r)\nd = Mul(x, i)\n"
                 "y = Mul(d, scale)"),
    ),
    ways=(
        Way(
            "SimplifiedLayerNormFusion",
            "extended",
            (never("form", expected="x / Sqrt(mean of Pow(x, 2) + ε), · scale"),),
        ),
    ),
    applies=_is_scaled,
)  # fmt: skip


def _same_three_axes(site: Site) -> Iterator[Block]:
    """Both operands have three axes of the same sizes."""
    one, other = (site.view.tensor(site.tensor(name)).shape for name in ("p", "o"))
    for name, shape in (("p", one), ("o", other)):
        if shape is None:
            yield Block("unknown_shape", site.tensor(name), {"shape": shape_text(shape)})
            return
        if len(shape) != 3 and one is not None and other is not None and len(one) == len(other):
            yield Block("rank", site.tensor(name), {"axes": len(shape), "needs": 3})
            return
    if one is not None and other is not None and one != other:
        total = site.view.tensor(site.tensor("a")).shape or max(one, other, key=len)
        name, shape = ("p", one) if other == total else ("o", other)
        facts = {"have": shape_text(shape), "needs": shape_text(total)}
        yield Block("shape_or_broadcast", site.tensor(name), facts)


def _sum_used_once(site: Site) -> Iterator[Block]:
    """Nothing but the normalisation reads the sum."""
    for block in single_use(site):
        if block.tensor == site.tensor("a"):
            yield block


_IN_FULL = "\n".join(line.replace("(x, ", "(a, ") for line in _BODIES[0].splitlines())
SKIP_LAYER_NORM = Pattern(
    title="SkipLayerNorm",
    templates=(
        template("a = Add(p, o)\ny = LayerNormalization(a, *)"),
        template(f"a = Add(p, o)\n{_IN_FULL}\n{_AFFINE}"),
    ),
    ways=(
        Way(
            "SkipLayerNormFusion",
            "extended",
            (_sum_used_once, _same_three_axes, dtype("p", "float32")),
        ),
    ),
    absorbed=("a",),
)
