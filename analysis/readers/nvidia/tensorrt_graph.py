"""TensorRT's `--exportLayerInfo`: types, tensors, tactics and original layers of an engine.

With little verbosity layers are a list of names; with `--profilingVerbosity=detailed` they are
objects. Data type and layout stand in one sentence: 'Channel major FP16 format where
channel % 8 == 0'.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import msgspec

from fusescope.analysis.operators import flops
from fusescope.analysis.operators.classes import HEAVY, heaviest, op_class
from fusescope.analysis.operators.members import (
    Members,
    members_text,
    tensorrt,
    tensorrt_metadata,
    type_in_name,
)
from fusescope.analysis.readers.building.trace_tables import dtype_bytes, shape_text
from fusescope.analysis.readers.input.encoding import json_text, utf8
from fusescope.analysis.readers.input.json_array import check_length
from fusescope.analysis.readers.input.json_value import decode, decoded_whole, refused
from fusescope.analysis.readers.input.source import Source

_SIGN = re.compile(rb'\s*\{\s*"(?:Layers|Bindings)"\s*:\s*\[|\s*\[\s*\{\s*"Name"\s*:\s*"')
_OF_LAYER = re.compile(
    rb'"(?:LayerType|TacticValue|ParameterType)"\s*:|"Layers"\s*:\s*\[\s*(?:"|\])'
)
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_NO = msgspec.Raw(b"")
_MAX_DIMS = 16

_DTYPE = re.compile(
    r"\b(FP32|FP16|BF16|BFloat16|FP8|FP4|E4M3|E2M1|Float|Half|U?Int(?:8|16|32|64|4)|Bool)\b",
    re.IGNORECASE,
)
_DTYPES = {"fp8": "float8", "e4m3": "float8", "fp4": "float4", "e2m1": "float4"}
_USUAL = {"fp32": "float32", "float": "float32", "fp16": "float16", "half": "float16",
          "bf16": "bfloat16"}  # fmt: skip
_REFORMAT = re.compile(r"(?:COPY: )?Reformatting CopyNode for ")
_COPY = re.compile(r"\bcopy$|Copy\]$|^__myl_Move_")
_UNNAMED = re.compile(r"\(Unnamed Layer\* \d{1,9}\) \[(\w{1,60})\]")
_WIDE = {"two": 2, "four": 4, "eight": 8, "sixteen": 16, "thirty-two": 32}
_VECTOR = re.compile(r"\b([a-z-]{1,20}) wide channel vectorized", re.IGNORECASE)
_MODULO = re.compile(r"channel % (\d+) == 0", re.IGNORECASE)

# A part of the name of a layer type -> class; the first that fits.
_CLASSES = (
    ("attention", "attention"), ("mha", "attention"),
    ("conv", "convolution"),
    ("gemm", "matrix_product"), ("matrixmult", "matrix_product"), ("matmul", "matrix_product"),
    ("fullyconnected", "matrix_product"), ("einsum", "matrix_product"),
    ("lstm", "recurrent"), ("gru", "recurrent"), ("rnn", "recurrent"),
    ("pool", "pooling"),
    ("softmax", "softmax"), ("activation", "activation"), ("relu", "activation"),
    ("norm", "normalisation"), ("lrn", "normalisation"),
    ("reduce", "reduction"), ("topk", "reduction"), ("cumulative", "reduction"),
    ("pointwise", "elementwise"), ("elementwise", "elementwise"), ("unary", "elementwise"),
    ("scale", "elementwise"),
    ("reformat", "layout"), ("shuffle", "layout"), ("noop", "layout"), ("cast", "cast"),
    ("quantize", "quantisation"), ("identity", "layout"), ("signaltype", "layout"),
    ("concat", "data_movement"), ("slice", "data_movement"), ("gather", "data_movement"),
    ("scatter", "data_movement"), ("resize", "data_movement"), ("constant", "data_movement"),
    ("padding", "data_movement"), ("nms", "data_movement"), ("fill", "data_movement"),
    ("copy", "copy"), ("select", "data_movement"),
)  # fmt: skip


@dataclass(frozen=True)
class Layer:
    """One layer of an engine; what is not known is None."""

    name: str
    op_type: str | None = None
    op_class: str = "unknown"
    inputs: str | None = None
    outputs: str | None = None
    tactic: str | None = None
    stream: str | None = None
    members: Members | None = None
    flops: int | None = None
    bytes_param: int | None = None


class _Tensor(msgspec.Struct, gc=False):
    dimensions: msgspec.Raw = msgspec.field(default=_NO, name="Dimensions")
    format: msgspec.Raw = msgspec.field(default=_NO, name="Format/Datatype")
    datatype: msgspec.Raw = msgspec.field(default=_NO, name="Datatype")


class _Layer(msgspec.Struct, gc=False, rename="pascal"):
    name: msgspec.Raw = _NO
    layer_type: msgspec.Raw = _NO
    inputs: msgspec.Raw = _NO
    outputs: msgspec.Raw = _NO
    parameter_type: msgspec.Raw = _NO
    origin: msgspec.Raw = _NO
    metadata: msgspec.Raw = _NO
    tactic_name: msgspec.Raw = _NO
    stream_id: msgspec.Raw = _NO
    kernel: msgspec.Raw = _NO
    groups: msgspec.Raw = _NO
    weights: msgspec.Raw = _NO
    bias: msgspec.Raw = _NO


class _Document(msgspec.Struct, gc=False):
    layers: msgspec.Raw = msgspec.field(default=msgspec.Raw(b"[]"), name="Layers")


class _Parameter(msgspec.Struct, gc=False):
    type: str = msgspec.field(default="", name="Type")
    count: int = msgspec.field(default=0, name="Count")


def holds_layers(head: bytes) -> bool:
    """True for the head of an `--exportLayerInfo` file."""
    text = utf8(head)
    return _SIGN.match(text) is not None and _OF_LAYER.search(text) is not None


def read_layers(source: Source) -> list[Layer]:
    """The layers in file order. Raises FuseScopeError for a damaged file."""
    data = json_text(source.content, [])
    if _CONTROL.search(data):  # separators of the engine's metadata, not escaped
        data = _CONTROL.sub(lambda match: b"\\u%04x" % match[0][0], data)
    with refused(source.name):
        layers = msgspec.Raw(data)
        if not data.lstrip().startswith(b"["):
            layers = decoded_whole(data, _Document, []).layers
        check_length(layers, source.name, source.limits)
        raw = msgspec.json.decode(layers, type=list[msgspec.Raw])
    return [layer for layer in map(_layer, raw) if layer is not None]


def layer_of_name(name: str) -> Layer:
    """What the name of a layer alone says."""
    members = tensorrt(name)
    return Layer(name=name, op_class=_class_of_name(name, members), members=members)


def _class_of_name(name: str, members: Members | None) -> str:
    """The class by members, and by what TensorRT calls the layers that it made itself."""
    if members is not None and not members.members:
        if _REFORMAT.match(name):
            return "layout"
        return "copy" if _COPY.search(name) else "unknown"
    made = [_type_class(kind.lower(), "") for kind in _UNNAMED.findall(name)]
    if "PWN(" in name:  # pointwise
        made.append("elementwise")
    return heaviest([_class("", "", members), *made])


def _layer(raw: msgspec.Raw) -> Layer | None:
    name = _str(raw)
    if name is not None:
        return layer_of_name(name)
    found = decode(raw, _Layer, None)
    name = _str(found.name) if found is not None else None
    if found is None or name is None:
        return None
    kind, parameter = _str(found.layer_type) or "", _str(found.parameter_type) or ""
    inserted = (_str(found.origin) or "").upper() == "REFORMAT"
    members = Members(()) if inserted else tensorrt_metadata(_str(found.metadata) or "")
    if members is None:
        members = tensorrt(name)
    ins, outs = _tensors(found.inputs), _tensors(found.outputs)
    stream = _int(found.stream_id)
    return Layer(
        name=name,
        op_type=kind or None,
        op_class=_class(kind, parameter, members),
        inputs=_shapes(ins) or None,
        outputs=_shapes(outs) or None,
        tactic=_str(found.tactic_name) or None,
        stream=None if stream is None else str(stream),
        members=members,
        flops=_flops(kind, parameter, found, ins, outs),
        bytes_param=_parameters(found),
    )


def _str(raw: msgspec.Raw) -> str | None:
    return decode(raw, str, None)


def _int(raw: msgspec.Raw) -> int | None:
    value = decode(raw, int, None)
    return value if value is not None and abs(value) < 2**40 else None


def _ints(raw: msgspec.Raw) -> tuple[int, ...] | None:
    """Whole numbers of a list, or of one number."""
    one = decode(raw, int, None)
    numbers = decode(raw, list[int], None) if one is None else [one]
    if numbers is None or len(numbers) > _MAX_DIMS or any(abs(n) >= 2**40 for n in numbers):
        return None
    return tuple(numbers)


_Tensors = list[tuple[tuple[int, ...] | None, str]]


def _tensors(raw: msgspec.Raw) -> _Tensors:
    """Dimensions (None: unknown) and format of each tensor."""
    listed = decode(raw, list[_Tensor], ())
    return [(_ints(t.dimensions), _str(t.format) or _str(t.datatype) or "") for t in listed]


def _shapes(tensors: _Tensors) -> str:
    """Canonical text; dimensions that are not known are left out with their tensor's shape."""
    known = [(dims, text) for dims, text in tensors if dims is not None]
    return shape_text(
        [dtype_of(text) for _, text in known],
        [",".join(map(str, dims)) for dims, _ in known],
        [layout_of(text) for _, text in known],
    )


