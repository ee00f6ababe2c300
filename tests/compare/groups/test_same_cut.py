"""A kernel of one's own is compared with the same cut without it, or what a cut costs is said."""

from __future__ import annotations

from functools import lru_cache

import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import choose_sides, default_candidate, same_cut
from fusescope.analysis.compare.side import side_of_trace, side_of_variant
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording import diagnostic_sentence
from tests.factories import UNFUSED_OPERATORS, experiment_zip, profile_json
from tests.repetitions import few

NAMES = ("unfused", "segments:mul_add", "custom:mul_add", "segments:add_relu", "fused")


@lru_cache(typed=True)  # True is not 1
def experiment(*names: str, pieces: object = 3) -> Experiment:
    data = experiment_zip(
        {name: [5.0] * 8 for name in names}, dict.fromkeys(names, UNFUSED_OPERATORS)
    )
    found = read(Source("e.zip", data))
    assert isinstance(found, Experiment)
    for variant in found.record.variants:
        variant.settings["pieces"] = pieces
    return found


def notes(baseline: str, candidate: str, *names: str, pieces: object = 3) -> list[str]:
    file = experiment(*(names or NAMES), pieces=pieces)
    found = compare(side_of_variant(file, baseline), side_of_variant(file, candidate))
    return [
        diagnostic_sentence(note)
        for note in found.diagnostics
        if note.code == "boundaries_included"
    ]


@pytest.mark.parametrize(
    ("baseline", "candidate"),
    [
        ("segments:mul_add", "custom:mul_add"),
        ("custom:mul_add", "segments:mul_add"),
        ("unfused", "fused"),
    ],
)
def test_the_same_boundaries_on_both_sides_are_no_doubt(baseline: str, candidate: str) -> None:
    assert notes(baseline, candidate) == []


def test_boundaries_on_one_side_are_told() -> None:
    [told] = notes("unfused", "custom:mul_add")
    assert told == (
        "Candidate: It runs in 3 pieces and passes tensors between them. The other side does not. "
        "The time of the boundaries is part of this change, as idle time. Compare with "
        "segments:mul_add, which is cut in the same way."
    )
    [told] = notes("segments:mul_add", "fused")
    assert told.startswith("Baseline: It runs in 3 pieces")
    assert "Compare with" not in told
    [told] = notes("unfused", "custom:mul_add", "unfused", "custom:mul_add")
    assert "Compare with" not in told


def test_two_cuts_are_both_told() -> None:
    assert [told[:9] for told in notes("segments:add_relu", "custom:mul_add")] == [
        "Baseline:", "Candidate",
    ]  # fmt: skip


@pytest.mark.parametrize("pieces", few([None, "many", True], {"many", True}))
def test_a_count_that_is_none_is_left_out(pieces: object) -> None:
    [told] = notes("unfused", "custom:mul_add", pieces=pieces)
    assert told.startswith("Candidate: It is cut around the operators of a kernel")


def test_a_model_in_one_piece_has_no_boundaries() -> None:
    """Its kernel does all that the model does."""
    assert notes("unfused", "custom:mul_add", pieces=1) == []


def test_a_file_that_is_only_called_so_is_no_kernel() -> None:
    traces = [read(Source(name, profile_json(UNFUSED_OPERATORS))) for name in ("custom:a", "b")]
    sides = [side_of_trace(trace) for trace in traces if isinstance(trace, Trace)]
    codes = {note.code for note in compare(*sides).diagnostics}
    assert "boundaries_included" not in codes


def test_the_same_cut_by_name() -> None:
    assert same_cut("custom:mul_add", NAMES) == "segments:mul_add"
    assert same_cut("custom:add_relu", ("unfused",)) is None
    assert same_cut("segments:mul_add", NAMES) is None
    assert same_cut("fused", NAMES) is None


def test_a_kernel_is_compared_with_its_cut_unless_a_baseline_is_named() -> None:
    file = experiment(*NAMES)

    def chosen(baseline: str | None = None, candidate: str | None = None) -> tuple[str, str]:
        sides = choose_sides(file, baseline=baseline, candidate=candidate)
        return sides[0].label, sides[1].label

    assert chosen() == ("unfused", "fused")
    assert chosen(candidate="custom:mul_add") == ("segments:mul_add", "custom:mul_add")
    assert chosen("unfused", "custom:mul_add") == ("unfused", "custom:mul_add")
    assert chosen("segments:mul_add") == ("segments:mul_add", "custom:mul_add")
    assert chosen("segments:add_relu") == ("segments:add_relu", "fused")
    assert default_candidate(file.record, "unfused") == "fused"
    short = experiment(*NAMES[:3])
    sides = choose_sides(short)
    assert [side.label for side in sides] == ["segments:mul_add", "custom:mul_add"]
