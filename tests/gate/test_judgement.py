"""What conditions on figures and fusions find, and how it is told and written."""

from __future__ import annotations

import json
from typing import cast
from xml.etree import ElementTree

import pytest

from fusescope.analysis.advice.missed_fusions import MissedFusion
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.groups.fusion import Fusion, Group, Operator
from fusescope.analysis.compare.groups.grouping import group_operators
from fusescope.analysis.compare.side import side_of_trace, side_of_variant
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.gate.condition import parse_condition
from fusescope.analysis.gate.fusion_changes import FusionChanges, fusion_changes
from fusescope.analysis.gate.judged import Judged
from fusescope.analysis.gate.judgement import has_failed, judge, judge_structure
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.report.gate.gate_json import gate_json
from fusescope.analysis.report.gate.junit import junit_xml
from fusescope.analysis.report.gate.markdown import MAX_LINES, gate_markdown
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording.gate import (
    blocked_lines,
    change_lines,
    gate_sentence,
    group_lines,
    judged_sentence,
)
from tests.factories import UNFUSED_OPERATORS, experiment_zip, profile_json

TIMES = {"fused": [5.0] * 8, "unfused": [10.0] * 8}


@pytest.fixture(scope="module")
def lost() -> Comparison:
    """fused -> unfused: FusedConv becomes Conv + BatchNormalization + Relu, 10 ms for 5."""
    data = experiment_zip({"unfused": [10.0] * 8, "fused": [5.0] * 8}, control=(1.0,))
    experiment = cast(Experiment, read(Source("e.zip", data)))
    return compare(*(side_of_variant(experiment, name) for name in ("fused", "unfused")))


def outcome(comparison: Comparison, *conditions: str) -> list[str]:
    return [one.outcome for one in judged(comparison, *conditions)]


def judged(comparison: Comparison, *conditions: str) -> tuple[Judged, ...]:
    return judge([parse_condition(text) for text in conditions], comparison)


def test_lost_fusions_are_counted_and_named(lost: Comparison) -> None:
    (one,) = judged(lost, "fusion.lost > 0")
    assert (one.outcome, one.value) == ("failed", 1.0)
    changes = fusion_changes(lost.fusion)
    assert changes is not None and changes.lost_types == {"FusedConv": 1}
    assert changes.operators[1] == {"Conv": 1, "BatchNormalization": 1, "Relu": 1, "Gemm": 1}
    assert change_lines([one]) == [
        "FusedConv became Conv + BatchNormalization + Relu in 1 group: a."
    ]
    assert outcome(lost, "fusion.lost > 1", "fusion.won > 0", "fusion.changed > 0") == [
        "passed", "passed", "passed",
    ]  # fmt: skip
    assert outcome(lost, "fusion.count(FusedConv) < 1", "fusion.count(Gemm) < 1") == [
        "failed", "passed",
    ]  # fmt: skip
    assert outcome(lost, "operators > 4", "operators == 4") == ["passed", "failed"]


def test_the_other_way_round_it_is_won() -> None:
    data = experiment_zip({"unfused": [10.0] * 8, "fused": [5.0] * 8})
    experiment = cast(Experiment, read(Source("e.zip", data)))
    sides = [side_of_variant(experiment, name) for name in ("unfused", "fused")]
    (kept,) = judged(compare(*sides), "fusion.lost_gain > 0%")
    assert (kept.outcome, kept.value, kept.low, kept.high) == ("passed", 0.0, 0.0, 0.0)
    changes = fusion_changes(group_operators(*sides))
    assert changes is not None and changes.won_types == {"FusedConv": 1}
    assert changes.lost_types == {} and len(changes.of("won")) == 1


def test_what_the_lost_fusion_cost(lost: Comparison) -> None:
    """As profiled the group takes 150 µs for 110, 40 µs of a run of 5 ms: 0.8 %."""
    (one,) = judged(lost, "fusion.lost_gain > 0.5%")
    assert one.outcome == "failed" and one.value == pytest.approx(0.008)
    assert one.low is not None and one.high is not None and one.low <= 0.008 <= one.high
    assert outcome(lost, "fusion.lost_gain > 1%") == ["passed"]


