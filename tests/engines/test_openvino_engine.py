"""Recordings with OpenVINO, for real: needs the engine (fusescope runtimes add openvino). `make
test-openvino` adds it and runs these, a minute in all; CI does that."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import cast

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from fusescope.analysis import readers
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.compare.groups.lineage import lineage
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.operators import flops
from fusescope.collectors.environments import state
from fusescope.collectors.environments.catalogue import ENGINES
from fusescope.collectors.record import Recording, record
from tests.accounts import check_ledger, verified_lineage
from tests.patience import GIVE_UP_S
from tests.security.test_nothing_leaves import Home

if state.state_of(ENGINES["openvino"]).kind != "ready":
    pytest.skip("openvino is not there: fusescope runtimes add openvino", allow_module_level=True)

VARIANTS = ("marked", "fused", "throughput", "threads:1")


def net(path: Path) -> str:
    """Convolution, normalisation and ReLU; a convolution and a sum with what came before; a
    sigmoid gate; a mean over places."""
    chance = np.random.default_rng(0)

    def weight(name: str, *shape: int) -> onnx.TensorProto:
        values = (chance.standard_normal(shape) * 0.2).astype("f4")
        return numpy_helper.from_array(values, name)

    ones = [numpy_helper.from_array(np.full(8, value, "f4"), name) for name, value in
            (("scale", 1.5), ("shift", 0.1), ("mean", 0.2), ("variance", 0.9))]  # fmt: skip
    nodes = [
        helper.make_node("Conv", ["x", "w1"], ["a"], "stem/conv", pads=[1, 1, 1, 1]),
        helper.make_node(
            "BatchNormalization", ["a", "scale", "shift", "mean", "variance"], ["b"], "stem/norm"
        ),
        helper.make_node("Relu", ["b"], ["c"], "stem/relu"),
        helper.make_node("Conv", ["c", "w2"], ["d"], "block/conv", pads=[1, 1, 1, 1]),
        helper.make_node("Add", ["d", "c"], ["e"], "block/sum"),
        helper.make_node("Sigmoid", ["e"], ["f"], "gate/sigmoid"),
        helper.make_node("Mul", ["e", "f"], ["g"], "gate/product"),
        helper.make_node("GlobalAveragePool", ["g"], ["y"], "head"),
    ]
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8, 48, 48])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 8, 1, 1])],
        [weight("w1", 8, 8, 3, 3), weight("w2", 8, 8, 3, 3), *ones],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, path)
    return str(path)


def asked(folder: Path, model: str, variants: tuple[str, ...]) -> Recording:
    return Recording(
        model=model,
        runtime="openvino",
        variants=variants,
        out=folder / "out.zip",
        threads=1,
        blocks=2,
        rounds=3,
    )


def recorded(folder: Path, model: str, variants: tuple[str, ...] = VARIANTS) -> Experiment:
    path = record(asked(folder, model, variants), on_progress=lambda step: None)
    return cast(Experiment, readers.read_path(path))


@pytest.fixture(scope="module", params=["net", "mobilenetv2", "transformer_encoder"])
def experiment(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Experiment:
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "net":
        return recorded(folder, net(folder / "net.onnx"))
    return recorded(folder, request.param, ("marked", "fused"))


def test_every_operator_is_in_one_verified_group(experiment: Experiment) -> None:
    assert set(experiment.graphs) == set(experiment.record.names)
    for name in experiment.graphs:
        found = verified_lineage(experiment, name)
        runs = [group for group in found.groups if group.fate == "runs"]
        proven = [group for group in runs if group.known_by in ("name", "value")]
        assert len(proven) >= 0.8 * len(runs), name


def test_marked_runs_the_operators_one_by_one(experiment: Experiment) -> None:
    model = experiment.model_graph
    assert model is not None
    found = lineage(model, experiment.graphs["marked"], experiment.matches["marked"])
    sizes = Counter(len(group.original) for group in found.groups)
    assert sizes[1] >= 0.8 * len(found.groups)
    kinds = {experiment.graphs["marked"].node[name].op_type for name in found.inserted}
    assert kinds <= {"Reorder", "Output", "Convert"} and "Output" in kinds


def test_a_pair_with_marked_has_groups_and_no_speedup(experiment: Experiment) -> None:
    comparison = compare(*choose_sides(experiment))
    assert (comparison.baseline.label, comparison.candidate.label) == ("marked", "fused")
    verdict = comparison.verdict
    assert (verdict.reason, verdict.speedup, verdict.interval) == ("marked", None, None)
    fusion = comparison.fusion
    assert (fusion.source, fusion.boundary_mismatches) == ("graphs", 0)
    assert fusion.mapped_nodes == fusion.original_nodes > 0
    assert fusion.largest < 20
    codes = {note.code for note in comparison.diagnostics}
    assert not codes & {"not_in_graph", "unexplained_operators"}
    reasons = set(comparison.ledger.ungrouped["reason"])
    assert reasons <= {"inserted"}
    check_ledger(comparison)


def test_layers_are_those_of_the_graph_in_every_process(experiment: Experiment) -> None:
    for name, trace in experiment.traces.items():
        nodes = experiment.graphs[name].node
        assert set(trace.texts("name")) <= set(nodes), name
        assert set(trace.profiled_runs["block"]) == {0, 1}
        assert trace.calls["run"].notna().all()


def test_heavy_layers_do_the_work_of_the_model(experiment: Experiment) -> None:
    model = experiment.model_graph
    assert model is not None
    heavy = ("Conv", "Gemm")
    expected = sum(flops.from_graph(n, model) or 0 for n in model.nodes if n.op_type in heavy)
    if not expected:
        pytest.skip("products alone, of which some are inside a Subgraph")
    for name, trace in experiment.traces.items():
        assert trace.operators["flops"].sum() == expected, name


def test_outputs_are_the_same(experiment: Experiment) -> None:
    for variant in experiment.record.variants:
        difference = variant.output_difference
        if difference is not None:
            assert difference.relative is not None and difference.relative < 1e-3, variant.name
        assert variant.settings["inference_precision"] == "f32"
    assert experiment.record.engine.version == ENGINES["openvino"].version


def test_normalisation_sum_and_gate_are_known_though_the_engine_lists_not_all(
    tmp_path: Path,
) -> None:
    experiment = recorded(tmp_path, net(tmp_path / "net.onnx"), ("marked", "fused"))
    model = experiment.model_graph
    assert model is not None
    groups = lineage(model, experiment.graphs["fused"], experiment.matches["fused"]).groups
    assert all(group.known_by in ("name", "value") for group in groups)
    stem = next(group for group in groups if "stem/norm" in group.original)
    assert {"stem/conv", "stem/norm", "stem/relu"} <= set(stem.original)
    listed = experiment.graphs["fused"].node[stem.optimised[-1]].attributes["listed"]
    assert "stem/conv" not in str(listed)  # the engine forgets it
    assert {row.relative is not None and row.relative < 1e-4 for row in
            experiment.matches["fused"]} == {True}  # fmt: skip


def test_operators_that_it_does_not_have_are_named_and_nothing_is_written(
    tmp_path: Path,
) -> None:
    graph = helper.make_graph(
        [
            helper.make_node("Frobnicate", ["x"], ["m"], "f", domain="my.ops"),
            helper.make_node("Det", ["m"], ["y"], "d"),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [])],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("my.ops", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), tmp_path / "bad.onnx")
    with pytest.raises(FuseScopeError) as told:
        recorded(tmp_path, str(tmp_path / "bad.onnx"), ("fused",))
    assert told.value.code == "openvino_no_operator"
    assert "does not have the operators Det, my.ops.Frobnicate (" in told.value.text
    assert "\n" not in told.value.text
    assert os.listdir(tmp_path) == ["bad.onnx"]
    assert state.state_of(ENGINES["openvino"]).kind == "ready"


def test_a_recording_asks_nobody_and_leaves_nothing_behind(tmp_path: Path) -> None:
    """OpenVINO's telemetry would write below ~/intel and look for a machine."""
    home = Home(tmp_path)
    cache = home.folder / "home" / ".cache" / "fusescope" / "engines"
    cache.parent.mkdir(parents=True)
    cache.symlink_to(state.root())
    model = net(home.folder / "work" / "net.onnx")
    done = subprocess.run(
        home.command("collect", model, "--runtime", "openvino", "--variants", "fused",
                     "--blocks", "1", "--rounds", "3", "--out", "a.zip"),
        cwd=home.folder / "work", env=home.environment, timeout=GIVE_UP_S, check=False,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    ours = ("home/.cache/fusescope/", "work/")
    assert [name for name in home.files() if not name.startswith(ours)] == []
    assert home.reached_out() == []


def test_a_worker_that_dies_in_the_middle_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine's library is gone when the blocks begin."""
    model = net(tmp_path / "net.onnx")
    recording = asked(tmp_path, model, ("fused",))
    folder = state.folder_of(ENGINES["openvino"])
    (library,) = folder.glob("lib/python*/site-packages/openvino/libs/libopenvino_intel_cpu*")
    kept = library.with_name("moved-by-a-test")

    def when(step: object) -> None:
        if getattr(step, "stage", "") == "blocks" and library.exists():
            shutil.move(library, kept)

    try:
        with pytest.raises(FuseScopeError) as told:
            record(recording, on_progress=when)
    finally:
        if kept.exists():
            shutil.move(kept, library)
    assert "\n" not in told.value.text
    assert os.listdir(tmp_path) == ["net.onnx"]
    assert state.state_of(ENGINES["openvino"]).kind == "ready"
    assert recorded(tmp_path, model, ("fused",)).record.outcome.blocks == 2
