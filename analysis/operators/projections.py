"""Projections of a transformer's layers: which matrix product is which, by the modules around it,
or by its place behind the attention and its sizes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

Projection = Literal[
    "q", "k", "v", "qkv", "attention_output", "gate", "up", "gate_up", "down", "lm_head"
]
Size = tuple[int, int]  # of a weight: inputs, outputs

# By the last part of a module's name, as of 'layers.5.mlp.gate_up_proj', in small letters.
_NAMES: dict[str, Projection] = {
    "qkv": "qkv", "qkv_proj": "qkv", "wqkv": "qkv", "to_qkv": "qkv", "c_attn": "qkv",
    "query_key_value": "qkv", "qkvparallellinear": "qkv",
    "q_proj": "q", "to_q": "q", "k_proj": "k", "to_k": "k", "v_proj": "v", "to_v": "v",
    "o_proj": "attention_output", "out_proj": "attention_output", "to_out": "attention_output",
    "gate_proj": "gate", "gate_up_proj": "gate_up",
    "up_proj": "up", "c_fc": "up", "fc1": "up", "fc_in": "up", "dense_h_to_4h": "up",
    "down_proj": "down", "fc2": "down", "fc_out": "down", "dense_4h_to_h": "down",
    "lm_head": "lm_head", "lmhead": "lm_head", "parallellmhead": "lm_head",
    "logitsprocessor": "lm_head",
}  # fmt: skip
_LAST = re.compile(r"[^./]*\Z")
# Of types that are named after the model, as of 'BertSelfOutput'.
_ENDS: tuple[tuple[str, Projection], ...] = (
    ("SelfOutput", "attention_output"),
    ("Intermediate", "up"),
)
# Types of modules that mean something only inside these.
_ATTENTION = re.compile(r"(?i)\w*(?:attention|attn)")
_MLP = re.compile(r"(?i)\w*(?:mlp|feed_?forward|ffn)")
_IN_ATTENTION: dict[str, Projection] = {"RowParallelLinear": "attention_output"}
_IN_MLP: dict[str, Projection] = {
    "MergedColumnParallelLinear": "gate_up",
    "ColumnParallelLinear": "up",
    "RowParallelLinear": "down",
}


def projection_of(modules: Sequence[str]) -> Projection | None:
    """Return which product of a layer runs inside these modules, outermost first, by the names of
    the innermost ones; None where they do not say it."""
    for depth in range(len(modules) - 1, -1, -1):
        name, around = modules[depth], modules[:depth]
        found = _by_name(name)
        if found is not None:
            return found
        for place, types in ((_MLP, _IN_MLP), (_ATTENTION, _IN_ATTENTION)):
            if name in types and any(place.match(each) for each in around):
                return types[name]
    return None


def _by_name(name: str) -> Projection | None:
    last = _LAST.search(name)
    known = _NAMES.get(last[0].lower()) if last else None
    ends = (projection for end, projection in _ENDS if name.endswith(end))
    return known or next(ends, None)


def projections_in_order(sizes: Sequence[Size]) -> list[Projection] | None:
    """Return which product each one of a layer is, by the sizes of their weights in the order from
    one attention to the next; None where they are not those of a transformer's layer.

    Behind the attention come its output [n, h], the parts of the MLP [h, f], its end [f, h], and
    the queries, keys and values of the next layer [h, n].
    """
    if len(sizes) < 4:
        return None
    hidden = sizes[0][1]
    down = next((at for at in range(2, len(sizes)) if sizes[at][1] == hidden), None)
    if down is None or any(inputs != hidden for inputs, _ in (*sizes[1:down], *sizes[down + 1 :])):
        return None
    mlp = _mlp(sizes[1:down], sizes[down][0])
    heads = _heads(len(sizes) - down - 1)
    return None if mlp is None or heads is None else ["attention_output", *mlp, "down", *heads]


def _mlp(sizes: Sequence[Size], inner: int) -> list[Projection] | None:
    outputs = [each for _, each in sizes]
    if outputs == [inner, inner]:
        return ["gate", "up"]
    if outputs == [2 * inner]:
        return ["gate_up"]
    return ["up"] if outputs == [inner] else None


def _heads(count: int) -> list[Projection] | None:
    known: dict[int, list[Projection]] = {1: ["qkv"], 3: ["q", "k", "v"]}
    return known.get(count)
