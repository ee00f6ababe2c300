"""Remedies that FuseScope tries itself: what is asked for, what became of it, what is kept."""

from __future__ import annotations

import json
import runpy
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import onnx
import pytest

from fusescope.analysis.advice import Finding, Findings, Gain, Subject, findings
from fusescope.analysis.advice.kinds.threads import idle_threads
from fusescope.analysis.advice.remedies import in_one_recording, remedies, without_cuts
from fusescope.analysis.advice.tried import Tried, kept, present_best, tried
from fusescope.analysis.compare.side import Side, side_of_variant
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import (
    Experiment,
    ExperimentRecord,
    OutputDifference,
    OwnFusion,
    PredictedPart,
    Try,
    parse_record,
    record_json,
)
from fusescope.analysis.readers import read, read_path
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.redaction import redacted
from fusescope.analysis.report.exports.session_script import kept_files, session_script
from fusescope.analysis.report.exports.tried_json import tried_json
from fusescope.analysis.wording.tried import (
    conclusion,
    lines,
    no_script_text,
    nothing_text,
    offer_text,
)
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
RULE_TEXT = 'level = "O3"\npatterns = [["Mul", "Add"]]\n'
ASKED = (
    Try(RULES, "missed_fusion", PredictedPart(0.15, 0.05, 0.3), RULE_TEXT),
    *(Try(name, "missed_fusion") for name in list(TIMES)[2:]),
    Try("threads:4", "idle_threads", refused="it does not build"),
)


def recorded(
    times: Mapping[str, list[float]], tries: tuple[Try, ...] | None = None
) -> ExperimentRecord:
    """A recording whose baseline is its first variant, with the settings of TOLD; it tries all
    others unless told otherwise."""
    value = read(Source("made.zip", experiment_zip(times)))
    assert isinstance(value, Experiment)
    changed = [
        msgspec.structs.replace(one, **TOLD.get(one.name, {"settings": ALL}))
        for one in value.record.variants
    ]
    asked = tuple(one for one in ASKED if one.variant in times) if tries is None else tries
    return msgspec.structs.replace(value.record, variants=changed, tries=asked)


@pytest.fixture(scope="module")
def results() -> tuple[Tried, ...]:
    return tried(recorded(TIMES, ASKED))


def test_each_outcome_by_hand(results: tuple[Tried, ...]) -> None:
    """Against 10 ms: 8 ms saves 2 ms, 12.5 ms saves -2.5; threads:4 was not recorded. 15 % of 10 ms
    are predicted, 5 to 30 %."""
    outcomes = {one.remedy.variant: one.outcome for one in results}
    assert outcomes == {
        RULES: "kept",
        "threads:1": "taken_back",
        "extended": "cannot_tell",
        "int8": "other_outputs",
        "without:GeluFusion": "other_outputs",
        "threads:4": "not_recorded",
    }
    [predicted] = [one.predicted for one in results if one.predicted is not None]
    figures = (predicted.value, predicted.low, predicted.high)
    assert figures == pytest.approx((1.5e6, 0.5e6, 3e6), rel=1e-5)
    saved = {one.remedy.variant: one.saved.value for one in results if one.saved is not None}
    assert saved[RULES] == pytest.approx(2e6, rel=1e-5)
    assert saved["threads:1"] == pytest.approx(-2.5e6, rel=1e-5)
    assert results[-2].difference == 0.5
    best = kept(results)
    assert best is not None
    assert best.remedy.variant == RULES, "int8 is faster, but computes something else"


def test_of_two_that_are_faster_the_faster_is_kept() -> None:
    times = {"fused": [10.0] * 8, RULES: [8.0] * 8, "threads:1": [7.0] * 8}
    made = tried(recorded(times, ASKED[:2]))
    assert [(one.remedy.variant, one.outcome) for one in made] == [
        (RULES, "outpaced"),
        ("threads:1", "kept"),
    ]
    best = kept(made)
    assert best is made[1]
    assert lines(made[0], "fused")[-1].startswith("Not kept: it is faster, but another variant")
    assert conclusion(made, "fused").startswith("Keep threads:1: 1.43× faster than fused")


