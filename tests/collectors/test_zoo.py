"""The built-in models: what is in them, and that their values are sane, alike and repeatable."""

from __future__ import annotations

import functools
import importlib
import zipfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import numpy_helper

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.graph import parse_graph
from fusescope.collectors import zoo
from fusescope.collectors.models import graphs, inputs
from fusescope.collectors.zoo import ZooModel, calibration, deeplabv3plus, double, store
from fusescope.collectors.zoo.builder import GraphBuilder, Strides
from tests.repetitions import few

SAMPLES = Path(__file__).resolve().parents[2] / "sample_traces"
LARGE = ("resnet50", "deeplabv3plus", "deeplabv3plus-resnet50")
OFTEN = tuple(e for e in zoo.MODELS if e.name in ("mynet", "conv_bn_relu", "transformer_encoder"))
SMALL_SIZE = 65  # pixels a side
SAME = 1e-4

ASPP = {"GlobalAveragePool": 1, "Resize": 3, "Concat": 2}
OPERATORS = {
    "resnet50": {
        "Conv": 53, "BatchNormalization": 53, "Relu": 49, "Add": 16, "MaxPool": 1,
        "GlobalAveragePool": 1, "Flatten": 1, "Gemm": 1,
    },
    "mobilenetv2": {
        "Conv": 52, "BatchNormalization": 52, "Clip": 35, "Add": 10, "GlobalAveragePool": 1,
        "Flatten": 1, "Gemm": 1,
    },
    # the backbones without their last layers, 9 convolutions in ASPP, 5 in the decoder, and one
    # to classes
    "deeplabv3plus": {
        "Conv": 51 + 15, "BatchNormalization": 51 + 14, "Clip": 34, "Add": 10, "Relu": 14, **ASPP,
    },
    "deeplabv3plus-resnet50": {
        "Conv": 53 + 15, "BatchNormalization": 53 + 14, "Relu": 49 + 14, "Add": 16, "MaxPool": 1,
        **ASPP,
    },
    # of each of two layers: 6 linear layers, 2 products in attention, 2 residual sums, 2 LayerNorm
    "transformer_encoder": {
        "MatMul": 2 * (6 + 2), "Add": 2 * (6 + 2 + 2 * 2 + 1), "Reshape": 2 * 4,
        "Transpose": 2 * 4, "Div": 2 * (1 + 2 + 1), "Softmax": 2, "ReduceMean": 2 * 2 * 2,
        "Sub": 2 * 2, "Pow": 2 * 2, "Sqrt": 2 * 2, "Mul": 2 * (2 + 2), "Erf": 2,
    },
    # of each of three layers: 6 linear layers, the angles, 2 products in attention; query and key
    # are each turned by 2 Slice, Neg, Concat, 2 Mul and Add
    "rotary_encoder": {
        "MatMul": 3 * (6 + 1 + 2), "Add": 3 * (6 + 2 + 2 + 1), "Reshape": 3 * 4,
        "Transpose": 3 * 5, "Div": 3 * 2, "Softmax": 3, "LayerNormalization": 3 * 2,
        "Mul": 3 * (2 * 2 + 2), "Erf": 3, "Cast": 3, "Unsqueeze": 3, "Concat": 3 * (1 + 2),
        "Cos": 3, "Sin": 3, "Slice": 3 * 4, "Neg": 3 * 2,
    },
    # of each of two layers: 6 linear layers, 2 products in attention, 2 residual sums, the bias, 2
    # RMSNorm of 6; beside them the bias, from Shape and Gather to a table that is read by Gather
    "relative_encoder": {
        "MatMul": 2 * (6 + 2), "Add": 2 * (2 + 1 + 2) + 2, "Reshape": 2 * 4,
        "Transpose": 2 * 4 + 1, "Softmax": 2, "Relu": 2, "Pow": 2 * 2, "ReduceMean": 2 * 2,
        "Sqrt": 2 * 2, "Reciprocal": 2 * 2, "Mul": 2 * 2 * 2 + 2, "Shape": 1, "Gather": 2,
        "Range": 1, "Unsqueeze": 2 + 1, "Sub": 1, "Greater": 1, "Cast": 3, "Abs": 1, "Div": 1,
        "Log": 1, "Min": 1, "Less": 1, "Where": 1,
    },
    "group_norm": {"Conv": 1, "GroupNormalization": 1, "Relu": 1},
    "instance_norm": {
        "Conv": 1, "Reshape": 2, "InstanceNormalization": 1, "Mul": 1, "Add": 1, "Relu": 1,
    },
    "conv_bn": {"Conv": 1, "BatchNormalization": 1},
    "conv_bn_relu": {"Conv": 1, "BatchNormalization": 1, "Relu": 1},
    "depthwise_conv": {"Conv": 1},
    "mul_add": {"Mul": 1, "Add": 1},
    "mynet": {"Mul": 1, "Add": 1},
    "mynet_composite": {"Mul": 2, "Pow": 1, "Sub": 1},
    "add_relu": {"Add": 1, "Relu": 1},
    "mul_sigmoid": {"Mul": 1, "Sigmoid": 1},
}  # fmt: skip


