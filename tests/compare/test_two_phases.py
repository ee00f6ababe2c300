"""Files of two phases of serving: named as such, and no change between them is shown."""

from __future__ import annotations

import pytest

from analysis import wording
from analysis.compare import compare
from analysis.compare.comparison import Comparison
from analysis.compare.side import side_of_trace
from analysis.trace import Trace
from analysis.wording import diagnostic_sentence
from analysis.wording.explanation import leading_sentence
from tests.host.hosts import trace_of

DECODE, PREFILL = "step[DECODE bs=32]", "step[EXTEND bs=15 toks=15360]"


def step(name: str, ns: int) -> Trace:
    """One step of four kernels of `ns` each, all launched below the annotation `name`."""
    calls = [(100 + at * ns, 100 + (at + 1) * ns, 0, 10 + at) for at in range(4)]
    return trace_of([(0, "annotation", name, 5, 60)], calls)


def compared(before: str, after: str) -> Comparison:
    return compare(side_of_trace(step(before, 50)), side_of_trace(step(after, 900)))


def test_decoding_and_prefill_are_named_and_not_compared() -> None:
    found = compared(DECODE, PREFILL)
    assert (found.verdict.outcome, found.verdict.reason) == ("cannot_tell", "different_phases")
    assert found.verdict.speedup is None
    assert not found.has_changes
    assert all(figure.change is None for figure in found.figures)
    assert found.explanation is not None
    assert found.explanation.difference == "phases"
    assert "are two phases of serving" in wording.verdict_sentence(found)
    assert "of one phase" in wording.coverage_sentence(found)
    assert not any("model" in sentence for sentence in said(found))


def said(found: Comparison) -> list[str]:
    return [
        wording.verdict_sentence(found),
        wording.verdict_basis(found.verdict),
        wording.fusion_sentence(found),
        wording.coverage_sentence(found),
        *map(diagnostic_sentence, found.diagnostics),
    ]


def test_another_batch_of_one_phase_is_named() -> None:
    found = compared(DECODE, "step[DECODE bs=16]")
    assert found.explanation is not None and found.explanation.difference == "sizes"
    sentence = leading_sentence(found.explanation)
    assert "a decoding step of 32 sequences, the candidate a decoding step of 16" in sentence
    same = compared(DECODE, DECODE)
    assert same.explanation is not None and same.explanation.difference is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (DECODE, DECODE),
        (DECODE, "step[DECODE bs=16]"),  # another batch is not another phase
        ("train_step#1", PREFILL),  # of one side the phase is not known
    ],
)
def test_what_is_not_of_two_phases_is_compared(before: str, after: str) -> None:
    assert compared(before, after).verdict.reason != "different_phases"