def test_what_is_said_of_each(results: tuple[Tried, ...]) -> None:
    said = {one.remedy.variant: " ".join(lines(one, "fused")) for one in results}
    assert "1.25× faster than fused" in said[RULES]
    assert "Predicted saving: 1.50 ms (500 µs to 3.00 ms)" in said[RULES]
    assert "Measured saving: 2.00 ms" in said[RULES]
    assert said[RULES].endswith("Kept: it is faster.")
    assert said["threads:1"].endswith("Taken back: it is slower.")
    assert "Predicted" not in said["threads:1"]
    assert said["extended"].endswith("Taken back: it is not shown to be faster.")
    assert "Taken back: it is faster, but its outputs differ." in said["int8"]
    assert said["threads:4"] == "Not recorded: it does not build."
    assert conclusion(results, "fused").startswith("Keep rules:missed-1.toml: 1.25× faster than")
    assert conclusion(results[1:3], "fused") == (
        "Nothing that was tried is kept: fused stays the best."
    )
    int8 = [one for one in results if one.remedy.variant == "int8"]
    assert conclusion(int8, "fused") == (
        "Nothing that was tried is kept: int8 is faster, but its outputs differ, so fused stays "
        "the best that computes the same."
    )


def test_outputs_that_were_not_compared_keep_nothing() -> None:
    record = recorded({"fused": [10.0] * 8, "extended": [5.0] * 8})
    bare = msgspec.structs.replace(
        record,
        variants=[msgspec.structs.replace(one, output_difference=None) for one in record.variants],
    )
    [one] = tried(bare)
    assert (one.outcome, kept([one])) == ("outputs_unknown", None)
    assert "outputs were not compared" in " ".join(lines(one, "fused"))


def test_noise_that_is_not_known_keeps_nothing() -> None:
    """Three blocks have no interval: half the time is not a reason to keep it, and none to call it
    slower."""
    [one] = tried(recorded({"fused": [10.0] * 3, RULES: [5.0] * 3}))
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
    values = json.loads(tried_json("fused", results, Path("a.zip"), {".py": Path("a.py")}))
    head = ("schema_version", "best", "keep", "tried", "experiment", "rules", "script")
    assert tuple(values) == head
    assert (values["schema_version"], values["keep"], values["rules"]) == (1, RULES, None)
    assert values["script"] == "a.py"
    first, last = values["tried"][0], values["tried"][-1]
    assert first["predicted_ns"]["value"] == pytest.approx(1.5e6, rel=1e-5)
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
    kernel = ["inside:elementwise", "custom:elementwise"]
    for fusions, wanted in ((None, kernel), (pairs, [RULES, *kernel])):
        comparison = with_own(alone, fusions)
        subject = Subject(comparison.candidate, comparison)
        asked = remedies(subject, findings(subject))
        assert [one.variant for one in asked if one.finding == "missed_fusion"] == wanted
        assert all(one.predicted is not None for one in asked if one.finding == "missed_fusion")
        left = [one.variant for one in without_cuts(asked)]
        assert "inside:elementwise" in left
        assert "custom:elementwise" not in left, "a cut costs more"
    with_cut = [one for one in asked if one.variant != "inside:elementwise"]
    assert without_cuts(with_cut) == tuple(with_cut), "without a compiler for the other"
    assert 'patterns = [["Mul", "Add"]]' in asked[0].rules


def test_what_was_recorded_is_not_asked_for_again() -> None:
    value = read(Source("made.zip", experiment_zip({"unfused": [10.0] * 6, "fused": [5.0] * 6})))
    assert isinstance(value, Experiment)
    subject = Subject(side_of_variant(value, "unfused"))
    assert "not_optimised" in {one.code for one in findings(subject).found}
    assert "fused" not in {one.variant for one in remedies(subject, findings(subject))}


def test_what_several_findings_ask_for_saves_what_they_say_together() -> None:
    """Of 910 µs of operators, 100 to 300 and 30 to 60 µs: 130 to 360 of 910."""
    comparison = with_own(compared(chains(1), us={"Mul": 500, "Add": 400}), None)
    subject = Subject(comparison.candidate, comparison)
    found = [
        Finding(
            "missed_fusion",
            values={"op_types": "Mul + Add", "blocked_by": "no_kernel", "own_places": 1},
            gain=Gain(*gain, "modelled"),
        )
        for gain in ((200e3, 100e3, 300e3), (45e3, 30e3, 60e3))
    ]
    one, inside, other = remedies(subject, Findings(tuple(found), (), None))
    assert (one.variant, other.variant) == (RULES, "custom:elementwise")
    assert (inside.variant, inside.predicted) == ("inside:elementwise", one.predicted)
    assert one.predicted is not None and other.predicted is not None
    assert one.predicted.value == pytest.approx(245 / 910)
    assert one.predicted.low == pytest.approx(130 / 910)
    assert one.predicted.high == pytest.approx(360 / 910)
    # Kernels of one's own at all places of the model: 5 of 10 ms that optimisation brings are lost.
    assert other.predicted.value < -0.5


