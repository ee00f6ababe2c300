"""Kernels of our own inside the engine's session: what they compute, and what refuses them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.collectors import kernels, variants
from fusescope.collectors.derive import inside
from fusescope.collectors.derive.segments import finite_difference
from fusescope.collectors.kernels.loading import groups_of
from fusescope.collectors.kernels.native import compiler, library, translation
from fusescope.collectors.models.model import save
from fusescope.collectors.record import Recording, can_try, variant_names
from fusescope.collectors.runtimes.onnxruntime import PROVIDERS
from fusescope.collectors.workers.jobs import Derived, DeriveJob, SessionSettings
from tests.collectors import test_kernels, test_row_kernels
from tests.collectors.kernel_models import engine, graph_of, model_of, values
from tests.collectors.short_recordings import run, short

pytestmark = pytest.mark.skipif(compiler.path() is None, reason="no C compiler is installed")


def _prefixed(model: onnx.ModelProto, name: str) -> onnx.GraphProto:
    return onnx.compose.add_prefix(model, f"{name}/").graph


@pytest.fixture(scope="module")
def every() -> onnx.ModelProto:
    """Every chain and row that tests of the kernels have, side by side in one model."""
    models = {name: model_of(*case) for name, case in test_kernels.LONG_CHAINS.items()}
    models |= {name: test_row_kernels._model(name)[0] for name in test_row_kernels.CASES}
    parts = [_prefixed(model, name) for name, model in models.items()]
    fields = ("node", "input", "output", "initializer", "value_info")
    joined = {f: list(itertools.chain(*(getattr(part, f) for part in parts))) for f in fields}
    graph = onnx.helper.make_graph(
        joined["node"], "all", joined["input"], joined["output"], joined["initializer"],
        value_info=joined["value_info"],
    )  # fmt: skip
    opset = [onnx.helper.make_opsetid("", 20)]
    return onnx.helper.make_model(graph, opset_imports=opset, ir_version=9)


def _groups(model: onnx.ModelProto) -> list[Any]:
    graph = graph_of(model)
    names = ("softmax", "layer_norm", "elementwise")
    found = list(itertools.chain(*(groups_of(graph, kernels.find(name)) for name in names)))
    taken: set[str] = set()
    left = []
    for group in found:  # rows come first: a chain may be part of one
        members = {node.name for node in group.nodes}
        if taken.isdisjoint(members):
            left.append(group)
            taken |= members
    return left


def _session(model: onnx.ModelProto, file: Path, threads: int) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = threads
    options.register_custom_ops_library(str(file))
    return ort.InferenceSession(model.SerializeToString(), options, providers=PROVIDERS)


@pytest.fixture(scope="module")
def built(every: onnx.ModelProto, tmp_path_factory: pytest.TempPathFactory) -> dict[int, Any]:
    """By the number of threads: a session of the model with our operators, in as many parts."""
    groups, graph = _groups(every), graph_of(every)
    assert len(groups) == len(test_kernels.LONG_CHAINS) + len(test_row_kernels.CASES)
    sessions = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(library, "GRAIN_BYTES", 64)
        for threads in (1, 3):
            made = library.of(groups, inside._shapes(graph), threads)
            folder = tmp_path_factory.mktemp("library") / "built"
            file = compiler.build(made.files, library.SOURCE, folder, compiler.found())
            rewritten = inside._rewritten(every, groups, made.programs, graph)
            assert {node.domain for node in rewritten.graph.node} == {library.DOMAIN}
            sessions[threads] = _session(rewritten, file, threads)
    return sessions


def _inputs(model: onnx.ModelProto) -> dict[str, tuple[int, ...]]:
    return {
        value.name: tuple(size.dim_value for size in value.type.tensor_type.shape.dim)
        for value in model.graph.input
    }


def _engine(model: onnx.ModelProto, feeds: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(model.SerializeToString(), options, providers=PROVIDERS)
    return session.run(None, dict(feeds))


@pytest.mark.parametrize("threads", [1, 3])
def test_every_kernel_computes_what_the_engine_does(
    every: onnx.ModelProto, built: dict[int, Any], threads: int
) -> None:
    feeds = values(_inputs(every))
    theirs = _engine(every, feeds)
    for output, a, b in zip(
        every.graph.output, theirs, built[threads].run(None, feeds), strict=True
    ):
        assert a.shape == b.shape
        assert finite_difference(a.reshape(-1), b.reshape(-1)) < 3e-6, output.name


@pytest.mark.parametrize("rank", [0, 17, 20])
def test_tensors_of_any_rank_are_taken(tmp_path: Path, rank: int) -> None:
    shape = (*[1] * (rank - 2), 3, 4) if rank else ()
    chain = [("LeakyRelu", ["x"], ["a"], {"alpha": -0.25}), ("Neg", ["a"], ["y"], {})]
    model = model_of(chain, {"x": shape}, {})
    groups, graph = _groups(model), graph_of(model)
    made = library.of(groups, inside._shapes(graph), 1)
    file = compiler.build(made.files, library.SOURCE, tmp_path / "built", compiler.found())
    session = _session(inside._rewritten(model, groups, made.programs, graph), file, 1)
    x = np.linspace(-2, 2, int(np.prod(shape)), dtype="float32").reshape(shape)
    [found] = session.run(None, {"x": x})
    np.testing.assert_allclose(found, -np.where(x < 0, -0.25 * x, x), rtol=1e-6)


def test_values_that_are_not_finite_stay_what_they_are(
    every: onnx.ModelProto, built: dict[int, Any]
) -> None:
    feeds = values(_inputs(every))
    for array in feeds.values():
        array.reshape(-1)[:3] = np.nan, np.inf, -np.inf
    with np.errstate(all="ignore"):
        theirs, ours = _engine(every, feeds), built[1].run(None, feeds)
    for output, a, b in zip(every.graph.output, theirs, ours, strict=True):
        finite = np.isfinite(a)
        np.testing.assert_array_equal(a[~finite], b[~finite], output.name)


def test_the_code_holds_no_text_of_the_model() -> None:
    model = model_of(
        [
            ("LeakyRelu", ["x"], ['a"; system("id'], {"alpha": -0.25}),
            ("Neg", ['a"; system("id'], ["y"], {}),
        ],
        {"x": (3, 4)},
        {},
    )
    graph = graph_of(model)
    [group] = groups_of(graph, kernels.find("elementwise"))
    text = library.of([group], inside._shapes(graph), 1).files[library.SOURCE]
    assert "system" not in text
    assert "(-0x1.0000000000000p-2f)" in text


def test_only_what_programs_consist_of_is_translated() -> None:
    source = (
        "def run(y, first, last):\n    import os\n\ndef kernel(y, extent):\n    run(y, 0, extent)"
    )
    with pytest.raises(ValueError, match="import os"):
        translation.program(source, 1, (3,), "program_0")


def two_chains(width: int = 24) -> onnx.ModelProto:
    """Two chains that the engine leaves, with a product between them, and one that it takes."""
    return model_of(
        [
            ("Mul", ["x", "s"], ["a"], {}),
            ("Tanh", ["a"], ["b"], {}),
            ("MatMul", ["b", "w"], ["c"], {}),
            ("Sigmoid", ["c"], ["d"], {}),
            ("Sub", ["d", "x"], ["e"], {}),
            ("Abs", ["e"], ["f"], {}),
            ("Gemm", ["f", "w"], ["g"], {}),
            ("Relu", ["g"], ["y"], {}),
        ],
        {"x": (5, width)},
        {"s": np.linspace(0.5, 1.5, width), "w": np.eye(width) + 0.1},
        opset=17,
    )


def _derived(model: onnx.ModelProto, folder: Path) -> Derived:
    save(model, folder / "given.onnx")
    inputs = values({value.name: _inputs(model)[value.name] for value in model.graph.input})
    np.savez(folder / "inputs.npz", *inputs.values())
    settings = SessionSettings(
        str(folder / "given.onnx"), str(folder / "inputs.npz"), tuple(inputs), 1, False
    )
    (folder / "derived").mkdir()
    job = DeriveJob(settings, "inside:elementwise", str(folder / "derived"))
    return inside.derive(job, variants.find("inside:elementwise"), model)


def test_what_the_engine_fuses_stays_its_own(tmp_path: Path) -> None:
    model = two_chains()
    found = _derived(model, tmp_path)
    rewritten = onnx.load(found.model)
    kinds = [(node.op_type, node.domain) for node in rewritten.graph.node]
    ours = ("FusedElementwise", library.DOMAIN)
    assert [kind for kind in kinds if kind == ours] == [ours] * 2
    assert "Relu" not in {kind for kind, _ in kinds}  # it is part of the engine's product
    made = {name for node in rewritten.graph.node for name in node.output}
    assert {"b", "f", "y"} <= made  # what is left keeps its name
    feeds = values({"x": (5, 24)})
    session = _session(rewritten, Path(str(found.kernel_library)), 1)
    ours_y = session.run(None, feeds)[0]
    assert finite_difference(engine(model, feeds).reshape(-1), ours_y.reshape(-1)) < 1e-6
    assert found.settings["groups"] == 2
    assert found.settings["operators_in_groups"] == 5
    assert found.settings["graph_optimization"] == "all"
    assert "groups_undone" not in found.settings


def _broken(monkeypatch: pytest.MonkeyPatch, old: str) -> None:
    """Makes the text of programs say something else than the operators."""
    whole = translation.program

    def program(source: str, *told: Any) -> tuple[str, int]:
        text, parts = whole(source, *told)
        return text.replace(old, f"0.5f + {old}"), parts

    monkeypatch.setattr(translation, "program", program)


def test_a_kernel_that_differs_is_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _broken(monkeypatch, "fs_tanh(")
    found = _derived(two_chains(), tmp_path)
    rewritten = onnx.load(found.model)
    types = [node.op_type for node in rewritten.graph.node]
    assert types.count("FusedElementwise") == 1
    assert {"Mul", "Tanh"} <= set(types)
    assert found.settings["groups"] == 1
    assert found.settings["groups_undone"] == 1
    told = str(found.settings["groups_undone_because"])
    assert re.fullmatch(r"net/FusedElementwise_0: output difference 0\.\d+", told)


def test_without_a_right_kernel_there_is_no_variant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _broken(monkeypatch, "fs_tanh(")
    _broken(monkeypatch, "fs_sigmoid(")
    with pytest.raises(FuseScopeError) as refused:
        _derived(two_chains(), tmp_path)
    assert refused.value.code == "kernels_undone"


def test_a_kernel_refuses_other_shapes(tmp_path: Path) -> None:
    """It is built for those that ran, and looks at those of every run."""
    found = _derived(two_chains(), tmp_path)
    rewritten = onnx.load(found.model)
    for value in (*rewritten.graph.input, *rewritten.graph.output, *rewritten.graph.value_info):
        for size in value.type.tensor_type.shape.dim[:1]:
            size.dim_param = "n"
    session = _session(rewritten, Path(str(found.kernel_library)), 1)
    with pytest.raises(Exception, match="tensors of another shape"):
        session.run(None, values({"x": (6, 24)}))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("recorded")
    save(two_chains(), folder / "chains.onnx")
    names = ("unfused", "fused", "inside:elementwise")
    file, _ = run(short(folder / "chains.onnx", folder / "out.zip", variants=names))
    return file


def test_one_session_beside_fused(recorded) -> None:
    assert recorded.record.names == ("unfused", "fused", "inside:elementwise")  # nothing is cut
    ours, fused = recorded.record.variant("inside:elementwise"), recorded.record.variant("fused")
    assert ours.settings["execution"] == "one session"
    assert ours.output_difference is not None
    assert ours.output_difference.relative < 1e-5
    assert fused.nodes is not None
    assert ours.nodes == fused.nodes - 3  # Mul + Tanh, Sigmoid + Sub + Abs
    profile = ours.profiles[0].file
    ran = {e["args"].get("op_name") for e in recorded.events(profile) if e.get("cat") == "Node"}
    assert "FusedElementwise" in ran


def test_lineage_goes_through_our_operators(recorded) -> None:
    value = read(Source(recorded.path.name, recorded.path.read_bytes()))
    assert isinstance(value, Experiment)
    sides = [side_of_variant(value, name) for name in ("unfused", "inside:elementwise")]
    found = compare(*sides).fusion
    assert found.source == "graphs"
    pairs = [
        ([op.op_type for op in group.original], [op.op_type for op in group.candidate])
        for group in found.groups
    ]
    assert (["Mul", "Tanh"], ["FusedElementwise"]) in pairs
    assert (["Sigmoid", "Sub", "Abs"], ["FusedElementwise"]) in pairs


def test_a_model_that_the_engine_fuses_whole_is_refused(tmp_path: Path) -> None:
    model = model_of(
        [("MatMul", ["x", "w"], ["a"], {}), ("Relu", ["a"], ["y"], {})],
        {"x": (3, 4)},
        {"w": np.eye(4)},
        opset=17,
    )
    save(model, tmp_path / "one.onnx")
    with pytest.raises(FuseScopeError) as refused:
        run(short(tmp_path / "one.onnx", tmp_path, variants=("fused", "inside:elementwise")))
    assert refused.value.code == "kernel_nothing_inside"


def test_without_a_compiler_it_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert can_try("inside:softmax")
    assert "inside:softmax" in variant_names()
    monkeypatch.setattr(compiler, "NAMES", ("no-such-compiler",))
    assert not can_try("inside:softmax")
    assert "inside:softmax" not in variant_names()
    with pytest.raises(FuseScopeError) as refused:
        Recording("mul_add", variants=("fused", "inside:elementwise")).plan()
    assert refused.value.code == "c_compiler_missing"


def test_a_kernel_that_fuses_nothing_cannot_be_inside() -> None:
    with pytest.raises(FuseScopeError) as refused:
        variants.find("inside:depthwise_conv")
    assert refused.value.code == "kernel_fuses_nothing"


def test_a_compiler_that_fails_is_named(tmp_path: Path) -> None:
    with pytest.raises(FuseScopeError) as refused:
        compiler.build({"a.c": "no C"}, "a.c", tmp_path / "built", compiler.found())
    assert refused.value.code == "c_compiler_failed"
