"""The recorded sum of jax that is read more than once: every variant has verified groups with every
other. What holds on any machine is looked at, no time."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path

import msgspec
import pytest

from fusescope.analysis.advice import findings
from fusescope.analysis.advice.sides import advised
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.operators import flops
from fusescope.analysis.readers import read_path
from fusescope.analysis.wording.diagnostics import diagnostic_sentence
from fusescope.analysis.wording.fusion.groups import coverage_sentence
from tests.accounts import check_ledger
from tests.repetitions import few

SAMPLE = Path(__file__).parents[3] / "sample_traces" / "cases" / "jax_twice_read.zip"
VARIANTS = ("eager", "unfused", "fused")
PAIRS = [*itertools.combinations(VARIANTS, 2)]


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
    assert found.fusion.inserted == ((), ())
    check_ledger(found)
    told = found.ledger.reconciliation
    assert not told.ungrouped_ns  # no operator is left over


def test_boundaries_were_compared_value_by_value(sample: Experiment) -> None:
    for name in VARIANTS:
        rows = sample.matches[name]
        assert len(rows) >= 6
        assert all(row.relative is not None and row.relative < 1e-5 for row in rows), name
    groups = compared(sample, ("unfused", "fused")).fusion.groups
    assert {group.known_by for group in groups} == {"value", "structure", "name"}
    assert all(
        group.difference is not None for group in groups if group.known_by in ("value", "name")
    )


def test_every_call_of_every_run_is_one_of_the_graph(sample: Experiment) -> None:
    for name, trace in sample.traces.items():
        assert "calls_not_of_graph" not in {note.code for note in trace.diagnostics}, name
        assert set(trace.texts("name")) == set(sample.graphs[name].node), name


def test_a_sum_that_is_read_again_joins_no_operators(sample: Experiment) -> None:
    """log, sqrt and the division read it; only what XLA computes in another way is joined."""
    groups = compared(sample, ("eager", "unfused")).fusion.groups
    found = {" ".join(op.op_type for op in group.original): group.kind for group in groups}
    assert found == {
        "broadcast_in_dim": "removed",
        "mul exp reduce_sum": "fused",  # by a library, whatever the compiler is told
        "log": "kept",
        "sub": "split",
        "div": "split",
        "dot_general": "kept",
        "sqrt": "kept",
        "add": "split",
    }


def test_all_variants_do_the_work_of_the_model(sample: Experiment) -> None:
    assert sample.model_graph is not None
    expected = 2 * 256 * 512 * 64  # [256, 512] · [512, 64]
    model = sample.model_graph
    assert sum(flops.from_graph(node, model) or 0 for node in model.nodes) == expected
    for name, trace in sample.traces.items():
        assert trace.operators["flops"].sum() == expected, name
        assert (trace.operators["op_class"].astype(str) != "unknown").all(), name


def changed(sample: Experiment, name: str, **settings: str | int) -> Experiment:
    """The sample with other settings of one variant."""
    variants = [
        msgspec.structs.replace(one, settings={**one.settings, **settings})
        if one.name == name
        else one
        for one in sample.record.variants
    ]
    record = msgspec.structs.replace(sample.record, variants=variants)
    return dataclasses.replace(sample, record=record)


def test_what_could_not_be_run_by_itself_is_said(sample: Experiment) -> None:
    why = "pure_callback.1: it calls a function of Python"
    told = {"instructions_without_values": 2, "instruction_problem": why}
    found = compared(changed(sample, "fused", **told), ("unfused", "fused"))
    (note,) = (one for one in found.fusion.diagnostics if one.code == "values_missing")
    sentence = diagnostic_sentence(note)
    assert "2 operators could not be run by themselves" in sentence and why in sentence


def test_without_a_graph_names_say_what_belongs_together(sample: Experiment) -> None:
    """As of the profiles of users, which hold the programs: no value was compared."""
    graphs = {name: graph for name, graph in sample.graphs.items() if name != "fused"}
    found = compared(dataclasses.replace(sample, graphs=graphs), ("unfused", "fused"))
    assert found.fusion.source == "members"
    assert found.fusion.mapped_nodes == found.fusion.original_nodes > 0
    assert "Groups are as the trace names them." in coverage_sentence(found)


def test_groups_tell_the_lines_of_the_code(sample: Experiment) -> None:
    rows = compared(sample, ("unfused", "fused")).ledger.rows
    assert rows["source"].str.fullmatch(r"networks\.py:[\d, -]+").all()


@pytest.mark.parametrize("name", few(VARIANTS, {"fused"}))
def test_findings_of_another_engine_keep_silent(sample: Experiment, name: str) -> None:
    others = {"not_optimised", "missed_fusion", "slow_kernel", "graph_growth", "pieces"}
    told = findings(advised(sample, name))
    assert not others & {one.code for one in told.found}
    if name == "fused":  # no advice that cannot be followed
        assert ("costly_fusion", "no_ablation_of_jax") in {
            (u.code, u.reason) for u in told.unanswered
        }