def uncalibrated(entry: ZooModel) -> onnx.ModelProto:
    return getattr(importlib.import_module(entry.module), entry.function)(**entry.arguments)


def feeds(model: onnx.ModelProto, seed: int = 0, batch: int = 1) -> dict[str, Any]:
    shapes = {
        value.name: (batch, *(d.dim_value for d in value.type.tensor_type.shape.dim[1:]))
        for value in model.graph.input
    }
    arrays, _ = inputs.make(list(model.graph.input), shapes, seed=seed, given={}, ranges={})
    return dict(zip(shapes, arrays, strict=True))


def run(
    model: onnx.ModelProto, values: Mapping[str, Any], *, fused: bool = False
) -> list[np.ndarray]:
    level = ort.GraphOptimizationLevel
    options = ort.SessionOptions()
    options.graph_optimization_level = level.ORT_ENABLE_ALL if fused else level.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return ort.InferenceSession(model.SerializeToString(), options).run(None, dict(values))


def difference(model: onnx.ModelProto) -> float:
    """Of the outputs, fused against unfused."""
    values = feeds(model)
    [one], [other] = run(model, values), run(model, values, fused=True)
    assert np.isfinite(one).all()
    assert np.ptp(one) > 0
    return float(np.abs(one - other).max() / np.abs(one).max())


def outputs_of(
    model: onnx.ModelProto, names: list[str], values: Mapping[str, Any]
) -> dict[str, np.ndarray]:
    """The tensors of those names."""
    watched = onnx.ModelProto()
    watched.CopyFrom(model)
    del watched.graph.output[:]
    watched.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    return dict(zip(names, run(watched, values), strict=True))


def misfit(model: onnx.ModelProto, values: Mapping[str, Any]) -> float:
    """How far what leaves a BatchNormalization is from mean 0 and deviation 1, in units of its
    own scale and shift: the median over all channels of all of them."""
    weights = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    nodes = [node for node in model.graph.node if node.op_type == "BatchNormalization"]
    found = outputs_of(model, [node.output[0] for node in nodes], values)
    errors = []
    for node in nodes:
        gamma, beta = (weights[name][:, None, None] for name in node.input[1:3])
        plain = (found[node.output[0]] - beta) / gamma
        errors += [np.abs(plain.mean((0, 2, 3))), np.abs(plain.std((0, 2, 3)) - 1)]
    return float(np.median(np.concatenate(errors)))


def class_offset(model: onnx.ModelProto, values: Mapping[str, Any]) -> float:
    """How far classes are favoured whatever the place: the spread of their mean scores, against
    that of all scores."""
    [found] = outputs_of(model, ["classifier/Conv:0"], values).values()
    return float(found.mean((0, 2, 3)).std() / found.std())


def small_deeplab(backbone: str = "mobilenetv2") -> onnx.ModelProto:
    return deeplabv3plus.build(backbone, SMALL_SIZE)


@functools.cache
def calibrated(backbone: str) -> onnx.ModelProto:
    """A small DeepLab, made once for all tests that only read it."""
    model = small_deeplab(backbone)
    calibration.calibrate(model, "double")
    return model


@pytest.fixture
def calibrated_deeplab() -> onnx.ModelProto:
    return calibrated("mobilenetv2")


def test_every_model_is_judged_here() -> None:
    assert {entry.name for entry in zoo.MODELS} == set(OPERATORS)


