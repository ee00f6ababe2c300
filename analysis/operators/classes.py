"""Operator classes: which op types are heavy, light, or not operators of the model at all.

Heavy classes are limited by arithmetic; light ones by memory traffic and dispatch, which is
what fusion removes. A fused operator takes the class of its heaviest member.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from fusescope.analysis.messages import Message
from fusescope.analysis.operators.kernel_rules import rules
from fusescope.analysis.operators.types import TYPES

HEAVY = ("convolution", "matrix_product", "grouped_product", "attention", "recurrent")
LIGHT = (
    "elementwise",
    "activation",
    "normalisation",
    "pooling",
    "softmax",
    "rotary",
    "routing",
    "sampling",
    "reduction",
    "optimizer",
    "quantisation",
    "kv_cache",
    "embedding",
    "data_movement",
    "copy",
    "cast",
    "layout",
)
OTHER = ("communication", "unknown")
OP_CLASSES = HEAVY + LIGHT + OTHER
# Each value by itself, so that neighbours in a chain can be one kernel.
POINTWISE = ("elementwise", "activation", "rotary")
# The same values in other bytes.
CONVERSIONS = ("layout", "cast", "quantisation")

LABELS: Mapping[str, Message] = {
    "convolution": Message("convolution"),
    "matrix_product": Message("matrix product"),
    "grouped_product": Message("grouped product"),
    "attention": Message("attention"),
    "recurrent": Message("recurrent"),
    "elementwise": Message("elementwise"),
    "activation": Message("activation"),
    "normalisation": Message("normalisation"),
    "pooling": Message("pooling"),
    "softmax": Message("softmax"),
    "rotary": Message("rotary embedding"),
    "routing": Message("routing"),
    "sampling": Message("sampling"),
    "reduction": Message("reduction"),
    "optimizer": Message("optimizer"),
    "quantisation": Message("quantisation"),
    "kv_cache": Message("KV cache"),
    "embedding": Message("embedding"),
    "data_movement": Message("data movement"),
    "copy": Message("copy"),
    "cast": Message("cast"),
    "layout": Message("layout"),
    "communication": Message("communication"),
    "unknown": Message("unknown"),
}

# Heavy to light: the class of a fused operator is its first member's in this order.
_BY_WEIGHT = (*HEAVY, "normalisation", "pooling", "softmax", "routing", "sampling", "reduction",
              "optimizer", "activation", "rotary", "elementwise", "quantisation", "kv_cache",
              "embedding", "data_movement", "copy", "cast", "layout")  # fmt: skip
_MAX_CHARS = 512
_NOT_LETTERS = re.compile(r"[_\-. ]")
_SEPARATORS = re.compile(r"[+_|,/ ]+")
# What sets apart versions, variants and gradients of one operator, at the end and in front.
_VARIANT = re.compile(r"(?:\d+|backward|grad|double|v|ext|op|cpu|cuda|out|inplace|aicore|d)$")
_ORIGIN = re.compile(
    r"^(?:native|cudnn|miopen|mkldnn|onednn|mps|thnn|npu|quantized|qlinear|nhwc|fused|foreach|apply"
    r"|inplace|stateless|aclnn|sparse|wrapped|custom|optional)"
)
_MAX_CUTS = 5
_KERNEL = re.compile(r"[<(]|::native::|^(?:triton|graph_\d+)_|cpp_fused|kernel|^__my[el]|^cijk_")
_GENERATED = re.compile(r"^(?:graph_\d+_)?(?:triton_([a-z]+)|(cpp))_fused_?(.*?)_?\d*$")
_TEMPLATES = ("tem", "mm")  # inductor's templates: matrix products, convolutions, attention
_MYELIN = re.compile(r"^__my[el][a-z]*_(.*?)_my[el]")
_WORDS = re.compile(r"[A-Z][a-z0-9]*|[a-z0-9]+")
# Kernels of CANN: 'aclnnAddmm_MatMulCommon_MatMulV2', 'trans_TransData_12', 'Conv2D4_MemSet'.
_CANN = re.compile(r"(?:aclnn|trans_|[A-Z]\w*[a-z])", re.ASCII)
_NUMBER = re.compile(r"_?\d{1,9}$")
_NODE = re.compile(r"-op_?\d+(?:_\w+)?$")  # MindSpore: 'Default/net/Conv2D-op12'
_XLA = re.compile(r"^([a-z][a-z0-9_\-]*?)(?:[._]\d+)*(?:\.kd)?$")
_GRAPH_KERNEL = re.compile(r"^(?:GraphKernel|Fused)_")


def _bare(text: str) -> str:
    """A type as the table has it: without namespace, overload, case, '_' and '-'."""
    tail = text.rsplit("::", 1)[-1].rsplit(": ", 1)[-1].strip("_ ")
    head = tail.partition(".")[0] or tail
    return _NOT_LETTERS.sub("", head.lower())


# ONNX's Mean, Sum, Max and Min are elementwise over several inputs; ATen's go over one tensor.
_ATEN_REDUCES = ("mean", "sum", "max", "min")
_CLASS_OF = {_bare(name): of for of, names in TYPES.items() for name in names.split()}


def _looked_up(text: str) -> str | None:
    """The class of one type, its variants cut off one at a time; None where no table has it."""
    bare = _bare(text)
    for _ in range(_MAX_CUTS):
        known = _CLASS_OF.get(bare)
        if known is not None or not bare:
            return known
        shorter = _VARIANT.sub("", bare)
        if shorter == bare:
            shorter = _ORIGIN.sub("", bare)
        if shorter == bare:
            return None
        bare = shorter
    return _CLASS_OF.get(bare)


@lru_cache(maxsize=65536)
def op_class(op_type: str | None) -> str:
    """The class of an op type of any engine or profiler; 'unknown' for None and what no table has.

    A type made of several known ones ('Conv_Add_Relu', 'Conv+Relu', 'GraphKernel_Mul_Add_fusion')
    takes the heaviest; a type that is the name of a kernel goes by `kernel_class`.
    """
    if not op_type:
        return "unknown"
    text = op_type[:_MAX_CHARS]
    if text.startswith("aten::") and _bare(text).removesuffix("out") in _ATEN_REDUCES:
        return "reduction"
    known = _looked_up(text)
    if known is not None:
        return known
    is_kernel = _KERNEL.search(text.lower()) or ("_" in text and text.islower())
    found = kernel_class(text) if is_kernel else "unknown"
    if found == "unknown":
        found = _heaviest_of(_SEPARATORS.split(_GRAPH_KERNEL.sub("", text)))
    return found if found != "unknown" or is_kernel else _by_rule(text)


@lru_cache(maxsize=65536)
def kernel_class(name: str) -> str:
    """The class that the name of a device kernel tells; 'unknown' where it tells none.

    Kernels that inductor generated take the heaviest of the operators that they list. Matrix
    products and convolutions count only in a template: inductor calls libraries for those, and
    lists them for the bias that it adds itself, which is elementwise. Reads the first 512
    characters.
    """
    text = name[:_MAX_CHARS].strip()
    generated = _GENERATED.match(text)
    if generated:
        return _generated_class(generated[1] or generated[2], generated[3])
    myelin = _MYELIN.match(text)
    if myelin:
        found = _heaviest_of(_WORDS.findall(myelin[1]))
        return found if found != "unknown" else _by_rule(text)
    tail = text.rsplit("/", 1)[-1] if "<" not in text and "(" not in text else text
    if _NODE.search(tail):
        tail = _NODE.sub("", tail)
        return _looked_up(tail) or op_class(_GRAPH_KERNEL.sub("", tail))
    known = None
    if tail.isidentifier():
        if _CANN.match(tail):
            known = _looked_up(_NUMBER.sub("", tail).rsplit("_", 1)[-1])
        known = known or _looked_up(tail)
    if known is not None:
        return known
    found = _by_rule(text)
    if found == "unknown" and _XLA.match(text):
        return _heaviest_of(_SEPARATORS.split(text.replace("-", "_")))
    return found


@lru_cache(maxsize=65536)
def _by_rule(text: str) -> str:
    lower = text.lower()
    for of, pattern in rules():
        if pattern.search(lower):
            return of
    return "unknown"


def _generated_class(kind: str, listed: str) -> str:
    found = _listed_classes(listed)
    if kind not in _TEMPLATES:
        found = ["elementwise" if is_heavy(of) else of for of in found]
    if found:
        return heaviest(found)
    return {"red": "reduction", "per": "reduction", "tem": "matrix_product"}.get(
        kind, "elementwise"
    )


def _listed_classes(listed: str) -> list[str]:
    """Classes of the ATen types joined by '_' in the name of a kernel, longest names first."""
    words = [word for word in listed.split("_") if word]
    found, at = [], 0
    while at < len(words):
        for end in range(min(len(words), at + 5), at, -1):
            joined = "".join(words[at:end])
            known = "reduction" if joined in _ATEN_REDUCES else _CLASS_OF.get(joined)
            if known is not None:
                found.append(known)
                at = end - 1
                break
        at += 1
    return found


def _heaviest_of(types: Iterable[str]) -> str:
    known = (_looked_up(part) for part in types if part)
    return heaviest([part for part in known if part is not None])


def heaviest(classes: Iterable[str]) -> str:
    """The class a fused operator of these member classes belongs to; 'unknown' for none."""
    present = set(classes)
    return next((name for name in _BY_WEIGHT if name in present), "unknown")


def is_light(name: str) -> bool:
    """True for the classes that the small-op ratio counts."""
    return name in LIGHT


def is_heavy(name: str) -> bool:
    """True for classes limited by arithmetic."""
    return name in HEAVY


def plain_type(op_type: str) -> str:
    """What spellings of an op type share: 'aten::add_' and 'Add' as 'add'."""
    return op_type.rpartition("::")[2].strip("_").lower()
