"""Columns of the timeline as base64: exact, small, and the same numbers in the browser's types."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.timeline.packing import packed, packed_json
from analysis.timeline.payload import CHARS_PER_CALL, MAX_CALLS, REPORT_CALLS, _fitting

SAID: dict[str, Any] = {"sides": [{}, {}]}


def unpacked(column: dict[str, Any]) -> list[int]:
    """As unpackColumn in calls.js."""
    numbers = np.frombuffer(base64.b64decode(column["data"]), dtype=f"<{column['type']}")
    values = numbers.astype("float64")
    return [int(value) for value in (np.cumsum(values) if column["steps"] else values)]


@given(st.lists(st.integers(-(2**40), 2**52), max_size=50))
def test_packed_numbers_are_exact(numbers: list[int]) -> None:
    assert unpacked(packed(numbers)) == numbers


@pytest.mark.parametrize(
    ("numbers", "kind", "steps"),
    [
        ([0, 255], "u1", False),
        ([0, 256], "u2", False),
        ([70_000, 70_000], "u4", False),
        ([60_000, 120_000, 180_000], "u2", True),  # starts of calls: the steps between are short
        ([5_000_000_000, 5_000_000_001], "f8", False),
        ([-1, 3], "f8", False),
    ],
)
def test_the_smallest_type_is_taken(numbers: list[int], kind: str, steps: bool) -> None:
    column = packed(numbers)
    assert (column["type"], column["steps"]) == (kind, steps)


def payload(calls: int, operators: int) -> dict[str, Any]:
    """Two sides whose calls take a second together; every operator has a name of its own."""
    rng = np.random.default_rng(0)
    names: list[str | None] = [f"/encoder/layer.{i}/operator_kernel" for i in range(operators)]
    side = {
        "ops": {
            "name": names,
            "op_class": ["layout"] * operators,
            "inputs": [f"float32[{i % 40}]" for i in range(operators)],
            "row": list(range(operators)),
            "group": [None] * operators,
        },
        "calls": {
            "op": rng.integers(0, operators, calls),
            "lane": rng.integers(0, 3, calls),
            "start_ns": np.sort(rng.integers(0, 10**9, calls)),
            "dur_ns": rng.integers(0, 10**6, calls),
        },
    }
    return {"span_ns": 10**9, "classes": [], "groups": [], "sides": [side, side]}


def test_a_quarter_of_a_million_calls_a_side_stay_small() -> None:
    assert MAX_CALLS >= 250_000
    # As lists of numbers they took 26 bytes each.
    assert len(packed_json(payload(MAX_CALLS, 4000), SAID)) < 2 * (18 * MAX_CALLS + 400_000)
    assert len(packed_json(payload(REPORT_CALLS, 4000), SAID)) < 5_000_000


def test_ids_and_shared_texts_keep_what_is_missing() -> None:
    ops = {
        "name": ["a", "b", None],
        "inputs": ["x", None, "x"],
        "row": [4, None, 0],
        "group": [None, 0, 7],
    }
    side = {"ops": ops, "calls": {}}
    made = json.loads(packed_json({"sides": [side]}, {"sides": [{}]}))["sides"][0]["ops"]
    assert made["name"] == ops["name"]
    assert made["inputs"]["texts"] == ["x"]
    assert unpacked(made["inputs"]["of"]) == [1, 0, 1]
    assert unpacked(made["row"]["ids"]) == [5, 0, 1]
    assert unpacked(made["group"]["ids"]) == [0, 1, 8]


def test_texts_beyond_their_room_are_cut_in_the_middle() -> None:
    texts: list[str | None] = ["a" * 3000 + "z", None, "short"]
    assert _fitting(texts, 4000) is texts
    cut = _fitting(texts, 900)
    assert cut[1:] == [None, "short"]
    assert cut[0] is not None and len(cut[0]) == 300
    assert cut[0][0] == "a" and cut[0][-1] == "z"
    many = _fitting(["x" * 500] * MAX_CALLS, CHARS_PER_CALL * MAX_CALLS)
    assert {len(text or "") for text in many} == {24}
