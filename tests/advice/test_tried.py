"""Remedies that FuseScope tries itself: what is asked for, what became of it, what is kept."""

from __future__ import annotations

import json
import runpy
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import onnx
import pytest

from analysis.advice import Gain, Subject, findings
from analysis.advice.remedies import Remedy, remedies
from analysis.advice.tried import Tried, kept, present_best, tried
from analysis.compare.side import side_of_variant
from analysis.experiment import Experiment, ExperimentRecord, OutputDifference, OwnFusion
from analysis.messages import Message
from analysis.readers import read
from analysis.readers.input.source import Source
from analysis.report.exports.session_script import session_script
from analysis.report.exports.tried_json import tried_json
from analysis.wording.tried import conclusion, lines
from tests.advice.experiments import compared
from tests.advice.test_own_pass import chains, with_own
from tests.factories import experiment_zip

RULES = "rules:missed-1.toml"
OFF = {"graph_optimization": "none"}
ALL = {"graph_optimization": "all"}
TIMES = {
    "fused": [10.0] * 8,
    RULES: [8.0] * 8,
    "threads:1": [12.5] * 8,
    "extended": [9.8, 10.2] * 4,
    "int8": [5.0] * 8,
    "without:GeluFusion": [9.0] * 8,
}
TOLD: Mapping[str, dict[str, Any]] = {
    RULES: {"settings": OFF},
    "int8": {"settings": {"quantisation": "static"}},
    "without:GeluFusion": {"output_difference": OutputDifference(1.0, 0.5)},
}
ASKED = tuple(
    Remedy(name, "missed_fusion", Gain(1.5e6, 0.5e6, 3e6, "modelled") if name == RULES else None)
    for name in (*list(TIMES)[1:], "threads:4")
)


def recorded(times: Mapping[str, list[float]]) -> ExperimentRecord:
    """A recording whose baseline is its first variant, with the settings of TOLD."""
    value = read(Source("made.zip", experiment_zip(times)))
    assert isinstance(value, Experiment)
    changed = [
        msgspec.structs.replace(one, **TOLD.get(one.name, {"settings": ALL}))
        for one in value.record.variants
    ]
    return msgspec.structs.replace(value.record, variants=changed)


@pytest.fixture(scope="module")
def results() -> tuple[Tried, ...]:
    return tried(recorded(TIMES), ASKED)


def test_each_outcome_by_hand(results: tuple[Tried, ...]) -> None:
    """Against 10 ms: 8 ms saves 2 ms, 12.5 ms saves -2.5; threads:4 was not recorded."""
    outcomes = {one.remedy.variant: one.outcome for one in results}
    assert outcomes == {
        RULES: "kept",
        "threads:1": "taken_back",
        "extended": "cannot_tell",
        "int8": "other_outputs",
        "without:GeluFusion": "other_outputs",
    }
    saved = {one.remedy.variant: one.saved.value for one in results if one.saved is not None}
    assert saved[RULES] == pytest.approx(2e6, rel=1e-5)
    assert saved["threads:1"] == pytest.approx(-2.5e6, rel=1e-5)
    assert results[-1].difference == 0.5
    best = kept(results)
    assert best is not None
    assert best.remedy.variant == RULES, "int8 is faster, but computes something else"


def test_what_is_said_of_each(results: tuple[Tried, ...]) -> None:
    said = {one.remedy.variant: " ".join(lines(one, "fused")) for one in results}
    assert "1.25× faster than fused" in said[RULES]
    assert "Predicted saving: 1.50 ms (500 µs to 3.00 ms)" in said[RULES]
    assert "Measured saving: 2.00 ms" in said[RULES]
    assert said[RULES].endswith("Kept: it is faster.")
    assert said["threads:1"].endswith("Taken back: it is slower.")
    assert "Predicted" not in said["threads:1"]
    assert said["extended"].endswith("Taken back: it is not shown to be faster.")
    assert said["int8"].endswith("It is faster, but computes something else: decide yourself.")
    assert conclusion(results, "fused").startswith("Keep rules:missed-1.toml: 1.25× faster than")
    assert conclusion(results[1:3], "fused") == "Nothing that was tried is faster: keep fused."


def test_outputs_that_were_not_compared_keep_nothing() -> None:
    record = recorded({"fused": [10.0] * 8, "extended": [5.0] * 8})
    bare = msgspec.structs.replace(
        record,
        variants=[msgspec.structs.replace(one, output_difference=None) for one in record.variants],
    )
    [one] = tried(bare, [Remedy("extended", "missed_fusion")])
    assert (one.outcome, kept([one])) == ("outputs_unknown", None)
    assert "outputs were not compared" in " ".join(lines(one, "fused"))