@pytest.mark.parametrize("entry", zoo.MODELS, ids=lambda entry: entry.name)
def test_what_is_in_it(entry: ZooModel) -> None:
    model = uncalibrated(entry)
    onnx.checker.check_model(model, full_check=True)
    nodes = model.graph.node
    assert Counter(node.op_type for node in nodes) == OPERATORS[entry.name]
    assert len(nodes) == entry.nodes
    assert sum(int(np.prod(t.dims)) for t in model.graph.initializer) == entry.weights
    assert len({node.name for node in nodes}) == len(nodes)
    assert all(graphs.scope_of(node.name) for node in nodes)
    for value in (*model.graph.input, *model.graph.output):
        first, *others = value.type.tensor_type.shape.dim
        assert first.dim_param == "batch"
        assert others and all(dim.dim_value > 0 for dim in others)


@pytest.mark.parametrize(
    ("name", "scope", "types"),
    [
        ("resnet50", "head", ["GlobalAveragePool", "Flatten", "Gemm"]),
        ("mobilenetv2", "head", ["GlobalAveragePool", "Flatten", "Gemm"]),
        (
            "deeplabv3plus",
            "classifier",
            ["Conv", "BatchNormalization", "Relu"] * 4 + ["Conv", "Resize"],
        ),
    ],
)
def test_a_classifier_is_a_module(name: str, scope: str, types: list[str]) -> None:
    entry = zoo.find(name)
    assert entry is not None
    nodes = uncalibrated(entry).graph.node
    assert [node.op_type for node in nodes if node.name.startswith(f"{scope}/")] == types
    assert [node.name for node in nodes[-len(types) :]] == [
        node.name for node in nodes if node.name.startswith(f"{scope}/")
    ]


@pytest.mark.parametrize(
    "entry",
    few([e for e in zoo.MODELS if e.name not in LARGE], OFTEN),
    ids=lambda entry: entry.name,
)
def test_fused_computes_the_same(entry: ZooModel) -> None:
    assert difference(store.build(entry)) < SAME


@pytest.mark.parametrize(
    "backbone", ["mobilenetv2", pytest.param("resnet50", marks=pytest.mark.exhaustive)]
)
def test_fused_deeplab_computes_the_same(backbone: str) -> None:
    assert difference(calibrated(backbone)) < SAME


@pytest.mark.exhaustive
def test_deeplab_in_full_size() -> None:
    """The figure that recordings show, with the classes of an image."""
    entry = zoo.find("deeplabv3plus")
    assert entry is not None
    model = store.build(entry)
    assert difference(model) < SAME
    [scores] = run(model, feeds(model, seed=5), fused=True)
    assert scores.shape == (1, 21, 513, 513)
    shares = np.bincount(scores.argmax(1).ravel(), minlength=21) / 513**2
    assert (shares > 0.01).sum() >= 5
    assert shares.max() < 0.8


def test_what_elementwise_chains_compute() -> None:
    chance = np.random.default_rng(0)
    x, other = chance.standard_normal((2, 1, 64, 128, 128), dtype=np.float32)
    cubed = (2 * x) ** 3
    expected = {
        "mul_add": 1.5 * x + 0.25,
        "mynet": 2 * x + 1,
        "mynet_composite": (other - cubed) * other,
        "add_relu": np.maximum(x + other, 0),
        "mul_sigmoid": x / (1 + np.exp(-x)),
    }
    for name, values in expected.items():
        entry = zoo.find(name)
        assert entry is not None
        model = uncalibrated(entry)
        names = [value.name for value in model.graph.input]
        [found] = run(model, dict(zip(names, (x, other), strict=False)))
        np.testing.assert_allclose(found, values, rtol=1e-5, atol=1e-5, err_msg=name)


def test_layer_norm_and_gelu_are_what_they_are_called() -> None:
    x = np.random.default_rng(0).standard_normal((1, 4, 16), dtype=np.float32)
    graph = GraphBuilder("norm")
    model = graph.model(graph.layer_norm("input", 16, "norm"), (4, 16), (4, 16))
    weights = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    centred = x - x.mean(-1, keepdims=True)
    expected = centred / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    expected = expected * weights["norm.gamma"] + weights["norm.beta"]
    np.testing.assert_allclose(run(model, {"input": x})[0], expected, rtol=1e-4, atol=1e-5)

    encoder = importlib.import_module("fusescope.collectors.zoo.transformer_encoder")
    graph = GraphBuilder("gelu")
    model = graph.model(encoder.gelu(graph, "input", "gelu"), (4, 16), (4, 16))
    from scipy.special import erf

    expected = 0.5 * x * (1 + erf(x / np.sqrt(2)))
    np.testing.assert_allclose(run(model, {"input": x})[0], expected, rtol=1e-4, atol=1e-6)


