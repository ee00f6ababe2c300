"""Modules for torch whose inputs are given, by place, by name or by what their function returns."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from fusescope.analysis import readers
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.collectors.environments import state
from fusescope.collectors.environments.catalogue import ENGINES
from fusescope.collectors.record import GivenInput, Recording, record
from tests.accounts import verified_lineage

if state.state_of(ENGINES["torch"]).kind != "ready":
    pytest.skip("torch is not there: fusescope runtimes add torch", allow_module_level=True)

NET = """\
from dataclasses import dataclass
import torch
from torch import nn

@dataclass
class Output:
    hidden: torch.Tensor
    pooled: tuple

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(50, 16)
        self.norm = nn.LayerNorm(16)
        self.linear = nn.Linear(16, 16)

    def forward(self, tokens, *, scale=None, mask=None):
        x = self.embedding(tokens)
        if scale is not None:
            x = x * scale
        y = torch.relu(self.linear(self.norm(x)) + x)
        if mask is not None:
            y = y * mask.unsqueeze(-1)
        return Output(y, (y.mean(1), {"largest": y.amax(1)}))

class Decode(nn.Module):  # writes a key into its cache in place, and counts the steps
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 16)
        self.register_buffer("seen", torch.zeros(1))

    def forward(self, x, cache, position):
        cache.index_copy_(1, position, self.linear(x))
        self.seen.add_(1)
        scores = torch.softmax(x @ cache.transpose(1, 2), -1)
        return torch.relu(scores @ cache) + self.seen

class Cache:  # as one of Hugging Face: an object with layers that hold tensors
    def __init__(self, counts):
        self.layers, self.own = [Layer(counts)], self

class Layer:
    def __init__(self, counts):
        self.keys, self.at = torch.zeros(1, 8, 16), torch.tensor([3])
        self.steps = 0 if counts else None

class Cached(nn.Module):  # takes its cache by a name that its signature does not have
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 16)

    def forward(self, x, **more):
        layer = more["cache"].layers[0]
        layer.keys.index_copy_(1, layer.at, self.linear(x))
        layer.at.add_(1)
        if layer.steps is not None:
            layer.steps += 1
        return {"hidden": torch.relu(x @ layer.keys.transpose(1, 2)), "cache": more["cache"]}

def cached():
    return Cached(), {"x": torch.randn(1, 1, 16), "cache": Cache(False)}

def counted():
    return Cached(), {"x": torch.randn(1, 1, 16), "cache": Cache(True)}

def alone():
    return Net()

def decode():
    return Decode(), (torch.randn(1, 1, 16), torch.randn(1, 8, 16), torch.tensor([5]))

def with_names():
    return Net(), {"tokens": torch.arange(8).reshape(1, 8), "scale": torch.full((16,), 2.0)}
"""


def recorded(folder: Path, function: str, given: tuple[GivenInput, ...]) -> Experiment:
    (folder / "net.py").write_text(NET)
    recording = Recording(
        model=f"{folder}/net.py:{function}",
        runtime="torch",
        variants=("unfused", "fused"),
        given=given,
        out=folder / "out.zip",
        threads=1,
        blocks=1,
        rounds=3,
        run_timeout=900,
    )
    return cast(Experiment, readers.read_path(record(recording, on_progress=lambda step: None)))


def test_a_module_alone_takes_inputs_by_place_and_by_name(tmp_path: Path) -> None:
    given = (
        GivenInput("0", (1, 8), "int64"),
        GivenInput("scale", (16,), low=1, high=2),
        GivenInput("mask", (1, 8), "bool"),
    )
    experiment = recorded(tmp_path, "alone", given)
    inputs = experiment.record.model.inputs
    assert [(one.name, one.dtype, one.shape, one.source) for one in inputs] == [
        ("input_0", "int64", (1, 8), "uniform 0 to 49"),  # as many as the embedding has
        ("scale", "float32", (16,), "uniform 1 to 2"),
        ("mask", "bool", (1, 8), "true"),
    ]
    for name in experiment.graphs:
        verified_lineage(experiment, name)
    graph = experiment.graphs["fused"]
    assert len(graph.outputs) == 3  # of a dataclass, a tuple and a dictionary


def test_a_dictionary_of_inputs_is_given_by_name(tmp_path: Path) -> None:
    experiment = recorded(tmp_path, "with_names", ())
    assert [one.name for one in experiment.record.model.inputs] == ["tokens", "scale"]
    verified_lineage(experiment, "fused")


def test_a_step_that_writes_into_its_cache_begins_with_the_same_each_time(tmp_path: Path) -> None:
    """What a run left is compared too: a cache that had seen more steps would differ."""
    experiment = recorded(tmp_path, "decode", ())
    graph = experiment.model_graph
    assert graph is not None and len(graph.outputs) == 3  # the result, the cache and the count
    for variant in experiment.record.variants:
        assert variant.settings["restored_before_each_run"] == "seen, input_1"
        if variant.output_difference is not None:
            assert (variant.output_difference.absolute or 0.0) < 1e-5
    for name in experiment.graphs:
        verified_lineage(experiment, name)


def test_a_cache_that_is_an_object_is_put_back(tmp_path: Path) -> None:
    """Its tensors are found, also behind names that the signature does not have; it leads back to
    itself. What it holds at the end is compared, once for each tensor."""
    experiment = recorded(tmp_path, "cached", ())
    inputs = [(one.name, one.shape) for one in experiment.record.model.inputs]
    assert inputs == [("x", (1, 1, 16)), ("cache_0", (1, 8, 16)), ("cache_1", (1,))]
    graph = experiment.model_graph
    assert graph is not None and len(graph.outputs) == 3
    for variant in experiment.record.variants:
        assert variant.settings["restored_before_each_run"] == "cache_0, cache_1"
        if variant.output_difference is not None:
            assert (variant.output_difference.absolute or 0.0) < 1e-5
    for name in experiment.graphs:
        verified_lineage(experiment, name)


def test_a_number_that_a_run_changes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FuseScopeError, match="changes a number that cache holds"):
        recorded(tmp_path, "counted", ())


def test_a_dynamic_dimension_is_compiled_for_any_size(tmp_path: Path) -> None:
    given = (GivenInput("0", (1, 8), "int64", dynamic=(1,)),)
    experiment = recorded(tmp_path, "alone", given)
    settings = experiment.record.variant("fused").settings
    assert settings["dynamic_dimensions"] == "input_0: 1"


@pytest.mark.parametrize(
    ("given", "code", "says"),
    [
        ((), "torch_no_inputs", "tokens, scale, mask"),
        ((GivenInput("token", (1, 8), "int64"),), "torch_input_unknown", "tokens, scale, mask"),
    ],
)
def test_what_is_missing_is_named(
    tmp_path: Path, given: tuple[GivenInput, ...], code: str, says: str
) -> None:
    with pytest.raises(FuseScopeError) as caught:
        recorded(tmp_path, "alone", given)
    assert caught.value.code == code and says in str(caught.value)
