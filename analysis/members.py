"""Members: the original operators that a fused operator's name, or a file beside it, lists.

Pure parsers of what other tools write. Readers put the result into a trace's `members` column as
`members_text` writes it, and the kind into `members_source`.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

# names: the original operators. op_types: only their types. range: the first and the last
# original of a chain; those between belong to it, too.
Kind = Literal["names", "op_types", "range"]
KINDS: tuple[Kind, ...] = ("names", "op_types", "range")

MAX_DEPTH = 64
_JOINED = " + "
_REFORMAT = re.compile(r"(?:COPY: )?Reformatting CopyNode for |__myl_Move_")
_MYELIN = re.compile(r"__my[el]")
_RANGE = re.compile(r"\{ForeignNode\[(.*)\]\}", re.DOTALL)
_UNNAMED = re.compile(r"\(Unnamed Layer\* \d+\)(?: \[[^\]]*\])?|\[?ONNXTRT_\w.*", re.DOTALL)
_INDUCTOR = re.compile(r"(?:graph_\d+_)?(?:triton_[a-z]+|cpp)_fused_?(.*?)_?(\d+)(?:_kernel)?")
_GRAPH_KERNEL = re.compile(r"(?:GraphKernel|Fused)_(.+?)(?:_fusion|_split)?(?:_\d{6,})?")
_AKG_NUMBER = re.compile(r"_\d+$")


@dataclass(frozen=True)
class Members:
    """What a fused operator stands for; no members at all: it was inserted by the engine."""

    members: tuple[str, ...]
    kind: Kind = "names"


def members_text(members: Members) -> str:
    """The canonical text of a trace's `members` column: joined by ' + ', '' for an inserted one."""
    return _JOINED.join(members.members)


def parse_members(text: str, source: str) -> Members | None:
    """Members from the columns `members` and `members_source`; None for an unknown source."""
    for kind in KINDS:
        if kind == source:
            return Members(tuple(name for name in text.split(_JOINED) if name), kind)
    return None


def tensorrt(layer: str) -> Members | None:
    """Members that a TensorRT layer name lists; None where the name says nothing certain.

    'Conv_5 + Add_6 + Relu_7', 'a || b' (side by side in one kernel), 'PWN(PWN(Sigmoid_1), Mul_2)',
    '{ForeignNode[first...last]}'; a reformatting copy has no members. Layers that TensorRT made
    itself ('(Unnamed Layer* 3) [Shuffle]') are left out; Myelin's own kernel names
    ('__myl_AddMul_myl0_3') shorten op types too much to be read back.
    """
    text = layer.strip()
    if _REFORMAT.match(text):
        return Members(())
    if not text or _MYELIN.match(text):
        return None
    whole = _RANGE.fullmatch(text)
    if whole:
        return _range(whole[1])
    names = _tensorrt_names(text, 0)
    return Members(tuple(dict.fromkeys(names))) if names else None


def openvino(original_layers: str) -> Members:
    """Members from OpenVINO's `originalLayersNames`: comma-separated; '' for inserted nodes."""
    names = (name.strip() for name in original_layers.split(","))
    return Members(tuple(dict.fromkeys(name for name in names if name)))


def inductor(kernel: str) -> Members | None:
    """Op types that the name of an inductor kernel lists; None for a kernel that lists none.

    'triton_poi_fused_add_relu_3', 'graph_0_cpp_fused_add_mul_0'. Inductor sorts the types, names
    each once, and joins with '_' what may itself contain '_' ('native_layer_norm'): known
    compound types are kept whole.
    """
    match = _INDUCTOR.fullmatch(kernel.strip())
    types = _aten_types(match[1]) if match else ()
    return Members(tuple(types), "op_types") if types else None


def graph_kernel(op_type: str) -> Members | None:
    """Op types that MindSpore's name of a fused kernel lists: 'GraphKernel_Mul_Add_fusion'.

    None for other types. The name is short for long chains; the AKG `.info` file is better.
    """
    match = _GRAPH_KERNEL.fullmatch(op_type.strip())
    return (
        Members(tuple(part for part in match[1].split("_") if part), "op_types") if match else None
    )


