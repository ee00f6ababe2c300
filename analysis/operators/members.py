"""Members: the original operators that a fused operator's name, or a file beside it, lists.

Pure parsers of what other tools write. Readers put the result into a trace's `members` column as
`members_text` writes it, and the kind into `members_source`.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from functools import cache
from typing import Literal

import msgspec

from fusescope.analysis.operators.classes import op_class

# names: the original operators. parts: originals of which it computes a part at least; others may
# compute the rest. op_types: only their types. range: the first and the last original of a chain;
# those between belong to it, too.
Kind = Literal["names", "parts", "op_types", "range"]
KINDS: tuple[Kind, ...] = ("names", "parts", "op_types", "range")

MAX_DEPTH = 64
_MAX_CHARS = 32_768  # of a name that lists names
_MAX_TYPE_CHARS = 100
_JOINED = " + "
# Made by TensorRT: copies into another format, into a joined tensor, to the host, and its syncs.
_INSERTED = re.compile(r"(?:COPY: )?Reformatting CopyNode for |__myl_Move_|\[trainStation\d+\]")
_MYELIN = re.compile(r"__my[el]|_gemm_mha_")
_MYELIN_NUMBER = re.compile(r"_my[el]\w?\d+_\d+$")
_PROFILE_NUMBER = re.compile(r" \[profile \d+\]$")
_ONNX_LAYER = "[ONNX Layer: "
_SEPARATOR = re.compile(r"[\x1e\x1f]")
_TRACED = ("jit(", "pjit(")  # JAX's names
_RANGE = re.compile(r"\{ForeignNode\[(.*)\]\}", re.DOTALL)
_BRACKET_OR_MARK = re.compile(r"[(\[{)\]}]| \+ | \|\| |, ")
_UNNAMED = re.compile(r"\(Unnamed Layer\* \d+\).*|\[?ONNXTRT_\w.*", re.DOTALL)
_INDUCTOR = re.compile(r"(?:graph_\d{1,9}_)?(?:triton_[a-z]+|cpp)_fused_?")
_FUNCTION = re.compile(r"(?:graph_\d{1,9}_)?cpp_fused")
# Triton's specialisation of arguments: _0d1d2de.
_SPECIALISED = re.compile(r"_\d+[cde][\dcde]*$")
_GRAPH_KERNEL = re.compile(r"(?:GraphKernel|Fused)_(.+?)(?:_fusion|_split)?(?:_\d{6,})?")
_JOINTS = frozenset(("fusion", "split", "parallel", "more"))  # of names, not of operators
_AKG_NUMBER = re.compile(r"_\d+$")


class Members(msgspec.Struct, frozen=True):
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
    itself ('(Unnamed Layer* 3) [Shuffle]') are left out, as are the numbers of an optimisation
    profile (' [profile 1]') and of a Myelin kernel ('_myl0_3'); Myelin's own names
    ('__myl_AddMul_myl0_3') shorten op types too much to be read back.
    """
    text = _PROFILE_NUMBER.sub("", layer.strip())
    copy = text.endswith(" copy") and "_output_" in text
    if _INSERTED.match(text) or copy or text.endswith("[DevicetoShapeHostCopy]"):
        return Members(())
    if not text or len(text) > _MAX_CHARS or _MYELIN.match(text):
        return None
    if _MYELIN_NUMBER.search(text):
        text = _MYELIN_NUMBER.sub("", text).replace("+/", " + /")
    whole = _RANGE.fullmatch(text)
    if whole:
        return _range(whole[1])
    names = _tensorrt_names(text, 0)
    return Members(tuple(dict.fromkeys(names))) if names else None


def tensorrt_metadata(text: str) -> Members | None:
    """Members from the `Metadata` of a TensorRT layer: '[ONNX Layer: conv]\\x1f[ONNX Layer: relu]'.

    None where it names no layer.
    """
    parts = _SEPARATOR.split(text.replace(f"]{_ONNX_LAYER}", f"]\x1f{_ONNX_LAYER}"))
    named = (part.strip() for part in parts)
    names = (p[len(_ONNX_LAYER) : -1].strip() for p in named if p.startswith(_ONNX_LAYER))
    members = tuple(dict.fromkeys(name for name in names if name))
    return Members(members) if members else None


def type_in_name(name: str) -> str:
    """The op type that exporters put into an operator's name; '' where it holds none that is known.

    'Conv_12' and '/block/Conv' are of type Conv, 'jit(f)/add model.py:8:18' is of type add. A name
    that is not of that form tells nothing.
    """
    word = name.partition(" < ")[0].rsplit("/", 1)[-1]
    if name.startswith(_TRACED):
        word = word.partition(" ")[0]
        return word if word.isidentifier() else ""
    if len(word) > _MAX_TYPE_CHARS:
        return ""
    while (parts := word.rpartition("_"))[0] and parts[2].isdigit():
        word = parts[0]
    is_word = word.isalnum() and not word[-1].isdigit()
    return word if is_word and op_class(word) != "unknown" else ""


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
    name = kernel.strip()
    match = _INDUCTOR.match(name)
    if match is None or not name.replace(".kd", "").isidentifier():
        return None
    rest = name[match.end() :].removesuffix(".kd").removesuffix("_kernel")
    types = _aten_types(_SPECIALISED.sub("", rest).rstrip("0123456789").rstrip("_"))
    return Members(tuple(types), "op_types") if types else None


