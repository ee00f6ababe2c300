"""Kernels of rows: Softmax and normalisations with what stands around them."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import onnx
import pytest

pytest.importorskip("numba", reason="kernels need the extra 'kernels'")

from fusescope.collectors import kernels
from fusescope.collectors.derive import segments
from fusescope.collectors.kernels import group
from fusescope.collectors.kernels.loading import groups_of
from fusescope.collectors.kernels.row_program import Operand
from tests.collectors.kernel_models import Node, Shape, engine, graph_of, kernel, model_of, values

again = pytest.mark.exhaustive  # the compiler takes three seconds for each

_NORM: list[Node] = [
    ("ReduceMean", ["a", "last"], ["m"], {}),
    ("Sub", ["a", "m"], ["s"], {}),
    ("Pow", ["s", "two"], ["q"], {}),
    ("ReduceMean", ["q", "last"], ["v"], {}),
    ("Add", ["v", "small"], ["e"], {}),
    ("Sqrt", ["e"], ["r"], {}),
    ("Div", ["s", "r"], ["d"], {}),
    ("Mul", ["d", "g"], ["z"], {}),
    ("Add", ["z", "b"], ["y"], {}),
]
_NUMBERS: dict[str, object] = {"two": 2.0, "small": 1e-5}


def _line(length: int, start: float = 0.5) -> np.ndarray:
    return np.linspace(start, start + 1, length)


# kernel, operators, inputs, weights
CASES: dict[str, tuple[str, list[Node], dict[str, Shape], dict[str, object]]] = {
    "scaled_and_masked": (
        "softmax",
        [
            ("Div", ["x", "k"], ["a"], {}),
            ("Add", ["a", "mask"], ["c"], {}),
            ("Softmax", ["c"], ["y"], {"axis": -1}),
        ],
        {"x": (2, 3, 5, 13), "mask": (2, 1, 1, 13)},
        {"k": 0.3},
    ),
    "mask_of_two_ranges": (
        "softmax",
        [
            ("Add", ["mask", "x"], ["a"], {}),
            ("Softmax", ["a"], ["c"], {"axis": 3}),
            ("Mul", ["c", "w"], ["y"], {}),
        ],
        {"x": (2, 3, 4, 8), "mask": (2, 1, 4, 8), "w": (3, 1, 1)},
        {},
    ),
    "residual": (
        "layer_norm",
        [
            ("Add", ["bias", "x"], ["i"], {}),
            ("Add", ["i", "o"], ["a"], {}),
            ("LayerNormalization", ["a", "g", "b"], ["n"], {"epsilon": 1e-3}),
            ("Gelu", ["n"], ["y"], {}),
        ],
        {"x": (3, 4, 33), "o": (3, 4, 33)},
        {"bias": _line(33), "g": _line(33), "b": _line(33, -0.5)},
    ),
    "written_out": (
        "layer_norm",
        [("Add", ["x", "o"], ["a"], {}), *_NORM],
        {"x": (7, 19), "o": (7, 19)},
        {**_NUMBERS, "g": _line(19), "b": _line(19, -0.5)},
    ),
    "root_mean_square": (
        "layer_norm",
        [
            ("Pow", ["x", "two"], ["q"], {}),
            ("ReduceMean", ["q", "last"], ["v"], {}),
            ("Add", ["v", "small"], ["e"], {}),
            ("Sqrt", ["e"], ["r"], {}),
            ("Div", ["one", "r"], ["i"], {}),
            ("Mul", ["x", "i"], ["d"], {}),
            ("Mul", ["g", "d"], ["y"], {}),
        ],
        {"x": (2, 3, 16)},
        {**_NUMBERS, "one": 1.0, "g": _line(16)},
    ),
}


def _model(name: str):
    _, nodes, inputs, weights = CASES[name]
    model = model_of(nodes, inputs, weights)
    last = [node for node in nodes if "last" in node[1]]
    if last:
        model.graph.initializer.append(onnx.numpy_helper.from_array(np.array([-1]), "last"))
        model = onnx.shape_inference.infer_shapes(model)
    return model, inputs


def _found(model, name: str):
    return groups_of(graph_of(model), kernels.find(name))


@pytest.mark.parametrize(
    ("name", "threads"),
    [
        ("scaled_and_masked", 2),
        pytest.param("residual", 1, marks=again),
        pytest.param("written_out", 1, marks=again),
        pytest.param("scaled_and_masked", 1, marks=again),
        pytest.param("mask_of_two_ranges", 1, marks=again),
        pytest.param("residual", 2, marks=again),
        pytest.param("root_mean_square", 2, marks=again),
    ],
)
def test_rows_compute_what_the_engine_does(
    name: str, threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group, "GRAIN_BYTES", 64)
    kernel_name, nodes, *_ = CASES[name]
    model, inputs = _model(name)
    [found] = _found(model, kernel_name)
    assert [node.op_type for node in found.nodes] == [node[0] for node in nodes]
    assert found.op_name in ("FusedSoftmax", "FusedLayerNormalization")
    feeds = values(inputs)
    theirs = engine(model, feeds)
    program = found.program(over="", threads=threads)
    assert f"parallel={threads > 1}" in program.source
    ast.parse(program.source)
    for over in ("", "x"):
        ours = kernel(found, model, feeds, tmp_path, over=over, threads=threads)
        assert segments.finite_difference(theirs.reshape(-1), ours.reshape(-1)) < 2e-6


def test_rows_with_values_that_are_not_finite(tmp_path: Path) -> None:
    """A row with NaN or +inf, or of -inf alone, is NaN throughout; others do not notice."""
    model, _ = _model("scaled_and_masked")
    [found] = _found(model, "softmax")
    feeds = values({"x": (2, 3, 5, 13), "mask": (2, 1, 1, 13)})
    x = feeds["x"].reshape(-1, 13)
    x[0, 3], x[1, 5], x[2, :], x[3, 1:9], x[4, 2] = np.nan, np.inf, -np.inf, -np.inf, 3e38
    with np.errstate(all="ignore"):
        theirs, ours = engine(model, feeds), kernel(found, model, feeds, tmp_path)
    assert np.isnan(theirs.reshape(-1, 13)[:3]).all()
    np.testing.assert_allclose(ours, theirs, rtol=2e-6, atol=1e-7, equal_nan=True)


def test_large_means_do_not_cancel(tmp_path: Path) -> None:
    """The variance is that of centred values: E[x²] - E[x]² would lose it."""
    model, _ = _model("written_out")
    [found] = _found(model, "layer_norm")
    chance = np.random.default_rng(5)
    x = (1e4 + chance.standard_normal((7, 19))).astype(np.float32)
    feeds = {"x": x, "o": np.zeros_like(x)}
    wide = x.astype(np.float64)
    centred = wide - wide.mean(-1, keepdims=True)
    exact = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    exact = exact * _line(19) + _line(19, -0.5)
    ours = kernel(found, model, feeds, tmp_path)
    # rounding of the mean alone: a spacing of float32 at 1e4 is 1e-3
    assert np.abs(ours - exact).max() < 3e-3


@pytest.mark.parametrize(
    ("nodes", "inputs"),
    [
        # nothing around it
        ([("Softmax", ["x"], ["y"], {"axis": -1})], {"x": (3, 4)}),
        # another axis
        ([("Relu", ["x"], ["a"], {}), ("Softmax", ["a"], ["y"], {"axis": 0})], {"x": (3, 4)}),
        # others read what would not be written any more, so that nothing is left around it
        (
            [
                ("Relu", ["x"], ["a"], {}),
                ("Softmax", ["a"], ["s"], {"axis": -1}),
                ("MatMul", ["a", "s"], ["y"], {}),
            ],
            {"x": (4, 4)},
        ),
        # the result grows
        (
            [("Add", ["x", "z"], ["a"], {}), ("Softmax", ["x"], ["s"], {"axis": -1}),
             ("Mul", ["s", "a"], ["y"], {})],
            {"x": (1, 4), "z": (3, 4)},
        ),
    ],
)  # fmt: skip
def test_what_rows_by_themselves_cannot_compute_is_left_out(
    nodes: list[Node], inputs: dict[str, Shape]
) -> None:
    assert _found(model_of(nodes, inputs, {}), "softmax") == []


def test_an_operand_is_read_where_it_broadcasts() -> None:
    whole = (2, 3, 5, 13)
    assert Operand.of(whole, whole) == Operand(True, ((1, 30, 13),), True)
    assert Operand.of((13,), whole) == Operand(True, (), False)
    assert Operand.of((), whole) == Operand(False, (), False)
    # a mask for each sample: 15 rows share one
    assert Operand.of((2, 1, 1, 13), whole) == Operand(True, ((15, 2, 13),), False)
    # one for each sample and row, shared by the heads
    assert Operand.of((2, 1, 5, 13), whole) == Operand(True, ((1, 5, 13), (15, 2, 65)), False)
    assert Operand.of((3, 1, 1), whole) == Operand(False, ((5, 3, 1),), False)
    assert Operand.of((4, 13), whole) is None
    assert Operand.of((1, 2, 3, 5, 13), whole) is None
