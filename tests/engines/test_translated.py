"""ONNX models in torch and jax beside ONNX Runtime, for real: needs the engines (fusescope runtimes
add torch, jax)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import cast

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from fusescope.analysis import readers
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.collectors.environments import state
from fusescope.collectors.environments.catalogue import ENGINES
from fusescope.collectors.record import Recording, record
from tests.accounts import check_ledger, verified_lineage

READY = [name for name in ("torch", "jax") if state.state_of(ENGINES[name]).kind == "ready"]
if not READY:
    pytest.skip("neither is there: fusescope runtimes add torch", allow_module_level=True)
OURS = "onnxruntime:fused"


def recorded(
    folder: Path, model: str, engine: str, variants: tuple[str, ...] = ("fused",), blocks: int = 2
) -> Experiment:
    recording = Recording(
        model=model,
        runtimes=("onnxruntime", engine),
        variants=variants,
        out=folder / "out.zip",
        shapes={"input": (1, 3, 64, 64)} if model in ("mobilenetv2", "resnet50") else {},
        threads=1,
        blocks=blocks,
        rounds=3,
    )
    return cast(Experiment, readers.read_path(record(recording, on_progress=lambda step: None)))


def close(experiment: Experiment) -> None:
    """Every variant computes what the baseline does."""
    for variant in experiment.record.variants:
        if variant.name != experiment.record.settings.baseline:
            difference = variant.output_difference
            assert difference is not None and difference.relative is not None, variant.name
            assert difference.relative < 1e-3, variant.name


def accounted_for(experiment: Experiment) -> None:
    """Every operator of the ONNX model is in one verified group of each variant."""
    assert set(experiment.graphs) == set(experiment.record.names)
    for name in experiment.graphs:
        verified_lineage(experiment, name)


@pytest.mark.parametrize("engine", READY)
@pytest.mark.parametrize("model", ["mobilenetv2", "transformer_encoder"])
def test_a_model_is_followed_through_both_engines(model: str, engine: str, tmp_path: Path) -> None:
    theirs = f"{engine}:fused"
    experiment = recorded(tmp_path, model, engine, ("fused", f"{engine}:eager"))
    close(experiment)
    accounted_for(experiment)
    assert experiment.record.engine_of(theirs).name == engine
    if model == "mobilenetv2":
        agreement = experiment.record.variant(theirs).agreement
        assert agreement is not None and agreement.top1 >= 0.9
    comparison = compare(*choose_sides(experiment, baseline=OURS, candidate=theirs))
    fusion = comparison.fusion
    assert (fusion.source, fusion.boundary_mismatches) == ("graphs", 0)
    assert fusion.mapped_nodes == fusion.original_nodes
    check_ledger(comparison)


def many(path: Path) -> str:
    """Operators and forms of them that no built-in model has, one output each."""
    chance = np.random.default_rng(0)
    weights: dict[str, np.ndarray] = {}
    nodes: list[onnx.NodeProto] = []

    def weight(*shape: int) -> str:
        name = f"w{len(weights)}"
        weights[name] = (chance.standard_normal(shape) * 0.3).astype("f4")
        return name

    def known(values: object, kind: str = "i8") -> str:
        name = f"k{len(weights)}"
        weights[name] = np.array(values, kind)
        return name

    def add(kind: str, *inputs: str, **attributes: object) -> str:
        name = f"n{len(nodes)}"
        nodes.append(helper.make_node(kind, list(inputs), [name], f"{kind}/{name}", **attributes))
        return name

    x = "x"  # 1, 8, 9, 9
    add("Conv", x, weight(4, 8, 3, 3), weight(4), pads=[0, 1, 2, 1], strides=[2, 1])
    add("Conv", x, weight(8, 1, 3, 3), group=8, auto_pad="SAME_UPPER", strides=[2, 2])
    add("Conv", x, weight(4, 8, 3, 3), dilations=[2, 2], pads=[2, 2, 2, 2])
    add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[0, 1, 1, 1])
    add("AveragePool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    add("AveragePool", x, kernel_shape=[2, 2], pads=[1, 1, 1, 1], count_include_pad=1)
    add("GlobalMaxPool", x)
    flat = add("Reshape", x, known([8, 81]))
    add("Gemm", flat, weight(81, 5), weight(5), alpha=0.5, beta=2.0)
    add("Gemm", flat, weight(3, 8), transA=1, transB=1)
    add("Softmax", flat, axis=0)
    add("LogSoftmax", flat)
    add("LayerNormalization", flat, weight(81), weight(81))
    add("InstanceNormalization", x, weight(8), weight(8))
    for kind in ("Abs", "Ceil", "Cos", "Elu", "Erf", "Exp", "Floor", "HardSigmoid", "HardSwish",
                 "LeakyRelu", "Neg", "Relu", "Round", "Sigmoid", "Sign", "Sin", "Softplus",
                 "Tanh"):  # fmt: skip
        add(kind, x)
    squared = add("Mul", x, x)
    for kind in ("Sqrt", "ReduceMax", "ReduceMin", "ReduceSum"):
        add(kind, squared)
    add("PRelu", x, weight(8, 1, 1))
    add("Pow", squared, known(1.5, "f4"))
    add("Div", known(2.0, "f4"), add("Add", squared, known(1.0, "f4")))
    add("Clip", x, "", known(0.5, "f4"))
    add("Where", add("Less", x, known(0.0, "f4")), x, squared)
    add("Min", x, squared)
    add("Mean", x, squared)
    add("Slice", x, known([8, -1]), known([0, -(2**40)]), known([3, 2]), known([-3, -1]))
    add("Split", x, known([8]), axis=1)
    add("Pad", x, known([0, 0, 1, 2, 0, 0, 0, 1]), known(0.5, "f4"))
    add("Pad", x, known([0, 0, 1, 2, 0, 0, 0, 1]), mode="reflect")
    add("Tile", x, known([1, 2, 1, 1]))
    add("Expand", add("GlobalAveragePool", x), known([1, 8, 3, 3]))
    add("Gather", x, known([[0, -1], [2, 3]]), axis=1)
    add("Resize", x, "", "", known([1, 8, 18, 13]), mode="linear")
    add("Resize", x, "", known([1, 1, 2, 2], "f4"), mode="nearest", nearest_mode="floor",
        coordinate_transformation_mode="asymmetric")  # fmt: skip
    add("DepthToSpace", x, blocksize=2)
    add("Cast", add("ArgMax", x, axis=1), to=TensorProto.FLOAT)
    add("Concat", x, squared, axis=2)
    graph = helper.make_graph(
        nodes,
        "many",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8, 9, 9])],
        [onnx.ValueInfoProto(name=node.output[0]) for node in nodes],
        [numpy_helper.from_array(one, name) for name, one in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.save(onnx.shape_inference.infer_shapes(model), path)
    return str(path)


@pytest.mark.parametrize("engine", READY)
def test_every_operator_computes_what_onnx_runtime_does(engine: str, tmp_path: Path) -> None:
    experiment = recorded(
        tmp_path,
        many(tmp_path / "many.onnx"),
        engine,
        ("onnxruntime:unfused", f"{engine}:eager"),
        blocks=1,
    )
    close(experiment)
    outputs = experiment.record.variant(f"{engine}:eager")
    assert outputs.settings.get("graph_missing") is None


@pytest.mark.parametrize("engine", READY)
def test_an_operator_that_is_not_translated_is_named_before_anything_runs(
    engine: str, tmp_path: Path
) -> None:
    graph = helper.make_graph(
        [helper.make_node("Det", ["x"], ["y"], "d")],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [])],
    )
    onnx.save(helper.make_model(graph, ir_version=9), tmp_path / "bad.onnx")
    with pytest.raises(FuseScopeError) as told:
        recorded(tmp_path, str(tmp_path / "bad.onnx"), engine)
    assert told.value.code == "operator_not_translated"
    assert f"Det to {engine}" in told.value.text
    assert os.listdir(tmp_path) == ["bad.onnx"]
