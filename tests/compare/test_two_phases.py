"""Files of two phases of serving: named as such, and no change between them is shown."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fusescope.analysis import wording
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.limits import Limits
from fusescope.analysis.readers.building.host.wait_calls import host_waits
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording import diagnostic_sentence
from fusescope.analysis.wording.explanation import leading_sentence
from tests.host.hosts import Span, trace_of

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


def waiting(names: list[str], wait_ns: int) -> Trace:
    """Steps of 1000 ns with four kernels of 200 ns, in each of which the host waits so long."""
    spans, calls, waits = list[Span](), [], []
    for number, name in enumerate(names):
        begin = 1000 * number
        spans.append((0, "annotation", name, begin, begin + 1000))
        calls += [
            (begin + 100 + at * 200, begin + 300 + at * 200, 0, begin + at) for at in range(4)
        ]
        waits.append(("cudaStreamSynchronize", begin + 10, begin + 10 + wait_ns))
    return replace(trace_of(spans, calls), host_waits=host_waits(waits, Limits()))


@pytest.mark.parametrize(("steps", "wait_ns", "is_said"), [(1, 1400, True), (3, 500, False)])
def test_only_one_wait_longer_than_its_step_is_for_what_ran_before(
    steps: int, wait_ns: int, is_said: bool
) -> None:
    """The waits of three steps, 1500 ns together, are longer than a step and each half of one."""
    baseline = side_of_trace(waiting([DECODE] * steps, wait_ns))
    found = compare(baseline, side_of_trace(step(PREFILL, 900))).explanation
    assert found is not None and found.difference == "phases"
    assert ("The baseline's host waits" in leading_sentence(found)) == is_said
