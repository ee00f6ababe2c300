"""Activations that models write as several operators: Gelu, its tanh form, QuickGelu (SiLU)."""

from __future__ import annotations

import math

from fusescope.analysis.patterns.conditions import (
    dtype,
    inner_output,
    never,
    number,
    opset_from,
    scalar,
    single_use,
)
from fusescope.analysis.patterns.pattern import Condition, Pattern, Site, Way
from fusescope.analysis.patterns.template import template

_GELU_OPSET = 20  # the first with an operator Gelu


def _gelu_ways(*conditions: Condition) -> tuple[Way, ...]:
    return (
        Way("GeluFusionL1", "basic", (*conditions, opset_from(_GELU_OPSET, "Gelu"))),
        Way("GeluFusionL2", "extended", conditions),
    )


GELU = Pattern(
    title="Gelu",
    templates=(
        template(
            """
            d = Div(x, root)
            e = Erf(d)
            a = Add(e, one)
            m = Mul(x, a)
            y = Mul(m, half)
            """
        ),
        template(
            """
            d = Div(x, root)
            e = Erf(d)
            a = Add(e, one)
            m = Mul(x, half)
            y = Mul(m, a)
            """
        ),
    ),
    ways=_gelu_ways(
        dtype("x", "float32"),
        single_use,
        number("root", math.sqrt(2)),
        number("one", 1.0),
        number("half", 0.5),
    ),
    applies=lambda site: site.tensor("x") not in (site.tensor("half"), site.tensor("root")),
)
GELU_OTHER_FORM = Pattern(
    title="Gelu",
    templates=(
        template(
            """
            d = Mul(x, root)
            e = Erf(d)
            a = Add(e, one)
            m = Mul(x, a)
            y = Mul(m, half)
            """
        ),
        template(
            """
            d = Mul(x, root)
            e = Erf(d)
            a = Add(e, one)
            m = Mul(x, half)
            y = Mul(m, a)
            """
        ),
        template(
            """
            d = Div|Mul(x, root)
            e = Erf(d)
            a = Add(e, one)
            m = Mul(a, half)
            y = Mul(x, m)
            """
        ),
    ),
    ways=_gelu_ways(never("form", expected="x / √2, Erf, + 1, · x, · 0.5"), single_use),
    applies=lambda site: site.view.is_constant(site.tensor("half")),
)
_TANH = """
    u = Mul(a, k2)
    t = Tanh(u)
    b = Add(t, one)
    h = Mul(x, half)
    y = Mul(h, b)
"""
FAST_GELU = Pattern(
    title="Gelu (tanh)",
    templates=(
        template(
            f"""
            p = Pow(x, three)
            q = Mul(p, k1)
            a = Add(x, q)
            {_TANH}
            """
        ),
        template(
            """
            p = Mul(x, k1)
            q = Mul(p, x)
            a = Add(q, one1)
            v = Mul(x, k2)
            u = Mul(a, v)
            t = Tanh(u)
            b = Add(t, one)
            h = Mul(x, half)
            y = Mul(h, b)
            """
        ),
    ),
    ways=(
        Way(
            "FastGeluFusion",
            "extended",
            (
                dtype("x", "float32"),
                single_use,
                number("three", 3.0),
                number("k1", 0.044715),
                number("one1", 1.0),
                number("k2", math.sqrt(2 / math.pi)),
                number("one", 1.0),
                number("half", 0.5),
                inner_output("y"),
            ),
        ),
    ),
    applies=lambda site: site.view.is_constant(site.tensor("k1")),
)


def _is_scaled(site: Site) -> bool:
    """Without a step `m` always; with it, where the factor is the constant of the two."""
    return not site.has("m") or site.view.is_constant(site.tensor("alpha"))


QUICK_GELU = Pattern(
    title="QuickGelu",
    templates=(
        template(
            """
            m = Mul(x, alpha)
            s = Sigmoid(m)
            y = Mul(x, s)
            """
        ),
        template(
            """
            s = Sigmoid(x)
            y = Mul(x, s)
            """
        ),
    ),
    ways=(
        Way(
            "QuickGeluFusion",
            "extended",
            (dtype("x", "float32"), single_use, scalar("alpha")),
        ),
    ),
    applies=_is_scaled,
)


def _is_hard_swish(site: Site) -> bool:
    """x · clip(x + 3, 0, 6) / 6, as far as the graph holds the numbers."""
    expected = {"three": 3.0, "six": 6.0, "sixth": 1 / 6}
    for name, wanted in expected.items():
        if name in site.found.tensors:
            tensor = site.tensor(name)
            values = site.view.values(tensor)
            if not site.view.is_constant(tensor):
                return False
            if values is not None and any(abs(value - wanted) > 1e-3 for value in values):
                return False
    return True


_SHIFTED_CLIP = """
    a = Add(x, three)
    k = Clip(a, *)
"""
HARD_SWISH = Pattern(
    title="HardSwish",
    templates=(
        template(f"{_SHIFTED_CLIP}\nm = Mul(x, k)\ny = Div(m, six)"),
        template(f"{_SHIFTED_CLIP}\nm = Div(k, six)\ny = Mul(x, m)"),
        template(f"{_SHIFTED_CLIP}\nm = Mul(x, k)\ny = Mul(m, sixth)"),
        template(f"{_SHIFTED_CLIP}\nm = Mul(k, sixth)\ny = Mul(x, m)"),
    ),
    ways=(
        Way(
            "NchwcTransformer",
            "all",
            (never("form", expected="HardSwish, or x · HardSigmoid(x) with α = 1/6, β = 1/2"),),
        ),
    ),
    applies=_is_hard_swish,
)
