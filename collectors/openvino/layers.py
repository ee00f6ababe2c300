"""The layers that OpenVINO runs: its execution graph as values."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

DTYPES = {
    "f32": "float32", "f64": "float64", "f16": "float16", "bf16": "bfloat16", "i64": "int64",
    "i32": "int32", "i16": "int16", "i8": "int8", "u64": "uint64", "u32": "uint32",
    "u16": "uint16", "u8": "uint8", "boolean": "bool", "u4": "uint4", "i4": "int4",
}  # fmt: skip
GIVEN = ("Const", "Input")  # values that are there before a run
OUTPUT, REORDER = "Output", "Reorder"
MARK = "fusescope output "  # in front of the names that we give to Results
Key = tuple[str, tuple[str, ...], int]


@dataclass(frozen=True)
class Written:
    """A tensor that a layer writes: `layout` as OpenVINO spells it ('abcd' is plain)."""

    name: str
    dtype: str | None
    shape: tuple[int, ...] | None
    layout: str


@dataclass(frozen=True)
class Layer:
    """`own` is what the engine calls it in this process. `listed` are the operators that OpenVINO
    names as what it was made of, as far as the model has them; `others` counts those that it made
    up. With `ran` its time was taken; what only shows memory in another shape never runs."""

    name: str
    own: str
    kind: str
    implementation: str
    listed: tuple[str, ...]
    others: int
    reads: tuple[str, ...]
    writes: tuple[Written, ...]
    ran: bool

    @property
    def key(self) -> Key:
        """The same in another compilation of the model, where names that OpenVINO makes up
        differ."""
        return self.kind, tuple(sorted(self.listed)), self.others


def layers_of(compiled: Any, order: Mapping[str, int]) -> tuple[Layer, ...]:
    """In the order of execution. `order` has the places of the model's operators by name.

    Names that OpenVINO makes up have a number that counts through the process, so such a layer is
    called after the last operator that it lists, else after what it reads: the same in every
    process.
    """
    nodes = [
        (node, {key: str(value.astype(str)) for key, value in node.get_rt_info().items()})
        for node in compiled.get_runtime_model().get_ordered_ops()
    ]
    nodes.sort(key=lambda one: int(one[1].get("execOrder", "0")))
    names: dict[str, str] = {}
    taken: dict[str, int] = {}
    found = []
    for node, told in nodes:
        every = dict.fromkeys(filter(None, told.get("originalLayersNames", "").split(",")))
        listed = tuple(sorted((name for name in every if name in order), key=order.__getitem__))
        own, kind = node.get_friendly_name(), told.get("layerType", node.get_type_name())
        sources = [one.get_source_output() for one in node.inputs()]
        reads = tuple(
            _tensor_name(names.get(one.get_node().get_friendly_name(), "?"), one.get_index())
            for one in sources
        )
        name = own if own in order or own.startswith(MARK) else listed[-1] if listed else ""
        name = name or f"{kind} {reads[0].removeprefix('%') if reads else ''}".strip()
        taken[name] = taken.get(name, 0) + 1
        names[own] = name = name if taken[name] == 1 else f"{name} ({taken[name]})"
        found.append(
            Layer(
                name=name,
                own=own,
                kind=kind,
                implementation=told.get("primitiveType", ""),
                listed=listed,
                others=len(every) - len(listed),
                reads=reads,
                writes=tuple(_written(node, name, told)),
                ran=told.get("execTimeMcs", "not_executed") != "not_executed",
            )
        )
    return tuple(found)


def constants_of(layers: Collection[Layer]) -> frozenset[str]:
    """Tensors that depend on no input."""
    found: set[str] = set()
    for layer in layers:
        if layer.kind == "Const" or (layer.reads and found.issuperset(layer.reads)):
            found.update(one.name for one in layer.writes)
    return frozenset(found)


def _tensor_name(layer: str, port: int) -> str:
    return f"%{layer}:{port}" if port else f"%{layer}"


def _written(node: Any, layer: str, told: dict[str, str]) -> list[Written]:
    outputs = node.outputs()
    dtypes = _each(told.get("outputPrecisions", ""), len(outputs))
    layouts = _each(told.get("outputLayouts", ""), len(outputs))
    found = []
    for port, output in enumerate(outputs):
        shape = output.get_partial_shape()
        name = _tensor_name(layer, port)
        sizes = tuple(int(size) for size in shape.to_shape()) if shape.is_static else None
        found.append(Written(name, DTYPES.get(dtypes[port].lower()), sizes, layouts[port]))
    return found


def _each(text: str, count: int) -> list[str]:
    words = [word.strip() for word in text.split(",")]
    words = words * count if len(words) == 1 else words
    return words if len(words) == count else [""] * count
