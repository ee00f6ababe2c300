"""Triton kernels of torch.compile, watched while Triton's interpreter runs them: needs Triton in
torch's environment, or in PYTHONPATH (pip install --no-deps --target FOLDER triton)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fusescope.analysis.compare.groups.lineage import Lineage, lineage
from fusescope.analysis.experiment import TensorMatch
from fusescope.analysis.graph import Graph, parse_graph
from tests.torch_python import TORCH, in_torchs_python

NET = """
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(32)
        self.up = torch.nn.Linear(32, 32)
    def forward(self, x):
        y = torch.nn.functional.gelu(self.up(self.norm(x)))
        return torch.softmax(y + x, -1) * 2
def make():
    return Net(), (torch.randn(8, 32),)
"""


class Seen(msgspec.Struct):
    graph: msgspec.Raw
    matches: list[TensorMatch]

    def parsed(self) -> Graph:
        return parse_graph(bytes(self.graph), "")


if TORCH.kind != "ready" or in_torchs_python("-c", "import triton").returncode:
    pytest.skip("Triton is not there", allow_module_level=True)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Seen]:
    """What is seen of each variant of a small model."""
    folder = tmp_path_factory.mktemp("triton")
    (folder / "net.py").write_text(NET)
    script = str(Path(__file__).with_name("triton_on_cpu.py"))
    done = in_torchs_python(script, f"{folder / 'net.py'}:make")
    assert not done.returncode, done.stderr[-2000:]
    return msgspec.json.decode(done.stdout.splitlines()[-1], type=dict[str, Seen])


def groups_of(seen: dict[str, Seen], variant: str) -> Lineage:
    """The groups, of which each operator of both graphs is in one, and no boundary differs."""
    model, graph = seen["eager"].parsed(), seen[variant].parsed()
    found = lineage(model, graph, seen[variant].matches)
    for nodes, owned in (
        (model.nodes, [node for group in found.groups for node in group.original]),
        (graph.nodes, [node for group in found.groups for node in group.optimised]),
    ):
        assert Counter(owned) == Counter(node.name for node in nodes)
    assert found.unexplained == () and found.mismatches == () and found.inserted == ()
    return found


def triton_nodes(seen: Seen) -> list[Any]:
    return [node for node in seen.parsed().nodes if node.name.startswith("triton_")]


def test_kernels_are_in_groups_that_their_values_prove(seen: dict[str, Seen]) -> None:
    sizes = {group.optimised[0]: len(group.original) for group in groups_of(seen, "fused").groups}
    assert sizes == {
        "triton_per_fused_native_layer_norm_0:1": 1,
        "addmm:2": 1,
        "triton_per_fused__softmax_add_gelu_mul_1:3": 4,
    }


def test_without_fusion_every_operator_has_a_kernel(seen: dict[str, Seen]) -> None:
    groups_of(seen, "unfused")
    assert len(triton_nodes(seen["unfused"])) > 15 > len(triton_nodes(seen["fused"]))


def test_one_fusion_is_left_out_and_the_other_stays(seen: dict[str, Seen]) -> None:
    [variant] = [name for name in seen if name.startswith("without:")]
    assert variant == "without:triton_per_fused_native_layer_norm_0:1"
    groups_of(seen, variant)
    names = [node.op_type for node in triton_nodes(seen[variant])]
    assert names.count("triton_per_fused__softmax_add_gelu_mul") == 1
    assert sum("native_layer_norm" in name for name in names) == 10
