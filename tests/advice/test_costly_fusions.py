"""Fusions that an ablation measured to cost time, by hand: of ONNX Runtime and of torch."""

from __future__ import annotations

import json

import pytest

from fusescope.analysis.advice import findings
from fusescope.analysis.advice.finding import Finding, Findings
from fusescope.analysis.advice.remedies import held, remedies
from fusescope.analysis.advice.sides import advised
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.report.exports.findings_json import findings_values
from fusescope.analysis.wording.findings import (
    gain_parts,
    label_text,
    limit_parts,
    remedy_text,
    why_text,
)
from tests.compare.groups.test_torch_graphs import FUSED, MODEL, UNFUSED
from tests.compare.test_ablation_table import recorded
from tests.engine_experiments import two_engines
from tests.torch_experiments import torch_experiment

ORT = {
    "unfused": [20.0] * 6,
    "fused": [10.0] * 6,
    "without:A": [12.0] * 6,
    "without:B": [9.0, 9.1, 8.9, 9.0, 9.1, 8.9],
    "without:C": [9.0, 11.0, 9.1, 10.9, 9.0, 11.0],  # cannot tell
}
KERNEL = "cpp_fused_add_mul_0:2"


def of_torch(ms: float) -> Experiment:
    variants = {"unfused": UNFUSED, "fused": FUSED, f"without:{KERNEL}": UNFUSED}
    return torch_experiment(
        MODEL,
        variants,
        ms={"unfused": 2.0, "fused": 1.0, f"without:{KERNEL}": ms},
        settings={f"without:{KERNEL}": {"denied_operators": "mul, add"}},
    )


def costly(found: Findings) -> list[Finding]:
    return [one for one in found.found if one.code == "costly_fusion"]


def said(one: Finding) -> str:
    parts = "".join(part.text for part in (*limit_parts(one), *gain_parts(one, None)))
    return " ".join((label_text(one), parts, why_text(one), remedy_text(one)))


def test_an_optimizer_without_which_the_model_is_faster() -> None:
    subject = advised(recorded(ORT), "fused")
    found = findings(subject)
    [one] = costly(found)
    assert (one.values["name"], one.values["of"], one.confidence) == ("B", "optimizer", "high")
    assert one.of_ns == 10_000_000 and one.gain is not None and one.gain.basis == "measured"
    # Of the six ratios the lowest and the highest are cut: exp of the mean of the other logarithms.
    assert one.gain.value == pytest.approx(1_000_300, rel=1e-3)
    assert 600_000 < one.gain.low < one.gain.value < one.gain.high < 1_400_000
    told = said(one)
    assert "disabled_optimizers=['B']" in told and "9.00 ms instead of 10.0 ms" in told
    assert "without:B" in held(subject, found)  # the recording has it: nothing is to be tried
    assert "without:B" not in {each.variant for each in remedies(subject, found)}
    rows = json.loads(json.dumps(findings_values(found)))["findings"]
    [row] = [row for row in rows if row["code"] == "costly_fusion"]
    assert row["gain_ns"]["basis"] == "measured" and "disabled_optimizers" in row["try"]


def test_a_kernel_of_the_compiler_without_which_the_model_is_faster() -> None:
    found = findings(advised(of_torch(0.9), "fused"))
    [one] = costly(found)
    assert (one.values["name"], one.names) == (KERNEL, (KERNEL,))
    assert one.gain is not None and one.gain.value == pytest.approx(100_000)
    told = said(one)
    assert "inductor_choices_class" in told and "They are mul, add." in told


def test_what_brings_something_is_no_finding() -> None:
    assert costly(findings(advised(of_torch(1.1), "fused"))) == []
    bringing = {**ORT, "without:B": [11.0] * 6}
    assert costly(findings(advised(recorded(bringing), "fused"))) == []


def test_only_the_variant_with_everything_is_asked() -> None:
    for name in ("unfused", "without:B"):
        assert costly(findings(advised(recorded(ORT), name))) == []


def test_a_recording_without_an_ablation_says_how_to_get_one() -> None:
    plain = recorded({name: ORT[name] for name in ("unfused", "fused")})
    reasons = {one.code: one.reason for one in findings(advised(plain, "fused")).unanswered}
    assert reasons["costly_fusion"] == "no_ablation"


def test_with_several_engines_a_recording_of_one_is_asked_for() -> None:
    """--ablate is refused there."""
    value = read(Source("two.zip", two_engines()))
    asked = findings(advised(value, "onnxruntime:fused"))
    reasons = {one.code: one.reason for one in asked.unanswered}
    assert reasons["costly_fusion"] == "no_ablation_of_several"
    asked = findings(advised(value, "openvino:fused"))
    reasons = {one.code: one.reason for one in asked.unanswered}
    assert reasons["costly_fusion"] == "no_ablation_of_openvino"
