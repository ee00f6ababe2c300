"""Recordings with MindSpore, for real: needs the engine (fusescope runtimes add mindspore), 3 GB,
and minutes; part of `make test-engines`."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
from pathlib import Path
from typing import cast

import pytest

from fusescope.analysis import readers
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.groups.lineage import lineage
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.collectors.environments import state
from fusescope.collectors.environments.catalogue import ENGINES
from fusescope.collectors.mindspore.names import BUILT_IN, PASSES
from fusescope.collectors.record import Recording, first_variants, record
from tests.accounts import check_ledger, verified_lineage
from tests.patience import GIVE_UP_S
from tests.security.test_nothing_leaves import Home

if state.state_of(ENGINES["mindspore"]).kind != "ready":
    pytest.skip("mindspore is not there: fusescope runtimes add mindspore",
                allow_module_level=True)  # fmt: skip

MODELS = """
import numpy as np
from mindspore import Tensor, nn, ops

X = Tensor(np.random.default_rng(0).standard_normal((2, 16, 32)).astype("f4"))

class Encoder(nn.Cell):
    '''Products, a softmax, LayerNorm, GELU: operators that are expanded, and views.'''
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm((32,))
        self.up, self.down = nn.Dense(32, 64), nn.Dense(64, 32)
        self.gelu = nn.GELU()
    def construct(self, x):
        scores = ops.softmax(ops.matmul(x, ops.transpose(x, (0, 2, 1))) * 0.2, -1)
        x = x + ops.matmul(scores, x)
        return x + self.down(self.gelu(self.up(self.norm(x))))

class Branches(nn.Cell):
    def construct(self, x):
        return x * 2 if x.sum() > 0 else x + 1

class Idle(nn.Cell):
    def construct(self, x):
        return x

class Unknown(nn.Cell):
    def __init__(self):
        super().__init__()
        self.norm = ops.auto_generate.RmsNorm()
    def construct(self, x):
        return self.norm(x, x[0, 0])[0]

class Shapes(nn.Cell):
    def construct(self, x):
        return ops.matmul(x, x)

def encoder(): return Encoder(), (X,)
def branches(): return Branches(), (X,)
def idle(): return Idle(), (X,)
def unknown(): return Unknown(), (X,)
def shapes(): return Shapes(), (X,)
def raises(): raise KeyError("weights.npz")
def nothing(): return None
def crash():
    import os
    os._exit(3)
