"""Conditions of a gate as they are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.gate.condition import QUANTITIES, Condition, parse_condition


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("speedup < 0.97 with 95%", ("speedup", "<", 0.97, "", 0.95)),
        ("  speedup   >=1.5", ("speedup", ">=", 1.5, "", 0.95)),
        ("latency slower 2% with 99.5%", ("latency", "slower", 0.02, "", 0.995)),
        ("p50 slower 3%", ("p50", "slower", 0.03, "", 0.95)),
        ("small_op_ratio > 0.05", ("small_op_ratio", ">", 0.05, "", None)),
        ("small_op_ratio > 5%", ("small_op_ratio", ">", 0.05, "", None)),
        ("fusion.lost > 0", ("fusion.lost", ">", 0.0, "", None)),
        ("fusion.count( BiasGelu ) < 12", ("fusion.count", "<", 12.0, "BiasGelu", None)),
        ("fusion.lost_gain > 2%", ("fusion.lost_gain", ">", 0.02, "", 0.95)),
        ("fusion.lost_gain > 2% with 90%", ("fusion.lost_gain", ">", 0.02, "", 0.9)),
        ("output_difference > 1e-3", ("output_difference", ">", 0.001, "", None)),
        ("memory up 10%", ("memory", "up", 0.1, "", None)),
        ("operators != 40", ("operators", "!=", 40.0, "", None)),
    ],
)
def test_what_a_condition_says(
    text: str, expected: tuple[str, str, float, str, float | None]
) -> None:
    found = parse_condition(text)
    told = (found.quantity, found.relation, found.limit, found.argument, found.confidence)
    assert told == pytest.approx(expected)
    assert found.text == " ".join(text.split())


@pytest.mark.parametrize(
    ("text", "code", "position"),
    [
        ("", "condition_of_unknown", 1),
        ("spedup < 1", "condition_of_unknown", 1),
        ("speedup", "condition_without_relation", 8),
        ("speedup slower 3%", "condition_without_relation", 9),
        ("speedup == 1", "condition_without_relation", 9),
        ("p50 > 3", "condition_without_relation", 5),
        ("p50 slowerish 3%", "condition_without_relation", 5),
        ("speedup < fast", "condition_wants_number", 11),
        ("speedup < -1", "condition_wants_number", 11),
        ("speedup < 3%", "condition_wants_number", 11),
        ("speedup < 1e999", "condition_wants_number", 11),
        ("p50 slower 3", "condition_wants_percent", 12),
        ("memory up -3%", "condition_wants_percent", 11),
        ("speedup < 1 with 95", "condition_confidence", 18),
        ("speedup < 1 with 100%", "condition_confidence", 18),
        ("fusion.lost_gain > 2% with", "condition_confidence", 27),
        ("fusion.lost > 0 with 95%", "condition_without_noise", 17),
        ("fusion.count < 12", "condition_argument", 14),
        ("fusion.lost(BiasGelu) > 0", "condition_argument", 12),
        ("speedup < 1, p50 slower 3%", "condition_goes_on", 12),
    ],
)
def test_an_error_points_at_the_character(text: str, code: str, position: int) -> None:
    with pytest.raises(FuseScopeError) as refused:
        parse_condition(text)
    assert (refused.value.code, refused.value.values["position"]) == (code, position)
    assert f"character {position}" in refused.value.text and refused.value.hint


def test_the_name_that_was_meant_is_told() -> None:
    with pytest.raises(FuseScopeError) as refused:
        parse_condition("fusion.losst > 0")
    assert "Did you mean 'fusion.lost'?" in refused.value.text


@given(st.text(alphabet="speduplatncy.fionc()<>=!% 0123456789witheBG", max_size=40))
def test_any_text_is_a_condition_or_refused_with_a_place_in_it(text: str) -> None:
    try:
        found = parse_condition(text)
    except FuseScopeError as refused:
        position = refused.values["position"]
        assert isinstance(position, int) and 1 <= position <= len(text) + 1
    else:
        assert isinstance(found, Condition) and found.quantity in QUANTITIES
        assert parse_condition(found.text) == found
