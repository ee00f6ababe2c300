"""Recordings of torch, for real: needs the engine (fusescope runtimes add torch) and minutes."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from fusescope.analysis import readers
from fusescope.analysis.compare import Comparison, compare
from fusescope.analysis.compare.ablation import ablation
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.wording import coverage_sentence
from fusescope.collectors.environments import state
from fusescope.collectors.environments.catalogue import ENGINES
from fusescope.collectors.record import Recording, record
from fusescope.collectors.torch.names import BUILT_IN
from fusescope.collectors.workers.placement import AS_IT_IS, Placement
from tests.accounts import check_ledger, verified_lineage

if state.state_of(ENGINES["torch"]).kind != "ready":
    pytest.skip("torch is not there: fusescope runtimes add torch", allow_module_level=True)

VARIANTS = ("eager", "captured", "unfused", "fused", "freezing")


def recorded(
    folder: Path,
    model: str,
    variants: tuple[str, ...] = VARIANTS,
    *,
    ablate: bool = False,
    placement: Placement = AS_IT_IS,
) -> Experiment:
    recording = Recording(
        model=model,
        runtime="torch",
        variants=variants,
        ablate=ablate,
        placement=placement,
        out=folder / "out.zip",
        threads=1,
        blocks=1,
        rounds=3,
        run_timeout=900,
    )
    path = record(recording, on_progress=lambda step: None)
    return cast(Experiment, readers.read_path(path))


@pytest.fixture(scope="module", params=sorted(BUILT_IN))
def experiment(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Experiment:
    return recorded(tmp_path_factory.mktemp(request.param), f"torch:{request.param}")


def pairs(experiment: Experiment) -> list[Comparison]:
    names = [name for name in experiment.record.names if name != "eager"]
    first = side_of_variant(experiment, "eager")
    return [compare(first, side_of_variant(experiment, name)) for name in names]


def test_every_operator_is_in_one_verified_group(experiment: Experiment) -> None:
    for name in experiment.graphs:
        verified_lineage(experiment, name)


def test_calls_are_joined_to_the_graph(experiment: Experiment) -> None:
    for name, trace in experiment.traces.items():
        assert "calls_not_of_graph" not in {note.code for note in trace.diagnostics}, name
        named = set(trace.operators["name"].astype(str))
        assert {node.name for node in experiment.graphs[name].nodes} <= named, name


def test_outputs_are_the_same(experiment: Experiment) -> None:
    for variant in experiment.record.variants:
        difference = variant.output_difference
        if difference is not None:
            assert difference.relative is not None and difference.relative < 1e-5, variant.name


def test_the_ledger_adds_up(experiment: Experiment) -> None:
    for comparison in pairs(experiment):
        check_ledger(comparison)


def test_kernels_of_equal_name_are_told_apart(experiment: Experiment) -> None:
    """`unfused` has names of `fused`, and other operators behind them."""
    unfused, fused = experiment.graphs["unfused"], experiment.graphs["fused"]
    assert len(unfused.nodes) > len(fused.nodes)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def make():\n    return 1\n", "does not return a model"),
        ("def other():\n    pass\n", "has no function make"),
        ("import nothing_of_that_name\n", "nothing_of_that_name"),
        ("def make():\n    raise ValueError('no weights')\n", "ValueError: no weights"),
        (
            "from torch import ones\n"
            + "def make():\n    return lambda xs: xs.append(xs[0]) or xs[0] * 2, ([ones(8)],)\n",
            "a tensor of another shape in place of input_1",
        ),
    ],
)
def test_a_file_without_a_model_is_one_sentence(tmp_path: Path, text: str, expected: str) -> None:
    (tmp_path / "net.py").write_text(text)
    with pytest.raises(FuseScopeError) as told:
        recorded(tmp_path, f"{tmp_path}/net.py:make", ("eager",))
    assert expected in told.value.text and "\n" not in told.value.text
    assert not list(tmp_path.glob("*.zip*"))


def test_graph_breaks_are_counted_and_part_of_the_ledger(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "import torch\n"
        "class Broken(torch.nn.Module):\n"
        "    def forward(self, x):\n"
        "        y = torch.tanh(x * 2 + 1)\n"
        "        torch._dynamo.graph_break()\n"
        "        return torch.sigmoid(y - 1).sum(-1)\n"
        "def make():\n"
        "    return Broken(), (torch.randn(64, 64),)\n"
    )
    experiment = recorded(tmp_path, f"{tmp_path}/net.py:make", ("eager", "fused"))
    settings = experiment.record.variant("fused").settings
    assert (settings["graphs"], settings["graph_breaks"]) == (2, 1)
    test_every_operator_is_in_one_verified_group(experiment)
    test_calls_are_joined_to_the_graph(experiment)


def test_what_runs_between_parts_of_a_broken_graph_is_in_the_ledger(tmp_path: Path) -> None:
    """An operator that is not compiled, and a number that decides which branch is taken."""
    (tmp_path / "net.py").write_text(
        "import torch\n"
        "@torch.compiler.disable\n"
        "def helper(y):\n"
        "    return torch.cumsum(y, -1) * y\n"
        "class Broken(torch.nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.up = torch.nn.Linear(64, 64)\n"
        "    def forward(self, x):\n"
        "        y = torch.tanh(self.up(x) * 2 + 1)\n"
        "        y = y - 1 if y.sum() > 0 else y + 1\n"
        "        return torch.sigmoid(helper(y) * 3).sum(-1)\n"
        "def make():\n"
        "    return Broken(), (torch.ones(64, 64),)\n"
    )
    names = ("eager", "captured", "unfused", "fused")
    experiment = recorded(tmp_path, f"{tmp_path}/net.py:make", names)
    assert experiment.record.variant("fused").settings["graphs"] == 3
    test_every_operator_is_in_one_verified_group(experiment)
    test_calls_are_joined_to_the_graph(experiment)
    fused = experiment.graphs["fused"]
    between = {node.op_type: node.name for node in fused.nodes if "@" in node.name}
    scopes = {node.op_type: node.scope for node in (experiment.model_graph or fused).nodes}
    assert all(node.scope == scopes[node.op_type] for node in fused.nodes if "@" in node.name)
    assert between == {
        "aten::is_nonzero": "is_nonzero@1", "aten::cumsum": "cumsum@2", "aten::mul": "mul@3",
    }  # fmt: skip
    for comparison in pairs(experiment):
        kinds = {op.name: group.kind for group in comparison.fusion.groups for op in group.original}
        assert "removed" not in kinds.values() and kinds["cumsum"] == "kept"
        assert comparison.ledger.ungrouped.empty


def test_gradients_are_in_the_ledger(tmp_path: Path) -> None:
    """The compiler writes no map of the graph that computes them."""
    (tmp_path / "net.py").write_text(
        "import torch\n"
        "def make():\n"
        "    weight = torch.randn(64, 64)\n"
        "    def step(x):\n"
        "        with torch.enable_grad():\n"
        "            w = weight.detach().requires_grad_(True)\n"
        "            y = torch.nn.functional.gelu(x @ w) * 2 + 1\n"
        "            (y * y).mean().backward()\n"
        "        return w.grad\n"
        "    return step, (torch.randn(128, 64),)\n"
    )
    experiment = recorded(tmp_path, f"{tmp_path}/net.py:make", ("eager", "unfused", "fused"))
    settings = experiment.record.variant("fused").settings
    assert (settings["graphs"], settings["backward_graphs"], settings["graph_breaks"]) == (2, 1, 0)
    test_every_operator_is_in_one_verified_group(experiment)
    for comparison in pairs(experiment):
        assert comparison.fusion.source == "graphs"
        assert "1 of them computes gradients." in coverage_sentence(comparison)


def test_each_large_fusion_is_left_out_by_itself(tmp_path: Path) -> None:
    experiment = recorded(tmp_path, "torch:twice_read", (), ablate=True)
    table = ablation(experiment)
    assert table is not None and table.attrs["of"] == "fusion"
    assert not table.attrs["refused"] and len(table) == 2
    fused = experiment.graphs["fused"]
    assert set(table["optimizer"]) <= {node.name for node in fused.nodes}
    assert (table["nodes_without"] > table["nodes_all"]).all()
    test_every_operator_is_in_one_verified_group(experiment)
    test_outputs_are_the_same(experiment)


def test_a_fusion_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FuseScopeError, match="makes no fused kernel cpp_fused_no_0:1"):
        recorded(tmp_path, "torch:twice_read", ("fused", "without:cpp_fused_no_0:1"))


def test_kernels_left_apart_have_a_reason(experiment: Experiment) -> None:
    assert {"fused", "freezing"} <= experiment.not_fused.keys()
    for name, rows in experiment.not_fused.items():
        nodes = {node.name for node in experiment.graphs[name].nodes}
        assert {row.first for row in rows} | {row.second for row in rows} <= nodes
        assert rows and all(row.reason for row in rows), name


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_in_half_precision_every_operator_is_in_one_verified_group(
    tmp_path: Path, dtype: str
) -> None:
    experiment = recorded(
        tmp_path, "torch:transformer", ("eager", "unfused", "fused"), placement=Placement(dtype)
    )
    test_every_operator_is_in_one_verified_group(experiment)
    test_calls_are_joined_to_the_graph(experiment)
    graph = experiment.graphs["fused"]
    assert {graph.tensor[name].dtype for name in graph.outputs} == {dtype}
    for variant in experiment.record.variants:
        assert variant.dtype == dtype
        found = variant.dtype_difference
        assert found is not None and found.relative is not None
        assert 1e-5 < found.relative < 0.05  # it is rounded, and no other model
    for comparison in pairs(experiment):
        check_ledger(comparison)
        codes = {note.code for note in comparison.diagnostics}
        assert "large_output_difference" not in codes


def test_integers_stay_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "import torch\n"
        "class Embeds(torch.nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.table = torch.nn.Embedding(64, 32)\n"
        "        self.register_buffer('step', torch.arange(16))\n"
        "    def forward(self, tokens, scale):\n"
        "        return torch.relu(self.table(tokens + self.step) * scale + 1)\n"
        "def make():\n"
        "    return Embeds(), (torch.arange(16), torch.rand(16, 32))\n"
    )
    model = f"{tmp_path}/net.py:make"
    experiment = recorded(tmp_path, model, ("eager", "fused"), placement=Placement("bfloat16"))
    dtypes = {one.name: one.dtype for one in experiment.record.model.inputs}
    assert dtypes == {"input_0": "int64", "input_1": "bfloat16"}
    test_every_operator_is_in_one_verified_group(experiment)
