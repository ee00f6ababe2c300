"""Dynamic dimensions: what they cost, in a recording and in a bare trace, and what answers that."""

from __future__ import annotations

import pytest

from fusescope.analysis.advice import Subject, findings
from fusescope.analysis.advice.missed_fusions import missed_fusions
from fusescope.analysis.advice.remedies import remedies
from fusescope.analysis.wording import findings as words
from fusescope.analysis.wording.advice import near_miss_remedy
from tests.advice.experiments import compared
from tests.advice.traces import found_in, of_code, reason, trace_of
from tests.dynamic_models import causal

SIZES = {"x": (2, 6, 16)}


def test_what_is_computed_in_every_run_and_not_fused() -> None:
    """Of sizes compute Shape, two Gather, Range, Unsqueeze and LessOrEqual, 10 µs each; four MatMul
    of 40 µs keep an Add of 10: 60 % of 60 and of 40 µs are predicted to go."""
    comparison = compared(causal(), "dynamic", {"MatMul": 40}, sizes=SIZES)
    subject = Subject(comparison.candidate, comparison)
    found = findings(subject)
    one = of_code(found, "dynamic_dimensions")
    assert one is not None
    assert (one.values["operators"], one.values["time_ns"]) == (6, 60_000)
    assert (one.values["patterns"], one.values["stake_ns"]) == ("MatMul + Add", 40_000)
    assert one.share == subject.share(100e3)
    assert one.gain is not None
    assert one.gain.value == pytest.approx(60_000)
    said = "".join(part.text for part in words.limit_parts(one))
    assert said.startswith("6 operators that compute only with sizes take 60.0 µs")
    assert "would absorb 40.0 µs (MatMul + Add)" in said
    assert "was not told the sizes" in words.why_text(one)
    blocked = {f.values["blocked_by"] for f in found.found if f.code == "missed_fusion"}
    assert "dynamic_dimensions" not in blocked, "it is told once"
    [miss] = [m for m in missed_fusions(comparison) if m.blocked_by == "dynamic_dimensions"]
    assert miss.count == 4
    assert "the variant fused" in near_miss_remedy(miss)

    [asked] = remedies(subject, found)
    assert (asked.variant, asked.finding) == ("fused", "dynamic_dimensions")
    assert asked.predicted is not None
    assert asked.predicted.value == pytest.approx(60e3 / subject.operators_ns)


def test_fixed_sizes_have_none() -> None:
    comparison = compared(causal(), "fused", {"MatMul": 40}, sizes=SIZES)
    for side in (comparison.candidate, comparison.baseline):
        found = findings(Subject(side))
        assert of_code(found, "dynamic_dimensions") is None
        assert reason(found, "dynamic_dimensions") is None


def test_a_trace_without_a_graph() -> None:
    """Shape, and of what returns integers those that may be a shape; ids of 512 values are none."""
    calls = [(name, 100 * place, 50) for place, name in enumerate(
        ("MatMul", "Shape", "Gather", "Concat", "ConstantOfShape", "Gather", "Cast")
    )]  # fmt: skip
    outputs = ["float32[8,16]", "int64[2]", "int64[]", "int64[3]", "float32[8,16]", "int64[512]",
               "int64[2,2]"]  # fmt: skip
    found = found_in(trace_of(calls, outputs=outputs))
    one = of_code(found, "dynamic_dimensions")
    assert one is not None
    assert (one.values["operators"], one.values["time_ns"]) == (4, 200)
    assert (one.gain, one.at_most_ns, one.confidence) == (None, 200, "low")
    said = "".join(part.text for part in words.limit_parts(one))
    assert said.startswith("4 operators that compute only with sizes take 200 ns, 20.0 % of the")
    without = trace_of(calls[:1] + calls[2:], outputs=outputs[:1] + outputs[2:])
    assert of_code(found_in(without), "dynamic_dimensions") is None
