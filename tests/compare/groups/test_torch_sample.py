"""The recorded transformer of torch: nothing of it is left out, and nothing is called what it is
not. What holds on any machine is looked at, no time."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from fusescope.analysis.advice import findings
from fusescope.analysis.advice.remedies import remedies
from fusescope.analysis.advice.sides import advised
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.operators.classes import is_heavy
from fusescope.analysis.readers import read_path
from tests.accounts import check_ledger
from tests.repetitions import few

SAMPLE = Path(__file__).parents[3] / "sample_traces" / "cases" / "torch_transformer.zip"
STEPS = ("eager", "captured", "unfused", "fused")
PAIRS = [*pairwise(STEPS), ("eager", "fused")]
# Findings that rest on rules, optimizers or sessions of ONNX Runtime.
OTHERS = {"not_optimised", "missed_fusion", "slow_kernel", "graph_growth", "pieces"}


@pytest.fixture(scope="module")
def sample() -> Experiment:
    found = read_path(SAMPLE)
    assert isinstance(found, Experiment)
    return found


def compared(sample: Experiment, pair: tuple[str, str]) -> Comparison:
    return compare(*(side_of_variant(sample, name) for name in pair))


@pytest.mark.parametrize("pair", few(PAIRS, {("eager", "fused")}), ids="-".join)
def test_every_operator_is_in_one_group_and_the_ledger_adds_up(
    sample: Experiment, pair: tuple[str, str]
) -> None:
    found = compared(sample, pair)
    assert sample.model_graph is not None
    names = [op.name for group in found.fusion.groups for op in group.original]
    assert sorted(names) == sorted(node.name for node in sample.model_graph.nodes)
    assert (found.fusion.source, found.fusion.boundary_mismatches) == ("graphs", 0)
    check_ledger(found)


def test_every_call_of_every_run_is_one_of_the_graph(sample: Experiment) -> None:
    assert "calls_not_of_graph" not in {
        note.code for trace in sample.traces.values() for note in trace.diagnostics
    }


def test_kernels_of_one_name_are_told_apart(sample: Experiment) -> None:
    first, second = (set(sample.graphs[name].node) for name in ("unfused", "fused"))
    shared = {name for name in first & second if name.startswith("cpp_fused")}
    assert (
        shared
    )  # 'cpp_fused_native_layer_norm_0:1' sums up in the one, and normalises in the other
    rows = compared(sample, ("unfused", "fused")).operators
    assert not ((rows["side"] == "both") & rows["name"].isin(shared)).any()


def test_a_kernel_stands_beside_one_of_its_own_group_or_of_none(sample: Experiment) -> None:
    """Two layers have kernels of one name and shape."""
    found = compared(sample, ("unfused", "fused"))
    sides = [
        {op.name: group.id for group in found.fusion.groups for op in getattr(group, side)}
        for side in ("baseline", "candidate")
    ]
    names = [side.trace.texts("name") for side in (found.baseline, found.candidate)]
    both = found.operators[found.operators["side"] == "both"]
    for before, after in zip(both["operator_baseline"], both["operator_candidate"], strict=True):
        assert sides[0][names[0][int(before)]] == sides[1][names[1][int(after)]]
    assert len(both) >= 10  # products and attention are called on either side


def test_layer_norm_gelu_and_linear_become_what_they_are(sample: Experiment) -> None:
    groups = compared(sample, ("unfused", "fused")).fusion.groups
    kinds = {op.op_type: group.kind for group in groups for op in group.original}
    assert (kinds["aten::gelu"], kinds["aten::layer_norm"]) == ("fused", "fused")
    assert kinds["aten::linear"] == "kept"
    captured = compared(sample, ("eager", "captured")).fusion.groups
    assert "fused" not in {group.kind for group in captured}  # one operator after the other


def test_attention_that_is_written_out_becomes_an_operator_of_torch(sample: Experiment) -> None:
    """The compiler recognises the products and the softmax also where every fusion is off."""
    groups = compared(sample, ("captured", "unfused")).fusion.groups
    found = [
        group.kind
        for group in groups
        if [op.op_type for op in group.candidate]
        == ["aten::_scaled_dot_product_flash_attention_for_cpu"]
    ]
    assert found == ["fused", "fused"]


def test_work_is_counted_and_called_heavy(sample: Experiment) -> None:
    for name in STEPS:
        table = sample.traces[name].operators
        heavy = table[[is_heavy(of) for of in table["op_class"].astype(str)]]
        assert len(heavy) >= 10  # eight linear layers, two attentions
        assert heavy["flops"].notna().all(), name
        assert (table["op_class"].astype(str) != "unknown").all()


def test_groups_tell_the_lines_of_the_code(sample: Experiment) -> None:
    rows = compared(sample, ("unfused", "fused")).ledger.rows
    assert rows["source"].str.fullmatch(r"networks\.py:[\d, -]+").all()


@pytest.mark.parametrize("name", few(STEPS, {"fused"}))
def test_findings_of_another_engine_keep_silent(sample: Experiment, name: str) -> None:
    subject = advised(sample, name)
    found = findings(subject)
    assert not OTHERS & {one.code for one in found.found}
    assert remedies(subject, found) == ()
