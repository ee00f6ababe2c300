"""A cut of a model is made for a public tracker: it shows its operators and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from fusescope.collectors.tasks import cut_out
from fusescope.collectors.workers.jobs import CutOutJob

SECRET = "/home/alice/topsecret/net.py"


def _told(message: Any) -> Any:
    """The message with the secret in every free text of it."""
    names = {field.name for field in message.DESCRIPTOR.fields}
    if "doc_string" in names:
        message.doc_string = SECRET
    if "metadata_props" in names:
        message.metadata_props.add(key="pkg.torch.onnx.stack_trace", value=SECRET)
    return message


def _model() -> onnx.ModelProto:
    """a -> Relu -> If -> b, with a weight, a function and a value info, all of which tell it."""
    value = helper.make_tensor_value_info
    branch = helper.make_graph(
        [_told(helper.make_node("Identity", ["r"], ["i"], name="identity"))],
        "branch",
        [],
        [_told(value("i", TensorProto.FLOAT, [2]))],
    )
    weight = _told(numpy_helper.from_array(np.ones(2, "float32"), "w"))
    nodes = [
        helper.make_node("Add", ["a", "w"], ["s"], name="add"),
        helper.make_node("Own", ["s"], ["r"], name="own", domain="mine"),
        helper.make_node("If", ["c"], ["b"], name="if", then_branch=branch, else_branch=branch),
    ]
    for attribute in nodes[2].attribute:
        _told(attribute)
        _told(attribute.g)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("mine", 1)]
    function = helper.make_function(
        "mine", "Own", ["x"], ["y"], [_told(helper.make_node("Relu", ["x"], ["y"]))], opsets[:1]
    )
    graph = helper.make_graph(
        [*map(_told, nodes)],
        "g",
        [_told(value("a", TensorProto.FLOAT, [2])), value("c", TensorProto.BOOL, [])],
        [value("b", TensorProto.FLOAT, [2])],
        [weight],
        value_info=[_told(value("r", TensorProto.FLOAT, [2]))],
    )
    model = helper.make_model(
        _told(graph), opset_imports=opsets, functions=[_told(function)], producer_name=SECRET
    )
    model.ir_version = 10
    return _told(model)  # type: ignore[no-any-return]


def test_a_cut_tells_nothing_of_whoever_made_the_model(tmp_path: Path) -> None:
    model = _model()
    assert model.SerializeToString().count(SECRET.encode()) > 15
    onnx.save(model, str(tmp_path / "model.onnx"))
    job = CutOutJob(
        str(tmp_path / "model.onnx"),
        str(tmp_path / "cut.onnx"),
        ("add", "own", "if"),
        ("a", "c"),
        ("b",),
        {},
    )
    cut_out.run(job)
    data = (tmp_path / "cut.onnx").read_bytes()
    assert SECRET.encode() not in data and b"stack_trace" not in data
    cut = onnx.load_from_string(data)
    assert [node.name for node in cut.graph.node] == ["add", "own", "if"]
    assert [node.op_type for node in cut.graph.node[2].attribute[0].g.node] == ["Identity"]
    assert [one.name for one in cut.functions] == ["Own"]