def test_noise_that_is_not_known_keeps_nothing() -> None:
    """Three blocks have no interval: half the time is no reason to keep it, and none to call it
    slower."""
    [one] = tried(recorded({"fused": [10.0] * 3, RULES: [5.0] * 3}), ASKED[:1])
    assert (one.outcome, one.saved) == ("cannot_tell", None)
    said = " ".join(lines(one, "fused"))
    assert "noise is unknown" in said
    assert "Measured saving" not in said
    assert kept([one]) is None


def test_a_change_that_several_pairs_at_once_do_not_show(results: tuple[Tried, ...]) -> None:
    """The pair's interval is above 1, that of all candidates together is not; where the control
    differs, that is the reason, not their number."""
    verdict = results[0].verdict
    assert verdict is not None
    for reason, count in (("within_noise", 1), ("control_differs", 0)):
        unsure = replace(verdict, outcome="cannot_tell", reason=reason)
        one = replace(results[0], verdict=unsure, outcome="cannot_tell")
        said = " ".join(lines(one, "fused"))
        assert said.count("Several variants were tried at once") == count


def test_the_json_of_what_was_tried(results: tuple[Tried, ...]) -> None:
    """docs/json.md names every field."""
    lost = Tried(ASKED[-1], "not_recorded", reason=Message("it does not build"))
    values = json.loads(tried_json("fused", (*results, lost), Path("a.zip"), None))
    head = ("schema_version", "best", "keep", "tried", "experiment", "script")
    assert tuple(values) == head
    assert (values["schema_version"], values["keep"], values["script"]) == (1, RULES, None)
    first, last = values["tried"][0], values["tried"][-1]
    assert first["predicted_ns"]["value"] == 1.5e6
    assert first["measured_ns"]["basis"] == "measured"
    assert (last["outcome"], last["reason"], last["speedup"]) == (
        "not_recorded",
        "it does not build",
        None,
    )
    page = (Path(__file__).parents[2] / "docs/json.md").read_text()
    section = page.partition("### tried")[2].partition("\n### ")[0]
    assert [name for name in (*head, *first) if f"`{name}`" not in section] == []


def test_the_present_best_is_of_settings() -> None:
    """The fastest beyond noise of those that run the model as it is: int8 and rules do not."""
    assert present_best(recorded(TIMES)) == "without:GeluFusion"
    unknown = recorded({"fused": [10.0] * 3, "threads:1": [5.0] * 3})
    assert present_best(unknown) == "fused", "with three blocks nothing is shown to be faster"


def test_a_missed_fusion_asks_for_a_rule_file_and_a_kernel() -> None:
    """Mul + Add has no kernel in the engine; our own pass makes one operator of each chain."""
    alone = compared(chains(1), us={"Mul": 500, "Add": 400})
    graph = alone.candidate.graph
    assert graph is not None
    pairs = tuple(
        OwnFusion("Mul + Add", (first.name, second.name))
        for first, second in zip(graph.nodes, graph.nodes[1:], strict=False)
        if (first.op_type, second.op_type) == ("Mul", "Add")
    )
    for fusions, wanted in ((None, ["custom:elementwise"]), (pairs, [RULES, "custom:elementwise"])):
        comparison = with_own(alone, fusions)
        subject = Subject(comparison.candidate, comparison)
        asked = remedies(subject, findings(subject))
        assert [one.variant for one in asked if one.code == "missed_fusion"] == wanted
        assert all(one.gain is not None for one in asked if one.code == "missed_fusion")
    assert 'patterns = [["Mul", "Add"]]' in asked[0].rules


def test_what_was_recorded_is_not_asked_for_again() -> None:
    value = read(Source("made.zip", experiment_zip({"unfused": [10.0] * 6, "fused": [5.0] * 6})))
    assert isinstance(value, Experiment)
    subject = Subject(side_of_variant(value, "unfused"))
    assert "not_optimised" in {one.code for one in findings(subject).found}
    assert "fused" not in {one.variant for one in remedies(subject, findings(subject))}


def test_the_script_opens_the_model_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs, and its session has the threads and the level of the variant."""
    record = recorded(TIMES)
    assert session_script(record, "int8") is None
    assert session_script(record, RULES) is None
    text = session_script(record, "fused")
    assert text is not None
    script, model = tmp_path / "open.py", tmp_path / "model.onnx"
    script.write_text(text)
    onnx.save(chains(1), model)
    monkeypatch.setattr(sys, "argv", [str(script), str(model)])
    opened = runpy.run_path(str(script))["session"].get_session_options()
    assert (opened.intra_op_num_threads, opened.inter_op_num_threads) == (2, 1)
    assert opened.graph_optimization_level.name == "ORT_ENABLE_ALL"