def test_what_was_tried_is_in_the_file_and_is_not_asked_for_again(results: Any) -> None:
    """A file without tries is read as before; what a try says is foreign text."""
    record = recorded(TIMES, ASKED)
    assert tried(parse_record(record_json(record))) == results
    assert tried(recorded(TIMES, ())) == ()
    asked = (*ASKED, Try("no\x1bsuch\u202e", "<b>", rules='a = "\x1b"\nb = 1'))
    data = experiment_zip(TIMES, changes={"tries": asked})
    value = read(Source("made.zip", data))
    assert isinstance(value, Experiment)
    assert value.record.tries[:-1] == ASKED
    last = tried(value.record)[-1]
    assert (last.remedy.variant, last.outcome) == ("no\\x1bsuch", "not_recorded")
    assert last.remedy.rules == 'a = "\\x1b"\nb = 1', "the lines of a rule file stay"
    assert redacted(value).record.tries == value.record.tries
    for parts in ((0.2, 0.3, 0.4), (0.1, 0.0, 1.5)):
        text = json.loads(record_json(record))
        text["tries"][0]["predicted"] = dict(zip(("value", "low", "high"), parts, strict=True))
        with pytest.raises(FuseScopeError, match="tries"):
            parse_record(json.dumps(text).encode())


def test_why_there_is_nothing_to_try() -> None:
    """Relu is fused into Conv and nothing is left; of a variant that tried all, that."""
    comparison = compared(chains(1), us={"Mul": 1, "Add": 1})
    subject = Subject(comparison.candidate, comparison)
    nothing = Findings((), (), None)
    assert nothing_text(subject, nothing) == (
        "No pattern that ONNX Runtime leaves unfused here takes 2 % of the run. Nothing else "
        "stands out in fused, so there is nothing to try."
    )
    asks = Findings((Finding("communication"),), (), None)
    assert "cannot try by itself what the findings of fused ask for" in nothing_text(subject, asks)
    sample = read_path(Path(__file__).parents[2] / "sample_traces/recipes/conv3x3.zip")
    assert isinstance(sample, Experiment)
    unfused = Subject(side_of_variant(sample, "unfused"))
    assert nothing_text(unfused, findings(unfused)) == (
        "What FuseScope can try for the findings of unfused is in this recording already: fused."
    )
    threads = Findings((Finding("memory_bound"),), (), None)
    assert nothing_text(subject, threads).endswith(
        "FuseScope would try threads:1, but this machine lacks what that takes. So many threads "
        "need more cores."
    ), "it was left out, so it cannot be"
    values = {"op_types": "Mul + Add", "blocked_by": "form", "own_places": 0}
    missed = Findings((Finding("missed_fusion", values),), (), None)
    assert nothing_text(subject, missed) == (
        "FuseScope would try inside:elementwise, but this machine lacks what that takes. Kernels "
        "inside the session need a C compiler (cc, gcc or clang)."
    )
    assert "ONNX Runtime" not in nothing_text(subject, missed)
    plain = Subject(comparison.baseline)
    assert "ONNX Runtime" not in nothing_text(plain, nothing)


def test_threads_that_spin_are_tried_when_nothing_else_is_left() -> None:
    comparison = compared(chains(1), us={"Mul": 1, "Add": 1})
    found = Findings((Finding("idle_threads"),), (), None)
    subject = Subject(comparison.candidate, comparison)
    asked = remedies(subject, found)
    assert [one.variant for one in asked] == ["threads:1", "spin"]
    first, spin = asked
    assert in_one_recording(asked) == (first,)
    assert in_one_recording([spin]) == (spin,)
    assert offer_text(["threads:1"], "fused", asked).endswith("by themselves, after these.")
    assert "each in processes of its own" in offer_text(["spin"], "fused", [spin])
    experiment = subject.side.experiment
    assert experiment is not None and subject.side.variant is not None
    spinning = msgspec.structs.replace(
        subject.side.variant, name="spin", settings={**ALL, "intra_op_spinning": True}
    )
    side = replace(subject.side, label="spin", variant=spinning)
    assert remedies(Subject(side), found) == (), "every other one changes two things"
    assert idle_threads(Subject(side)) == "threads_spin"
    record = recorded({"fused": [10.0] * 8, "spin": [5.0] * 8}, (Try("spin", "idle_threads"),))
    [one] = tried(record)
    assert one.outcome == "kept"
    assert "Threads that spin keep their cores busy" in " ".join(lines(one, "fused"))
    assert present_best(record) == "fused", "nothing else can be tried beside the other"


