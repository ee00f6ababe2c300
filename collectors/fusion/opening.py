"""Opening: which dimensions that a model file leaves open stay open in the fused model.

The pass knows one size of each. What it writes may hold for that size alone: a weight a channel
where the channels are open, or an addition that broadcasts only at another size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort

from fusescope.collectors.errors import engine
from fusescope.collectors.fusion.verification import TOLERANCE
from fusescope.collectors.models import model, shapes
from fusescope.collectors.models.array import Array
from fusescope.collectors.runtimes.onnxruntime import PROVIDERS, options
from fusescope.collectors.tensors.difference import difference_of
from fusescope.collectors.workers.given import load_inputs
from fusescope.collectors.workers.jobs import SessionSettings

UNTRIED = "no other size that was tried gave results to compare"
_NAME_CHARS = 60


@dataclass(frozen=True)
class Dimension:
    """An open dimension: `places` are the (input, axis) that share it, `size` is what it had when
    the model was fused."""

    name: str
    places: tuple[tuple[str, int], ...]
    size: int

    @property
    def text(self) -> str:
        """How people call it, and its size."""
        value, axis = self.places[0]
        called = self.name or f"axis {axis} of {value}"
        return f"{called[:_NAME_CHARS]} = {self.size}"


def opened(
    fused: onnx.ModelProto, declared: onnx.ModelProto, settings: SessionSettings, folder: Path
) -> tuple[onnx.ModelProto, str]:
    """The fused model with the dimensions open that the file `declared` leaves open, as far as
    both compute the same with another size of them; and why others are fixed, '' for none."""
    feeds = load_inputs(settings)
    undeclared = [
        f"the shape of {value.name[:_NAME_CHARS]}"
        for value in shapes.model_inputs(declared.graph)
        if shapes.dims(value) is None
    ]
    fixed = {"the model declares none": undeclared} if undeclared else {}
    free = dimensions(declared.graph, feeds)
    if free:
        candidate = _with_interface(fused, declared, ())
        try:
            trial = Trial(
                _session(declared, settings, folder), _session(candidate, settings, folder), feeds
            )
        except Exception as error:  # noqa: BLE001 - the engine raises many kinds
            said = f"with open dimensions the engine says: {engine.refused(str(error))}"
            problems = dict.fromkeys(free, said)
        else:
            problems = trial.problems(free)
        for dimension, why in problems.items():
            fixed.setdefault(why, []).append(dimension.text)
        if len(problems) < len(free):
            fused = _with_interface(fused, declared, tuple(problems))
    return fused, "; ".join(f"{', '.join(what)} ({why})" for why, what in fixed.items())


def dimensions(graph: onnx.GraphProto, feeds: Mapping[str, Array]) -> list[Dimension]:
    """The open dimensions of the model's inputs. Those of one name are one, and so are first
    dimensions without a name: samples in a batch."""
    places: dict[tuple[str, str, int], list[tuple[str, int]]] = {}
    for value in shapes.model_inputs(graph):
        for axis, size in enumerate(shapes.dims(value) or ()):
            if isinstance(size, str):
                key = (size, "", 0) if size or not axis else ("", value.name, axis)
                places.setdefault(key, []).append((value.name, axis))
    return [
        Dimension(key[0], tuple(found), feeds[found[0][0]].shape[found[0][1]])
        for key, found in places.items()
    ]


@dataclass(frozen=True)
class Trial:
    """The model of the file and the fused one, to run on inputs of other sizes than `feeds`."""

    declared: ort.InferenceSession
    candidate: ort.InferenceSession
    feeds: dict[str, Array]

    def problems(self, free: Sequence[Dimension]) -> dict[Dimension, str]:
        """Why a dimension cannot stay open; nothing for those that can."""
        said = {dimension: self._problem([dimension]) for dimension in free}
        for size in dict.fromkeys(dimension.size for dimension in free):
            # Several names may mean one size: the model runs if they change together.
            alike = [d for d, problem in said.items() if d.size == size and problem == UNTRIED]
            if len(alike) > 1:
                said |= dict.fromkeys(alike, self._problem(alike))
        return {dimension: problem for dimension, problem in said.items() if problem}

    def _problem(self, changed: Sequence[Dimension]) -> str:
        """What happens with twice the size, and with one: '' where both compute the same."""
        problem = UNTRIED
        for size in (2 * changed[0].size, 1):
            if size == changed[0].size:
                continue
            feeds = self._resized(changed, size)
            try:
                reference = list(self.declared.run(None, feeds))
            except Exception:  # noqa: BLE001, S112 - the engine raises many kinds
                continue
            if difference_of(reference, reference)[1] is None:  # nothing finite to compare
                continue
            try:
                found = list(self.candidate.run(None, feeds))
            except Exception as error:  # noqa: BLE001 - the engine raises many kinds
                return f"with {size} the engine says: {engine.refused(str(error))}"
            relative = difference_of(reference, found)[1]
            if relative is None or relative > TOLERANCE:
                return f"with {size} the results differ"
            problem = ""
        return problem

    def _resized(self, changed: Sequence[Dimension], size: int) -> dict[str, Array]:
        """The inputs with their values repeated, or the first of them, along these dimensions."""
        feeds = dict(self.feeds)
        for name, axis in (index for dimension in changed for index in dimension.places):
            feeds[name] = feeds[name].take(np.arange(size) % feeds[name].shape[axis], axis)
        return feeds


def _with_interface(
    fused: onnx.ModelProto, declared: onnx.ModelProto, fixed: Sequence[Dimension]
) -> onnx.ModelProto:
    """The fused model with the inputs and outputs that the file declares, but for what is fixed
    and for inputs whose shape it does not declare."""
    result = onnx.ModelProto()
    result.CopyFrom(fused)
    graph = result.graph
    known = {value.name: value for value in fused.graph.input}
    del graph.input[:], graph.output[:], graph.value_info[:]
    for value in declared.graph.input:
        if value.name in known:
            whole = shapes.dims(value) is not None
            graph.input.append(value if whole else known[value.name])
    graph.output.extend(declared.graph.output)
    sizes = {index: dimension.size for dimension in fixed for index in dimension.places}
    named = {dimension.name: dimension.size for dimension in fixed if dimension.name}
    for value in (*graph.input, *graph.output):
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            size = sizes.get((value.name, axis), named.get(dim.dim_param))
            if size is not None and not dim.dim_value:
                dim.dim_value = size
    return result


def _session(
    made: onnx.ModelProto, settings: SessionSettings, folder: Path
) -> ort.InferenceSession:
    path = folder / "trial.onnx"
    model.save(made, path)
    ort_options = options("none", threads=settings.threads, spin=settings.spin)
    return ort.InferenceSession(str(path), ort_options, providers=PROVIDERS)
