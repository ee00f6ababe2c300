"""Graphs of what ran, with tensors named after those of the model that hold the same values.

The model's graph is that of its eager run: the operators that the user's code calls. A tensor of
another variant that holds the values of one of the model's gets its name, so that lineage finds
where both can be cut; every such pair was compared, value by value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import torch

from fusescope.analysis.experiment import TensorMatch
from fusescope.analysis.graph import Graph, Node, Tensor
from fusescope.analysis.text import clean_text
from fusescope.collectors.models.array import Array
from fusescope.collectors.tensors.candidates import Candidates
from fusescope.collectors.tensors.difference import difference_of
from fusescope.collectors.tensors.sketches import distance
from fusescope.collectors.tensors.tolerances import TOLERANCE, tolerance_of
from fusescope.collectors.torch.calls import BETWEEN, Call, Run
from fusescope.collectors.torch.session import array_of

_NUMBER = re.compile(r"_\d+$")
DTYPES = {torch.float32: "float32", torch.float64: "float64", torch.float16: "float16",
           torch.bfloat16: "bfloat16", torch.int64: "int64", torch.int32: "int32",
           torch.int16: "int16", torch.int8: "int8", torch.uint8: "uint8",
           torch.bool: "bool"}  # fmt: skip


@dataclass(frozen=True)
class Named:
    """A variant's graph, and how its tensors were found in the model's."""

    graph: Graph
    matches: tuple[TensorMatch, ...]


def model_graph(run: Run) -> Graph:
    """The graph of the eager run, by the names that its calls gave."""
    return _graph(run, {}, [node_name(call.name) for call in run.calls])


def named(run: Run, model: Run, names: Sequence[str]) -> Named:
    """The graph of another run; `names` are those of its calls. Its outputs are the model's, in
    order, whatever they hold: the recording compares them."""
    found = _by_value(run, model) | _by_what_is_told(run, model)
    renamed = _names(run, model, found)
    held: dict[str, str] = {}  # tensor of the run -> the model's that it stands for
    for call in run.calls:
        for tensor in call.writes:
            originals = found.get(tensor, ())
            if renamed.get(tensor) in originals:
                held[tensor] = renamed[tensor]
            elif originals:  # a view stands for what it shows, a copy for what was computed
                shown = [held[name] for name in call.reads if held.get(name) in originals]
                held[tensor] = shown[0] if call.is_view and shown else originals[0]
    known = {name for call in model.calls for name in call.writes}
    for call in run.calls:  # a name of the model's says that a tensor is the model's
        free = [name for name in call.writes if name in known and name not in renamed]
        renamed |= {name: f"%{name}" for name in free}
    _place_between(run, model, held)
    matches: list[TensorMatch] = []
    for tensor, original in held.items():
        name = renamed.get(tensor, tensor)
        known_by: Literal["name", "value"] = "name" if name == original else "value"
        absolute, relative = _difference(model.values[original], run.values[tensor])
        matches.append(TensorMatch(original, name, known_by, "", absolute, relative))
    return Named(_graph(run, renamed, names), tuple(matches))


def _place_between(run: Run, model: Run, held: Mapping[str, str]) -> None:
    """What runs between compiled parts is in the module of the operator that it is in the model."""
    scopes = {name: call.scope for call in model.calls for name in call.writes}
    for call in run.calls:
        if call.graph == BETWEEN and not call.scope:
            call.scope = next((scopes[held[name]] for name in call.writes if name in held), "")


def _names(run: Run, model: Run, found: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """One of the model's names for each tensor that has one: its outputs, then tensors of the same
    shape, then what kernels store in another shape; views in another shape stay what they are."""
    outside = {*model.given, *model.constant}  # the model's run was not seen to write there
    pairs = zip(run.outputs, model.outputs, strict=False)
    renamed = {own: other for own, other in pairs if own == other or other not in outside}
    taken = {*renamed.values()}
    views = {name for call in run.calls if call.is_view for name in call.writes}
    for same_shape in (True, False):
        for tensor, originals in found.items():
            if tensor in renamed or (not same_shape and tensor in views):
                continue
            shape = run.values[tensor].shape
            free = [
                name
                for name in originals
                if name not in taken and (not same_shape or model.values[name].shape == shape)
            ]
            if free:
                renamed[tensor] = free[0]
                taken.add(free[0])
    return renamed


def _by_value(run: Run, model: Run) -> dict[str, list[str]]:
    """Tensor that a call of `run` wrote -> tensors of the model with its values, best first."""
    candidates = Candidates()
    views = {name for call in model.calls if call.is_view for name in call.writes}
    order = {name: place for place, call in enumerate(model.calls) for name in call.writes}
    dtypes = run.rounded | model.rounded
    for name in order:
        array = array_of(model.values[name])
        dtypes.add(DTYPES.get(model.values[name].dtype, ""))
        if array is not None:
            candidates.add(name, array)
    tolerance = tolerance_of(dtypes)
    found: dict[str, list[str]] = {}
    for call in run.calls:
        for name in call.writes:
            array = array_of(run.values[name])
            if array is None:
                continue
            pairs = candidates.pairs(name, array, False, tolerance)
            originals = [
                pair.original
                for pair in pairs
                if not pair.axes and _agree(model.values[pair.original], array, tolerance)
            ]
            # Where views repeat what an operator computed, a kernel stands for the operator.
            originals.sort(key=lambda one: (one in views and not call.is_view, order[one]))
            if originals:
                found[name] = originals
    return found


def _by_what_is_told(run: Run, model: Run) -> dict[str, list[str]]:
    """Numbers that the program read, and what it read them from, where both runs read the same in
    order: one number proves nothing by itself."""
    numbers = [(run.values[one], model.values[other])
               for (one, _), (other, _) in zip(run.told, model.told, strict=False)]  # fmt: skip
    if len(run.told) != len(model.told) or not all(
        math.isclose(float(a), float(b), rel_tol=TOLERANCE, abs_tol=TOLERANCE) for a, b in numbers
    ):
        return {}
    pairs = [
        pair for both in zip(run.told, model.told, strict=True) for pair in zip(*both, strict=True)
    ]
    return {tensor: [original] for tensor, original in pairs}


def _agree(original: torch.Tensor, array: Array, tolerance: float) -> bool:
    known = array_of(original)
    return known is not None and distance(known, array) <= tolerance


def _difference(one: torch.Tensor, other: torch.Tensor) -> tuple[float | None, float | None]:
    a, b = array_of(one), array_of(other)
    if a is None or b is None:
        return None, None
    return difference_of([a.reshape(-1)], [b.reshape(-1)])


def _graph(run: Run, renamed: Mapping[str, str], names: Sequence[str]) -> Graph:
    def of(name: str) -> str:
        return renamed.get(name, name)

    nodes, used = [], dict[str, int]()
    for call, name in zip(run.calls, names, strict=True):
        used[name] = used.get(name, -1) + 1
        nodes.append(
            Node(
                name=f"{name}_{used[name]}" if used[name] else name,
                op_type=op_type(call.name),
                inputs=tuple(map(of, call.reads)),
                outputs=tuple(map(of, call.writes)),
                attributes=_attributes(call),
                scope=clean_text(call.scope),
            )
        )
    touched = dict.fromkeys(name for call in run.calls for name in (*call.reads, *call.writes))
    tensors = tuple(
        _tensor(of(name), run.values.get(name), name in run.constant) for name in touched
    )
    return Graph(tuple(nodes), tensors, tuple(run.given), tuple(map(of, run.outputs)))


def _tensor(name: str, value: torch.Tensor | None, is_constant: bool) -> Tensor:
    if value is None:
        return Tensor(name, constant=is_constant)
    return Tensor(name, DTYPES.get(value.dtype), tuple(value.shape), is_constant)


def _attributes(call: Call) -> dict[str, int | float | str | list[int | float | str]]:
    found: dict[str, int | float | str | list[int | float | str]] = {"event": event_name(call.name)}
    if call.source:
        found["source"] = clean_text(call.source)
    if call.is_view:
        found["view"] = 1
    if call.graph == BETWEEN:
        found["between"] = 1
    return found


def node_name(call: str) -> str:
    """What the graph of an eager run calls the operator."""
    return op_type(call).removeprefix("aten::")


def op_type(call: str) -> str:
    """'torch.ops.aten.addmm.default', 'extern_kernels.addmm' -> 'aten::addmm';
    'cpp_fused_gelu_1' -> 'cpp_fused_gelu'."""
    if call.startswith("extern_kernels."):
        return f"aten::{call.partition('.')[2]}"
    if call.startswith(("torch.ops.", "aten.")):
        parts = call.removeprefix("torch.ops.").split(".")
        return f"{parts[0]}::{parts[1]}"
    return call if "::" in call else _NUMBER.sub("", call)


def event_name(call: str) -> str:
    """What the profiler calls it; generated kernels without the number of their graph."""
    return op_type(call) if "::" in op_type(call) else call
