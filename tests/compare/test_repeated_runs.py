"""Files that mark no runs: one repetition of their kernels is a run, on both sides alike."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.assumptions import Assumptions
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.doubts import _attribution
from fusescope.analysis.compare.runs.units import with_shared_runs
from fusescope.analysis.compare.side import Side, side_of_trace
from fusescope.analysis.report.html import report_html
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording import diagnostic_sentence
from tests.step_traces import Kernel, steps_of

LAYER = (
    Kernel("layer_norm_kernel", 5, "normalisation"),
    Kernel("gemm_qkv", 40, "matrix_product"),
    Kernel("flash_fwd_kernel", 30, "attention"),
    Kernel("gemm_mlp", 80, "matrix_product"),
    Kernel("gelu_kernel", 7, "activation"),
)  # 162 us
WAITS = (replace(LAYER[0], after_us=38), *LAYER[1:])  # 200 us


def compared(before: Trace, after: Trace, assumptions: Assumptions | None = None) -> Comparison:
    return compare(side_of_trace(before), side_of_trace(after), assumptions or Assumptions())


def test_windows_of_one_length_compare_by_what_fits_into_them() -> None:
    before = steps_of([LAYER] * 20, marked=False)  # 3.2 ms each
    after = steps_of([WAITS] * 16, marked=False)
    found = compared(before, after)
    assert found.verdict.latency_change == pytest.approx(38 / 162)
    assert found.verdict.times_ns == pytest.approx((162_000, 200_000))
    assert found.verdict.samples == (19, 15)  # the end of the last one is not in the file
    assert found.figure("latency").candidate.value == pytest.approx(200_000)
    assert found.figure("device_idle").candidate.value == pytest.approx(38 / 200)
    assert found.ledger.reconciliation.delta_ns == pytest.approx(38_000)


def test_it_is_said_how_many_repetitions_were_counted() -> None:
    found = compared(steps_of([LAYER] * 20, marked=False), steps_of([LAYER] * 12, marked=False))
    notes = [note for note in found.diagnostics if note.code == "runs_repeated"]
    assert [note.count for note in notes] == [19, 11]
    said = diagnostic_sentence(notes[0])
    assert "each of 19 repetitions that it holds whole counts as one run" in said
    assert "Of the last one the file does not show that, so it is in no run." in said
    codes = {note.code for note in found.diagnostics}
    assert not codes & {"no_runs", "runs_differ"}  # a longer window is no doubt


def test_the_explanation_is_of_the_same_repetitions() -> None:
    found = compared(steps_of([LAYER] * 20, marked=False), steps_of([WAITS] * 16, marked=False))
    assert found.explanation is not None
    unit = found.explanation.unit
    assert (unit.kind, unit.evidence, unit.counts) == ("repeat", "ordered", (19, 15))
    assert (unit.before_ns, unit.after_ns) == (162_000, 200_000)


def traces(*sides: Side) -> list[Trace]:
    return [side.trace for side in sides]


def test_runs_that_a_file_marks_stay() -> None:
    sides = side_of_trace(steps_of([LAYER * 4] * 3)), side_of_trace(steps_of([LAYER * 4] * 3))
    assert traces(*with_shared_runs(*sides)) == traces(*sides)


def test_what_repeats_on_one_side_only_stays_whole() -> None:
    once = steps_of([tuple(Kernel(f"kernel_{at}", 9) for at in range(40))], marked=False)
    sides = side_of_trace(steps_of([LAYER] * 20, marked=False)), side_of_trace(once)
    assert traces(*with_shared_runs(*sides)) == traces(*sides)


def test_pauses_that_no_file_explains_are_no_part_of_a_run() -> None:
    """Repetitions of 162 us, 400 us apart: the device may have waited for anything."""
    pause = (replace(LAYER[0], after_us=400), *LAYER[1:])
    found = compared(*(steps_of([pause] * count, marked=False) for count in (12, 16)))
    assert found.figure("latency").baseline.value == pytest.approx(162_000)
    assert found.figure("device_idle").candidate.value == 0
    assert found.verdict.samples == (12, 16)  # the last one is whole, too
    [beside] = (
        note
        for note in found.diagnostics
        if note.code == "runs_beside" and note.values["side"] == "baseline"
    )
    assert (beside.values["between"], beside.count) == (11 * 400_000, 0)


def test_entered_runs_win() -> None:
    before, after = (steps_of([LAYER] * 20, marked=False) for _ in range(2))
    found = compared(before, after, Assumptions(runs=(10, 10)))
    assert found.figure("latency").candidate.value == pytest.approx(2 * 162_000)


_ABOUT_REST = {"weak_attribution", "change_unexplained"}


def about_rest(found: Comparison) -> list[str]:
    return [diagnostic_sentence(note) for note in found.diagnostics if note.code in _ABOUT_REST]


def test_idle_time_that_is_explained_is_no_note_of_two_traces() -> None:
    """The ledger's groups have none of the 38 us, but the explanation has all of them."""
    found = compared(steps_of([LAYER] * 20, marked=False), steps_of([WAITS] * 16, marked=False))
    assert found.ledger.reconciliation.weak
    assert found.explanation is not None
    assert [change.code for change in found.explanation.changes] == ["idle"]
    assert about_rest(found) == []
    assert "not explain" not in report_html(found) and "explain only part" not in report_html(found)


def test_nothing_is_left_unexplained_where_no_change_is_shown() -> None:
    """Repetitions of 162 and 163 us, of which the one idle us is no change that stands out."""
    idle = (replace(LAYER[0], after_us=1), *LAYER[1:])
    found = compared(steps_of([LAYER] * 20, marked=False), steps_of([idle] * 20, marked=False))
    assert found.verdict.reason == "no_change" and found.ledger.reconciliation.weak
    assert about_rest(found) == []


_LEFT = "The changes that were found leave {} unexplained; the whole change is +38.0 µs."


@pytest.mark.parametrize(
    ("idle_ns", "said"),
    [
        (30_000, []),  # 8 of 38 us are left: less than a quarter
        (20_000, [_LEFT.format("+18.0 µs")]),
        (60_000, [_LEFT.format("−22.0 µs")]),
    ],
)
def test_what_no_change_accounts_for_is_a_note(idle_ns: int, said: list[str]) -> None:
    found = compared(steps_of([LAYER] * 20, marked=False), steps_of([WAITS] * 16, marked=False))
    assert found.explanation is not None
    (idle,) = found.explanation.changes
    explained = replace(found.explanation, changes=(replace(idle, change_ns=idle_ns),))
    sides = (found.baseline, found.candidate)
    notes = _attribution(*sides, found.verdict, found.ledger, explained)
    assert [(note.severity, diagnostic_sentence(note)) for note in notes] == [
        ("info", each) for each in said
    ]
