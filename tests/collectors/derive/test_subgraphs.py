"""The graph of a model of which an execution provider compiled parts."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper, numpy_helper

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.graph import COMPILED_DOMAIN
from fusescope.collectors import variants
from fusescope.collectors.derive import subgraphs
from fusescope.collectors.derive.provider import derive
from fusescope.collectors.models import graphs
from fusescope.collectors.models.array import Array
from fusescope.collectors.record import variant_names
from fusescope.collectors.runtimes import providers
from fusescope.collectors.runtimes.assignment import Part, Ran, RanNode
from fusescope.collectors.runtimes.onnxruntime import PROVIDERS
from fusescope.collectors.workers.jobs import DeriveJob, SessionSettings

OPENVINO = providers.find("openvino")
HERE, THERE = OPENVINO.engine_name, providers.CPU


def mixed() -> onnx.ModelProto:
    """x -> MatMul, Add, Relu (r) -> Softmax (s) -> Mul (m), Tanh (y): the Softmax is the CPU's."""
    chance = np.random.default_rng(0)
    weights = [
        numpy_helper.from_array(chance.standard_normal(shape).astype("f4"), name)
        for name, shape in (("w", (4, 4)), ("b", (4,)))
    ]
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["p"], "one/MatMul"),
        helper.make_node("Add", ["p", "b"], ["a"], "one/Add"),
        helper.make_node("Relu", ["a"], ["r"], "one/Relu"),
        helper.make_node("Softmax", ["r"], ["s"], "mid/Softmax"),
        helper.make_node("Mul", ["s", "a"], ["m"], "two/Mul"),
        helper.make_node("Tanh", ["m"], ["y"], "two/Tanh"),
    ]
    graph = helper.make_graph(
        nodes,
        "mixed",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 4])],
        weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


ONE, TWO = ("one/MatMul", "one/Add", "one/Relu"), ("two/Mul", "two/Tanh")
FUSED_ONE = ("one/MatMul/MatMulAddFusion", "one/Relu")


def ran(first: Sequence[str], outputs: int = 2, parts: bool = True) -> Ran:
    """As ONNX Runtime tells it of the second session in a process, which numbers from 3 on."""
    nodes = (
        subgraph(3, 0, ("float",) * outputs),
        RanNode("mid/Softmax", "Softmax", THERE, ("float",)),
        subgraph(4, 1, ("float",)),
    )
    told = (Part(HERE, tuple(first)), Part(HERE, TWO), Part(THERE, ("mid/Softmax",)))
    return Ran((HERE, THERE), nodes, told if parts else None)


def subgraph(number: int, place: int, types: tuple[str, ...]) -> RanNode:
    kind = f"OpenVINO-EP-subgraph_{number}"
    return RanNode(f"{HERE}_{kind}_{place}", kind, HERE, types)


def settings(model: onnx.ModelProto, folder: Path) -> SessionSettings:
    onnx.save(model, str(folder / "model.onnx"))
    values = np.random.default_rng(1).standard_normal((2, 4)).astype("f4")
    np.savez(folder / "inputs.npz", arr_0=values)
    return SessionSettings(
        str(folder / "model.onnx"), str(folder / "inputs.npz"), ("x",), threads=1, spin=False
    )


def computed(model: onnx.ModelProto) -> Array:
    session = ort.InferenceSession(model.SerializeToString(), providers=PROVIDERS)
    values = np.random.default_rng(1).standard_normal((2, 4)).astype("f4")
    found: Array = session.run(None, {"x": values})[0]
    return found


def test_a_part_is_one_node_between_the_tensors_that_others_read(tmp_path: Path) -> None:
    model = mixed()
    variant = variants.find("provider:openvino:unfused")
    drawn = subgraphs.drawn(model, ran(ONE), OPENVINO, settings(model, tmp_path), variant, tmp_path)
    nodes = [(n.name, n.domain, list(n.input), list(n.output)) for n in drawn.graph.node]
    assert nodes == [
        ("OpenVINO-EP-subgraph_0", COMPILED_DOMAIN, ["x", "w", "b"], ["a", "r"]),
        ("mid/Softmax", "", ["r"], ["s"]),
        ("OpenVINO-EP-subgraph_1", COMPILED_DOMAIN, ["s", "a"], ["y"]),
    ]
    assert [[n.name for n in f.node] for f in drawn.functions] == [list(ONE), list(TWO)]
    np.testing.assert_allclose(computed(drawn), computed(model), rtol=1e-6)  # what they call, runs


