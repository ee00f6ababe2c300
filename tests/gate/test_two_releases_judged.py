"""A gate on two releases counts groups that lost a fused operator, whichever release is older, and
one on a recording of the same graphs likewise."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import cast

import msgspec
import pytest

from fusescope.analysis.compare.groups.grouping import group_operators
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.gate.condition import parse_condition
from fusescope.analysis.gate.fusion_changes import FusionChanges, fusion_changes
from fusescope.analysis.gate.judgement import judge_structure
from fusescope.analysis.gate.two_releases import changes_of_releases
from fusescope.analysis.graph import Graph
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.releases.changes import between
from tests.compare.groups import test_fused as told
from tests.factories import experiment_zip
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


def in_recording(before: Graph, after: Graph) -> FusionChanges:
    """What a recording of both as variants is judged by."""
    data = experiment_zip({"unfused": [10.0] * 8, "fused": [5.0] * 8})
    recorded = cast(Experiment, read(Source("e.zip", data)))
    graphs = {"unfused": before, "fused": after}
    both = replace(recorded, model_graph=told.MODEL, graphs=graphs, matches={})
    found = fusion_changes(group_operators(*(side_of_variant(both, name) for name in graphs)))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        (told.BIAS_GELU, told.GEMM_GELU, ["lost"]),  # as many operators run
        (told.GEMM_GELU, told.GEMM, ["lost"]),
        (told.GEMM, told.GEMM_GELU, ["won"]),
        (told.GEMM_GELU, told.GEMM_QUICK, ["changed"]),
        (told.MODEL, told.RENAMED, ["changed"]),
        (told.GEMM_GELU, told.BLOCKED, ["won"]),
        (told.ONE, told.ONE, []),
    ],
)
def test_recordings_models_and_releases_are_judged_alike(
    before: Graph, after: Graph, what: list[str]
) -> None:
    recorded = in_recording(before, after)
    assert [one.what for one in recorded.changes] == what
    seen = msgspec.structs.replace(history(before, after), graph=told.MODEL)
    sides = (seen.find("1.0"), seen.find("1.1" if what else "1.0"))
    released = changes_of_releases(seen, *sides)
    assert [one.what for one in released.changes] == what
    assert released.operators == recorded.operators
    found = between(seen, *sides)
    groups = () if found is None else found.groups
    alike = {"split": "lost", "joined": "won"}
    assert [alike.get(one.what, one.what) for one in groups] == what


def test_a_fusion_that_is_gone_fails_a_gate_on_a_recording() -> None:
    found = in_recording(told.BIAS_GELU, told.GEMM_GELU)
    asked = ("fusion.lost > 0", "fusion.changed > 0", "fusion.won > 0", "operators > 3")
    judged = judge_structure([parse_condition(text) for text in asked], found)
    assert [one.outcome for one in judged] == ["failed", "passed", "passed", "passed"]
    (change,) = judged[0].changes
    assert (change.before, change.after) == (("MatMul", "BiasGelu"), ("Gemm", "Gelu"))
