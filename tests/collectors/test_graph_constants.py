"""What a recorded graph holds of a model's constants: small values, and who may replace them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from fusescope.analysis.graph import Tensor
from fusescope.collectors.models.graphs import MAX_VALUES, from_model, nodes_of


def tensor_of(values: np.ndarray, *, listed: bool = False, ir_version: int = 8) -> Tensor:
    weight = numpy_helper.from_array(values, "w")
    given = [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1])]
    if listed:
        given.append(helper.make_tensor_value_info("w", weight.data_type, values.shape))
    graph = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["y"])],
        "g",
        given,
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1])],
        [weight],
    )
    return from_model(helper.make_model(graph, ir_version=ir_version)).tensor["w"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.array(0.1, np.float32), (0.1,)),
        (np.array([1.5, -2], np.float16), (1.5, -2.0)),
        (np.array([2**40 + 1], np.int64), (2.0**40 + 1,)),
        (np.array([True, False]), (1.0, 0.0)),
        (np.zeros((0, 3), np.float32), ()),
        (np.ones(MAX_VALUES, np.float32), (1.0,) * MAX_VALUES),
        (np.ones(MAX_VALUES + 1, np.float32), None),
        (np.array([np.inf], np.float32), None),
        (np.array([np.nan, 1], np.float64), None),
        (np.array([b"text"], object), None),
    ],
)
def test_small_constants_keep_their_values(
    values: np.ndarray, expected: tuple[float, ...] | None
) -> None:
    assert tensor_of(values).values == expected


def test_a_weight_that_is_also_an_input_can_be_replaced() -> None:
    one = np.ones(1, np.float32)
    assert tensor_of(one, listed=True).overridable
    assert not tensor_of(one).overridable
    # Before IR version 4 every weight was listed, and nobody could replace it.
    assert not tensor_of(one, listed=True, ir_version=3).overridable


def test_damaged_constants_have_no_values() -> None:
    weight = onnx.TensorProto(
        name="w", data_type=onnx.TensorProto.FLOAT, dims=[4], raw_data=b"\x00" * 3
    )
    model = helper.make_model(helper.make_graph([], "g", [], [], [weight]))
    assert from_model(model).tensor["w"].values is None


@pytest.mark.parametrize(
    "kind", [float, int, lambda value: f"text {value}"], ids=["float", "int", "text"]
)
def test_long_lists_are_told_apart(kind: Callable[[int], object]) -> None:
    """Operators that differ only in one of them are not the same operator."""
    lists = [[kind(value) for value in range(first, first + 100)] for first in (0, 0, 1)]
    nodes = [helper.make_node("Scaler", ["x"], [f"y{i}"], offset=v) for i, v in enumerate(lists)]
    told = [node.attributes["offset"] for node in nodes_of(helper.make_graph(nodes, "g", [], []))]
    assert told[0] == told[1] != told[2]
    assert all(isinstance(digest, str) and len(digest) == 16 for digest in told)
