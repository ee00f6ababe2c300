"""A recording that cannot tell which variant is faster: no part of its page says that it does."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from fusescope.analysis.advice import Subject, findings
from fusescope.analysis.charts.waterfall import waterfall
from fusescope.analysis.colours import LIGHT
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.multiple.comparison import compare_several
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.compare.timing.verdict import Interval
from fusescope.analysis.experiment import Experiment, Machine, Samples
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.report.explanation.group_rows import group_rows
from fusescope.analysis.report.html import report_html
from fusescope.analysis.wording import (
    change_sentence,
    diagnostic_sentence,
    grey_sentence,
    next_step,
    verdict_basis,
)
from fusescope.analysis.wording.fusion.rows import pattern_parts, profiled_parts
from fusescope.analysis.wording.multiple.comparison import best_sentence
from fusescope.analysis.wording.recipes import made_text
from tests.factories import experiment_zip

NOISY = {
    "unfused": [10.0, 90.0, 12.0, 300.0, 11.0],
    "fused": [40.0, 9.0, 200.0, 8.0, 60.0],
    "eager": [300.0, 12.0, 9.0, 80.0, 70.0],
}
CLEAR = {"unfused": [10.0, 10.1, 9.9, 10.0, 10.05], "fused": [5.0, 5.1, 4.9, 5.0, 5.05]}


def recorded(times: dict[str, list[float]], load: float | None = None) -> Experiment:
    made = read(Source("tiny.zip", experiment_zip(times, looks=(5,))))
    assert isinstance(made, Experiment)
    machine: Machine = msgspec.structs.replace(made.record.machine, load_before=load)
    return replace(made, record=msgspec.structs.replace(made.record, machine=machine))


def pair(experiment: Experiment) -> Comparison:
    sides = (side_of_variant(experiment, name) for name in ("unfused", "fused"))
    return compare(*sides)


@pytest.fixture(scope="module")
def noisy() -> Comparison:
    found = pair(recorded(NOISY))
    assert found.verdict.outcome == "cannot_tell" and found.verdict.reason == "within_noise"
    return found


def test_no_group_has_the_colour_of_a_gain(noisy: Comparison) -> None:
    """The groups of the same graphs do, where the verdict is that fused is faster."""
    clear = pair(recorded(CLEAR))
    kinds = []
    for comparison in (noisy, clear):
        rows = group_rows(comparison)
        assert rows is not None and rows.rows
        kinds.append({row.kind for row in (*rows.rows, *rows.more)})
    assert kinds[0] == {"same"} and "faster" in kinds[1]
    assert grey_sentence(noisy) == "Grey: it cannot be told whether the whole is faster or slower."


def test_groups_say_what_they_come_to_beside_the_change_of_the_run() -> None:
    """Half a millisecond of three is elsewhere, and of a third most of it."""
    for groups_ns, whole_ns, said in (
        (-3_500_000, -3_000_000, "run of the verdict changes by −3.00 ms."),
        (100_000, 300_000, "changes by +300 µs, most of it in none of these groups."),
    ):
        text = "".join(part.text for part in profiled_parts(groups_ns, whole_ns))
        assert text.endswith(said)


def test_a_group_of_one_type_on_both_sides_is_replaced(noisy: Comparison) -> None:
    row = {"groups": 2, "pattern": "MaxPool", "becomes": "MaxPool", "gain_ns": 1000.0, "key": ""}
    for kind, said in (("fused", "are replaced by others of that type"), ("kept", "as before")):
        parts = pattern_parts(noisy, {**row, "kind": kind, "ran": None})
        assert said in "".join(part.text for part in parts)


def test_neither_chart_nor_report_has_it(noisy: Comparison) -> None:
    clear = pair(recorded(CLEAR))
    fills = []
    for comparison in (noisy, clear):
        figure = waterfall(comparison)
        assert figure is not None
        fills.append(set(figure.data[0].marker.color[1:-1]))  # between the totals
    assert fills[0] == {LIGHT.neutral} and LIGHT.faster in fills[1]
    pages = [report_html(comparison) for comparison in (noisy, clear)]
    assert "<body class=undirected>" in pages[0] and "<body>" in pages[1]
    assert ".undirected { --faster: currentColor;" in pages[0]


def test_the_next_step_stands_in_the_place_of_a_change(noisy: Comparison) -> None:
    """Of 5 blocks the next step is all 24; a change that is noise is stated nowhere."""
    step = (
        "More blocks on a quiet machine show smaller changes: fusescope collect MODEL --blocks 24"
    )
    assert next_step(noisy.verdict) == step
    assert verdict_basis(noisy.verdict).endswith(
        "This measurement is too noisy: not even a doubled time would surely have been seen. "
        + step
    )
    assert change_sentence(noisy) == ""
    many = replace(noisy.verdict, samples=(24, 24))
    assert next_step(many).endswith("--blocks 48")
    clear = pair(recorded(CLEAR))
    assert next_step(clear.verdict) == "" and change_sentence(clear).startswith("Latency −49.9 %")


def test_several_variants_name_no_difference_beyond_a_doubling() -> None:
    experiment = recorded(NOISY)
    found = compare_several([side_of_variant(experiment, name) for name in NOISY])
    told = best_sentence(found)
    assert "cannot be told which of the 3 is the fastest" in told
    assert told.endswith(
        "Even a variant that takes twice as long might not have shown: more blocks on a quiet "
        "machine show smaller differences."
    )


def test_a_change_that_was_seen_is_not_called_too_small_to_be_seen() -> None:
    """fused takes half the time: a change of 50 %, which is below the 60 % that would surely have
    been seen, and below the 70 % by which copies of the baseline differ."""
    seen = pair(recorded(CLEAR)).verdict
    assert seen.is_decided
    hidden = replace(seen, smallest_detectable=0.6, noise_floor=Interval(0.9, 1.1))
    assert "would have seen" not in verdict_basis(hidden)
    apart = replace(seen, smallest_detectable=0.01, noise_floor=Interval(0.9, 1.7))
    assert verdict_basis(apart).endswith(
        "Two copies of the baseline may be 70.0 % apart, which is more than this change."
    )


@pytest.mark.parametrize(("load", "codes"), [(3.7, ["load"]), (0.1, ["load_seen", "load"])])
def test_a_high_load_is_not_called_unknown(load: float, codes: list[str]) -> None:
    """On two cores 3.7 is high. Without a quiet reference only a low load leaves open whether other
    work slowed the runs."""
    quiet = recorded(NOISY, load)
    outcome = msgspec.structs.replace(quiet.record.outcome, quiet_reference=None)
    record = msgspec.structs.replace(quiet.record, outcome=outcome)
    found = pair(replace(quiet, record=record)).diagnostics
    assert [one.code for one in found if one.code in ("load", "load_seen")] == codes


def test_without_a_matrix_product_its_rate_is_no_open_question(noisy: Comparison) -> None:
    """Its operators have FLOPs, and none is a product to be held against others."""
    found = findings(Subject(noisy.candidate, noisy))
    assert "slow_product" not in [one.code for one in found.unanswered]


def test_rounds_are_those_of_the_blocks() -> None:
    """A time budget left the first block 3 rounds and the others 2: neither has it `each`."""
    made = recorded(NOISY)
    variants = []
    for variant in made.record.variants:
        columns = [one for one in msgspec.structs.astuple(variant.samples) if one is not None]
        rows = [row for row in zip(*columns, strict=True) if row[0] == 0 or row[1] < 2]
        kept = Samples(*(list(column) for column in zip(*rows, strict=True)))
        variants.append(msgspec.structs.replace(variant, samples=kept))
    record = msgspec.structs.replace(made.record, variants=variants)
    found = {one.code: one for one in pair(replace(made, record=record)).diagnostics}
    assert "in 5 processes with 2 to 3 rounds each." in diagnostic_sentence(found["paired"])
    assert "5 blocks of 2 to 3 rounds;" in made_text(record)
    even = {one.code: one for one in pair(made).diagnostics}
    assert "in 5 processes with 3 rounds each." in diagnostic_sentence(even["paired"])
