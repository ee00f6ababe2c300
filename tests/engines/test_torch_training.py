"""Training steps of torch, for real: forward, backward and the optimizer as one run."""

from __future__ import annotations

from pathlib import Path

import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.wording import coverage_sentence
from fusescope.collectors.environments import state
from fusescope.collectors.environments.catalogue import ENGINES
from tests.accounts import check_ledger, verified_lineage
from tests.engines.test_torch import recorded

if state.state_of(ENGINES["torch"]).kind != "ready":
    pytest.skip("torch is not there: fusescope runtimes add torch", allow_module_level=True)

NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(8)
        self.drop = nn.Dropout(0.1)
        self.out = nn.Linear(8, 10)

    def forward(self, x):
        return self.out(self.drop(torch.relu(self.norm(self.conv(x))).mean((2, 3))))

def make():
    return {
        "module": Net(),
        "inputs": torch.randn(4, 3, 16, 16),
        "targets": torch.randint(0, 10, (4,)),
        "loss": nn.functional.cross_entropy,
        "optimizer": lambda weights: torch.optim.SGD(weights, lr=1e-2, momentum=0.9),
    }

class Random(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(8, 8)

    def forward(self, x):
        return nn.functional.dropout(self.out(x), 0.5, self.training)

def draws():
    return {"module": Random(), "inputs": torch.randn(4, 8), "loss": torch.sum}

def keyed():
    return {"module": Net(), "learning_rate": 1}

def nothing():
    return {"module": Net().requires_grad_(False), "inputs": torch.randn(4, 3, 16, 16)}
"""


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    folder = tmp_path_factory.mktemp("training")
    (folder / "net.py").write_text(NET)
    return recorded(folder, f"{folder}/net.py:make", ("eager", "fused"))


def test_every_operator_of_the_step_is_in_one_verified_group(experiment: Experiment) -> None:
    for name in experiment.graphs:
        verified_lineage(experiment, name)


def test_forward_backward_and_optimizer_are_told_apart(experiment: Experiment) -> None:
    graph = experiment.model_graph
    assert graph is not None
    of = {scope: [one for one in graph.nodes if one.scope == scope]
          for scope in ("conv", "norm", "out", "backward", "optimizer")}  # fmt: skip
    assert all(of.values())
    assert {one.op_type for one in of["conv"]} == {"aten::conv2d"}
    assert any("ConvolutionBackward0" in one.op_type for one in of["backward"])
    assert all(one.op_type.startswith("aten::") for one in of["optimizer"])


def test_state_is_put_back_and_the_results_are_the_same(experiment: Experiment) -> None:
    """The loss, gradients and their weights, running means and what SGD keeps; weights of one more
    step would differ."""
    graph = experiment.model_graph
    assert graph is not None
    weights = 5  # one of the convolution, two of the normalisation, two of the linear layer
    kept = weights  # a mean for each
    buffers = 3  # of the normalisation: two running means and a count
    assert len(graph.outputs) == 1 + weights + weights + kept + buffers
    for variant in experiment.record.variants:
        settings = variant.settings
        assert settings["training_step"] == "forward, backward, SGD"
        assert "conv.weight" in str(settings["restored_before_each_run"])
        assert settings["recompilations"] == 0
        if variant.output_difference is not None:
            assert variant.output_difference.relative is not None
            assert variant.output_difference.relative < 1e-3, variant.name
    settings = experiment.record.variant("fused").settings
    assert (settings["graphs"], settings["backward_graphs"]) == (3, 1)


def test_the_ledger_adds_up_and_says_what_a_run_is(experiment: Experiment) -> None:
    sides = [side_of_variant(experiment, name) for name in ("eager", "fused")]
    comparison = compare(*sides)
    check_ledger(comparison)
    assert "1 of them computes gradients." in coverage_sentence(comparison)
    notes = {note.code: note.values for note in comparison.diagnostics}
    assert notes["training_step"] == {"parts": "forward, backward, SGD"}
    assert "calls_not_of_graph" not in notes
    assert not [group for group in comparison.fusion.groups if group.kind == "folded"]


@pytest.mark.parametrize(
    ("function", "variants", "code"),
    [
        ("draws", ("eager",), "torch_training_random"),
        ("keyed", ("eager",), "torch_training_key"),
        ("nothing", ("eager",), "torch_training_no_weights"),
        ("make", ("eager", "freezing"), "torch_training_frozen"),
    ],
)
def test_what_cannot_be_recorded_is_one_sentence(
    tmp_path: Path, function: str, variants: tuple[str, ...], code: str
) -> None:
    (tmp_path / "net.py").write_text(NET)
    with pytest.raises(FuseScopeError) as told:
        recorded(tmp_path, f"{tmp_path}/net.py:{function}", variants)
    assert told.value.code == code and "\n" not in told.value.text
