"""A real recording with OpenVINO: groups, ledger, and no speedup beside `marked`."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import cast

import pytest

from fusescope.analysis import readers
from fusescope.analysis.advice import Subject, findings
from fusescope.analysis.compare import Comparison, compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.compare.timing.run_times import run_times
from fusescope.analysis.compare.timing.verdict import decided
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.gate.condition import parse_condition
from fusescope.analysis.gate.judgement import judge
from fusescope.analysis.wording.fusion.statements import fusion_sentence
from fusescope.analysis.wording.fusion.terms import no_shares_sentence
from fusescope.analysis.wording.sentences import verdict_sentence
from tests.accounts import check_ledger, verified_lineage

SAMPLE = Path(__file__).parents[3] / "sample_traces" / "openvino" / "mobilenetv2.zip"


@cache
def sample() -> Experiment:
    return cast(Experiment, readers.read_path(SAMPLE))


@cache
def pair() -> Comparison:
    return compare(*choose_sides(sample()))


def test_what_runs_operators_one_by_one_comes_before_what_fuses_them() -> None:
    assert (pair().baseline.label, pair().candidate.label) == ("marked", "fused")
    assert sample().record.settings.baseline == "fused"


def test_a_pair_with_marked_has_no_speedup_and_says_why() -> None:
    verdict = pair().verdict
    assert (verdict.outcome, verdict.reason) == ("cannot_tell", "marked")
    assert verdict.speedup is verdict.interval is verdict.times_ns is None
    assert no_shares_sentence(pair().ledger).endswith("its run is not that of the model.")
    assert pair().ledger.no_shares == "marked" and pair().ledger.patterns["share"].isna().all()
    assert verdict_sentence(pair()) == "marked and fused are compared by operators, not by runs"
    for code in ("latency", "throughput", "cpu_time", "memory"):
        figure = pair().figure(code)
        assert figure.kind == "none" and figure.candidate.value is not None
    assert "whole run" not in fusion_sentence(pair())
    kept = pair().ledger.rows.assign(kind="kept")
    unfused = replace(pair(), ledger=replace(pair().ledger, rows=kept))
    assert fusion_sentence(unfused).startswith("Nothing was fused")
    assert "whole run" not in fusion_sentence(unfused)
    turned = compare(*(side_of_variant(sample(), name) for name in ("fused", "marked")))
    assert turned.verdict.reason == "marked"


@pytest.mark.parametrize("text", ["speedup < 0.97 with 95%", "p50 slower 3%", "memory > 10%"])
def test_no_gate_judges_the_run_of_marked(text: str) -> None:
    for names, is_known in ((("fused", "marked"), False), (("fused", "throughput"), True)):
        sides = [side_of_variant(sample(), name) for name in names]
        report = judge([parse_condition(text)], compare(sides[0], sides[1]))
        (judged,) = report
        assert (judged.reason == "marked") is not is_known, names


def test_variants_that_run_the_model_alone_have_one() -> None:
    sides = [side_of_variant(sample(), name) for name in ("fused", "throughput")]
    verdict = compare(sides[0], sides[1]).verdict
    assert verdict.speedup is not None and verdict.interval is not None
    assert isinstance(decided(sample().record), bool)


@pytest.mark.parametrize("name", ["marked", "fused", "throughput"])
def test_every_operator_is_in_one_group_and_most_are_proven(name: str) -> None:
    found = verified_lineage(sample(), name)
    assert {group.known_by for group in found.groups} <= {"name", "value"}


def test_groups_are_those_of_the_network() -> None:
    """52 convolutions with their normalisations: 35 with Clip, 10 with a sum, 7 with neither."""
    kinds = Counter(
        tuple(sorted(one.op_type for one in group.original)) for group in pair().fusion.groups
    )
    assert kinds == {
        ("BatchNormalization", "Clip", "Conv"): 35,
        ("Add", "BatchNormalization", "Conv"): 10,
        ("BatchNormalization", "Conv"): 7,
        ("GlobalAveragePool",): 1,
        ("Flatten",): 1,
        ("Gemm",): 1,
    }
    fused = [group for group in pair().fusion.groups if "Conv" in
             {one.op_type for one in group.original}]  # fmt: skip
    assert all(len(group.candidate) == 1 for group in fused)
    before = Counter(len(group.baseline) for group in fused)
    assert before.total() == 52 and min(before) >= 2


def test_copies_are_inserted_and_the_ledger_adds_up() -> None:
    ledger = pair().ledger
    assert set(ledger.ungrouped["reason"]) == {"inserted"}
    assert set(ledger.ungrouped["op_type"]) <= {"Reorder", "Result", "Output"}
    check_ledger(pair())


def test_all_variants_do_the_work_of_the_model() -> None:
    """What was fused into a convolution is not counted."""
    counts = {name: int(trace.operators["flops"].sum()) for name, trace in sample().traces.items()}
    assert len(set(counts.values())) == 1 and min(counts.values()) > 500_000_000


def test_times_are_means_of_blocks_without_starts() -> None:
    for name, trace in sample().traces.items():
        assert list(trace.profiled_runs["block"]) == [0, 1, 2, 3, 4]
        assert trace.calls["start_ns"].isna().all() and trace.calls["run"].notna().all()
        assert {note.code for note in trace.diagnostics} == {"layer_means"}, name


def test_what_limits_marked_is_its_copies_and_not_the_model() -> None:
    found = findings(Subject(side_of_variant(sample(), "marked")))
    assert found.found == () and {one.reason for one in found.unanswered} == {"marked"}
    assert findings(Subject(side_of_variant(sample(), "fused"))).found


def test_copies_for_the_watcher_do_not_keep_tensors_out_of_a_group() -> None:
    """Conv + BatchNormalization + Clip: two tensors between them, of which `fused` writes none."""
    graph = pair().baseline.graph
    assert graph is not None
    row = pair().ledger.rows.query("scope == 'stem'").iloc[0]
    assert row["pattern"] == "Conv + BatchNormalization + Clip"
    sizes = [graph.bytes_of(f"%stem/{name}") for name in ("Conv", "BatchNormalization")]
    assert row["bytes_removed"] == sizes[0] + sizes[1] == 2 * 32 * 112 * 112 * 4


def test_what_stands_for_a_result_is_not_an_inserted_operator() -> None:
    assert len(pair().fusion.inserted[0]) > 100
    for inserted in pair().fusion.inserted:
        assert "Output" not in {operator.op_type for operator in inserted}


def test_times_of_layers_are_known_to_a_microsecond() -> None:
    """Means of whole µs, so not all are multiples of it."""
    trace = side_of_variant(sample(), "fused").trace
    assert (trace.calls["dur_ns"] % 1000 != 0).any()
    assert run_times(trace, None).resolution_ns == 1000
