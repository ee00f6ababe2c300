"""Every code that the analysis can give has its words: none falls back to the code itself."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import get_args

import pytest

from fusescope.analysis.compare.comparison import FigureCode
from fusescope.analysis.compare.timing.verdict import CannotTell, Interval, NoiseUnknown, Verdict
from fusescope.analysis.metrics.counters import MEASURES
from fusescope.analysis.quantity import Reason
from fusescope.analysis.trace import Diagnostic, DiagnosticCode
from fusescope.analysis.wording import (
    CANNOT_TELL,
    FIGURES,
    NOISE_UNKNOWN,
    REASONS,
    diagnostic_sentence,
    verdict_basis,
    verdict_interval,
    why_not_told,
)
from fusescope.analysis.wording.diagnostics import (
    DIAGNOSTICS,
    damaged,
    depending,
    doubting,
    recorded,
    tables,
)
from fusescope.analysis.wording.diagnostics.text import NoteText
from fusescope.analysis.wording.sentences import stricter_text


def test_every_diagnostic_has_a_sentence() -> None:
    assert set(DIAGNOSTICS) == set(get_args(DiagnosticCode)) and len(DIAGNOSTICS) > 100


def test_diagnostics_are_whole_sentences() -> None:
    written = [
        form
        for module in (damaged, depending, doubting, recorded, tables)
        for text in vars(module).values()
        for found in ([text] if isinstance(text, NoteText) else [])
        for message in (found.fact, *found.then)
        for form in (message.one, message.many or message.one)
    ]
    written += [
        form
        for found in DIAGNOSTICS.values()
        if isinstance(found, NoteText)
        for message in (found.fact, *found.then)
        for form in (message.one, message.many or message.one)
    ]
    assert len(written) > 200
    assert [text for text in written if not re.match(r"([A-Z{]|kernel_d|step_tr)", text)] == []
    assert [text for text in written if not text.endswith(".")] == []


def test_every_reason_and_figure_has_words() -> None:
    assert set(REASONS) == set(get_args(Reason)) and len(REASONS) > 10
    assert set(CANNOT_TELL) == set(get_args(CannotTell)) and len(CANNOT_TELL) > 4
    assert set(NOISE_UNKNOWN) == set(get_args(NoiseUnknown)) and len(NOISE_UNKNOWN) > 2
    codes = {*get_args(FigureCode), *(measure.code for measure in MEASURES)}
    assert set(FIGURES) == codes and len(codes) == len(get_args(FigureCode)) + len(MEASURES) > 60


def test_an_interval_beside_noise_is_explained_only_where_it_excludes_no_change() -> None:
    verdict = Verdict(
        outcome="cannot_tell",
        reason="within_noise",
        of="unprofiled_wall",
        pairing="blocks",
        speedup=1.02,
        interval=Interval(1.004, 1.04),
        corrected=Interval(0.996, 1.049),
        noise_floor=None,
        smallest_detectable=0.03,
        samples=(8, 8),
        alpha=0.0221,
        shared_by=(3, 4),
    )
    clause = "The interval is at a level of 0.022, for all {} together"
    for shared_by, of in (((3, 4), "looks and variants"), ((3, 1), "looks"), ((1, 3), "variants")):
        assert clause.format(of) in why_not_told(replace(verdict, shared_by=shared_by))
    inside = replace(verdict, interval=Interval(0.99, 1.04))
    assert why_not_told(inside) == str(CANNOT_TELL["within_noise"])
    # An interval that leaves 1 out never stands beside 'cannot tell': it is that of the verdict.
    assert verdict_interval(verdict) == "97.79 % interval 0.996× to 1.049×"
    assert verdict_interval(inside) == "95 % interval 0.990× to 1.040×"
    assert stricter_text(verdict).startswith("The interval is at a level of 0.022")
    assert stricter_text(inside) == ""
    faster = replace(verdict, outcome="faster", reason=None)
    assert verdict_interval(faster) == "95 % interval 1.004× to 1.040×"


@pytest.mark.parametrize(
    ("speedup", "why"),
    [(1.015, "differ by less than 2 %."), (1.03, "by no more than the runs of one file do.")],
)
def test_times_without_a_change_have_the_one_reason_that_holds(speedup: float, why: str) -> None:
    """1 / 1.015 is 1.5 % less time, 1 / 1.03 is 2.9 %."""
    verdict = Verdict(
        outcome="cannot_tell",
        reason="no_change",
        of="run_span",
        pairing="unpaired_runs",
        speedup=speedup,
        interval=None,
        corrected=None,
        noise_floor=None,
        smallest_detectable=None,
        samples=(5, 5),
        alpha=0.05,
    )
    said = why_not_told(verdict)
    assert said.startswith("The two times differ") and said.endswith(why)
    assert said.count(".") == 1


def test_what_would_have_been_seen_takes_the_control_too() -> None:
    verdict = Verdict(
        outcome="cannot_tell",
        reason="no_change",
        of="unprofiled_wall",
        pairing="blocks",
        speedup=1.002,
        interval=Interval(0.998, 1.006),
        noise_floor=Interval(0.968, 1.018),
        smallest_detectable=0.008,
        samples=(8, 8),
    )
    assert verdict_basis(verdict).endswith(
        "would have seen a change of 3.2 %, as much as two copies of the baseline may be apart."
    )
    calm = replace(verdict, noise_floor=Interval(0.997, 1.002))
    assert verdict_basis(calm).endswith("This measurement would have seen a change of 0.8 %.")
    # One that was seen needs no bound for what would have been.
    seen = replace(verdict, outcome="faster", reason=None, speedup=1.5)
    assert verdict_basis(seen).endswith("8 blocks of fresh processes, paired.")


def test_inferred_groups_are_not_said_to_rest_on_shapes_that_files_may_lack() -> None:
    said = diagnostic_sentence(Diagnostic("info", "groups_inferred", 29))
    assert said.startswith(
        "29 groups were inferred from the order of operators and what both files say of them."
    )
