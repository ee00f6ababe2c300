"""The groups in the timeline's payload: whose operators they are, and the ledger's times."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.compare import compare
from analysis.compare.choice import choose_sides
from analysis.compare.comparison import Comparison, side_of_variant
from analysis.compare.fusion import Fusion, Group, Operator
from analysis.compare.ledger import ledger
from analysis.experiment import Experiment
from analysis.readers import read, read_path
from analysis.readers.source import Source
from analysis.timeline.payload import timeline_payload
from tests.factories import experiment_zip

SAMPLES = Path(__file__).resolve().parents[2] / "sample_traces"
CHAIN = tuple(
    Operator(f"a/{op_type}", op_type) for op_type in ("Conv", "BatchNormalization", "Relu")
)
FUSED = (Operator("a/Conv", "FusedConv"),)
HEAD = (Operator("head/Gemm", "Gemm"),)
CONSTANT = (Operator("a/weight", "Constant"),)
GROUPS = (
    Group(2, "kept", "name", HEAD, HEAD, HEAD),
    Group(4, "fused", "name", CHAIN, CHAIN, FUSED),
    Group(9, "loaded", "name", CONSTANT, (), ()),
)


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    data = experiment_zip({"unfused": [10.0] * 5, "fused": [5.0] * 5})
    return compare(*choose_sides(read(Source("e.zip", data))))


def with_groups(comparison: Comparison, *groups: Group) -> Comparison:
    fusion = Fusion("graphs", groups)
    gains = ledger(comparison.baseline, comparison.candidate, fusion)
    return replace(comparison, fusion=fusion, ledger=gains)


def groups_by_name(payload: dict, side: int) -> dict[str, int | None]:
    operators = payload["sides"][side]["ops"]
    return dict(zip(operators["name"], operators["group"], strict=True))


def test_operators_name_their_group_and_groups_their_gain(comparison: Comparison) -> None:
    payload = timeline_payload(with_groups(comparison, *GROUPS))
    assert groups_by_name(payload, 0) == {
        "a/Conv": 4,
        "a/BatchNormalization": 4,
        "a/Relu": 4,
        "head/Gemm": 2,
    }
    assert groups_by_name(payload, 1) == {"a/Conv": 4, "head/Gemm": 2}
    # Conv 100 + BatchNormalization 30 + Relu 20 µs against 110; none for what did not run.
    assert payload["groups"] == [
        {
            "id": 4,
            "pattern": "Conv + BatchNormalization + Relu",
            "becomes": "FusedConv",
            "kind": "fused",
            "before_ns": 150_000,
            "after_ns": 110_000,
            "gain_ns": 40_000,
            "hurts": False,
        },
        {
            "id": 2,
            "pattern": "Gemm",
            "becomes": "Gemm",
            "kind": "kept",
            "before_ns": 50_000,
            "after_ns": 50_000,
            "gain_ns": 0,
            "hurts": False,
        },
    ]
    json.dumps(payload, allow_nan=False)


def test_a_name_that_two_groups_claim_is_in_neither(comparison: Comparison) -> None:
    twice = Group(5, "kept", "inferred", HEAD, HEAD, ())
    payload = timeline_payload(with_groups(comparison, *GROUPS, twice))
    assert groups_by_name(payload, 0)["head/Gemm"] is None
    assert groups_by_name(payload, 1)["head/Gemm"] == 2
    assert {group["id"] for group in payload["groups"]} == {2, 4}


def test_without_groups_the_payload_says_so(comparison: Comparison) -> None:
    payload = timeline_payload(with_groups(comparison))
    assert payload["groups"] == []
    assert set(groups_by_name(payload, 0).values()) == {None}


def test_a_gain_that_is_not_known_is_null(comparison: Comparison) -> None:
    grouped = with_groups(comparison, *GROUPS)
    rows = grouped.ledger.rows.assign(gain_ns=float("nan"), before_ns=float("nan"))
    payload = timeline_payload(replace(grouped, ledger=replace(grouped.ledger, rows=rows)))
    assert [group["gain_ns"] for group in payload["groups"]] == [None, None]
    json.dumps(payload, allow_nan=False)


@pytest.mark.parametrize("name", ["mobilenetv2", "resnet50"])
def test_groups_of_a_sample(name: str) -> None:
    experiment = read_path(SAMPLES / f"{name}.zip")
    assert isinstance(experiment, Experiment)
    sides = [side_of_variant(experiment, variant) for variant in ("unfused", "fused")]
    comparison = compare(*sides)
    payload = timeline_payload(comparison)
    known = {group["id"] for group in payload["groups"]}
    assert len(known) > 50
    for side, role in enumerate(("baseline", "candidate")):
        shown = groups_by_name(payload, side)
        assert set(shown.values()) - {None} <= known
        for group in comparison.fusion.groups:
            ran = [o.name for o in getattr(group, role) if o.name in shown]
            assert {shown[operator] for operator in ran} <= {group.id}
    # What is in no group is what the ledger says is in none.
    ungrouped = {
        (which, name)
        for side, which in enumerate(("baseline", "candidate"))
        for name, group in groups_by_name(payload, side).items()
        if group is None
    }
    told = comparison.ledger.ungrouped
    assert ungrouped == set(zip(told["side"], told["name"], strict=True))