def test_which_findings_were_answered_by_what_was_tried() -> None:
    """threads:1 answers the first, nothing the second; the slow kernel is only recorded without."""
    comparison = compared(chains(1), us={"Mul": 1, "Add": 1})
    experiment = comparison.candidate.experiment
    assert experiment is not None

    slow = {"optimizer": "GeluFusion", "op_type": "MatMul"}

    def said(codes: str, names: Sequence[str], tries: tuple[Try, ...]) -> str:
        [first, *_] = experiment.record.variants
        others = [msgspec.structs.replace(first, name=name) for name in names]
        variants = [*experiment.record.variants, *others]
        record = msgspec.structs.replace(experiment.record, tries=tries, variants=variants)
        side = replace(comparison.candidate, experiment=replace(experiment, record=record))
        subject = Subject(side, replace(comparison, candidate=side))
        found = tuple(Finding(code, slow) for code in codes.split())  # type: ignore[arg-type]
        return nothing_text(subject, Findings(found, (), None))

    alone = Try("threads:1", "memory_bound", refused="no")
    assert "was tried in this recording: threads:1." in said("memory_bound", (), (alone,))
    assert "in this recording already: threads:1" in said("memory_bound", ("threads:1",), ())
    assert "cannot try by itself" in said("communication", (), (alone,))
    both = said("memory_bound slow_kernel", ("without:GeluFusion",), (alone,))
    assert both.endswith("or was tried in it: without:GeluFusion and threads:1.")


def test_what_another_variant_misses_is_predicted_beside_both_times() -> None:
    """The unfused one is advised on; what the fused one misses saves something of that."""
    comparison = compared(chains(1), us={"Mul": 500, "Add": 400})
    side = comparison.baseline
    assert side.experiment is not None and side.variant is not None

    def predicted(side: Side) -> list[bool]:
        asked = remedies(Subject(side), Findings((), (), None))
        return [one.predicted is not None for one in asked if one.variant.startswith("custom")]

    assert predicted(side) == [True]
    none = msgspec.structs.replace(side.variant.samples, block=[], round=[], copy=[], wall_ns=[],
                                   cpu_ns=[])  # fmt: skip
    assert predicted(
        replace(side, variant=msgspec.structs.replace(side.variant, samples=none))
    ) == [False]


def test_the_script_opens_the_model_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs, and its session has the threads and the level of the variant."""
    record = recorded(TIMES)
    assert session_script(record, "int8") is None
    assert session_script(record, RULES) is None, "without its rules"
    odd = {**ALL, "intra_op_threads": "two"}
    variants = [msgspec.structs.replace(one, settings=odd) for one in record.variants]
    assert session_script(msgspec.structs.replace(record, variants=variants), "fused") is not None
    text = session_script(record, "fused")
    assert text is not None
    script, model = tmp_path / "open.py", tmp_path / "model.onnx"
    script.write_text(text)
    onnx.save(chains(1), model)
    monkeypatch.setattr(sys, "argv", [str(script), str(model)])
    opened = runpy.run_path(str(script))["session"].get_session_options()
    assert (opened.intra_op_num_threads, opened.inter_op_num_threads) == (2, 1)
    assert opened.graph_optimization_level.name == "ORT_ENABLE_ALL"


def test_the_files_that_repeat_what_is_kept(results: tuple[Tried, ...]) -> None:
    """A rule file and the script that applies it; of settings the script alone; of one optimizer
    alone only with the list that it was recorded with."""
    record = recorded(TIMES)
    files = kept_files(record, results)
    assert list(files) == [".toml", ".py"]
    assert files[".toml"] == RULE_TEXT
    assert f"RULES = {RULE_TEXT!r}" in files[".py"]
    assert "ORT_DISABLE_ALL" in files[".py"], "as the rules say"
    assert no_script_text("only:GeluFusion").startswith("No script opens the model as only:Gelu")
    assert no_script_text("custom:softmax").startswith("custom:softmax runs only inside FuseScope")
    compile(files[".py"], "script.py", "exec")
    none_kept = kept_files(record, results[1:3])
    assert list(none_kept) == [".py"]
    assert "ORT_ENABLE_ALL" in none_kept[".py"]
    settings = {"graph_optimization": "all", "disabled_count": 2}
    only = recorded({"only:B": [10.0] * 8, "fused": [10.0] * 8})
    variants = [msgspec.structs.replace(only.variants[0], settings=settings), *only.variants[1:]]
    only = msgspec.structs.replace(only, variants=variants)
    assert kept_files(only, ()) == {}
    assert kept_files(only, (), ("A", "B")) == {}, "another list than it was recorded with"
    assert "disabled_optimizers=['A', 'C']" in kept_files(only, (), ("A", "B", "C"))[".py"]
