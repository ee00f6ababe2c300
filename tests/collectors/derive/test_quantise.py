"""int8: what is quantised, what it stands for, what is refused, and a recording of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import onnx
import onnxruntime as ort
import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment, parse_matches
from fusescope.analysis.graph import Graph, Node, Tensor
from fusescope.analysis.operators.flops import from_graph
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.report.exports.comparison_json import comparison_values
from fusescope.analysis.wording import agreement_text, diagnostic_sentence
from fusescope.collectors import variants
from fusescope.collectors.derive import quantise
from fusescope.collectors.workers.jobs import Codes, Derived, DeriveJob, SessionSettings
from tests.collectors.short_recordings import File, run, short

helper = onnx.helper
SIZE, CHANNELS, CLASSES = 12, 16, 12


def node(op: str, name: str, inputs: list[str], **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op, inputs, [f"{name}:0"], name=name, **attributes)


def classifier(save_model: Callable[..., Path], name: str = "classifier") -> Path:
    """Conv + BatchNormalization + Relu, a residual block, and a classifier of 12 classes."""
    chance = np.random.default_rng(3)
    weights: dict[str, Any] = {
        "w0": 0.3 * chance.standard_normal((CHANNELS, 3, 3, 3), dtype=np.float32),
        "w1": 0.1 * chance.standard_normal((CHANNELS, CHANNELS, 3, 3), dtype=np.float32),
        "w2": chance.standard_normal((CHANNELS, CLASSES), dtype=np.float32),
        "b2": np.zeros(CLASSES, np.float32),
    }
    for kind, low, high in (("scale", 0.5, 1.5), ("shift", -0.5, 0.5), ("mean", -1, 1)):
        weights[kind] = chance.uniform(low, high, CHANNELS).astype(np.float32)
    weights["var"] = chance.uniform(0.5, 2.0, CHANNELS).astype(np.float32)
    statistics = ["scale", "shift", "mean", "var"]
    nodes = [
        node("Conv", "stem/conv", ["x", "w0"], pads=[1] * 4),
        node("BatchNormalization", "stem/bn", ["stem/conv:0", *statistics]),
        node("Relu", "stem/relu", ["stem/bn:0"]),
        node("Conv", "block/conv", ["stem/relu:0", "w1"], pads=[1] * 4),
        node("Add", "block/add", ["block/conv:0", "stem/relu:0"]),
        node("Relu", "block/relu", ["block/add:0"]),
        node("GlobalAveragePool", "head/pool", ["block/relu:0"]),
        node("Flatten", "head/flatten", ["head/pool:0"]),
        node("Gemm", "head/gemm", ["head/flatten:0", "w2", "b2"]),
    ]
    inputs = {"x": ("float32", [1, 3, SIZE, SIZE])}
    return save_model(nodes, inputs, ["head/gemm:0"], weights, name=name)


def derived(path: Path, folder: Path, **recorded: np.ndarray) -> Derived:
    """What int8 makes of a model, on these recorded inputs (an image by default)."""
    values = recorded or {"x": np.random.default_rng(0).random((1, 3, SIZE, SIZE), np.float32)}
    np.savez(folder / "inputs.npz", *values.values())
    settings = SessionSettings(str(path), str(folder / "inputs.npz"), tuple(values), 1, False)
    out = folder / "derived"
    out.mkdir()
    return quantise.derive(
        DeriveJob(settings, "int8", str(out)), variants.find("int8"), onnx.load(str(path))
    )


def session(path: str | Path) -> ort.InferenceSession:
    settings = ort.SessionOptions()
    settings.log_severity_level = 3
    settings.intra_op_num_threads = 1
    return ort.InferenceSession(str(path), settings, providers=["CPUExecutionProvider"])


# The quantised model


@pytest.fixture
def quantised(
    save_model: Callable[..., Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> tuple[Path, Derived]:
    path = classifier(save_model)
    found = derived(path, tmp_path)
    assert capfd.readouterr().out == ""
    return path, found


def test_it_computes_about_the_same_in_8_bits(
    quantised: tuple[Path, Derived], caplog: pytest.LogCaptureFixture
) -> None:
    path, found = quantised
    assert found.optimization == "all"
    assert caplog.records == []
    x = np.random.default_rng(9).random((1, 3, SIZE, SIZE), np.float32)
    [expected] = session(path).run(None, {"x": x})
    [ours] = session(found.model).run(None, {"x": x})
    difference = float(np.abs(expected - ours).max() / np.abs(expected).max())
    assert 0 < difference < 0.2
    assert session(found.model).run(None, {"x": x})[0].dtype == np.float32


def test_its_settings_say_what_was_done(quantised: tuple[Path, Derived]) -> None:
    told = quantised[1].settings
    assert told["operators_quantised"] == (
        "2 QLinearConv, 1 QLinearAdd, 1 QLinearGlobalAveragePool, 1 Flatten, 1 QGemm"
    )
    assert told["operators_left_float"] == "none"
    assert told["nodes_folded_first"] == 1
    assert told["calibration_samples"] == 16
    assert str(told["calibration_inputs"]).startswith("not the recorded ones: seed 0")
    assert "per channel" in str(told["weight_type"])
    floats = 4 * (CHANNELS * 3 * 9 + CHANNELS + CHANNELS**2 * 9 + CHANNELS * CLASSES + CLASSES)
    assert told["weights_bytes_before"] == floats
    assert CHANNELS**2 * 9 < int(str(told["weights_bytes"])) < floats / 2


def test_weights_are_signed_symmetric_and_per_channel(quantised: tuple[Path, Derived]) -> None:
    model = onnx.load(quantised[1].model)
    stored = {t.name: onnx.numpy_helper.to_array(t) for t in model.graph.initializer}
    convolutions = 0
    for decode in model.graph.node:
        weight = stored.get(decode.input[0])
        if decode.op_type != "DequantizeLinear" or weight is None or weight.ndim != 4:
            continue
        convolutions += 1
        scale, zero = (stored[name] for name in decode.input[1:])
        assert weight.dtype == np.int8
        assert scale.shape == (CHANNELS,)
        assert not zero.any()
        assert np.abs(weight.astype(int)).max() <= 127
    assert convolutions == 2


def test_codes_name_the_models_tensors(quantised: tuple[Path, Derived]) -> None:
    path, found = quantised
    assert found.codes is not None
    codes = msgspec.json.decode(Path(found.codes).read_bytes(), type=Codes)
    model = onnx.load(str(path))
    known = {"x", *(name for n in model.graph.node for name in n.output)}
    assert set(codes.originals.values()) <= known
    coded = {n.input[0]: n.output[0] for n in onnx.load(found.model).graph.node
             if n.op_type == "QuantizeLinear"}  # fmt: skip
    assert codes.originals[coded["x"]] == "x"
    assert codes.originals[coded["stem/relu:0"]] == "stem/relu:0"
    # The result of the whole model carries its name again after it was decoded.
    assert codes.dequantised["head/gemm:0"] == "head/gemm:0"
    assert all(codes.originals[real] == name for name, real in codes.dequantised.items())


def test_calibration_depends_on_the_seed_and_not_on_what_was_recorded(
    save_model: Callable[..., Path], tmp_path: Path
) -> None:
    path = classifier(save_model)
    scales = []
    for place, (seed, recorded) in enumerate(((0, 1.0), (0, 100.0), (7, 1.0))):
        folder = tmp_path / str(place)
        (folder / "derived").mkdir(parents=True)
        np.savez(folder / "inputs.npz", np.full((1, 3, SIZE, SIZE), recorded, np.float32))
        settings = SessionSettings(str(path), str(folder / "inputs.npz"), ("x",), 1, False)
        drawing = msgspec.structs.replace(settings.drawing, seed=seed)
        settings = msgspec.structs.replace(settings, drawing=drawing)
        job = DeriveJob(settings, "int8", str(folder / "derived"))
        model = onnx.load(quantise.derive(job, variants.find("int8"), onnx.load(str(path))).model)
        stored = {t.name: onnx.numpy_helper.to_array(t) for t in model.graph.initializer}
        [first] = [n for n in model.graph.node if n.op_type == "QuantizeLinear" and "x" in n.input]
        scales.append(float(stored[first.input[1]]))
    assert scales[0] == scales[1] != scales[2]


def test_an_old_opset_is_quantised_per_tensor(
    save_model: Callable[..., Path], tmp_path: Path
) -> None:
    path = classifier(save_model)
    model = onnx.load(str(path))
    model.opset_import[0].version = 12
    onnx.save(model, str(path))
    assert "per tensor" in str(derived(path, tmp_path).settings["weight_type"])


# What is refused


def test_a_model_with_nothing_to_quantise_is_refused(
    save_model: Callable[..., Path], tmp_path: Path
) -> None:
    path = save_model([node("Erf", "a", ["x"])], {"x": ("float32", [2, 3])}, ["a:0"])
    with pytest.raises(FuseScopeError, match="no operator that ONNX Runtime runs in 8 bits"):
        derived(path, tmp_path, x=np.zeros((2, 3), np.float32))


def test_a_quantised_model_is_refused(save_model: Callable[..., Path], tmp_path: Path) -> None:
    weights = {"s": np.float32(0.1), "z": np.uint8(0)}
    nodes = [node("QuantizeLinear", "q", ["x", "s", "z"]),
             node("DequantizeLinear", "d", ["q:0", "s", "z"])]  # fmt: skip
    path = save_model(nodes, {"x": ("float32", [2, 3])}, ["d:0"], weights)
    with pytest.raises(FuseScopeError, match="already quantised: it has QuantizeLinear"):
        derived(path, tmp_path, x=np.zeros((2, 3), np.float32))


@pytest.mark.parametrize("name", ["fp16", "float16", "FP16", "bf16", "bfloat16"])
def test_half_precision_is_refused_with_the_reason(name: str) -> None:
    with pytest.raises(FuseScopeError) as caught:
        variants.find(name)
    precision = "bf16" if "b" in name.lower() else "fp16"
    assert caught.value.what.startswith(f"{precision} cannot be recorded: ONNX Runtime's CPU")
    assert ("float32" in caught.value.what) == (precision == "fp16")
    assert "int8" in caught.value.hint


def test_layout_is_named_in_the_ablation_of_its_optimizer() -> None:
    assert "layout off" in str(variants.find("without:NchwcTransformer").summary)
    assert "layout on" in str(variants.find("only:NchwcTransformer").summary)
    assert "layout" not in str(variants.find("only:ConvBNFusion").summary)


# Parts


def test_operators_are_counted_as_they_run() -> None:
    nodes = [
        node("QuantizeLinear", "q", ["x", "s"]),
        node("Transpose", "t", ["q:0"]),
        node("QLinearConv", "c", ["t:0", "s", "z", "w"]),
        node("MaxPool", "m", ["c:0"]),
        node("MatMulIntegerToFloat", "f", ["m:0", "w"]),
        node("Softmax", "p", ["f:0"]),
        node("DequantizeLinear", "d", ["m:0", "s"]),
        node("Erf", "e", ["d:0"]),
    ]
    weights = [helper.make_tensor(name, 1, [1], [1.0]) for name in "szw"]
    graph = helper.make_graph(nodes, "g", [], [], weights)
    computing, left = quantise.operators(helper.make_model(graph))
    assert computing == Counter(QLinearConv=1, MaxPool=1, MatMulIntegerToFloat=1)
    assert left == Counter(Softmax=1, Erf=1)


def test_listed_has_an_end() -> None:
    many = Counter({f"Op{place}": 100 - place for place in range(30)})
    text = quantise.listed(many)
    assert text.startswith("100 Op0, 99 Op1")
    assert text.endswith(f"{sum(100 - place for place in range(24, 30))} others")
    assert quantise.listed(Counter()) == "none"


@pytest.mark.parametrize(
    ("machine", "flags", "narrow"),
    [
        ("x86_64", "avx2 avx512f", True),
        ("x86_64", "avx2 avx512_vnni", False),
        ("AMD64", "avx_vnni", False),
        ("aarch64", "asimd", False),
    ],
)
def test_weights_are_narrow_where_products_overflow(
    machine: str, flags: str, narrow: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cpuinfo").write_text(f"flags : {flags}\n")
    monkeypatch.setattr(quantise, "_CPU_FLAGS", tmp_path / "cpuinfo")
    monkeypatch.setattr(quantise.platform, "machine", lambda: machine)
    assert quantise.needs_narrow_weights() is narrow


def resizing(*, axes: bool) -> onnx.ModelProto:
    """Resize between two convolutions."""
    sizes = np.array([9, 6] if axes else [1, 8, 9, 6], np.int64)
    weight = np.random.default_rng(1).standard_normal((8, 8, 1, 1), dtype=np.float32)
    more: dict[str, Any] = {"axes": [2, 3]} if axes else {}
    nodes = [
        node("Conv", "a", ["x", "w"]),
        node("Resize", "r", ["a:0", "", "", "s"], mode="linear", **more),
        node("Conv", "b", ["r:0", "w"]),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", 1, [1, 8, 3, 3])],
        [helper.make_tensor_value_info("b:0", 1, None)],
        [onnx.numpy_helper.from_array(weight, "w"), onnx.numpy_helper.from_array(sizes, "s")],
        value_info=[helper.make_tensor_value_info("a:0", 1, [1, 8, 3, 3])],
    )
    imports = [helper.make_opsetid("", 18)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def test_sizes_of_all_axes_mean_the_same(tmp_path: Path) -> None:
    before, after = resizing(axes=True), resizing(axes=True)
    assert quantise.name_all_axes(after) == 1
    assert quantise.name_all_axes(after) == 0
    assert quantise.name_all_axes(resizing(axes=False)) == 0
    assert "s" not in {tensor.name for tensor in after.graph.initializer}
    x = np.random.default_rng(2).standard_normal((1, 8, 3, 3), dtype=np.float32)
    results = []
    for place, model in enumerate((before, after)):
        path = tmp_path / f"{place}.onnx"
        onnx.save(model, str(path))
        results.append(session(path).run(None, {"x": x})[0])
    assert results[0].shape == (1, 8, 9, 6)
    assert np.allclose(results[0], results[1], rtol=1e-5, atol=1e-5)


def test_a_resize_of_some_axes_can_be_quantised(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(resizing(axes=True), str(path))
    found = derived(path, tmp_path, x=np.ones((1, 8, 3, 3), np.float32))
    assert "2 QLinearConv" in str(found.settings["operators_quantised"])
    assert found.settings["operators_left_float"] == "1 Resize"


def test_flops_of_channels_last_are_those_of_the_convolution() -> None:
    shared = {"pads": [1, 1, 1, 1], "strides": [2, 1], "group": 2}
    weight = Tensor("w", "int8", (4, 3, 3, 3), constant=True)
    plain = Graph(
        (Node("c", "Conv", ("x", "w"), ("y",), attributes=dict(shared)),),
        (Tensor("x", "float32", (1, 6, 9, 5)), weight, Tensor("y", "float32", (1, 4, 5, 5))),
        ("x",),
        ("y",),
    )
    inputs = ("x", "s", "z", "w", "s", "z", "s", "z")
    last = Graph(
        (Node("c", "QLinearConv", inputs, ("y",), attributes={**shared, "channels_last": 1}),),
        (Tensor("x", "uint8", (1, 9, 5, 6)), weight, Tensor("y", "uint8", (1, 5, 5, 4))),
        ("x",),
        ("y",),
    )
    expected = from_graph(plain.nodes[0], plain)
    assert expected is not None
    assert from_graph(last.nodes[0], last) == expected


# A recording


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[File, Experiment]:
    folder = tmp_path_factory.mktemp("int8")

    def save(nodes: list[Any], inputs: Any, outputs: list[str], weights: Any, name: str) -> Path:
        types = [helper.make_tensor_value_info(key, 1, shape) for key, (_, shape) in inputs.items()]
        constants = [onnx.numpy_helper.from_array(v, key) for key, v in weights.items()]
        graph = helper.make_graph(
            nodes, name, types, [onnx.ValueInfoProto(name=key) for key in outputs], constants
        )
        imports = [helper.make_opsetid("", 17)]
        path = folder / f"{name}.onnx"
        onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=8), str(path))
        return path

    model = classifier(save)
    file, _ = run(short(model, folder, variants=("unfused", "fused", "int8")))
    experiment = read(Source(file.path.name, file.path.read_bytes()))
    assert isinstance(experiment, Experiment)
    return file, experiment


def test_a_recording_has_agreement_beside_the_difference(
    recorded: tuple[File, Experiment],
) -> None:
    record = recorded[0].record
    assert record.variant("unfused").agreement is None
    fused, int8 = record.variant("fused"), record.variant("int8")
    assert fused.output_difference is not None and fused.output_difference.relative is not None
    assert fused.output_difference.relative < 1e-4
    assert fused.agreement is not None and fused.agreement.top1 == 1.0
    assert int8.output_difference is not None and int8.output_difference.relative is not None
    assert 1e-4 < int8.output_difference.relative < 0.5
    agreed = int8.agreement
    assert agreed is not None
    assert (agreed.output, agreed.classes, agreed.samples) == ("head/gemm:0", CLASSES, 16)
    assert agreed.distinct > 1
    assert agreed.top5 is not None and agreed.top1 <= agreed.top5


def test_groups_of_int8_are_those_of_the_operators(recorded: tuple[File, Experiment]) -> None:
    file, experiment = recorded
    comparison = compare(
        side_of_variant(experiment, "unfused"), side_of_variant(experiment, "int8")
    )
    fusion = comparison.fusion
    assert fusion.mapped_nodes == fusion.original_nodes == 9
    assert not fusion.boundary_mismatches
    groups = {
        tuple(sorted(operator.name for operator in group.original)): [
            operator.op_type for operator in group.candidate
        ]
        for group in fusion.groups
    }
    assert groups[("stem/bn", "stem/conv", "stem/relu")] == ["QLinearConv"]
    assert groups[("block/conv",)] == ["QLinearConv"]
    assert groups[("block/add", "block/relu")] == ["QLinearAdd"]
    assert groups[("head/gemm",)] == ["QGemm"]
    table = comparison.operators
    convolutions = table[table["op_type_candidate"] == "QLinearConv"]
    assert len(convolutions) == 2
    assert (convolutions["flops_baseline"] == convolutions["flops_candidate"]).all()
    variant = file.record.variant("int8")
    assert variant.matches is not None
    rows = parse_matches(file.read(variant.matches), "matches")
    # Codes are 256 steps of what calibration saw: each tensor is some steps from the model's.
    moved = {row.original: row.relative for row in rows}
    assert {"x", "stem/relu:0", "block/relu:0", "head/gemm:0"} <= moved.keys()
    assert all(value is not None and 0 < value < 0.5 for value in moved.values())


def test_the_page_says_that_int8_is_another_model(recorded: tuple[File, Experiment]) -> None:
    experiment = recorded[1]
    sides = [side_of_variant(experiment, name) for name in ("unfused", "fused", "int8")]
    quantised = compare(sides[0], sides[2])
    said = {note.code: diagnostic_sentence(note) for note in quantised.diagnostics}
    assert "large_output_difference" not in said
    assert said["quantised"].startswith("Candidate: It is quantised to 8 bits")
    other = {note.code for note in compare(sides[0], sides[1]).diagnostics}
    assert not other & {"quantised", "large_output_difference"}
    assert agreement_text(quantised).endswith("agreement with the baseline, not accuracy")
    values = json.loads(json.dumps(comparison_values(quantised)["output_difference"]))
    assert values["agreement"]["baseline"] is None
    assert set(values["agreement"]["candidate"]) == {
        "output", "classes", "samples", "positions", "distinct", "top1", "top5", "basis",
    }  # fmt: skip
    top1 = quantised.figure("agreement_top1")
    assert top1.baseline.value == 1.0
    assert top1.candidate.value == values["agreement"]["candidate"]["top1"]
    assert (top1.candidate.basis, top1.candidate.unit) == ("measured", "fraction")
