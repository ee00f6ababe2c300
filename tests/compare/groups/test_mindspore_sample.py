"""A real recording with MindSpore: one graph kernel of four operators, and what it costs."""

from __future__ import annotations

import io
import zipfile
from collections import Counter
from functools import cache
from pathlib import Path
from typing import cast

import pytest

from fusescope.analysis import readers
from fusescope.analysis.advice import findings
from fusescope.analysis.advice.subject import Subject
from fusescope.analysis.compare import Comparison, compare
from fusescope.analysis.compare.groups.lineage import lineage
from fusescope.analysis.compare.multiple.rungs import RUNGS
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.wording.findings import remedy_text
from tests.accounts import check_ledger

SAMPLE = Path(__file__).parents[3] / "sample_traces" / "mindspore" / "mynet_composite.zip"
CHAIN = ("Default/Mul-op0", "Default/Pow-op0", "Default/Sub-op0", "Default/Mul-op1")


@cache
def sample() -> Experiment:
    return cast(Experiment, readers.read_path(SAMPLE))


@cache
def pair(baseline: str, candidate: str) -> Comparison:
    return compare(*(side_of_variant(sample(), name) for name in (baseline, candidate)))


def test_fused_is_one_kernel_of_the_four_operators_with_the_same_output() -> None:
    model, fused = sample().model_graph, sample().graphs["fused"]
    assert model is not None
    assert tuple(node.name for node in model.nodes) == CHAIN
    (group,) = lineage(model, fused, sample().matches["fused"]).groups
    assert group.original == CHAIN
    assert group.optimised == ("Default/GraphKernel_Mul_Pow_Sub_Mul_fusion-op0",)
    difference = sample().record.variant("fused").output_difference
    assert difference is not None and difference.relative is not None
    assert difference.relative < 1e-6


@pytest.mark.parametrize("name", ["eager", "unfused", "generated"])
def test_each_operator_is_a_group_by_itself_where_nothing_is_fused(name: str) -> None:
    model, graph = sample().model_graph, sample().graphs[name]
    assert model is not None
    found = lineage(model, graph, sample().matches[name])
    assert [group.original for group in found.groups] == [(one,) for one in CHAIN]
    assert {group.known_by for group in found.groups} <= {"value", "name"}
    assert found.mismatches == () and found.unexplained == ()


@pytest.mark.parametrize("baseline", ["eager", "unfused", "generated"])
def test_the_ledger_adds_up_and_every_execution_is_in_it(baseline: str) -> None:
    comparison = pair(baseline, "fused")
    fusion = comparison.fusion
    assert (fusion.source, fusion.boundary_mismatches) == ("graphs", 0)
    assert fusion.mapped_nodes == fusion.original_nodes == 4
    assert comparison.ledger.ungrouped.empty
    check_ledger(comparison)
    codes = {note.code for note in comparison.diagnostics}
    assert not codes & {"calls_not_of_graph", "outside_runs", "not_in_graph"}


def test_every_run_has_the_operators_of_its_variant() -> None:
    for name, trace in sample().traces.items():
        counts = Counter(trace.calls["run"])
        assert set(counts.values()) == {1 if name == "fused" else 4}, name
        assert len(counts) == 6 * 7  # blocks, and profiled runs with two of warm-up
        assert trace.operators["inputs"].notna().all()


def test_the_steps_tell_generated_code_from_fusion() -> None:
    rungs = RUNGS[sample().record.engine.name]
    assert rungs.variants == sample().record.names
    assert rungs.steps["unfused", "generated"] == "code_generation"
    assert rungs.steps["generated", "fused"] == "fusion"
    # The power that AKG generates is slower than MindSpore's own kernel, fused or not.
    assert pair("unfused", "generated").verdict.outcome == "slower"
    assert pair("unfused", "fused").verdict.outcome == "slower"


def test_the_profile_of_a_block_is_one_that_mindspore_wrote(tmp_path: Path) -> None:
    """It opens by itself, and AKG's files beside it tell the members."""
    with zipfile.ZipFile(io.BytesIO(SAMPLE.read_bytes())) as archive:
        for name in archive.namelist():
            if name.startswith("profiles/fused/0/"):
                archive.extract(name, tmp_path)
    trace = readers.read_path(tmp_path / "profiles" / "fused" / "0")
    assert trace.meta.format == "mindspore_cpu"
    assert trace.operators["members"].tolist() == [
        "Default/Mul-op0 + Default/Pow-op0 + Default/Sub-op0 + Default/Mul-op1"
    ]


def test_advice_names_what_mindspore_has() -> None:
    found = findings(Subject(pair("unfused", "fused").candidate, pair("unfused", "fused")))
    (slower,) = (one for one in found.found if one.code == "fused_slower")
    assert "--disable_cluster_ops=Pow" in remedy_text(slower)
    assert "OPTIMIZER" not in remedy_text(slower)
    reasons = {one.code: one.reason for one in found.unanswered}
    # Its provider, "CPU", does not name one of ONNX Runtime's.
    assert reasons["missed_fusion"] == "other_engine"
