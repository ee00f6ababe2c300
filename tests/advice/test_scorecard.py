"""Predictions from the unfused side alone, by hand and held against what was measured."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from fusescope.analysis.advice import Gain, Subject, prediction
from fusescope.analysis.advice.expected import expected_fusions
from fusescope.analysis.advice.scorecard import Scorecard, scorecard
from fusescope.analysis.advice.settings import conditions_of
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.readers import read_path
from fusescope.analysis.wording.scorecard import scorecard_sentence
from tests.advice.experiments import compared
from tests.pattern_cases import conv_bn, elementwise

SAMPLES = Path(__file__).parents[2] / "sample_traces"


@cache
def pair(name: str, baseline: str = "unfused", candidate: str = "fused") -> Comparison:
    value = read_path(SAMPLES / f"{name}.zip")
    assert isinstance(value, Experiment)
    return compare(side_of_variant(value, baseline), side_of_variant(value, candidate))


def card_of(comparison: Comparison) -> Scorecard:
    card = scorecard(comparison)
    assert card is not None
    return card


def test_a_fused_convolution_by_hand() -> None:
    """32.3 µs + 0.743 x 100 µs at the peak + 0.382 x 50 µs at the bandwidth + 0.217 x 200 µs that
    it takes now, from 85 to 135 % of it."""
    after = prediction.convolution(100_000, 50_000, 200_000, is_depthwise=False)
    assert after.value == pytest.approx(32_300 + 74_300 + 19_100 + 43_400)
    assert (after.low, after.high) == (pytest.approx(143_735), pytest.approx(228_285))
    saved = prediction.saved(300_000, after)
    assert (saved.value, saved.low) == (pytest.approx(130_900), pytest.approx(71_715))
    assert saved.high == pytest.approx(156_265)


def test_intervals_of_places_add_end_by_end() -> None:
    both = prediction.together(Gain(5, 1, 9, "modelled"), Gain(3, -2, 4, "modelled"))
    assert both == Gain(8, -1, 13, "modelled")


def test_patterns_that_share_operators_are_one_place() -> None:
    """Conv + BatchNormalization + Clip holds Conv + BatchNormalization: 52 convolutions, 52
    places."""
    side = pair("mobilenetv2").baseline
    subject, told = Subject(side), conditions_of(side)
    assert told is not None
    assert side.experiment is not None
    assert side.experiment.model_graph is not None
    places = expected_fusions(subject, side.experiment.model_graph, told, subject.times)
    assert len(places) == 52
    named = [node.name for place in places for node in place.nodes]
    assert len(named) == len(set(named)) == 149, "every operator is in one place"
    longest = max(places, key=lambda place: place.pattern.count("+"))
    assert longest.pattern == "Conv + BatchNormalization + Clip"


@pytest.mark.parametrize("name", ["mobilenetv2", "resnet50"])
def test_the_run_of_the_samples(name: str) -> None:
    """Fitted to them among others: the run to 10 %, and inside the interval."""
    card = card_of(pair(name))
    assert card.is_inside
    assert card.run_error < 0.10
    assert card.unscored == 0
    assert sum(score.places for score in card.scores) >= len(card.group_errors) > 40
    measured = card.run_measured_ns
    assert card.run_error == abs(card.run_predicted.value - measured) / card.run_ns


def test_scores_and_what_is_not_scored_add_up_to_the_run() -> None:
    """The run is predicted from all places, the table has those that are scored; the sentence says
    what the others are of it."""
    card = card_of(pair("cases/cuda_transformer_encoder"))
    scored = sum(score.predicted.value for score in card.scores)
    assert card.unscored == 2 and abs(card.unscored_ns) > 10_000
    assert card.run_predicted.value == pytest.approx(scored + card.unscored_ns)
    assert "are not scored: −49.5 µs of what is predicted of the run are theirs" in (
        scorecard_sentence(card)
    )


def test_by_hand_without_peaks() -> None:
    """Conv of 60 and BatchNormalization of 20 µs become 60 µs: 24 predicted, 20 measured."""
    comparison = compared(conv_bn(), us={"Conv": 60, "BatchNormalization": 20})
    card = card_of(comparison)
    [score] = card.scores
    assert (score.places, score.spent_ns) == (1, 80_000)
    assert score.predicted.value == pytest.approx(24_000)
    assert score.measured_ns == pytest.approx(20_000)
    assert card.group_error == pytest.approx(0.2)
    sentence = scorecard_sentence(card)
    assert "changes by −24.0 µs (" in sentence and "Measured: −10.0 µs." in sentence
    assert "The places that are scored changed by −20.0 µs in all; of other operators" in sentence
    assert "Of the one place that got faster, the saving is 20.0 % off." in sentence


def test_no_other_pair_is_scored() -> None:
    assert scorecard(pair("mobilenetv2", "fused", "unfused")) is None
    assert scorecard(pair("mobilenetv2", "unfused", "without:NchwcTransformer")) is None
    assert scorecard(pair("recipes/conv3x3", "unfused", "int8")) is None, "fewer bits"
    assert scorecard(pair("recipes/three_modes", "eager", "fused")) is None, "another cut"
    assert scorecard(compared(elementwise("Exp", "Relu"))) is None, "nothing to predict"
