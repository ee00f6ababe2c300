"""Attention as one operator: heads split, scores, scale, mask, Softmax, values, heads merged."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from fusescope.analysis.patterns.conditions import shape_text
from fusescope.analysis.patterns.pattern import Block, Pattern, Site
from fusescope.analysis.patterns.template import template
from fusescope.collectors.fusion.rewrite import CONTRIB, NewNode, Place, shape

_SPLIT = [0, 2, 1, 3]  # batch, length, heads, width of a head -> batch, heads, length, width
_SPLIT_TURNED = [0, 2, 3, 1]
_TURN = [0, 1, 3, 2]


def _forms() -> Iterator[str]:
    """Keys turned at once or after the split, with a scale and a mask or without; larger first."""
    for turned, scaled, masked in itertools.product((True, False), repeat=3):
        yield "\n".join(
            line
            for line, is_there in (
                ("rq = Reshape(q, *)\ntq = Transpose(rq)", True),
                ("rk = Reshape(k, *)", True),
                ("hk = Transpose(rk)\ntk = Transpose(hk)", turned),
                ("tk = Transpose(rk)", not turned),
                ("m = MatMul(tq, tk)", True),
                ("s = Mul|Div(m, root)", scaled),
                (f"a = Add({'s' if scaled else 'm'}, mask)", masked),
                (f"p = Softmax({'a' if masked else 's' if scaled else 'm'})", True),
                ("rv = Reshape(v, *)\ntv = Transpose(rv)", True),
                ("c = MatMul(p, tv)\ntc = Transpose(c)\ny = Reshape(tc, *)", True),
            )
            if is_there
        )


def _splits_heads(site: Site) -> bool:
    """Whether every Transpose does what attention needs, and Softmax goes over the keys."""
    orders = {"tq": _SPLIT, "tv": _SPLIT, "tc": _SPLIT}
    orders |= {"hk": _SPLIT, "tk": _TURN} if site.has("hk") else {"tk": _SPLIT_TURNED}
    if any(site.node(step).attributes.get("perm") != order for step, order in orders.items()):
        return False
    return site.node("p").attributes.get("axis", -1) in (-1, 3)


ATTENTION = Pattern(
    title="Attention", templates=tuple(map(template, _forms())), ways=(), applies=_splits_heads
)


def heads_fit(site: Site) -> Iterator[Block]:
    """Queries, keys and values have three axes; their last one holds all heads."""
    heads, keys, values = (shape(site, name) for name in ("tq", "tk", "tv"))
    if heads is None or keys is None or values is None:
        name = "tq" if heads is None else "tk" if keys is None else "tv"
        yield Block("unknown_shape", site.tensor(name), {"shape": "unknown"})
        return
    batch, count, length, width = heads
    needed = {
        "q": (batch, length, count * width),
        "k": (batch, keys[3], count * width),
        "v": (batch, keys[3], count * values[3]),
        "y": (batch, length, count * values[3]),
    }
    for name, wanted in needed.items():
        if shape(site, name) != wanted:
            facts = {"have": shape_text(shape(site, name)), "needs": shape_text(wanted)}
            yield Block("shape_or_broadcast", site.tensor(name), facts)


def mask_fits(site: Site) -> Iterator[Block]:
    """A mask has four axes, and broadcasts to the scores without growing them."""
    if not site.has("a"):
        return
    scores, mask = shape(site, "m"), shape(site, "mask")
    if scores is None or mask is None:
        yield Block("unknown_shape", site.tensor("mask"), {"shape": "unknown"})
    elif len(mask) != 4 or any(
        have not in (1, whole) for have, whole in zip(mask, scores, strict=True)
    ):
        facts = {"have": shape_text(mask), "needs": shape_text(scores)}
        yield Block("shape_or_broadcast", site.tensor("mask"), facts)


def attention(index: Place) -> NewNode:
    """MultiHeadAttention. It reads a mask for each query and key: one for all queries is repeated
    by an Expand before it."""
    heads = index.view.tensor(index.tensor("tq")).shape
    assert heads is not None
    scale = 1.0
    if index.has("s"):
        scale = index.scalar("root")
        scale = 1 / scale if index.node("s").op_type == "Div" else scale
    inputs = [index.tensor(name) for name in ("q", "k", "v")]
    before: tuple[NewNode, ...] = ()
    if index.has("a"):
        mask = index.tensor("mask")
        have, scores = (index.view.tensor(name).shape for name in (mask, index.tensor("m")))
        assert have is not None and scores is not None
        wanted = (*have[:2], *scores[2:])
        if have != wanted:
            name = f"{index.node('a').name}/mask"
            target, mask_of = index.source.new_name(f"{name}_shape"), index.source.new_name(name)
            before = (
                NewNode(
                    "Expand",
                    (mask, target),
                    "a",
                    outputs=(mask_of,),
                    weights={target: np.array(wanted, np.int64)},
                ),
            )
            mask = mask_of
        inputs += ["", "", mask]
    return NewNode(
        "MultiHeadAttention",
        tuple(inputs),
        "p",
        CONTRIB,
        attributes={"num_heads": int(heads[1]), "scale": scale},
        before=before,
    )