def test_attention_mixes_tokens_and_keeps_samples_apart() -> None:
    entry = zoo.find("transformer_encoder")
    assert entry is not None
    model = uncalibrated(entry)
    values = feeds(model, batch=2)
    [before] = run(model, values)
    values["input"][0, 3] += 1
    [after] = run(model, values)
    assert (np.abs(after[0] - before[0]).max(-1) > 1e-4).all()
    np.testing.assert_array_equal(after[1], before[1])


def test_group_normalisation_is_the_same_in_both_spellings() -> None:
    """One sample in 8 groups of 4 channels, computed with numpy too."""
    models = [uncalibrated(entry) for entry in zoo.MODELS if entry.module.endswith("group_norm")]
    values = feeds(models[0])
    [one], [other] = (run(model, values) for model in models)
    np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
    weights = {t.name: numpy_helper.to_array(t) for t in models[0].graph.initializer}
    [convolved] = outputs_of(models[0], ["block/Conv:0"], values).values()
    groups = convolved.reshape(8, -1)
    plain = (groups - groups.mean(1, keepdims=True)) / np.sqrt(groups.var(1, keepdims=True) + 1e-5)
    gamma, beta = (weights[name][:, None, None] for name in ("gamma", "beta"))
    expected = np.maximum(plain.reshape(convolved.shape) * gamma + beta, 0)
    np.testing.assert_allclose(one, expected, rtol=1e-3, atol=1e-4)


def test_rotary_positions_turn_a_vector_and_keep_its_length() -> None:
    encoder = importlib.import_module("fusescope.collectors.zoo.rotary_encoder")
    graph = GraphBuilder("rotary")
    cos, sin = encoder._angles(graph, "angles")
    shape = (encoder.HEADS, encoder.TOKENS, encoder.HEAD_WIDTH)
    model = graph.model(encoder._rotated(graph, "input", cos, sin, "turned"), shape, shape)
    positions = onnx.helper.make_tensor_value_info("position_ids", 7, ["batch", encoder.TOKENS])
    model.graph.input.append(positions)
    x = np.random.default_rng(0).standard_normal((1, *shape), dtype=np.float32)
    [found] = run(model, {"input": x, "position_ids": np.arange(encoder.TOKENS)[None]})
    np.testing.assert_allclose(found[:, :, 0], x[:, :, 0], atol=1e-6)  # position 0: as it is
    turned = (x[0, 0, 3, 0] + 1j * x[0, 0, 3, 32]) * np.exp(3j)  # position 3, the first frequency
    assert found[0, 0, 3, 0] + 1j * found[0, 0, 3, 32] == pytest.approx(turned, abs=1e-5)
    lengths = [np.linalg.norm(values, axis=-1) for values in (found, x)]
    np.testing.assert_allclose(*lengths, rtol=1e-5)


def test_biases_of_relative_positions_go_by_distance() -> None:
    """Each way 8 buckets of one distance each, then 8 that grow to a distance of 128: 16 and 17 are
    in bucket 10 (8 + 8 · log(16 / 8) / log(16) = 10), 127 in the last one, and so is 8 in bucket 8.
    What is ahead has 16 more."""
    encoder = importlib.import_module("fusescope.collectors.zoo.relative_encoder")
    graph = GraphBuilder("relative")
    bias = encoder._bias(graph, "input", "bias")
    model = graph.model(bias, (encoder.TOKENS, 4), (encoder.HEADS, encoder.TOKENS, encoder.TOKENS))
    [found] = run(model, {"input": np.zeros((1, encoder.TOKENS, 4), np.float32)})
    [table] = (numpy_helper.to_array(t) for t in model.graph.initializer if t.name == "bias.table")
    at = {(0, 0): 0, (7, 0): 7, (8, 0): 8, (16, 0): 10, (17, 0): 10, (127, 0): 15,
          (0, 1): 17, (0, 8): 24, (3, 19): 26, (0, 127): 31}  # fmt: skip
    for (row, column), bucket in at.items():
        np.testing.assert_array_equal(found[0, :, row, column], table[bucket])


def test_a_stride_beyond_the_limit_becomes_a_dilation() -> None:
    strides = Strides(16)
    asked = (2, 2, 1, 2, 2, 1, 2, 1, 1)
    assert [strides.step(stride) for stride in asked] == [
        (2, 1), (2, 1), (1, 1), (2, 1), (2, 1), (1, 1), (1, 1), (1, 2), (1, 2),
    ]  # fmt: skip


