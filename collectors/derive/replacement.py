"""A model with our kernels in place of the operators that they replace."""

from __future__ import annotations

from collections.abc import Sequence

import onnx

from fusescope.collectors.derive.cut import Piece, reads
from fusescope.collectors.kernels.native.library import DOMAIN


def with_kernels(model: onnx.ModelProto, parts: Sequence[Piece]) -> onnx.ModelProto:
    """A copy of the model with a node of our domain in place of each group; the tensors that other
    operators read keep their names, and weights that nobody reads any more are gone."""
    replaced = onnx.ModelProto()
    replaced.CopyFrom(model)
    graph = replaced.graph
    del graph.node[:]
    for part in parts:
        if part.group is None:
            graph.node.extend(part.nodes)
            continue
        group = part.group
        node = graph.node.add()
        if len(part.nodes) == 1:
            node.CopyFrom(part.nodes[0])  # the operator stays what it was, attributes and all
        else:
            node.input.extend(group.operands)
            node.output.append(group.output)
        node.name, node.op_type, node.domain = group.name, group.op_name, DOMAIN
    read = {name for node in graph.node for name in reads(node)}
    read |= {value.name for value in graph.output}
    kept = [tensor for tensor in graph.initializer if tensor.name in read]
    gone = {value.name for value in graph.initializer} - {tensor.name for tensor in kept}
    copies = [onnx.TensorProto.FromString(tensor.SerializeToString()) for tensor in kept]
    del graph.initializer[:]
    graph.initializer.extend(copies)
    inputs = [value for value in graph.input if value.name not in gone]
    if len(inputs) < len(graph.input):
        values = [onnx.ValueInfoProto.FromString(v.SerializeToString()) for v in inputs]
        del graph.input[:]
        graph.input.extend(values)
    replaced.opset_import.append(onnx.helper.make_opsetid(DOMAIN, 1))
    return replaced
