"""ONNX Runtime and OpenVINO in one recording, for real: needs OpenVINO (fusescope runtimes add
openvino). `make test-openvino` adds it and runs these, half a minute in all; CI does that."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import cast

import onnx
import pytest
from onnx import TensorProto, helper

from fusescope.analysis import readers
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.collectors.environments import state
from fusescope.collectors.environments.catalogue import ENGINES
from fusescope.collectors.record import Recording, record
from tests.accounts import check_ledger, verified_lineage

if state.state_of(ENGINES["openvino"]).kind != "ready":
    pytest.skip("openvino is not there: fusescope runtimes add openvino", allow_module_level=True)

ENGINE_NAMES = ("onnxruntime", "openvino")
OURS, THEIRS = "onnxruntime:fused", "openvino:fused"


def recorded(folder: Path, model: str, **changes: object) -> Experiment:
    recording = Recording(
        **{
            "model": model,
            "runtimes": ENGINE_NAMES,
            "variants": ("fused",),
            "out": folder / "out.zip",
            "threads": 1,
            "blocks": 2,
            "rounds": 3,
            **changes,
        }  # type: ignore[arg-type]
    )
    return cast(Experiment, readers.read_path(record(recording, on_progress=lambda step: None)))


@pytest.fixture(scope="module", params=["mobilenetv2", "transformer_encoder"])
def experiment(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Experiment:
    shapes = {"input": (1, 3, 64, 64)} if request.param == "mobilenetv2" else {}
    return recorded(tmp_path_factory.mktemp(request.param), request.param, shapes=shapes)


def test_each_engine_ran_in_every_block_and_the_control_too(experiment: Experiment) -> None:
    found = experiment.record
    assert found.names == (OURS, THEIRS) and found.settings.baseline == OURS
    assert [engine.name for engine in found.engines] == list(ENGINE_NAMES)
    assert found.engine_of(THEIRS).version == ENGINES["openvino"].version
    for variant in found.variants:
        runs = Counter(zip(variant.samples.block, variant.samples.copy, strict=True))
        copies = (1, 2) if variant.name == OURS else (1,)
        assert runs == {(block, copy): 3 for block in (0, 1) for copy in copies}
        assert [profile.block for profile in variant.profiles] == [0, 1]
        assert variant.settings["intra_op_threads"] == 1
        assert variant.settings["intra_op_spinning"] is False
        assert (
            variant.settings["peak_memory_from"] == found.variants[0].settings["peak_memory_from"]
        )  # the same counter
        assert variant.peak_memory_bytes is not None and variant.peak_memory_bytes > 0
    assert {trace.meta.tool for trace in experiment.traces.values()} == set(ENGINE_NAMES)


def test_both_compute_the_same(experiment: Experiment) -> None:
    difference = experiment.record.variant(THEIRS).output_difference
    assert difference is not None and difference.relative is not None
    assert 0 <= difference.relative < 1e-3
    agreement = experiment.record.variant(THEIRS).agreement
    if experiment.record.model.name == "mobilenetv2":
        assert agreement is not None and agreement.classes == 1000 and agreement.top1 >= 0.9
    else:
        assert agreement is None


def test_groups_go_through_the_tensors_of_the_model(experiment: Experiment) -> None:
    model = experiment.model_graph
    assert model is not None
    for name in experiment.graphs:
        verified_lineage(experiment, name)
    comparison = compare(*choose_sides(experiment, baseline=OURS, candidate=THEIRS))
    assert comparison.verdict.speedup is not None
    fusion = comparison.fusion
    assert (fusion.source, fusion.boundary_mismatches) == ("graphs", 0)
    assert fusion.mapped_nodes == fusion.original_nodes == len(model.nodes)
    check_ledger(comparison)


def test_an_operator_that_one_engine_lacks_is_named_and_nothing_is_written(tmp_path: Path) -> None:
    """ONNX Runtime has operators of its own, which OpenVINO does not know."""
    graph = helper.make_graph(
        [helper.make_node("NhwcMaxPool", ["x"], ["y"], "pool", domain="com.microsoft",
                          kernel_shape=[2, 2])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.UINT8, [1, 4, 4, 8])],
        [helper.make_tensor_value_info("y", TensorProto.UINT8, [1, 3, 3, 8])],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), tmp_path / "bad.onnx")
    with pytest.raises(FuseScopeError) as told:
        recorded(tmp_path, str(tmp_path / "bad.onnx"))
    assert told.value.code == "openvino_no_operator"
    assert "openvino" in str(told.value.where) and "NhwcMaxPool" in told.value.text
    assert os.listdir(tmp_path) == ["bad.onnx"]


def test_an_engine_that_dies_in_the_middle_is_named_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Something kills its workers when the blocks begin."""
    real = state.python_in(state.folder_of(ENGINES["openvino"]))
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec "{real}" "$@"\n')
    python.chmod(0o755)
    seen: list[str] = []
    monkeypatch.setattr("fusescope.collectors.environments.chosen.python_of",
                        lambda name: python if name == "openvino" else None)  # fmt: skip

    def when(step: object) -> None:
        seen.append(getattr(step, "stage", ""))
        if seen[-1] == "blocks":
            python.write_text("#!/bin/sh\nkill -9 $$\n")

    recording = Recording(
        model="conv_bn_relu", runtimes=ENGINE_NAMES, variants=("fused",), blocks=1, rounds=3,
        out=tmp_path / "out.zip",
    )  # fmt: skip
    with pytest.raises(FuseScopeError) as told:
        record(recording, on_progress=when)
    assert "openvino" in str(told.value.where) and "\n" not in told.value.text
    assert seen[-1] == "blocks" and os.listdir(tmp_path) == ["python"]
