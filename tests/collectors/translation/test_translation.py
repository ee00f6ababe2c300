"""ONNX operators by the table, computed with numpy where it can, against ONNX Runtime; what engines
do with the rest is tested where they are (tests/engines)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper, numpy_helper

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors import zoo
from fusescope.collectors.models.array import Array
from fusescope.collectors.tasks import program as task
from fusescope.collectors.translation import operators, program
from fusescope.collectors.translation.folding import Folding
from fusescope.collectors.translation.node import Known
from fusescope.collectors.workers.jobs import ProgramJob

X = np.linspace(-2, 2, 24, dtype="f4").reshape(2, 3, 4)
POSITIVE = X + 3


def model_of(
    nodes: Sequence[onnx.NodeProto],
    inputs: dict[str, Array],
    weights: dict[str, Array],
    opset: int = 18,
) -> onnx.ModelProto:
    made = [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(one.dtype), list(one.shape)
        )
        for name, one in inputs.items()
    ]
    graph = helper.make_graph(
        list(nodes),
        "g",
        made,
        [onnx.ValueInfoProto(name=name) for name in nodes[-1].output],
        [numpy_helper.from_array(one, name) for name, one in weights.items()],
    )
    opsets = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def both(
    model: onnx.ModelProto, inputs: dict[str, Array], folder: Path
) -> tuple[list[Array], list[Array]]:
    """What ONNX Runtime makes, and what the table does."""
    onnx.save(model, folder / "m.onnx")
    expected = ort.InferenceSession(model.SerializeToString()).run(None, inputs)
    task.run(ProgramJob(str(folder / "m.onnx"), str(folder), ("torch",)))
    made, weights, held = program.load(folder)
    backend: Any = Folding()
    found = operators.translated(made, weights, held, inputs, backend, "torch")
    outputs = [found[name] for name in made.outputs]
    return expected, [one.array if isinstance(one, Known) else one for one in outputs]


def ints(*values: int) -> Array:
    return np.array(values, "i8")


CASES: dict[str, tuple[str, dict[str, Array], dict[str, Array], dict[str, Any]]] = {
    # name: operator, inputs, weights (behind the inputs), attributes
    "a constant first": ("Sub", {"b": X}, {"a": np.float32(3)}, {}),
    "division of integers": ("Div", {"a": ints(-7, 7, 6), "b": ints(2, -2, 3)}, {}, {}),
    "power": ("Pow", {"a": POSITIVE}, {"b": np.float32(3)}, {}),
    "many": ("Max", {"a": X, "b": -X, "c": X * 2}, {}, {}),
    "mean of many": ("Mean", {"a": X, "b": -X, "c": X * 2}, {}, {}),
    "comparison": ("GreaterOrEqual", {"a": X}, {"b": np.float32(0)}, {}),
    "a type": ("Cast", {"a": X}, {}, {"to": TensorProto.INT32}),
    "a choice": ("Where", {"c": X > 0, "a": X, "b": -X}, {}, {}),
    "a shape with 0 and -1": ("Reshape", {"a": X}, {"s": ints(0, -1)}, {}),
    "flattened": ("Flatten", {"a": X}, {}, {"axis": 2}),
    "flattened from the end": ("Flatten", {"a": X}, {}, {"axis": -1}),
    "squeezed": ("Squeeze", {"a": X[:, None]}, {}, {}),
    "unsqueezed": ("Unsqueeze", {"a": X}, {"s": ints(0, -1)}, {}),
    "turned": ("Transpose", {"a": X}, {}, {"perm": [2, 0, 1]}),
    "turned by itself": ("Transpose", {"a": X}, {}, {}),
    "expanded": ("Expand", {"a": X[:, :1]}, {"s": ints(3, 1)}, {}),
    "cut from the end": ("Slice", {"a": X}, {"s": ints(-3), "e": ints(2**62), "x": ints(2)}, {}),
    "cut backwards": (
        "Slice",
        {"a": X},
        {"s": ints(-1, 2), "e": ints(-(2**62), 0), "x": ints(0, 2), "t": ints(-1, -1)},
        {},
    ),
    "taken": ("Gather", {"a": X}, {"i": ints(2, -1, 0)}, {"axis": 2}),
    "taken by a number": ("Gather", {"a": X}, {"i": np.array(-1)}, {"axis": 1}),
    "joined": ("Concat", {"a": X, "b": X}, {}, {"axis": -1}),
    "a mean": ("ReduceMean", {"a": X}, {"x": ints(-1, 0)}, {"keepdims": 0}),
    "a sum over all": ("ReduceSum", {"a": X}, {}, {}),
    "the largest over a space": ("GlobalMaxPool", {"a": X}, {}, {}),
}


@pytest.mark.parametrize("case", CASES)
def test_an_operator_computes_what_onnx_runtime_does(case: str, tmp_path: Path) -> None:
    kind, inputs, weights, attributes = CASES[case]
    names = list(weights) + list(inputs) if case == "a constant first" else [*inputs, *weights]
    node = helper.make_node(kind, names, ["y"], "n", **attributes)
    expected, found = both(model_of([node], inputs, weights), inputs, tmp_path)
    assert found[0].shape == expected[0].shape
    np.testing.assert_allclose(np.asarray(found[0]), expected[0], rtol=1e-6, atol=1e-6)


def test_parts_of_unequal_sizes(tmp_path: Path) -> None:
    given = {"a": X}
    node = helper.make_node("Split", ["a"], ["y", "z"], "n", axis=1, num_outputs=2)
    expected, found = both(model_of([node], given, {}), given, tmp_path)
    assert [one.shape for one in found] == [one.shape for one in expected]
    node = helper.make_node("Split", ["a", "s"], ["y", "z"], "n", axis=1)
    expected, found = both(model_of([node], given, {"s": ints(1, 2)}), given, tmp_path)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_follows_from_shapes_is_known_beforehand(tmp_path: Path) -> None:
    """A reshape to sizes that the model computes from the shape of another tensor."""
    given = {"a": X}
    nodes = [
        helper.make_node("Shape", ["a"], ["s"], "shape"),
        helper.make_node("Gather", ["s", "last"], ["n"], "last"),
        helper.make_node("Mul", ["n", "two"], ["m"], "twice"),
        helper.make_node("Concat", ["rest", "m"], ["to"], "to", axis=0),
        helper.make_node("Reshape", ["a", "to"], ["y"], "reshape"),
    ]
    weights = {"last": ints(-1), "two": ints(2), "rest": ints(-1)}
    expected, found = both(model_of(nodes, given, weights), given, tmp_path)
    np.testing.assert_array_equal(found[0], expected[0])
    assert expected[0].shape == (3, 8)


def test_attributes_that_are_tensors_and_infinite_numbers_survive(tmp_path: Path) -> None:
    value = numpy_helper.from_array(np.array([-np.inf], "f4"))
    nodes = [
        helper.make_node("ConstantOfShape", ["s"], ["c"], "filled", value=value),
        helper.make_node("Max", ["a", "c"], ["y"], "max"),
    ]
    given = {"a": X}
    expected, found = both(model_of(nodes, given, {"s": ints(4)}), given, tmp_path)
    np.testing.assert_array_equal(found[0], expected[0])
    assert program.load(tmp_path)[0].steps[0].attributes["value"] == program.Held(1)


def refused(model: onnx.ModelProto, folder: Path) -> str:
    onnx.save(model, folder / "m.onnx")
    with pytest.raises(FuseScopeError) as told:
        task.run(ProgramJob(str(folder / "m.onnx"), str(folder), ("jax",)))
        made, weights, held = program.load(folder)
        backend: Any = Folding()
        operators.translated(made, weights, held, {"a": X}, backend, "jax")
    assert told.value.code == "operator_not_translated" and "\n" not in told.value.text
    return told.value.text


def if_node() -> onnx.NodeProto:
    branch = helper.make_graph(
        [helper.make_node("Neg", ["a"], ["b"])], "b", [], [onnx.ValueInfoProto(name="b")]
    )
    return helper.make_node("If", ["c"], ["y"], "if", then_branch=branch, else_branch=branch)


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        (lambda: [helper.make_node("NonZero", ["a"], ["y"], "n")], "the operator NonZero to jax"),
        (lambda: [if_node()], "the operator If to jax"),
        (
            lambda: [
                helper.make_node("Det", ["a"], ["d"], "n"),
                helper.make_node("FusedGemm", ["d"], ["y"], "m", domain="com.microsoft"),
            ],
            "the operators Det, com.microsoft.FusedGemm to jax",
        ),
        (
            lambda: [helper.make_node("Reshape", ["a", "c"], ["y"], "block/reshape")],
            "Reshape with a shape that the model computes to jax (block/reshape)",
        ),
        (
            lambda: [helper.make_node("Resize", ["a", "", "f"], ["y"], "n", mode="cubic")],
            "Resize with the mode cubic",
        ),
    ],
)
def test_what_is_not_in_the_table_is_named(
    nodes: Callable[[], list[onnx.NodeProto]], expected: str, tmp_path: Path
) -> None:
    given = {"a": X, "c": ints(2)}
    model = model_of(nodes(), given, {"f": np.array([1, 1, 2], "f4")})
    if "shape that" in expected:
        onnx.save(model, tmp_path / "m.onnx")
        task.run(ProgramJob(str(tmp_path / "m.onnx"), str(tmp_path), ("jax",)))
        made, weights, held = program.load(tmp_path)
        backend: Any = Folding()
        with pytest.raises(FuseScopeError) as told:
            operators.translated(made, weights, held, given, backend, "jax")
        assert expected.split(" (")[0] in told.value.text
        assert told.value.where == "block/reshape"
        return
    assert expected in refused(model, tmp_path)


def test_an_error_of_the_engine_s_own_is_not_taken_for_a_gap_in_the_table(tmp_path: Path) -> None:
    class Broken(Folding):
        def apply(self, name: str, *values: Array) -> Array:
            raise NotImplementedError("not on this device")

    onnx.save(model_of([helper.make_node("Abs", ["a"], ["y"])], {"a": X}, {}), tmp_path / "m.onnx")
    task.run(ProgramJob(str(tmp_path / "m.onnx"), str(tmp_path), ("torch",)))
    made, weights, held = program.load(tmp_path)
    backend: Any = Broken()
    with pytest.raises(NotImplementedError, match="not on this device"):
        operators.translated(made, weights, held, {"a": X}, backend, "torch")


def test_what_neither_numpy_nor_the_table_computes_is_named(tmp_path: Path) -> None:
    node = helper.make_node("Erf", ["a"], ["y"], "gelu/erf")
    onnx.save(model_of([node], {"a": X}, {}), tmp_path / "m.onnx")
    task.run(ProgramJob(str(tmp_path / "m.onnx"), str(tmp_path), ("torch",)))
    made, weights, held = program.load(tmp_path)
    backend: Any = Folding()
    with pytest.raises(FuseScopeError) as told:
        operators.translated(made, weights, held, {"a": X}, backend, "torch")
    assert (told.value.code, told.value.where) == ("operator_not_translated", "gelu/erf")


def test_a_weight_that_numpy_does_not_have_is_named(tmp_path: Path) -> None:
    weight = helper.make_tensor("w", TensorProto.BFLOAT16, [1], [1.0])
    model = model_of([helper.make_node("Identity", ["w"], ["y"], "n")], {}, {})
    model.graph.initializer.append(weight)
    onnx.save(model, tmp_path / "m.onnx")
    with pytest.raises(FuseScopeError) as told:
        task.run(ProgramJob(str(tmp_path / "m.onnx"), str(tmp_path), ("torch",)))
    assert told.value.code == "weight_not_translated" and "w" in told.value.text


def test_every_operator_of_the_built_in_models_is_in_the_table() -> None:
    """The sources name them; tests/engines run the models."""
    folder = Path(zoo.__file__).parent
    text = "".join(file.read_text() for file in folder.glob("*.py"))
    kinds = {name for name in re.findall(r'"([A-Z][A-Za-z]+)"', text) if onnx.defs.has(name)}
    assert {"Conv", "LayerNormalization", "Resize", "Range"} <= kinds <= set(operators.TABLE)


def test_the_docs_list_the_table() -> None:
    text = (Path(__file__).parents[3] / "docs" / "engines.md").read_text()
    begin = text.index("### ONNX models in torch and jax")
    rows = re.findall(r"^\| [a-z, ]+ \| (.+) \|$", text[begin:], re.MULTILINE)[:5]
    names = {name for row in rows for name in re.findall(r"\b[A-Z]\w+", row)}
    assert names == set(operators.TABLE)