def test_what_the_engine_fuses_before_is_in_the_part(tmp_path: Path) -> None:
    """`a` is inside the Gemm, whose name the engine makes; the CPU's node is optimised alone."""
    model = mixed()
    model.graph.node[4].input[1] = "r"
    variant = variants.find("provider:openvino")
    told = ran(FUSED_ONE, outputs=1)
    drawn = subgraphs.drawn(model, told, OPENVINO, settings(model, tmp_path), variant, tmp_path)
    nodes = [(n.name, list(n.input), list(n.output)) for n in drawn.graph.node]
    assert nodes == [
        ("OpenVINO-EP-subgraph_0", ["x", "w", "b"], ["r"]),
        ("mid/Softmax", ["r"], ["s"]),
        ("OpenVINO-EP-subgraph_1", ["s", "r"], ["y"]),
    ]
    np.testing.assert_allclose(computed(drawn), computed(model), rtol=1e-5)


@pytest.mark.parametrize(
    ("told", "why"),
    [
        (ran(ONE, parts=False), "does not say which"),
        (ran(("no/such", "one/Relu")), "does not fit"),
        (ran(ONE, outputs=1), "returns other tensors"),
    ],
)
def test_what_does_not_fit_is_not_drawn(told: Ran, why: str, tmp_path: Path) -> None:
    model = mixed()
    variant = variants.find("provider:openvino:unfused")
    with pytest.raises(subgraphs.NotKnown, match=why):
        subgraphs.drawn(model, told, OPENVINO, settings(model, tmp_path), variant, tmp_path)


def test_nodes_of_a_profile_get_the_names_that_the_drawing_has() -> None:
    name = f"{HERE}_OpenVINO-EP-subgraph_7_0_kernel_time"
    events = [
        {"cat": "Node", "name": name, "args": {"op_name": "OpenVINO-EP-subgraph_7"}},
        {"cat": "Node", "name": "mid/Softmax_kernel_time", "args": {"op_name": "Softmax"}},
        {"cat": "Session", "name": "model_run"},
    ]
    types = subgraphs.name_as_drawn(events)
    assert types == {"OpenVINO-EP-subgraph_0": "OpenVINO-EP-subgraph", "mid/Softmax": "Softmax"}
    assert events[0]["name"] == "OpenVINO-EP-subgraph_0_kernel_time"
    call = helper.make_node("f", ["x"], ["y"], "OpenVINO-EP-subgraph_0", domain=COMPILED_DOMAIN)
    graph = graphs.from_model(helper.make_model(helper.make_graph([call], "g", [], [])))
    assert [n.op_type for n in subgraphs.typed(graph, types).nodes] == ["OpenVINO-EP-subgraph"]


@pytest.mark.parametrize(
    ("name", "code"), [("openvino", "provider_missing"), ("dnnl", "provider_not_built")]
)
def test_a_provider_that_is_not_installed_is_refused(
    name: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ort, "get_available_providers", lambda: ["CPUExecutionProvider"])
    model, variant = mixed(), variants.find(f"provider:{name}")
    job = DeriveJob(settings(model, tmp_path), variant.name, str(tmp_path))
    with pytest.raises(FuseScopeError) as refused:
        derive(job, variant, model)
    assert refused.value.code == code and "only CPUExecutionProvider" in refused.value.text


def test_a_provider_that_cannot_be_loaded_measures_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine warns, and runs all on the CPU."""
    monkeypatch.setattr(ort, "get_available_providers", lambda: ["DnnlExecutionProvider"])
    model, variant = mixed(), variants.find("provider:dnnl")
    job = DeriveJob(settings(model, tmp_path), variant.name, str(tmp_path))
    with pytest.raises(FuseScopeError) as refused:
        derive(job, variant, model)
    assert refused.value.code == "provider_not_loaded"


def test_names_of_variants_say_provider_and_level() -> None:
    one = variants.find("provider:openvino:basic")
    assert (one.kind, one.argument, one.optimization) == ("provider", "openvino", "basic")
    assert variants.find("provider:cuda").optimization == "all"
    assert variants.is_alone("provider:cuda") and variants.is_alone(one.name)
    with pytest.raises(FuseScopeError, match="provider:openvino"):
        variants.find("provider:openvin")


def test_providers_are_offered_where_their_build_is_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert not [name for name in variant_names() if name.startswith("provider:")]

    def version(package: str) -> str:
        if package != "onnxruntime-openvino":
            raise metadata.PackageNotFoundError(package)
        return "1.24.1"

    monkeypatch.setattr(metadata, "version", version)
    offered = [name for name in variant_names() if name.startswith("provider:")]
    assert offered == ["provider:openvino"]


def test_what_a_provider_leaves_goes_to_the_next_and_then_to_the_cpu() -> None:
    order = [one if isinstance(one, str) else one[0] for one in providers.made_ready("tensorrt", 2)]
    assert order == ["TensorrtExecutionProvider", "CUDAExecutionProvider", "CPUExecutionProvider"]
    assert providers.made_ready("", 2) == ["CPUExecutionProvider"]
    assert dict(p for p in providers.made_ready("openvino", 3) if not isinstance(p, str)) == {
        HERE: {"device_type": "CPU", "precision": "FP32", "num_of_threads": "3"}
    }
