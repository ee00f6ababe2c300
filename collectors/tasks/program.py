"""Write the working copy as a program that engines without ONNX read. Runs in FuseScope's own
Python."""

from __future__ import annotations

from pathlib import Path

import onnx
from onnx import numpy_helper

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.models import functions
from fusescope.collectors.models.array import Array
from fusescope.collectors.models.model import opset_of
from fusescope.collectors.translation import operators, program
from fusescope.collectors.translation.program import Attribute, Held, Program, Step
from fusescope.collectors.workers.jobs import ProgramJob as Job

_GRAPHS = (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS)


def run(job: Job) -> None:
    """Writes it into the folder. Raises FuseScopeError where an engine is not translated to
    one of its operators."""
    model = onnx.load(job.model)
    if model.functions:
        functions.expand(model)
    weights = [_array(tensor) for tensor in model.graph.initializer]
    names = tuple(tensor.name for tensor in model.graph.initializer)
    steps = tuple(_step(node, weights) for node in model.graph.node)
    made = Program(
        opset=opset_of(model) or 0,
        inputs=tuple(value.name for value in model.graph.input if value.name not in names),
        outputs=tuple(value.name for value in model.graph.output),
        steps=steps,
        weights=names,
    )
    for engine in job.engines:
        operators.check(made, engine)
    program.save(made, weights, Path(job.folder))


def _array(tensor: onnx.TensorProto) -> Array:
    """Raises FuseScopeError for a type that numpy does not have."""
    array = numpy_helper.to_array(tensor)
    if array.dtype.kind not in "fiub":
        raise FuseScopeError("weight_not_translated", tensor=tensor.name[:80])
    return array


def _step(node: onnx.NodeProto, held: list[Array]) -> Step:
    attributes: dict[str, Attribute] = {}
    for one in node.attribute:
        if one.type in _GRAPHS:
            continue
        value = onnx.helper.get_attribute_value(one)
        if isinstance(value, onnx.TensorProto):
            held.append(_array(value))
            attributes[one.name] = Held(len(held) - 1)
        elif isinstance(value, bytes):
            attributes[one.name] = value.decode("utf-8", "replace")
        elif isinstance(value, int | float):
            attributes[one.name] = value
        elif all(isinstance(each, int | float) for each in value):
            attributes[one.name] = [*value]
    return Step(
        name=node.name,
        op_type=node.op_type,
        domain="" if node.domain == "ai.onnx" else node.domain,
        inputs=tuple(node.input),
        outputs=tuple(node.output),
        attributes=attributes,
        graphs=any(one.type in _GRAPHS for one in node.attribute),
    )
