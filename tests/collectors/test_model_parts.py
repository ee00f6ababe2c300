"""Graphs, inputs, shapes and output differences, by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from fusescope.analysis.graph import graph_json, parse_graph
from fusescope.collectors.files import archive
from fusescope.collectors.models import graphs, inputs, shapes
from fusescope.collectors.tensors.difference import difference_of
from fusescope.collectors.workers import machine
from fusescope.collectors.zoo import builder
from tests.collectors.short_recordings import run, short


def value(name: str, dims: list[int | str | None], dtype: int = TensorProto.FLOAT) -> Any:
    return helper.make_tensor_value_info(name, dtype, dims)


def test_attributes_that_matter_survive_json() -> None:
    node = helper.make_node(
        "Odd",
        ["x", ""],
        ["y"],
        name="net/block/Odd",
        axis=-1,
        epsilon=1e-5,
        mode="linear",
        pads=[1, 1],
        low=float("-inf"),
        mixed=[0.5, float("nan")],
        table=list(range(100)),
        weight=helper.make_tensor("w", TensorProto.FLOAT, [1], [1.0]),
    )
    graph = helper.make_graph([node], "g", [value("x", ["n", 3])], [value("y", [1, 3])])
    made = graphs.from_model(helper.make_model(graph))
    attributes = dict(made.nodes[0].attributes)
    for data in ("weight", "table"):  # a digest stands for the values
        digest = attributes.pop(data)
        assert isinstance(digest, str) and len(digest) == 16
    assert attributes == {
        "axis": -1, "epsilon": 1e-05, "mode": "linear", "pads": [1, 1], "low": "-inf",
        "mixed": [0.5, "nan"],
    }  # fmt: skip
    assert made.nodes[0].scope == "net/block"
    assert made.nodes[0].inputs == ("x", "")
    assert made.tensor["x"].shape == (-1, 3)
    assert parse_graph(graph_json(made), "g") == made


def test_shapes_that_ran_win_over_declared_ones() -> None:
    node = helper.make_node("Split", ["x"], ["a", "b"], name="s")
    graph = helper.make_graph(
        [node], "g", [value("x", ["n", 4])], [value("a", None), value("b", None)]
    )
    events = [
        {
            "cat": "Node",
            "name": "s_kernel_time",
            "args": {"output_type_shape": [{"float": [2, 2]}, {"float": [2, 2]}]},
        },
        {"cat": "Session", "name": "model_run", "args": {}},
    ]
    made = graphs.from_model(helper.make_model(graph), graphs.profiled_shapes(events))
    assert made.tensor["a"].shape == (2, 2)
    assert made.tensor["b"].bytes == 16


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([4.0, -8.0], [4.0, -6.0], (2.0, 0.25)),
        ([0.0], [0.0], (0.0, 0.0)),
        ([0.0], [1.0], (1.0, None)),
        ([1.0], [float("nan")], (None, None)),
        ([float("inf")], [float("inf")], (None, None)),
        ([1.0, 2.0], [1.0], (None, None)),
        ([], [], (0.0, 0.0)),
        ([3e18, 0.0], [0.0, 0.0], (None, 1.0)),
    ],
)
def test_output_difference(
    a: list[float], b: list[float], expected: tuple[float | None, float | None]
) -> None:
    assert difference_of([np.array(a)], [np.array(b)]) == expected


def test_output_difference_takes_the_worst_output() -> None:
    """A small output that is off by half counts, however big the other one is."""
    reference = [np.array([1000.0]), np.array([2.0])]
    outputs = [np.array([1001.0]), np.array([1.0])]
    assert difference_of(reference, outputs) == (1.0, 0.5)
    assert difference_of([np.array([200], np.uint8)], [np.array([100], np.uint8)]) == (100.0, 0.5)
    assert difference_of([None], [np.array([1.0])]) == (None, None)


def test_inputs_come_from_the_seed_by_type() -> None:
    types = {
        "image": (TensorProto.FLOAT, (1, 3, 32, 32)),
        "half": (TensorProto.FLOAT16, (50,)),
        "ids": (TensorProto.INT64, (50,)),
        "mask": (TensorProto.BOOL, (50,)),
        "scalar": (TensorProto.FLOAT, ()),
    }
    values = [value(name, list(shape), dtype) for name, (dtype, shape) in types.items()]
    sizes = {name: shape for name, (_, shape) in types.items()}

    def make(seed: int) -> dict[str, Any]:
        arrays, facts = inputs.make(
            values, sizes, seed=seed, given={}, ranges={"half": (-2.0, -1.0)}
        )
        assert [fact.dtype for fact in facts] == ["float32", "float16", "int64", "bool", "float32"]
        assert "uniform -2 to -1" in facts[1].source
        _, (large, *_) = inputs.make(
            values, sizes, seed=seed, given={}, ranges={"image": (0, 1234567)}
        )
        assert large.source.endswith("uniform 0 to 1234567"), "read back to record it again"
        return dict(zip(types, arrays, strict=True))

    first = make(0)
    assert {name: array.shape for name, array in first.items()} == sizes
    assert set(first["ids"].tolist()) == {0, 1}
    assert -2 <= first["half"].min() <= first["half"].max() <= -1
    assert 0.3 < first["image"].std() < 3
    again, other = make(0), make(1)
    assert all(np.array_equal(first[name], again[name]) for name in types)
    assert not np.array_equal(first["image"], other["image"])


def test_integer_ranges_include_both_ends() -> None:
    arrays, _ = inputs.make(
        [value("x", [200], TensorProto.INT8)],
        {"x": (200,)},
        seed=0,
        given={},
        ranges={"x": (126.0, 999.0)},
    )
    assert set(arrays[0].tolist()) == {126, 127}


def test_a_named_dimension_is_shared_and_the_first_is_the_batch() -> None:
    values = [value("a", ["n", "seq", 8]), value("b", ["n", "seq"]), value("c", [2, 2])]
    assert shapes.resolve(values, {"b": (3, 5)}, None) == {
        "a": (3, 5, 8), "b": (3, 5), "c": (2, 2),
    }  # fmt: skip
    assert shapes.resolve([value("x", ["n", 3])], {}, 16) == {"x": (16, 3)}
    assert shapes.resolve([value("x", [None, 3])], {}, None) == {"x": (1, 3)}


def test_a_node_says_what_its_subgraphs_read() -> None:
    """A Loop whose body holds an If: both read tensors of the graph around them, and names of
    their own hide those outside."""
    add = helper.make_node
    then = helper.make_graph([add("Add", ["state", "deep"], ["t"])], "then", [], [value("t", [])])
    other = helper.make_graph([add("Neg", ["state"], ["e"])], "else", [], [value("e", [])])
    body = helper.make_graph(
        [
            add("Mul", ["carried", "outer"], ["state"]),
            add("If", ["go"], ["next"], then_branch=then, else_branch=other),
            add("Identity", ["weight"], ["hidden"]),
        ],
        "body",
        [value("i", []), value("go", []), value("carried", [])],
        [value("go", []), value("next", []), value("hidden", []), value("handed_out", [])],
        [helper.make_tensor("weight", TensorProto.FLOAT, [], [1.0])],
    )
    loop = add("Loop", ["n", "", "start"], ["y", "z", "w"], name="loop", body=body)
    graph = helper.make_graph(
        [loop],
        "g",
        [value(n, []) for n in ("n", "start", "outer", "deep", "handed_out")],
        [value("y", [])],
    )
    made = graphs.from_model(helper.make_model(graph))
    assert made.nodes[0].captured == ("outer", "deep", "handed_out")
    assert [n.name for n in made.consumers["deep"]] == ["loop"]
    assert parse_graph(graph_json(made), "g") == made


def test_the_model_graph_keeps_the_constant_nodes_of_the_file(
    tmp_path: Path, save_model: Callable[..., Path]
) -> None:
    """The engine reads them as weights; the file has them as nodes."""
    constant = helper.make_tensor("c", TensorProto.FLOAT, [4], [1, 2, 3, 4])
    model = save_model(
        [
            helper.make_node("Constant", [], ["c"], name="head/Constant", value=constant),
            helper.make_node("Add", ["x", "c"], ["sum"], name="head/Add"),
            helper.make_node("Constant", [], ["two"], name="two", value_float=2.0),
            helper.make_node("Mul", ["sum", "two"], ["y"], name="head/Mul"),
        ],
        {"x": ("float32", [3, 4])},
        ["y"],
    )
    file, _ = run(short(model, tmp_path, variants=("eager", "unfused")))
    assert file.record.model.nodes == 4
    assert file.record.model_graph is not None
    made = file.graph(file.record.model_graph)
    assert [node.op_type for node in made.nodes] == ["Constant", "Add", "Constant", "Mul"]
    assert made.nodes[0].attributes == {}
    assert (made.tensor["c"].constant, made.tensor["c"].shape) == (True, (4,))
    assert made.tensor["two"].constant
    for name in ("eager", "unfused"):
        ran = file.graph(f"graphs/{name}.json")
        assert [node.op_type for node in ran.nodes] == ["Add", "Mul"]


def test_eager_runs_subgraphs_that_look_outside(
    tmp_path: Path, save_model: Callable[..., Path]
) -> None:
    """Both branches of an If read a tensor and a weight of the graph around it."""

    def branch(op_type: str) -> onnx.GraphProto:
        return helper.make_graph(
            [helper.make_node(op_type, ["doubled", "weight"], ["chosen"])],
            op_type,
            [],
            [value("chosen", [1, 4])],
        )

    model = save_model(
        [
            helper.make_node("Add", ["x", "x"], ["doubled"], name="double"),
            helper.make_node(
                "If", ["flag"], ["y"], name="if",
                then_branch=branch("Add"), else_branch=branch("Mul"),
            ),
        ],
        {"x": ("float32", [1, 4]), "flag": ("bool", [])},
        ["y", "x"],
        {"weight": np.full((1, 4), 3, np.float32)},
    )  # fmt: skip
    file, _ = run(short(model, tmp_path, variants=("eager", "unfused")))
    difference = file.record.variant("eager").output_difference
    assert difference is not None
    assert difference.absolute == 0.0


def test_a_model_of_before_ir_version_4(tmp_path: Path, save_model: Callable[..., Path]) -> None:
    """Weights were listed among the inputs then; nobody has to feed them."""
    path = save_model(
        [helper.make_node("Add", ["x", "w"], ["y"])],
        {"x": ("float32", [1, 4]), "w": ("float32", [4])},
        ["y"],
        {"w": np.ones(4, np.float32)},
    )
    model = onnx.load(path)
    model.ir_version = 3
    onnx.save(model, path)
    file, _ = run(short(path, tmp_path, variants=("eager", "fused")))
    assert [fact.name for fact in file.record.model.inputs] == ["x"]
    assert file.record.settings.baseline == "eager"


def test_zoo_weights_come_from_the_seed() -> None:
    def build() -> bytes:
        graph = builder.GraphBuilder("g")
        y = graph.conv_bn("input", 3, 8, 3, "stem", activation="Relu6")
        return graph.model(y, (3, 8, 8), (8, 8, 8)).SerializeToString(deterministic=True)

    assert build() == build()
    names = [node.name for node in onnx.load_model_from_string(build()).graph.node]
    assert names == ["stem/Conv", "stem/BatchNormalization", "stem/Clip"]


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("resnet50", {"Conv": 53, "BatchNormalization": 53, "Relu": 49, "Add": 16}),
        ("mobilenetv2", {"Conv": 52, "BatchNormalization": 52, "Clip": 35, "Add": 10}),
    ],
)
def test_zoo_models_have_the_published_operators(name: str, counts: dict[str, int]) -> None:
    import importlib

    model = importlib.import_module(f"fusescope.collectors.zoo.{name}").build()
    onnx.checker.check_model(model)
    types = [node.op_type for node in model.graph.node]
    assert {op_type: types.count(op_type) for op_type in counts} == counts
    assert len({node.name for node in model.graph.node}) == len(types)


def test_machine_facts_are_plausible() -> None:
    facts = machine.facts()
    assert 1 <= machine.physical_cores() <= facts.logical_cores
    assert 0 < machine.available_memory_bytes() <= facts.memory_bytes
    assert facts.cpu_model
    assert all(cache.bytes >= 1024 for cache in facts.caches)


def test_the_default_name_is_a_plain_file_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = archive.destination(None, "../ä model\n", "2026-01-02")
    assert path == tmp_path / "ä_model-2026-01-02.zip"
    assert archive.destination(tmp_path, "m", "d") == tmp_path / "m-d.zip"
    assert archive.destination(tmp_path / "x", "m", "d") == tmp_path / "x.zip"
    assert list(tmp_path.iterdir()) == []
