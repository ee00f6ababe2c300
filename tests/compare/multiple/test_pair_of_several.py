"""A pair among several says what it says alone: times, answer and doubts."""

from __future__ import annotations

import pytest

from fusescope.analysis import wording
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.multiple.comparison import MultipleComparison, compare_several
from fusescope.analysis.compare.side import Side, side_of_trace
from fusescope.analysis.compare.trust import trust
from fusescope.analysis.report.multiple.html import multiple_html
from fusescope.analysis.report.multiple.markdown import multiple_markdown
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording.diagnostics import diagnostic_sentence
from fusescope.analysis.wording.multiple.comparison import (
    basis_sentences,
    best_sentence,
    doubt_lines,
    has_speedups,
    result_text,
    speedup_text,
)
from fusescope.analysis.wording.sentences import change_text, samples_text
from tests.step_traces import Kernel, steps_of


def repeated(name: str, us: float, count: int) -> Trace:
    """So many repetitions of four kernels of `us` each, which nothing marks."""
    step = [Kernel(f"kernel_{letter}", us) for letter in "abcd"]
    return steps_of([step] * count, marked=False, name=name)


def sides_of(*traces: Trace) -> list[Side]:
    return [side_of_trace(trace) for trace in traces]


FIRST, SECOND = repeated("first", 100, 6), repeated("second", 150, 5)
# Kernels that all have names of their own, so nothing repeats.
OTHER = steps_of([[Kernel(f"other_{at}", 70) for at in range(7)]], marked=False, name="other")


def latencies(several: MultipleComparison) -> list[float | None]:
    return [entry.figures["latency"].value for entry in several.entries]


def test_two_sides_have_the_answer_of_their_pair() -> None:
    """Repetitions of 400 and of 600 us."""
    sides = sides_of(FIRST, SECOND)
    pair, several = compare(*sides), compare_several(sides)
    assert pair.verdict.times_ns == pytest.approx((400_000, 600_000))
    assert latencies(several) == pytest.approx([400_000, 600_000])
    assert best_sentence(several) == wording.verdict_sentence(pair)
    assert basis_sentences(several).startswith(wording.verdict_basis(pair.verdict))
    assert [side.name for side in several.sides] == [pair.baseline.name, pair.candidate.name]
    told = [diagnostic_sentence(note) for note in trust(pair.diagnostics).specific]
    assert list(doubt_lines(several))[1:] == list(dict.fromkeys(told))


@pytest.mark.parametrize("at", [1, 2])
def test_a_third_side_leaves_the_times_of_a_pair_as_they_are(at: int) -> None:
    """The third one shares no unit with the others: what it takes is no time of a unit."""
    sides = sides_of(FIRST, SECOND)
    sides.insert(at, side_of_trace(OTHER))
    several = compare_several(sides)
    assert several.comparisons[at - 1].verdict.reason == "different_models"
    expected: list[float | None] = [400_000, 600_000]
    expected.insert(at, None)
    assert latencies(several) == [None if ns is None else pytest.approx(ns) for ns in expected]
    assert result_text(several.entries[at]) == "not compared"
    basis = samples_text(compare(*sides_of(FIRST, SECOND)).verdict)
    assert basis and basis in basis_sentences(several)
    assert "one file each" not in basis_sentences(several)


def test_what_did_not_change_is_said_of_several_too() -> None:
    again, third = repeated("again", 100, 5), repeated("third", 150, 5)
    several = compare_several(sides_of(FIRST, again, third))
    assert several.comparisons[0].verdict.reason == "no_change"
    assert [result_text(entry) for entry in several.entries][:2] == ["baseline", "no change"]
    assert best_sentence(several).endswith("may be as fast.")


def test_where_no_change_is_shown_no_speedup_and_no_change_of_a_time_stands_beside_it() -> None:
    """Repetitions of 400 and 401.6 us; of three sides the slower third keeps its speedup."""
    again, third = repeated("again", 100.4, 5), repeated("third", 150, 5)
    alone, several = (
        compare_several(sides_of(FIRST, *more)) for more in ((again,), (again, third))
    )
    assert [entry.verdict and entry.verdict.reason for entry in alone.entries] == [
        None, "no_change"
    ]  # fmt: skip
    assert [speedup_text(entry) for entry in alone.entries] == ["–", "–"]
    assert not has_speedups(alone) and has_speedups(several)
    assert [speedup_text(entry) for entry in several.entries[:2]] == ["–", "–"]
    assert speedup_text(several.entries[2]) != "–"
    for multiple, is_shown in ((alone, False), (several, True)):
        assert ("Speedup" in multiple_html(multiple)) == is_shown
        assert ("speedup" in multiple_markdown(multiple)) == is_shown
    pair = alone.comparisons[0]
    changed = {figure.code: change_text(figure) for figure in pair.figures}
    assert changed["latency"] == changed["throughput"] == changed["device_busy"] == ""
    assert changed["kernels"] == "0.0 %", "a count is no time"
    assert pair.ledger.rows["low_ns"].isna().all() and not pair.ledger.rows["hurts"].any()
    assert compare(*sides_of(FIRST, third)).figure("latency").change == pytest.approx(0.5)