@pytest.mark.parametrize("backbone", few(["mobilenetv2", "resnet50"], {"mobilenetv2"}))
def test_deeplab_sees_at_three_rates_and_ends_at_an_eighth_and_twice(backbone: str) -> None:
    model = small_deeplab(backbone)
    dilations = Counter(
        tuple(attribute.ints)
        for node in model.graph.node
        for attribute in node.attribute
        if attribute.name == "dilations"
    )
    last_stage = {"mobilenetv2": 3, "resnet50": 2}[backbone]
    assert dilations == {(6, 6): 1, (12, 12): 1, (18, 18): 1, (2, 2): last_stage}
    shapes = {
        value.name: [dim.dim_value for dim in value.type.tensor_type.shape.dim][1:]
        for value in onnx.shape_inference.infer_shapes(model).graph.value_info
    }
    low_level = {"mobilenetv2": 24, "resnet50": 256}[backbone]
    [reads] = [n.input[0] for n in model.graph.node if n.name == "decoder/low_level/Conv"]
    assert shapes[reads] == [low_level, 17, 17]
    assert shapes["aspp/Concat:0"] == [5 * 256, 5, 5]
    assert shapes["decoder/Concat:0"] == [256 + 48, 17, 17]
    assert shapes["classifier/Conv:0"] == [21, 17, 17]


@pytest.mark.exhaustive  # what it is for, is seen in every model that it calibrates
def test_double_precision_computes_what_the_engine_does(
    calibrated_deeplab: onnx.ModelProto,
) -> None:
    """Every operator of the numpy side, on the models that have them all."""
    for model in (calibrated_deeplab, calibrated("resnet50")):
        values = feeds(model)
        seen: dict[str, np.ndarray] = {}
        double.run(model, values, lambda _, tensors, seen=seen: seen.update(tensors))
        names = [name for node in model.graph.node for name in node.output][:-1]
        found = outputs_of(model, names, values)
        assert set(found) <= set(seen)
        for name in names:
            largest = np.abs(seen[name]).max()
            assert np.abs(found[name] - seen[name]).max() < SAME * largest, name


def test_calibration_fits_the_data(calibrated_deeplab: onnx.ModelProto) -> None:
    learned = feeds(calibrated_deeplab, seed=calibration.SEED, batch=calibration.IMAGES)
    others = feeds(calibrated_deeplab, seed=5, batch=2)
    assert misfit(calibrated_deeplab, learned) < 0.01
    assert misfit(calibrated_deeplab, others) < 0.25
    assert misfit(small_deeplab(), learned) > 0.4


def test_no_class_is_favoured_everywhere(calibrated_deeplab: onnx.ModelProto) -> None:
    without = onnx.ModelProto()
    without.CopyFrom(calibrated_deeplab)
    [bias] = [t for t in without.graph.initializer if t.name == "classifier.bias"]
    bias.CopyFrom(numpy_helper.from_array(np.zeros(21, np.float32), bias.name))
    learned = feeds(without, seed=calibration.SEED, batch=calibration.IMAGES)
    assert class_offset(calibrated_deeplab, learned) < 0.01
    assert class_offset(without, learned) > 0.1
    [scores] = run(calibrated_deeplab, feeds(calibrated_deeplab, seed=5))
    assert len(np.unique(scores.argmax(1))) >= 5


@pytest.mark.parametrize(
    "name", ["mobilenetv2", pytest.param("resnet50", marks=pytest.mark.exhaustive)]
)
def test_images_are_told_apart(name: str) -> None:
    entry = zoo.find(name)
    assert entry is not None
    model = store.build(entry)
    [scores] = run(model, feeds(model, batch=16), fused=True)
    assert len(set(scores.argmax(1))) >= 8


