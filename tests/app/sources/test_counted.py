"""What figures are of: one run, a whole file, or nothing that can be told."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import pytest

from fusescope.analysis import wording
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison, Figure
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.compare.totals import totals
from fusescope.analysis.quantity import Quantity
from fusescope.analysis.report import cards
from fusescope.analysis.report.html import report_html
from fusescope.analysis.report.tables import type_rows
from fusescope.analysis.wording.counted import drawn_text, runs_of
from fusescope.analysis.wording.step import step_title
from fusescope.app.parts import tables
from tests.whole_files import Op, trace_of

PLAIN: list[Op] = [("conv", "convolution", 900, 900), ("add", "elementwise", 100, 100)]
OTHER: list[Op] = [("gemm", "matrix_product", 500, 500), ("gelu", "activation", 300, 300)]
LIGHT: list[Op] = [("add", "elementwise", 600, 600)]
REGION: list[Op] = [("region", "unknown", 60, 60)]


def pair(
    first: list[Op], second: list[Op], kinds: tuple[str, str] = ("file", "file")
) -> Comparison:
    return pair_of(tuple(first), tuple(second), kinds)


@cache
def pair_of(first: tuple[Op, ...], second: tuple[Op, ...], kinds: tuple[str, str]) -> Comparison:
    sides = [trace_of(*given) for given in zip("ab", (first, second), kinds, strict=True)]
    return compare(*map(side_of_trace, sides))


def test_a_whole_file_does_not_stand_beside_a_run_of_another_model() -> None:
    comparison = pair(PLAIN, OTHER, ("file", "step"))
    assert comparison.verdict.reason == "different_models"
    assert " and 0 " not in wording.verdict_basis(comparison.verdict)
    for code in ("latency", "throughput", "light_time"):
        figure = comparison.figure(code)
        assert (figure.baseline.value, figure.baseline.reason) == (None, "runs_unknown"), code
        assert figure.candidate.value is not None
    # The step's own time, and not the union of its operators.
    assert comparison.figure("latency").candidate.value == pytest.approx(1600)
    assert {note.code for note in comparison.diagnostics} >= {"different_models", "runs_unknown"}
    sums = totals(comparison)
    assert sums and all(total.baseline_ns is None for total in sums)


def test_between_two_models_nothing_is_said_of_fusion_or_a_verdict() -> None:
    comparison = pair(PLAIN, OTHER, ("step", "step"))
    assert comparison.verdict.reason == "different_models"
    codes = {note.code for note in comparison.diagnostics}
    assert not codes & {"profiled_headline", "one_process_each"}
    assert wording.no_shares_sentence(comparison.ledger) == ""


def test_files_without_runs_are_told_per_file() -> None:
    comparison = pair(PLAIN, [("conv", "convolution", 60, 60), ("add", "elementwise", 20, 20)])
    assert wording.per_text(comparison) == wording.mean_text(comparison) == "per file"
    assert wording.change_sentence(comparison) == "Time in operators −92.0 %."
    assert "one file each, not paired" in wording.verdict_basis(comparison.verdict)
    basis = wording.waterfall_basis(comparison)
    assert basis.startswith("Totals: union of operator times, measured.") and "per run" not in basis
    assert wording.reconciliation_sentence(comparison.ledger.reconciliation).startswith(
        "Change of the time in operators: "
    )
    assert wording.time_of_sum(comparison) == "union of operator times"


def test_the_time_of_a_file_is_no_latency_and_stands_once() -> None:
    comparison = pair(PLAIN, [("conv", "convolution", 60, 60), ("add", "elementwise", 20, 20)])
    assert comparison.verdict.of == "busy_union"
    card = next(card for card in cards.figures(comparison).rows if card.code == "latency")
    assert (
        card.label == "time in operators" and "the number of runs is not known" in card.definition
    )
    found = totals(comparison)
    assert [wording.total_label(total, comparison) for total in found] == [
        "time in operators",
        "sum of operators",
    ]
    talking: list[Op] = [*PLAIN, ("send", "communication", 700, 700)]
    sums = pair(talking, [("conv", "convolution", 60, 60), *talking[1:]])
    labels = [wording.total_label(total, sums) for total in totals(sums)]
    assert labels[-1] == "sum of operators but communication"
    told = [wording.total_basis(total, comparison) for total in found]
    assert not any("run" in text or "mean" in text for text in told)
    assert wording.total_of(comparison) == "Of the whole file."
    runs = pair(PLAIN, PLAIN, ("step", "step"))
    assert wording.figure_text(runs, "latency").label == "latency"
    assert wording.total_label(totals(runs)[0], runs) == "latency"


@pytest.mark.parametrize(
    ("kinds", "head", "of"),
    [
        (("model_run", "model_run"), "Duration per run, µs baseline", "per run"),
        (("step", "step"), "Duration per step, µs baseline", "per step"),
        (("file", "file"), "Duration per file, µs baseline", "per file"),
        (
            ("file", "step"),
            "Duration, µs baseline (whole file)",
            "per run, the baseline's of its whole file",
        ),
        (
            ("step", "file"),
            "Duration, µs candidate (whole file)",
            "per run, the candidate's of its whole file",
        ),
    ],
)
def test_heads_and_helps_of_tables_say_what_their_figures_are_of(
    kinds: tuple[str, str], head: str, of: str
) -> None:
    comparison = pair(PLAIN, PLAIN, kinds)
    table = tables.type_table(comparison).of(comparison)
    assert head in [" ".join(names) for names in table.frame.columns]
    assert head in table.csv.decode()
    drawn = [setting["label"] for setting in table.settings.values()]
    assert head.split("µs ")[1] in drawn
    helps = [setting["help"] for setting in table.settings.values()]
    alike = len(set(kinds)) == 1
    if alike:
        assert any("per run" in text for text in helps) == (of == "per run")
    else:
        side = of.split()[3].removesuffix("'s")
        assert any(f"The {side}'s value is of its whole file" in text for text in helps)
    whole = "whole file of each side" if alike else f"whole file of the {of.split()[3][:-2]}"
    unit = of.split()[1]
    drawn = f"one {unit} of each side" if of in ("per run", "per step") else f"the {whole}"
    assert wording.drawn_text(comparison).endswith(drawn)
    assert drawn[1:] in wording.timelines_help(comparison)
    assert f"<small>{wording.drawn_text(comparison)}, one" in report_html(comparison)
    assert f" {of}" in wording.table_help(wording.OPERATORS_HELP, comparison)
    assert f" {of}," in wording.counted(wording.LEDGER_HELP, comparison)


def test_where_runs_are_not_marked_the_dispatch_gap_says_so_too() -> None:
    figure = pair(PLAIN, OTHER, ("file", "step")).figure("dispatch_gap")
    assert (figure.baseline.value, figure.baseline.reason) == (None, "runs_unknown")
    assert figure.candidate.value is not None


def test_the_times_in_a_title_are_the_candidates_where_only_it_has_runs() -> None:
    title = wording.totals_title(pair(PLAIN, OTHER, ("file", "step")))
    assert title.startswith("Which time is which: 1.60 µs") and title.endswith("of the candidate")


def test_two_models_have_no_word_of_a_change_in_any_table() -> None:
    comparison = pair(PLAIN, OTHER, ("file", "step"))
    told = wording.totals_sentence(comparison)
    assert told == (
        "All operators: baseline 1.00 µs (whole file), candidate 800 ns (per run); sums of "
        "their mean times."
    )
    table = tables.type_table(comparison).of(comparison)
    assert {label for _, label in table.columns}.isdisjoint({"change", "speedup"})
    assert set(table.columns["", "Ran on"]) == {"baseline only", "candidate only"}
    times = [{side.total for side in row.sides} for row in type_rows(comparison).visible]
    assert times == [{"900", "–"}, {"500", "–"}, {"300", "–"}, {"100", "–"}]
    assert type_rows(comparison).units["total"] == "ns"
    assert wording.table_help(wording.OP_TYPES_HELP, comparison).endswith("Longest time first.")
    report = report_html(comparison)
    assert "gone" not in (words := re.sub(r"<(script|style).*?</\1>", "", report, flags=re.DOTALL))
    assert "largest change first" not in words and '<th scope="col">Speedup' not in words
    told_of = [wording.total_basis(total, comparison) for total in totals(comparison)]
    assert told_of[0] == "profiled wall time, mean"
    assert not any("verdict" in text or "ledger" in text for text in told_of)
    assert '<p class="subject">a and b</p>' in words
    assert "neither the graphs" not in words and "Why not fused" not in words
    assert "Compare two recordings of one model" in words


@pytest.mark.parametrize(
    ("kind", "word"), [("model_run", "run"), ("step", "step"), ("repeat", "repetition")]
)
def test_what_is_marked_has_its_own_word(kind: str, word: str) -> None:
    comparison = pair(PLAIN, PLAIN, (kind, kind))
    assert wording.per_text(comparison) == f"per {word}"
    assert wording.mean_text(comparison) == f"mean per {word}"
    sides = (comparison.baseline, comparison.candidate)
    assert step_title(*sides) == f"Where the time of a {word} goes"
    sum_ = comparison.ledger.reconciliation
    told = wording.reconciliation_sentence(sum_, runs_of(comparison).word)
    assert told.startswith(f"Change of the mean {word}: ")
    assert drawn_text(comparison) == f"one {word} of each side"


def test_what_runs_are_marked_is_told_per_run() -> None:
    comparison = pair(PLAIN, PLAIN, ("step", "step"))
    assert "one step each, not paired" in wording.verdict_basis(comparison.verdict)
    told = wording.per_text(pair(PLAIN, PLAIN, ("step", "file")))
    assert told == "per run, the candidate's of its whole file"


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [(100.0, 50.0, "−50.0 %"), (100.0, 999.0, "+899.0 %"), (100.0, 1139.0, "11.4×")],
)
def test_a_change_beyond_ten_times_is_a_factor(before: float, after: float, text: str) -> None:
    values = (Quantity(value, "ns", "measured") for value in (before, after))
    assert wording.change_text(Figure("latency", *values)) == text


def test_each_side_has_its_own_reason() -> None:
    comparison = pair(LIGHT, PLAIN)
    told = wording.basis_text(comparison.figure("compute_utilisation"))
    assert told.startswith("baseline: no convolution, matrix product or attention ran; candidate: ")


def test_utilisations_of_a_recording_say_which_times_they_divide_by() -> None:
    """FLOPs / un-profiled latency may be more than FLOPs / profiled times of operators alone."""
    known = Quantity(0.4, "fraction", "modelled")
    compute, own, busy = (
        Figure(code, known, known, "points")
        for code in ("compute_utilisation", "operator_utilisation", "device_busy")
    )
    profiled = pair(PLAIN, PLAIN, ("step", "step"))
    recorded = replace(profiled, verdict=replace(profiled.verdict, of="unprofiled_wall"))
    assert wording.basis_beside_others(recorded, compute) == "modelled, un-profiled run"
    assert wording.basis_beside_others(recorded, own) == "modelled, as profiled"
    for comparison, figure in ((recorded, busy), (profiled, compute), (profiled, own)):
        assert wording.basis_beside_others(comparison, figure) == "modelled"


def test_of_unknown_classes_no_small_operator_ratio_is_made() -> None:
    comparison = pair(LIGHT, REGION)
    for code in ("small_op_time", "small_op_count", "light_time", "light_count"):
        quantity = comparison.figure(code).candidate
        assert (quantity.value, quantity.reason) == (None, "classes_unknown"), code
    assert comparison.figure("small_op_time").baseline.value == 1.0
    assert wording.light_work(comparison) == ""
    told = wording.basis_text(comparison.figure("operator_utilisation"))
    assert "candidate: most of the operators' time is of unknown class" in told
    doubts = [wording.diagnostic_sentence(note) for note in comparison.diagnostics]
    assert any("so there is no small-op ratio" in doubt for doubt in doubts)
    assert not any(doubt.startswith("0 ") for doubt in doubts)
    assert wording.coverage_sentence(comparison).startswith("No groups")


def test_operators_that_only_call_another_are_no_further_convolutions() -> None:
    # aten::conv2d calls aten::convolution, and so on: one convolution, four operators.
    nested: list[Op] = [
        (f"conv{depth}", "convolution", own, 900) for depth, own in enumerate((900, 10, 10, 10))
    ]
    codes = {note.code for note in pair(nested, PLAIN).diagnostics}
    assert "heavy_counts_differ" not in codes
    several: list[Op] = [(f"conv{n}", "convolution", 900, 900) for n in range(4)]
    codes = {note.code for note in pair(several, PLAIN).diagnostics}
    assert "heavy_counts_differ" in codes