def dtype_of(text: str) -> str:
    """The data type in TensorRT's description of a format; '' where it names none."""
    match = _DTYPE.search(text)
    if match is None:
        return ""
    word = match[1].lower()
    return _DTYPES.get(word) or _USUAL.get(word) or word


def layout_of(text: str) -> str:
    """trtexec's short name of a format ('hwc8', 'chw32'); '' for plain row major."""
    vector = _VECTOR.search(text)
    if vector:
        width = _WIDE.get(vector[1].lower())
        return f"chw{width}" if width else ""
    if "channel major" in text.lower():
        modulo = _MODULO.search(text)
        return f"hwc{modulo[1]}" if modulo else "hwc"
    return ""


def _class(kind: str, parameter: str, members: Members | None) -> str:
    """The class that the layer type tells, or that of its heaviest member."""
    own = _type_class(kind, parameter)
    if own in HEAVY or members is None:
        return own
    listed = [op_class(type_in_name(name)) for name in members.members]
    if members.kind == "range":  # what lies between is unknown, and may be heavier than the ends
        listed = [each for each in listed if each in HEAVY]
    if "communication" in listed:
        return "communication"
    return heaviest([own, *listed])


@lru_cache(maxsize=4096)
def _type_class(kind: str, parameter: str) -> str:
    """The class of a layer type, or else of its parameters; 'unknown' for Myelin's and others."""
    texts = (kind.lower(), parameter.lower())
    return next((c for text in texts for part, c in _CLASSES if part in text), "unknown")