def test_last_bits_do_not_change_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise far above what machines differ by leaves the file alone; that of single precision
    would not."""

    def calibrated(noise: float) -> bytes:
        chance = np.random.default_rng(1)

        def noisy(model: Any, values: Any, before_node: Any) -> None:
            def disturb(node: onnx.NodeProto, tensors: Mapping[str, np.ndarray]) -> None:
                x = tensors[node.input[0]]
                x *= 1 + noise * chance.standard_normal(x.shape)
                before_node(node, tensors)

            double.run(model, values, disturb)

        model = small_deeplab()
        with monkeypatch.context() as patch:
            patch.setattr(calibration, "double", type("noisy", (), {"run": staticmethod(noisy)}))
            calibration.calibrate(model, "double")
        return model.SerializeToString(deterministic=True)

    exact = calibrated(0.0)
    assert calibrated(0.0) == exact
    assert calibrated(1e-12) == exact
    assert calibrated(1e-7) != exact


@pytest.mark.parametrize(
    "entry",
    few([e for e in zoo.MODELS if e.name not in LARGE and e.weights < 10_000_000], OFTEN),
    ids=lambda entry: entry.name,
)
def test_two_builds_are_one_file(entry: ZooModel) -> None:
    one, other = (store.build(entry).SerializeToString(deterministic=True) for _ in range(2))
    assert one == other


@pytest.mark.parametrize(
    ("name", "firsts"),
    [
        (
            "mobilenetv2",
            {
                "stem.weight": (0.3041782, -0.3775276),
                "block5/1/dw.weight": (0.16966021, 0.54022074),
                "block6/0/project.bn.gamma": (0.9812957, 1.0246686),
                "head.weight": (-0.04465275, 0.00692932),
            },
        ),
        (
            "resnet50",
            {
                "stem.weight": (0.13036208, -0.16179754),
                "layer3/2/b.weight": (0.02153395, 0.09442736),
                "layer4/2/c.bn.beta": (-0.06301655, 0.01521229),
                "head.weight": (-0.01877048, -0.03262572),
            },
        ),
    ],
)
def test_recordings_that_ship_are_of_these_models(
    name: str, firsts: dict[str, tuple[float, float]]
) -> None:
    """Their nodes are those of the samples, and weights are drawn in the order they were then."""
    entry = zoo.find(name)
    assert entry is not None
    model = uncalibrated(entry)
    with zipfile.ZipFile(SAMPLES / f"{name}.zip") as archive:
        recorded = parse_graph(archive.read("graphs/model.json"), name)
    assert [(node.name, node.op_type, node.inputs) for node in recorded.nodes] == [
        (node.name, node.op_type, tuple(node.input)) for node in model.graph.node
    ]
    weights = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    for weight, values in firsts.items():
        np.testing.assert_allclose(weights[weight].ravel()[:2], values, rtol=1e-5)


def test_a_file_is_kept_by_version_and_built_again_when_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = store.model_file("mynet", tmp_path / "cache", tmp_path)
    assert path == tmp_path / "cache" / "zoo" / "mynet-v1.onnx"
    whole = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.delattr(store, "build")  # not needed
        assert store.model_file("mynet", tmp_path / "cache", tmp_path) == path
    for damaged in (b"", whole[: len(whole) // 2], whole.replace(b"mynet", b"mynex")):
        path.write_bytes(damaged)
        assert store.model_file("mynet", tmp_path / "cache", tmp_path).read_bytes() == whole
    path.with_suffix(".sha256").unlink()  # of an older FuseScope
    assert store.model_file("mynet", tmp_path / "cache", tmp_path).read_bytes() == whole
    (tmp_path / "file").write_text("")
    elsewhere = store.model_file("mynet", tmp_path / "file", tmp_path)
    assert elsewhere == tmp_path / "mynet-v1.onnx"
    assert onnx.load(elsewhere).graph.name == "mynet"


def test_a_backbone_is_chosen() -> None:
    assert zoo.chosen("deeplabv3plus", None).backbone == "mobilenetv2"
    assert zoo.chosen("deeplabv3plus", "resnet50").name == "deeplabv3plus-resnet50"
    assert zoo.chosen("deeplabv3plus-resnet50", "mobilenetv2").name == "deeplabv3plus"


@pytest.mark.parametrize(
    ("name", "backbone", "expected"),
    [
        ("deeplab", None, "Did you mean 'deeplabv3plus'?"),
        ("x\n" * 100, None, "There is no built-in model 'x?x?"),
        ("mynet", "resnet50", "has no choice of backbones"),
        ("deeplabv3plus", "resnet", "Did you mean 'resnet50'?"),
    ],
)
def test_wrong_names(name: str, backbone: str | None, expected: str) -> None:
    with pytest.raises(FuseScopeError) as told:
        zoo.chosen(name, backbone)
    assert expected in told.value.text
    assert "\n" not in told.value.text
    assert len(told.value.text) < 400