def akg_info(data: bytes) -> tuple[str, Members] | None:
    """Op type in the trace ('GraphKernel_Mul_Add_fusion') and members, from an AKG `.info` file.

    Members are the originals' full names ('Default/Mul-op0'). None when it is no such file.
    """
    try:
        info = json.loads(data)
        kernel = _AKG_NUMBER.sub("", str(info["op"])).removeprefix("Fused_")
        described = info["op_desc"]
        names = [_AKG_NUMBER.sub("", str(op.get("ptr_address") or op["name"])) for op in described]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return f"GraphKernel_{kernel}", Members(tuple(dict.fromkeys(names)))


def fusion_ops(text: str) -> dict[str, Members]:
    """Fused operator -> members from Ascend's fusion_op_*.csv, found by its column heads.

    A name that stands in several rows (models) joins their members. Empty without the columns.
    """
    rows = csv.reader(text.lstrip("\ufeff").splitlines())
    head = [cell.strip().lower() for cell in next(rows, [])]
    if "fusion op" not in head or "original ops" not in head:
        return {}
    fused, originals = head.index("fusion op"), head.index("original ops")
    found: dict[str, dict[str, None]] = {}
    for row in rows:
        if len(row) > max(fused, originals) and row[fused].strip():
            names = (name.strip() for name in re.split(r"[;,]", row[originals]))
            known = found.setdefault(row[fused].strip(), {})
            known.update(dict.fromkeys(name for name in names if name and name != "N/A"))
    return {name: Members(tuple(known)) for name, known in found.items() if known}


def _range(inside: str) -> Members | None:
    ends = inside.split("...")
    if len(ends) != 2:  # one layer, or a list
        names = _tensorrt_names(inside, 0)
        return Members(tuple(dict.fromkeys(names))) if names and len(ends) == 1 else None
    first, last = (end.strip() for end in ends)
    named = first and last and not _UNNAMED.fullmatch(first) and not _UNNAMED.fullmatch(last)
    return Members((first, last), "range") if named else None


def _tensorrt_names(text: str, depth: int) -> list[str]:
    """Names in a list of layers, in order; PWN(…) may nest."""
    found = []
    for part in _split(text):
        if part.startswith("PWN(") and part.endswith(")") and depth < MAX_DEPTH:
            found += _tensorrt_names(part[4:-1], depth + 1)
        elif part and not _UNNAMED.fullmatch(part):
            found.append(part)
    return found


def _split(text: str) -> list[str]:
    """Parts at ' + ', ' || ' and ', ' outside brackets."""
    parts, start, depth, at = [], 0, 0, 0
    while at < len(text):
        if text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            depth -= 1
        else:
            mark = next((m for m in (" + ", " || ", ", ") if text.startswith(m, at)), "")
            if mark and depth <= 0:
                parts.append(text[start:at].strip())
                at += len(mark)
                start = at
                continue
        at += 1
    return [*parts, text[start:].strip()]


# Types of more than one word that inductor's names are made of (torch's aten operators).
_COMPOUND = (
    "_native_batch_norm_legit_no_training", "_native_batch_norm_legit", "native_batch_norm",
    "native_layer_norm", "native_group_norm", "native_dropout", "_log_softmax", "_safe_softmax",
    "_softmax", "_to_copy", "_unsafe_view", "_unsafe_index", "adaptive_avg_pool2d", "as_strided",
    "avg_pool2d", "clamp_max", "clamp_min", "constant_pad_nd", "hardtanh", "index_put",
    "index_select", "leaky_relu", "log_softmax", "max_pool2d_with_indices", "pixel_shuffle",
    "select_scatter", "slice_scatter", "split_with_sizes", "upsample_bilinear2d",
    "upsample_nearest2d", "masked_fill", "full_like", "ones_like", "zeros_like", "new_zeros",
)  # fmt: skip


def _aten_types(text: str) -> Sequence[str]:
    """'_to_copy_add_native_layer_norm' -> ('_to_copy', 'add', 'native_layer_norm')."""
    types: list[str] = []
    rest = text
    while rest:
        whole = next(
            (c for c in _COMPOUND if rest == c or rest.startswith(f"{c}_")),
            rest.partition("_")[0],
        )
        if whole:
            types.append(whole)
        rest = rest[len(whole) + 1 :]
    return types