def test_the_confidence_of_what_the_lost_fusion_cost(lost: Comparison) -> None:
    """One condition and one look: the level is what it asks for; two share what may be wrong."""
    wide, narrow = (judged(lost, f"fusion.lost_gain > 0.5% with {of}%")[0] for of in ("99", "90"))
    assert (wide.level, narrow.level) == pytest.approx((0.99, 0.9))
    assert wide.value == narrow.value == pytest.approx(0.008)
    bounds = (wide.low, narrow.low, narrow.high, wide.high)
    assert None not in bounds and bounds == tuple(sorted(cast(tuple[float, ...], bounds)))
    assert wide.low != narrow.low
    near = (wide.value or 0) + ((wide.high or 0) - (wide.value or 0)) / 2
    (untold,) = judged(lost, f"fusion.lost_gain > {near * 100}% with 99%")
    # The half width has to fall to its half: four times the blocks.
    assert (untold.outcome, untold.blocks, untold.blocks_needed) == ("cannot_tell", 8, 32)
    both = judged(lost, "fusion.lost_gain > 0.5% with 90%", "speedup < 0.9 with 90%")
    assert [one.level for one in both] == pytest.approx([0.95, 0.95])


def test_what_a_lost_fusion_cost_is_not_told_of_an_unsteady_machine() -> None:
    """The second copy of the baseline takes a tenth longer in every block."""
    data = experiment_zip({"unfused": [10.0] * 8, "fused": [5.0] * 8}, control=(1.1,))
    experiment = cast(Experiment, read(Source("e.zip", data)))
    pair = compare(*(side_of_variant(experiment, name) for name in ("fused", "unfused")))
    (one,) = judged(pair, "fusion.lost_gain > 0.5%")
    assert (one.outcome, one.reason) == ("cannot_tell", "control_differs")


def test_an_operator_of_the_same_name_is_said_to_be_another_one() -> None:
    """In the blocked layout ONNX Runtime has operators of its own under the standard names."""
    pool = (Operator("head", "GlobalAveragePool", scope="head"),)
    one = Group(1, "replaced", "value", pool, pool, pool)
    bare = Operator("", "GlobalAveragePool")
    said = (
        "GlobalAveragePool became another operator of that name, as in another layout, in 1 group"
    )
    assert group_lines([one]) == [f"{said}: head."]
    assert group_lines([Group(1, "replaced", "value", (bare,), pool, pool)]) == [f"{said}."]


def test_figures_of_the_candidate_and_their_change(lost: Comparison) -> None:
    """Of 200 µs 50 are in light operators; 10 MB for 8; the output differs by 1e-6 at most."""
    light = judged(lost, "small_op_ratio > 20%")[0]
    assert light.outcome == "failed" and light.value == pytest.approx(0.25)
    assert outcome(lost, "small_op_ratio > 30%", "memory up 20%", "memory up 30%") == [
        "passed", "failed", "passed",
    ]  # fmt: skip
    assert outcome(lost, "memory down 1%", "light_operators >= 2") == ["passed", "failed"]
    assert outcome(lost, "output_difference > 1e-3", "agreement_top1 < 0.99") == [
        "passed", "unknown",
    ]  # fmt: skip


def test_times_of_traces_of_their_own_are_not_judged() -> None:
    traces = [read(Source(name, profile_json(UNFUSED_OPERATORS, 6))) for name in ("a", "b")]
    pair = compare(*(side_of_trace(cast(Trace, trace)) for trace in traces))
    found = judged(pair, "speedup < 0.9", "fusion.lost > 0", "fusion.lost_gain > 1%")
    assert [one.outcome for one in found] == ["unknown"] * 3
    assert found[0].reason == "not_recorded_together" and found[1].reason == "no_groups"
    assert gate_sentence(found) == "The gate is not decided: 3 conditions cannot be judged."


