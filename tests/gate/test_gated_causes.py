"""Conditions on what changed between two traces: the right values by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.gate.condition import parse_condition
from fusescope.analysis.gate.judgement import judge
from fusescope.analysis.report.gate.gate_json import gate_json
from fusescope.analysis.report.gate.junit import junit_xml
from fusescope.analysis.report.gate.markdown import gate_markdown
from fusescope.analysis.wording.gate import cause_lines, judged_sentence
from tests.command_line import app
from tests.step_traces import Kernel, steps_of

SAMPLES = Path(__file__).resolve().parents[2] / "sample_traces" / "torch_compile"
# 100 us a step: products of 70 us, a norm of 20 us, an addition of 10 us.
STEP = [Kernel("gemm_a", 40, "matmul"), Kernel("norm", 20, "reduction"),
        Kernel("gemm_b", 30, "matmul"), Kernel("add", 10)]  # fmt: skip


def of_steps(before: list[Kernel], after: list[Kernel]) -> Comparison:
    """Six equal steps a side."""
    return compare(
        side_of_trace(steps_of([before] * 6, name="before")),
        side_of_trace(steps_of([after] * 6, name="after")),
    )


def changed(**us: float) -> list[Kernel]:
    """The step with other times of some kernels."""
    return [replace(kernel, us=us.get(kernel.name, kernel.us)) for kernel in STEP]


def test_all_causes_together_and_the_costliest_alone() -> None:
    """The norm takes 12 us more and the addition 6 us less: 6 % together, 12 % the norm alone."""
    comparison = of_steps(STEP, changed(norm=32, add=4))
    texts = ["explanation.slower 5%", "explanation.slower 7%", "explanation.cause 10%",
             "explanation.cause 13%", "explanation.slower slower 5%"]  # fmt: skip
    judged = judge([parse_condition(text) for text in texts], comparison)
    assert [one.outcome for one in judged] == ["failed", "passed", "failed", "passed", "failed"]
    assert [one.value for one in judged] == pytest.approx([0.06, 0.06, 0.12, 0.12, 0.06])
    assert "+6.0 %" in judged_sentence(judged[0]) and "one recording" in judged_sentence(judged[0])
    [line] = cause_lines(judged)
    assert "norm" in line and "12.0 µs" in line
    values = json.loads(gate_json(judged, "before", "after"))
    assert [cause["change_ns"] for cause in values["conditions"][0]["causes"]] == [12_000]
    assert line.encode() in junit_xml(judged, "before", "after")
    assert "norm" in gate_markdown(judged, "before", "after")


def test_what_got_faster_passes() -> None:
    comparison = of_steps(STEP, changed(norm=10))
    [one, cause] = judge(
        [parse_condition("explanation.slower 0%"), parse_condition("explanation.cause 0%")],
        comparison,
    )
    assert (one.outcome, cause.outcome) == ("passed", "passed")
    assert (one.value, cause.value) == pytest.approx((-0.1, 0.0))
    assert cause_lines([one, cause]) == []


def test_kernels_that_all_take_the_same_share_more_are_clocks() -> None:
    slower = [replace(kernel, us=kernel.us * 1.1) for kernel in STEP]
    comparison = of_steps(STEP, slower)
    [one] = judge([parse_condition("explanation.slower 5%")], comparison)
    assert comparison.explanation is not None and comparison.explanation.outcome == "clock"
    assert (one.outcome, one.reason) == ("cannot_tell", "clocks")
    assert one.value == pytest.approx(0.1, abs=0.001) and "clocks" in judged_sentence(one)


def test_conditions_are_read_and_refused() -> None:
    condition = parse_condition("explanation.slower 5%")
    assert (condition.kind, condition.relation, condition.limit) == ("cause", "slower", 0.05)
    for text, code in (
        ("explanation.slower 5", "condition_wants_percent"),
        ("explanation.faster 5%", "condition_of_unknown"),
        ("explanation.slower < 5%", "condition_without_relation"),
        ("explanation.slower 5% with 95%", "condition_without_noise"),
    ):
        with pytest.raises(FuseScopeError) as refused:
            parse_condition(text)
        assert refused.value.code == code, text


def test_the_verb_takes_two_traces_and_says_what_it_cannot_judge(tmp_path: Path) -> None:
    fast, slow = str(SAMPLES / "compiled.json.gz"), str(SAMPLES / "eager.json.gz")
    written = tmp_path / "gate.md"
    failed = CliRunner().invoke(
        app, ["gate", fast, slow, "--fail-if", "explanation.slower 20%", "--markdown", str(written)]
    )
    assert failed.exit_code == 1 and "No longer fused in 14 places" in failed.stdout
    assert "explanation.slower 20% | failed" in written.read_text()
    passed = CliRunner().invoke(app, ["gate", slow, fast, "--fail-if", "explanation.slower 1%"])
    assert passed.exit_code == 0
    timed = CliRunner().invoke(app, ["gate", slow, fast, "--fail-if", "latency slower 5%"])
    assert isinstance(timed.exception, FuseScopeError)
    assert timed.exception.code == "gate_not_judged"
    recording = str(SAMPLES.parent / "mobilenetv2.zip")
    alone = CliRunner().invoke(
        app, ["gate", recording, "--fail-if", "explanation.slower 5%", "--head", "fused"]
    )
    assert isinstance(alone.exception, FuseScopeError)
    assert alone.exception.code == "gate_not_judged" and "speedup" in str(alone.exception)
    for option in ("--keep", "--out", "--base"):
        refused = CliRunner().invoke(
            app, ["gate", slow, fast, "--fail-if", "explanation.slower 5%", option, "x.zip"]
        )
        assert isinstance(refused.exception, FuseScopeError)
        assert refused.exception.code == "options_exclude"