def _flops(
    kind: str, parameter: str, layer: _Layer, inputs: _Tensors, outputs: _Tensors
) -> int | None:
    """FLOPs of a convolution, 2 · |out| · C_in / groups · kernel, or of a matrix product."""
    ins = [dims for dims, _ in inputs if dims is not None]
    outs = [dims for dims, _ in outputs if dims is not None]
    if not ins or not outs or any(d < 0 for d in (*ins[0], *outs[0])):
        return None
    text = f"{kind} {parameter}".lower()
    if "convolution" in text:
        kernel, groups = _ints(layer.kernel), _int(layer.groups) or 1
        if not kernel or groups < 1 or len(ins[0]) < 2 or len(outs[0]) < 2:
            return None
        # A deconvolution spreads each input over the kernel, so the roles change.
        spread = "deconv" in text
        at, channels = (ins[0], outs[0][1]) if spread else (outs[0], ins[0][1])
        return 2 * math.prod(at) * (channels // groups) * math.prod(kernel)
    if "matrixmult" in text or "gemm" in text:
        return flops.from_shapes("MatMul", ins, outs)
    return None


def _parameters(layer: _Layer) -> int | None:
    """Bytes of weights and bias; None where there are none or their type is not known."""
    total, known = 0.0, False
    for raw in (layer.weights, layer.bias):
        found = decode(raw, _Parameter, None) if raw else _Parameter()
        if found is None:
            return None
        if 0 < found.count < 2**40:
            size = dtype_bytes(dtype_of(found.type))
            if size is None:
                return None
            total, known = total + found.count * size, True
    return int(total) if known else None


def members_columns(layers: Iterable[Layer]) -> tuple[list[str | None], list[str | None]]:
    """Columns `members` and `members_source`; None where nothing is known."""
    texts: list[str | None] = []
    kinds: list[str | None] = []
    for layer in layers:
        known = layer.members
        texts.append(None if known is None else members_text(known))
        kinds.append(None if known is None else known.kind)
    return texts, kinds
