"""A gate on two releases counts groups that lost a fused operator, whichever release is older."""

from __future__ import annotations

from collections import Counter

from analysis.gate.condition import parse_condition
from analysis.gate.judgement import judge_structure
from analysis.gate.two_releases import changes_of_releases
from tests.releases.test_changes import FUSED, HALF, PLAIN, history

SEEN = history(FUSED, PLAIN, HALF)


def outcomes(older: str, newer: str, *conditions: str) -> list[tuple[str, float | None]]:
    found = changes_of_releases(SEEN, SEEN.find(older), SEEN.find(newer))
    judged = judge_structure([parse_condition(text) for text in conditions], found)
    return [(one.outcome, one.value) for one in judged]


def test_a_lost_fusion_fails_and_a_won_one_does_not() -> None:
    asked = ("fusion.lost > 0", "fusion.won > 0", "fusion.count(Gelu) < 1", "operators > 4")
    assert outcomes("1.0", "1.1", *asked) == [
        ("failed", 1.0), ("passed", 0.0), ("failed", 0.0), ("failed", 5.0),
    ]  # fmt: skip
    assert outcomes("1.1", "1.0", *asked) == [
        ("passed", 0.0), ("failed", 1.0), ("passed", 1.0), ("passed", 3.0),
    ]  # fmt: skip


def test_a_fusion_that_covers_less_is_lost() -> None:
    assert outcomes("1.0", "1.2", "fusion.lost > 0") == [("failed", 1.0)]


def test_the_same_release_has_lost_nothing() -> None:
    found = changes_of_releases(SEEN, SEEN.find("1.0"), SEEN.find("1.0"))
    assert found.changes == ()
    assert found.operators[0] == Counter(Relu=1, Gelu=1, Pool=1)