"""


def asked(folder: Path, model: str, variants: tuple[str, ...]) -> Recording:
    return Recording(
        model=model,
        runtime="mindspore",
        variants=variants,
        out=folder / "out.zip",
        threads=1,
        blocks=2,
        rounds=3,
        run_timeout=900.0,
    )


def recorded(folder: Path, model: str, variants: tuple[str, ...] = ()) -> Experiment:
    names = variants or first_variants(model, "mindspore")
    path = record(asked(folder, model, names), on_progress=lambda step: None)
    return cast(Experiment, readers.read_path(path))


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("models") / "models.py"
    file.write_text(MODELS)
    return file


@pytest.fixture(scope="module", params=[*BUILT_IN, "encoder"])
def experiment(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, own: Path
) -> Experiment:
    model = f"{own}:encoder" if request.param == "encoder" else request.param
    return recorded(tmp_path_factory.mktemp(request.param), model)


def test_every_operator_is_in_one_verified_group(experiment: Experiment) -> None:
    assert set(experiment.graphs) == set(experiment.record.names)
    for name in experiment.graphs:
        verified_lineage(experiment, name)
        assert "kernels_told_otherwise" not in experiment.record.variant(name).settings


def test_the_ledger_of_every_pair_adds_up_to_the_ns(experiment: Experiment) -> None:
    for baseline, candidate in (("eager", "fused"), ("unfused", "fused"), ("generated", "fused")):
        comparison = compare(*(side_of_variant(experiment, n) for n in (baseline, candidate)))
        check_ledger(comparison)
        fusion = comparison.fusion
        assert fusion.source == "graphs" and fusion.mapped_nodes == fusion.original_nodes > 0
        codes = {note.code for note in comparison.diagnostics}
        assert not codes & {"calls_not_of_graph", "outside_runs", "not_in_graph"}


def test_outputs_are_the_same(experiment: Experiment) -> None:
    for variant in experiment.record.variants:
        difference = variant.output_difference
        if difference is not None:
            limit = 1e-4 if "encoder" in experiment.record.model.name else 1e-6
            assert difference.relative is not None and difference.relative < limit, variant.name
    assert experiment.record.engine.version == ENGINES["mindspore"].version


def test_convolutions_and_products_are_counted(experiment: Experiment) -> None:
    model = experiment.model_graph
    assert model is not None
    heavy = ("Conv2D", "MatMul", "BatchMatMul")
    expected = 0
    for node in (node for node in model.nodes if node.op_type in heavy):
        first, second, made = (
            model.tensor[n].shape or () for n in (*node.inputs[:2], *node.outputs)
        )
        terms = math.prod(second[1:]) if node.op_type == "Conv2D" else first[-1]
        expected += 2 * math.prod(made) * terms
    for name in ("unfused", "fused"):
        operators = experiment.traces[name].operators
        counted = operators[operators["op_type"].isin(heavy)]["flops"].sum()
        assert counted == expected, name


def test_mynet_is_one_graph_kernel_of_mul_and_add(tmp_path: Path) -> None:
    experiment = recorded(tmp_path, "mynet", ("unfused", "fused"))
    model, graph = experiment.model_graph, experiment.graphs["fused"]
    assert model is not None
    (node,) = graph.nodes
    assert node.op_type == "GraphKernel_Mul_Add_fusion"
    (group,) = lineage(model, graph, experiment.matches["fused"]).groups
    assert [model.node[name].op_type for name in group.original] == ["Mul", "Add"]
    difference = experiment.record.variant("fused").output_difference
    assert difference is not None and (difference.absolute or 0.0) <= 1e-6


def test_without_the_pass_that_clusters_nothing_is_fused(tmp_path: Path) -> None:
    names = ("unfused", "fused", "without:graph_kernel_cluster")
    experiment = recorded(tmp_path, "mynet", names)
    kinds = [node.op_type for node in experiment.graphs["without:graph_kernel_cluster"].nodes]
    assert kinds == ["Mul", "Add"]


@pytest.mark.parametrize("name", PASSES)
def test_every_pass_that_is_offered_can_be_left_out(name: str, tmp_path: Path, own: Path) -> None:
    experiment = recorded(tmp_path, f"{own}:encoder", ("unfused", f"without:{name}"))
    difference = experiment.record.variant(f"without:{name}").output_difference
    assert difference is not None and (difference.relative or 0.0) < 1e-4


def test_a_model_of_several_graphs_is_recorded_without_groups(tmp_path: Path, own: Path) -> None:
    experiment = recorded(tmp_path, f"{own}:branches", ("eager", "unfused", "fused"))
    (given,) = experiment.record.model.inputs
    assert (given.name, given.dtype) == ("x", "float32") and experiment.graphs == {}
    for variant in experiment.record.variants:
        assert "graph_missing" in variant.settings and variant.samples.wall_ns, variant.name
    comparison = compare(*(side_of_variant(experiment, name) for name in ("unfused", "fused")))
    assert comparison.fusion.source != "graphs"


@pytest.mark.parametrize(
    ("function", "code", "expected"),
    [
        ("raises", "mindspore_file_raised", "KeyError: 'weights.npz'"),
        ("nothing", "mindspore_no_cell", "The function nothing does not return a model"),
        ("absent", "torch_no_function", "no function absent"),
        ("unknown", "mindspore_no_operator", "does not have the operator RmsNorm on a CPU"),
        (
            "shapes",
            "mindspore_refused",
            "MindSpore refused the model: RuntimeError: For 'MatMulExt'",
        ),
        ("idle", "mindspore_nothing_runs", "MindSpore made no graph of the model: nothing in it"),
        ("crash", "", "models-crash"),
    ],
)
def test_what_cannot_be_recorded_is_one_sentence(
    function: str, code: str, expected: str, tmp_path: Path, own: Path
) -> None:
    with pytest.raises(FuseScopeError) as told:
        recorded(tmp_path, f"{own}:{function}", ("unfused", "fused"))
    assert not code or told.value.code == code
    assert expected in told.value.text and "\n" not in told.value.text
    assert os.listdir(tmp_path) == []
    assert state.state_of(ENGINES["mindspore"]).kind == "ready"


def test_a_worker_that_dies_in_the_middle_is_one_sentence(
    tmp_path: Path,
) -> None:
    """A library of the engine is gone when the blocks begin."""
    folder = state.folder_of(ENGINES["mindspore"])
    (library,) = folder.glob("lib/python*/site-packages/mindspore/lib/libmindspore_ms_backend.so")
    kept = library.with_name("moved-by-a-test")

    def when(step: object) -> None:
        if getattr(step, "stage", "") == "blocks" and library.exists():
            shutil.move(library, kept)

    try:
        with pytest.raises(FuseScopeError) as told:
            record(asked(tmp_path, "mynet", ("unfused", "fused")), on_progress=when)
    finally:
        if kept.exists():
            shutil.move(kept, library)
    assert "\n" not in told.value.text
    assert os.listdir(tmp_path) == []
    assert state.state_of(ENGINES["mindspore"]).kind == "ready"


def test_nothing_is_left_where_one_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MindSpore and AKG write logs and kernels into the working folder."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    recorded(tmp_path, "mynet", ("fused",))
    assert os.listdir(tmp_path / "work") == []


def test_a_recording_asks_nobody_and_leaves_nothing_behind(tmp_path: Path) -> None:
    """The temporary folder's path is too long for a socket, which MindSpore's profiler needs."""
    long = tmp_path / ("a" * 60)
    long.mkdir()
    home = Home(long)
    cache = home.folder / "home" / ".cache" / "fusescope" / "engines"
    cache.parent.mkdir(parents=True)
    cache.symlink_to(state.root())
    done = subprocess.run(
        home.command("collect", "mynet", "--runtime", "mindspore", "--variants", "eager,fused",
                     "--blocks", "1", "--rounds", "3", "--out", "a.zip"),
        cwd=home.folder / "work", env=home.environment, timeout=GIVE_UP_S, check=False,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    ours = ("home/.cache/fusescope/", "work/")
    assert [name for name in home.files() if not name.startswith(ours)] == []
    assert home.reached_out() == []
