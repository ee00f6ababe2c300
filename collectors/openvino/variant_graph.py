"""The graph of one variant, and the values at the boundaries of what the engine fused."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fusescope.analysis.graph import Attribute, Graph, Node, Tensor
from fusescope.analysis.operators import flops
from fusescope.analysis.text import clean_text
from fusescope.collectors.openvino import names as variants
from fusescope.collectors.openvino.boundaries import Boundaries, Names, returned, search
from fusescope.collectors.openvino.layers import (
    GIVEN,
    OUTPUT,
    REORDER,
    Layer,
    constants_of,
    layers_of,
)
from fusescope.collectors.openvino.program import properties
from fusescope.collectors.openvino.session import OpenvinoSession, give
from fusescope.collectors.openvino.values import BYTES, Value, Values, write_index
from fusescope.collectors.workers.jobs import SessionSettings

_HEAVY = {"Conv", "ConvTranspose", "MatMul", "Gemm"}
_HEAVY_LAYERS = {"convolution", "deconvolution", "groupconvolution", "fullyconnected", "matmul"}
_STEPS = 12  # from an operator of a layer back to the one whose work it is
GUESSES = 3  # tensors that are tried for one of a layer
_PLAIN = "abcdefgh"


@dataclass(frozen=True)
class VariantGraph:
    """`settings` are what else is told of it in the experiment file."""

    graph: Graph
    settings: dict[str, int | str | bool]


class _Compiling:
    """The model with further outputs, compiled as the variant is."""

    def __init__(self, session: OpenvinoSession, settings: SessionSettings, variant: str) -> None:
        self._source = session.source
        self._properties = properties(settings, variant, counted=False)
        self._settings = settings

    def layers(self, wanted: Sequence[Names]) -> tuple[Sequence[Layer], Mapping[str, Names]]:
        marked = self._source.marked(wanted)
        compiled = self._source.compiled(marked.model, self._properties)
        return layers_of(compiled, self._source.order), marked.tensors

    def values(self, wanted: Sequence[Names]) -> Iterator[tuple[Names, np.ndarray]]:
        """Every output of a run."""
        marked = self._source.marked(wanted)
        request = self._source.compiled(marked.model, self._properties).create_infer_request()
        give(request, self._settings)
        request.infer()
        for place, names in enumerate(marked.tensors.values()):
            yield names, np.asarray(request.get_output_tensor(place).data)


def graph_of(
    session: OpenvinoSession,
    settings: SessionSettings,
    variant: str,
    model: Graph,
    folder: Path,
) -> VariantGraph:
    """What the session ran, which has run with its layers counted; values go into `folder`. Raises
    ValueError for a program that returns other tensors than the model."""
    source = session.source
    layers = layers_of(session.program, source.order)
    outputs = session.marked.tensors
    compiling = _Compiling(session, settings, variant)
    if variant == variants.MARKED:
        found = Boundaries(returned(layers, outputs), source.made, True)
    else:
        found = search(layers, outputs, _guesses(layers, source.operators), compiling.layers)
    graph = _Building(layers, outputs, source.inputs, source.operators, model).graph()
    rows = _written(compiling.values(found.marked), layers, found, model, folder)
    fixed = constants_of(layers)
    open_ones = [
        one.name
        for layer in layers
        if layer.kind not in (*GIVEN, OUTPUT)
        for one in layer.writes
        if one.name not in fixed and one.name not in found.written
    ]
    low = str(session.settings["inference_precision"]) != "f32"
    write_index(folder, Values(rows, len(open_ones), low))
    return VariantGraph(graph, {} if found.complete else {"boundaries_incomplete": True})


def _guesses(
    layers: Iterable[Layer], operators: Mapping[str, tuple[Names, ...]]
) -> dict[str, list[Names]]:
    """For each tensor of a layer those that the operators make which are listed for it, the last
    one first, as many as are tried."""
    fixed = constants_of(tuple(layers))
    found: dict[str, list[Names]] = {}
    for layer in layers:
        if layer.kind in (*GIVEN, OUTPUT):
            continue
        last_first = [name for name in layer.listed[::-1] if name in operators]
        for place, written in enumerate(layer.writes):
            made = [operators[name] for name in last_first if len(operators[name]) > place]
            likely = [names[place] for names in made if names[place]][:GUESSES]
            if likely and written.name not in fixed:
                found[written.name] = likely
    return found


def _written(
    values: Iterable[tuple[Names, np.ndarray]],
    layers: Sequence[Layer],
    found: Boundaries,
    model: Graph,
    folder: Path,
) -> tuple[Value, ...]:
    """The values, one file a tensor, up to a limit for all."""
    layouts = {one.name: _layout(one.layout) for layer in layers for one in layer.writes}
    tensors: dict[str, list[str]] = {}
    for own, names in found.written.items():
        for name in names:
            tensors.setdefault(name, []).append(own)
    folder.mkdir(parents=True)
    rows: list[Value] = []
    taken = 0
    for names, array in values:
        taken += array.nbytes
        originals = tuple(name for name in names if name in model.producer or name in model.tensor)
        holders = dict.fromkeys(tensor for name in names for tensor in tensors.get(name, ()))
        if taken > BYTES or not originals or not holders:
            continue
        file = f"{len(rows)}.npy"
        np.save(folder / file, array, allow_pickle=False)
        held = tuple((name, layouts.get(name, "")) for name in holders)
        rows.append(Value(held, originals, file))
    return tuple(rows)


def _layout(text: str) -> str:
    """As analysis.experiment.TensorMatch calls it."""
    if text == _PLAIN[: len(text)] or not text.isascii() or not text.isalnum():
        return ""
    return "permuted" if text.isalpha() and text.islower() else "blocked"


class _Building:
    """The layers as a graph. What OpenVINO copies out has the model's name."""

    def __init__(
        self,
        layers: Sequence[Layer],
        outputs: Mapping[str, Names],
        inputs: Mapping[str, str],
        operators: Mapping[str, tuple[Names, ...]],
        model: Graph,
    ) -> None:
        self._layers = layers
        self._outputs = outputs
        self._inputs = inputs
        self._operators = operators
        self._model = model
        self._fixed = constants_of(layers)
        self._given = {f"%{name}": tensor for name, tensor in inputs.items()}

    def graph(self) -> Graph:
        nodes: list[Node] = []
        tensors: dict[str, Tensor] = {}
        for layer in self._layers:
            if layer.kind == OUTPUT:
                nodes += self._copies(layer, tensors)
                continue
            for one in layer.writes:
                name = self._given.get(one.name, one.name)
                is_fixed = one.name in self._fixed
                tensors[name] = Tensor(name, one.dtype, one.shape, constant=is_fixed)
            if layer.kind in GIVEN or (
                not layer.ran
                and layer.writes
                and self._fixed.issuperset(n.name for n in layer.writes)
            ):
                continue
            nodes.append(
                Node(
                    layer.name,
                    layer.kind,
                    tuple(self._given.get(name, name) for name in layer.reads),
                    tuple(one.name for one in layer.writes),
                    attributes=self._attributes(layer),
                    scope=_scope(layer),
                )
            )
        returned = {name for node in nodes for name in node.outputs}
        if missing := [n for n in self._model.outputs if n not in returned]:
            raise ValueError(f"OpenVINO does not return {clean_text(missing[0], 80)}")
        return Graph(tuple(nodes), tuple(tensors.values()), self._model.inputs, self._model.outputs)

    def _copies(self, layer: Layer, tensors: dict[str, Tensor]) -> Iterator[Node]:
        """One node for what a Result returns; further names of the model for it are views."""
        names = [
            n
            for n in self._outputs.get(layer.name, ())
            if n in self._model.producer or n in self._model.outputs
        ]
        wanted = [name for name in names if name in self._model.returned] or names[:1]
        reads = tuple(self._given.get(name, name) for name in layer.reads)
        for place, name in enumerate(wanted):
            tensors.setdefault(name, self._model.tensor.get(name, Tensor(name)))
            attributes: dict[str, Attribute] = {"view": 1} if not layer.ran or place else {}
            own = layer.name if not place else f"{layer.name}.{place}"
            yield Node(own, OUTPUT, reads, (name,), attributes=attributes)

    def _attributes(self, layer: Layer) -> dict[str, Attribute]:
        found: dict[str, Attribute] = {}
        if layer.implementation:
            found["implementation"] = layer.implementation
        if layer.listed:
            found["listed"] = clean_text(", ".join(layer.listed), 400)
        is_fixed = self._fixed.issuperset(one.name for one in layer.writes)
        if not layer.ran or (layer.kind == REORDER and is_fixed):  # once, in the first run
            found["view"] = 1
        if layer.kind.lower() in _HEAVY_LAYERS and (count := self._flops(layer)) is not None:
            found["flops"] = count
        return found

    def _flops(self, layer: Layer) -> int | None:
        """Those of the model's operator whose work it is: one that is listed, else the nearest
        before the first that is, which makes as many numbers."""
        made = [
            names[0] for one in layer.listed for names in self._operators.get(one, ())[:1] if names
        ]
        size = math.prod(layer.writes[0].shape or ()) if layer.writes else 0
        name = made[0] if made else ""
        for _ in range(_STEPS):
            node = self._model.producer.get(name)
            if node is None:
                return None
            if node.op_type in _HEAVY:
                found = self._model.tensor.get(node.outputs[0])
                fits = found is not None and found.shape and math.prod(found.shape) == size
                return flops.from_graph(node, self._model) if fits else None
            name = next((one for one in node.inputs if one in self._model.producer), "")
        return None


def _scope(layer: Layer) -> str:
    """The module of what it was made of, where that is one."""
    scopes = {name.rpartition("/")[0] for name in layer.listed if "/" in name}
    return clean_text(min(scopes)) if len(scopes) == 1 else ""