def test_structure_is_judged_without_times(lost: Comparison) -> None:
    (one,) = judge_structure([parse_condition("fusion.lost > 0")], fusion_changes(lost.fusion))
    assert one.outcome == "failed" and len(one.changes) == 1
    assert fusion_changes(Fusion("inferred", lost.fusion.groups)) is None


def test_structure_that_is_known_otherwise_counts(lost: Comparison) -> None:
    """As of two models, each optimised by itself; what the lost fusion cost is of the recording."""
    conditions = [parse_condition(text) for text in ("fusion.lost > 0", "fusion.lost_gain > 0.5%")]
    none = FusionChanges((), fusion_changes(lost.fusion).operators)  # type: ignore[union-attr]
    assert [one.outcome for one in judge(conditions, lost, none)] == ["passed", "failed"]


def test_what_all_conditions_together_say(lost: Comparison) -> None:
    failed = judged(lost, "speedup < 0.97", "fusion.lost > 5", "memory up 90%")
    assert has_failed(failed) and gate_sentence(failed) == (
        "The gate failed: 1 of its 3 conditions is true."
    )
    assert judged_sentence(failed[0]) == "It is 0.50×, between 0.50× and 0.50× (95.0 %)."
    passed = judged(lost, "fusion.lost > 5")
    assert gate_sentence(passed) == "The gate passed: its condition is not true."
    data = experiment_zip({"unfused": [10.0] * 8, "fused": [10.1, 10 / 1.01] * 4}, control=(1.0,))
    experiment = cast(Experiment, read(Source("e.zip", data)))
    alike = compare(*(side_of_variant(experiment, name) for name in ("unfused", "fused")))
    untold = judged(alike, "speedup < 1.001")
    assert not has_failed(untold) and gate_sentence(untold) == (
        "The gate passed. 1 condition cannot be told at this noise, which fails no gate."
    )
    assert "The interval holds the limit." in judged_sentence(untold[0])


def test_what_blocks_a_lost_fusion_is_told_with_what_to_change() -> None:
    places, said = (("a",), ("b",)), {"variant": "int8"}
    miss = MissedFusion("Gelu", ("a",), ("Erf",), "", "quantised", said, places=places)
    (line,) = blocked_lines([miss])
    assert line.startswith("Gelu is not fused in 2 places. ") and line.count(". ") >= 2
    values = json.loads(gate_json([], "a", "b", [miss]))
    assert values["blocked"] == [line]


HOSTILE = "<b>|[x](http://e.example)\x1b[31m\n"


def test_what_is_written_interprets_nothing_and_stays_short() -> None:
    names = [f"{HOSTILE}{n}" for n in range(90)]
    groups = tuple(
        Group(n, "split", "name", (Operator(name, HOSTILE, name),),
              (Operator(name, f"Fused{n % 30}"),),
              (Operator(name, "A"), Operator(f"{name}b", HOSTILE)))
        for n, name in enumerate(names, 1)
    )  # fmt: skip
    conditions = [parse_condition(f"fusion.lost > {n}") for n in range(40)]
    found = judge_structure(conditions, fusion_changes(Fusion("graphs", groups)))
    text = gate_markdown(found, HOSTILE, "b")
    assert len(text.splitlines()) < MAX_LINES and "\x1b" not in text
    assert "<b>" not in text and "[x]" not in text
    root = ElementTree.fromstring(junit_xml(found, HOSTILE, "b"))
    assert root.attrib["failures"] == "40" and root.attrib["skipped"] == "0"
    first = root.find("testsuite/testcase/failure")
    assert first is not None and first.text is not None and "80 more" not in first.text
    values = json.loads(gate_json(found, HOSTILE, "b"))
    assert values["failed"] is True and len(values["conditions"]) == 40
    assert values["conditions"][0]["outcome"] == "failed"
    assert len(values["conditions"][0]["groups"]) == 90
    assert "\x1b" not in json.dumps(values)
