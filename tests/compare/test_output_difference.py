"""Whether both sides compute the same: the doubts, and agreement beside the difference."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec
import pytest

from fusescope.analysis.advice import missed_fusions
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import (
    Agreement,
    Experiment,
    ExperimentRecord,
    OutputDifference,
    parse_record,
)
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.report.cards import figures
from fusescope.analysis.report.exports.comparison_json import comparison_values
from fusescope.analysis.report.html import report_html
from fusescope.analysis.wording import agreement_text, diagnostic_sentence
from tests.factories import experiment_zip

AGREED = Agreement("scores", 1000, 16, 16, 13, 0.9375, 1.0)


def recorded(**changes: Any) -> Experiment:
    times = {"unfused": [10.0] * 6, "basic": [8.0] * 6, "fused": [5.0] * 6}
    experiment = read(Source("a.zip", experiment_zip(times, changes=changes)))
    assert isinstance(experiment, Experiment)
    return experiment


@cache
def unchanged() -> ExperimentRecord:
    """The record as it was made; it is frozen, so one is enough."""
    return recorded().record


def compared(baseline: str = "unfused", candidate: str = "fused", **changes: Any) -> Comparison:
    """A comparison of which the variant `fused` was recorded otherwise."""
    variants = [
        msgspec.structs.replace(variant, **changes) if variant.name == "fused" else variant
        for variant in unchanged().variants
    ]
    experiment = recorded(variants=variants)
    return compare(side_of_variant(experiment, baseline), side_of_variant(experiment, candidate))


def said(comparison: Comparison) -> dict[str, str]:
    return {note.code: diagnostic_sentence(note) for note in comparison.diagnostics}


@pytest.mark.parametrize(("relative", "warns"), [(9.9e-5, False), (1.1e-4, True)])
def test_more_than_rounding_is_a_doubt(relative: float, warns: bool) -> None:
    comparison = compared(output_difference=OutputDifference(1.0, relative))
    assert ("large_output_difference" in said(comparison)) == warns
    if warns:
        sentence = said(comparison)["large_output_difference"]
        assert sentence.startswith("Candidate: Its outputs differ")
        assert "0.00011" in sentence


@pytest.mark.parametrize(("from_own", "warns"), [(0.016, False), (0.0161, True), (None, True)])
def test_what_rounding_to_a_data_type_explains_is_no_doubt(
    from_own: float | None, warns: bool
) -> None:
    """Up to twice as far from the model in its own types as the baseline is, here 0.008."""
    dtype = {"dtype": "bfloat16"}
    changes: dict[str, dict[str, Any]] = {
        "unfused": {"dtype_difference": OutputDifference(0.1, 0.008), "settings": dtype},
        "fused": {
            "output_difference": OutputDifference(0.2, 0.012),
            "dtype_difference": from_own and OutputDifference(0.2, from_own),
            "settings": dtype,
        },
    }
    variants = [
        msgspec.structs.replace(one, **changes.get(one.name, {})) for one in unchanged().variants
    ]
    experiment = recorded(variants=variants)
    sides = (side_of_variant(experiment, name) for name in ("unfused", "fused"))
    comparison = compare(*sides)
    assert ("large_output_difference" in said(comparison)) == warns
    notes = [diagnostic_sentence(note) for note in comparison.diagnostics
             if note.code == "dtype_converted"]  # fmt: skip
    assert notes[0] == (
        "Baseline: Weights and inputs were converted to bfloat16. The outputs differ by 0.008 of "
        "their largest value from those that eager execution computes without it."
    )
    assert len(notes) == (1 if from_own is None else 2)


def test_the_peak_of_float32_is_none_of_another_data_type() -> None:
    """What is measured of the machine are products in float32, and bandwidth, which stays."""
    sides = []
    for dtype in ("float32", "bfloat16"):
        variants = [
            msgspec.structs.replace(one, settings={**one.settings, "dtype": dtype})
            for one in unchanged().variants
        ]
        sides.append(side_of_variant(recorded(variants=variants), "fused"))
    before, after = (side.peaks for side in sides)
    assert before is not None and after is not None
    assert before.gemm_flops_per_s is not None and after.gemm_flops_per_s is None
    assert after.bandwidths == before.bandwidths


@pytest.mark.parametrize(
    ("difference", "sentence", "reason"),
    [
        (
            OutputDifference(None, None),
            (
                "Candidate: Its outputs and those of the recording's baseline could not be "
                "compared: one side holds NaN or infinity, or sizes, shapes or types cannot be "
                "compared. Whether it computes the same model is not known."
            ),
            "outputs_not_numbers",
        ),
        (
            OutputDifference(0.25, None),
            (
                "Candidate: An output that is all zeros in the recording's baseline is not zero "
                "here; outputs differ by up to 0.25. Whether it computes the same model is not "
                "known."
            ),
            "outputs_zero",
        ),
    ],
)
def test_outputs_without_a_difference_are_a_doubt(
    difference: OutputDifference, sentence: str, reason: str
) -> None:
    comparison = compared(output_difference=difference)
    assert said(comparison)["outputs_not_compared"] == sentence
    figure = comparison.figure("output_difference")
    assert (figure.candidate.value, figure.candidate.reason) == (None, reason)
    assert "outputs_not_compared" not in said(compared())


def test_the_doubt_is_on_the_side_that_differs() -> None:
    comparison = compared("fused", "basic", output_difference=OutputDifference(1.0, 0.5))
    [note] = [n for n in comparison.diagnostics if n.code == "large_output_difference"]
    assert note.values["side"] == "baseline"


def test_quantisation_explains_the_difference() -> None:
    settings = {"quantisation": "static", "graph_optimization": "all"}
    comparison = compared(output_difference=OutputDifference(1.0, 0.5), settings=settings)
    assert "large_output_difference" not in said(comparison)
    assert "0.5" in said(comparison)["quantised"]
    assert [note.severity for note in comparison.diagnostics if note.code == "quantised"] == [
        "warning"
    ]
    [miss] = missed_fusions(comparison)
    assert miss.blocked_by == "quantised"


def test_agreement_stands_beside_the_difference() -> None:
    comparison = compared(agreement=AGREED)
    codes = [figure.code for figure in comparison.figures]
    place = codes.index("output_difference")
    assert codes[place + 1 : place + 3] == ["agreement_top1", "agreement_top5"]
    top1 = comparison.figure("agreement_top1")
    assert (top1.baseline.value, top1.candidate.value, top1.change) == (1.0, 0.9375, -0.0625)
    assert top1.candidate.basis == "measured"
    text = (
        "top-1 93.8 %, top-5 100.0 % of 16 samples, 13 classes seen: agreement with the "
        "baseline, not accuracy"
    )
    assert agreement_text(comparison) == text
    [card] = [card for card in figures(comparison).rows if card.code == "output_difference"]
    assert card.detail == text
    assert text in report_html(comparison)
    assert comparison_values(comparison)["output_difference"]["agreement"] == {
        "baseline": None,
        "candidate": {
            "output": "scores", "classes": 1000, "samples": 16, "positions": 16, "distinct": 13,
            "top1": 0.9375, "top5": 1.0, "basis": "measured",
        },
    }  # fmt: skip


def test_positions_of_a_map_are_told() -> None:
    spatial = msgspec.structs.replace(AGREED, classes=5, positions=4096, distinct=1, top5=None)
    comparison = compared(agreement=spatial)
    assert agreement_text(comparison).startswith(
        "top-1 93.8 % of 4\u202f096 positions in 16 samples, 1 class seen"
    )
    figures = {figure.code for figure in comparison.figures}
    assert "agreement_top1" in figures and "agreement_top5" not in figures
    assert "one class for all of 16 samples" in said(comparison)["one_class"]


def test_without_class_scores_nothing_is_said_of_agreement() -> None:
    comparison = compared()
    figures = {figure.code for figure in comparison.figures}
    assert "latency" in figures and not figures & {"agreement_top1", "agreement_top5"}
    assert agreement_text(comparison) == ""
    assert comparison_values(comparison)["output_difference"]["agreement"] == {
        "baseline": None,
        "candidate": None,
    }
    assert "one_class" not in said(comparison)


@pytest.mark.parametrize(
    "wrong", [{"top1": 1.5}, {"top5": -0.1}, {"samples": 0}, {"distinct": "x"}]
)
def test_an_agreement_that_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    plain = read(Source("a.zip", experiment_zip({"unfused": [10.0] * 6, "fused": [5.0] * 6})))
    assert isinstance(plain, Experiment)
    values = {**msgspec.structs.asdict(AGREED), **wrong}
    variants = [msgspec.to_builtins(variant) for variant in plain.record.variants]
    variants[1]["agreement"] = values
    record = msgspec.to_builtins(plain.record)
    with pytest.raises(FuseScopeError, match="is damaged"):
        parse_record(msgspec.json.encode({**record, "variants": variants}))


def test_a_training_step_is_said_once() -> None:
    step = {"training_step": "forward, backward, AdamW"}
    assert said(compared(settings=step))["training_step"] == (
        "A run is a training step: forward, backward, AdamW. Before each run gradients are taken "
        "away, and weights, running means and what the optimizer keeps are put back, so every run "
        "does the same."
    )
    assert "training_step" not in said(compared())