def is_function(kernel: str) -> bool:
    """Whether inductor generated this kernel for a CPU: one function, of one loop or of several."""
    return _FUNCTION.match(kernel) is not None


def graph_kernel(op_type: str) -> Members | None:
    """Op types that MindSpore's name of a fused kernel lists: 'GraphKernel_Mul_Add_fusion'.

    None for other types. A kernel fused again lists the name of the first one inside its own. The
    name is short for long chains; the AKG `.info` file is better.
    """
    match = _GRAPH_KERNEL.fullmatch(op_type.strip())
    parts = match[1].split("_") if match else ()
    types = tuple(part for part in parts if part and part not in _JOINTS)
    return Members(types, "op_types") if types else None


def akg_info(data: bytes) -> tuple[str, Members] | None:
    """Op type in the trace ('GraphKernel_Mul_Add_fusion') and members, from an AKG `.info` file.

    Members are the originals' full names ('Default/Mul-op0'). None when it is not such a file.
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
    # An end may be fused itself: 'a + b...c'.
    first, last = _split(ends[0])[0], _split(ends[1])[-1]
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
    parts, start, depth = [], 0, 0
    for mark in _BRACKET_OR_MARK.finditer(text):
        if mark[0] in "([{":
            depth += 1
        elif mark[0] in ")]}":
            depth -= 1
        elif depth <= 0:
            parts.append(text[start : mark.start()].strip())
            start = mark.end()
    return [*parts, text[start:].strip()]


# Types of more than one word that inductor's names are made of (torch's aten operators).
_COMPOUND = """
    _adaptive_avg_pool2d _adaptive_avg_pool2d_backward _efficient_attention_forward
    _embedding_bag _flash_attention_forward _foreach_add _foreach_copy _foreach_mul _fused_adam
    _fused_adamw _fused_rms_norm _fused_sgd _int_mm _log_softmax _log_softmax_backward_data
    _native_batch_norm_legit _native_batch_norm_legit_functional
    _native_batch_norm_legit_no_training _safe_softmax _scaled_dot_product_cudnn_attention
    _scaled_dot_product_efficient_attention _scaled_dot_product_flash_attention
    _scaled_dot_product_fused_attention_overrideable _scaled_mm _softmax _softmax_backward_data
    _to_copy _unsafe_index _unsafe_index_put _unsafe_masked_index
    _unsafe_masked_index_put_accumulate _unsafe_view _weight_norm_interface
    adaptive_avg_pool2d adaptive_max_pool2d all_gather_into_tensor all_reduce as_strided
    as_strided_scatter avg_pool2d avg_pool2d_backward batch_norm binary_cross_entropy
    binary_cross_entropy_with_logits bitwise_and bitwise_left_shift bitwise_not bitwise_or
    bitwise_right_shift bitwise_xor broadcast_in_dim broadcast_tensors clamp_max clamp_min
    col2im constant_pad_nd conv_transpose2d convert_element_type convolution_backward copy_
    cross_entropy dequantize_per_channel dequantize_per_tensor embedding_bag
    embedding_dense_backward embedding_renorm fake_quantize_per_tensor_affine flex_attention
    flex_attention_backward floor_divide fused_rms_norm grid_sampler_2d group_norm hardtanh
    hardtanh_backward huber_loss index_add index_copy index_put index_select inductor_lookup_seed
    inductor_random inductor_randint inductor_seeds l1_loss layer_norm leaky_relu
    leaky_relu_backward lift_fresh_copy linalg_vector_norm log_sigmoid log_sigmoid_forward
    log_softmax logical_and logical_not logical_or logical_xor masked_fill masked_scatter
    max_pool2d_with_indices max_pool2d_with_indices_backward max_pool2d_with_offsets mse_loss
    mse_loss_backward native_batch_norm native_batch_norm_backward native_dropout
    native_dropout_backward native_group_norm native_group_norm_backward native_layer_norm
    native_layer_norm_backward new_empty new_empty_strided new_full new_ones new_zeros
    nll_loss nll_loss2d_backward nll_loss2d_forward nll_loss_backward nll_loss_forward
    pixel_shuffle pixel_unshuffle prepare_softmax_online quantize_per_channel
    quantize_per_tensor reduce_scatter_tensor reflection_pad1d reflection_pad2d
    replication_pad2d rms_norm rrelu_with_noise rrelu_with_noise_functional scalar_tensor
    scaled_dot_product_attention scatter_add scatter_reduce select_backward select_scatter
    slice_backward slice_scatter smooth_l1_loss split_with_sizes sym_size unfold_backward
    upsample_bicubic2d upsample_bilinear2d upsample_bilinear2d_backward upsample_linear1d
    upsample_nearest1d upsample_nearest2d upsample_nearest2d_backward var_mean wait_tensor
    weight_norm
"""


@cache
def _aten() -> re.Pattern[str]:
    """Return the pattern of a type: the longest first, then any word, with what makes gradients
    and fills of it."""
    return re.compile(
        f"(?:{'|'.join(sorted(_COMPOUND.split(), key=len, reverse=True))})(?=_|$)"
        "|[^_]+(?:_backward|_like)?(?=_|$)"
    )


def _aten_types(text: str) -> Sequence[str]:
    """'_to_copy_add_native_layer_norm' -> ('_to_copy', 'add', 'native_layer_norm')."""
    types: list[str] = []
    at = 0
    while at < len(text):
        match = _aten().match(text, at)
        if match is not None:
            types.append(match[0])
            at = match.end()
        at += 1  # the '_' between, or one that begins an unknown type
    return types
