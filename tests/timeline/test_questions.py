"""What the browser asks: sums and hits against every call, and nothing but whole questions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.timeline.drawing import Drawing, Layers
from fusescope.analysis.timeline.question import Mark, Question, Search, question_of
from fusescope.analysis.timeline.search import find
from fusescope.analysis.timeline.sums import sums
from tests.timeline.test_packing import opened, unpacked_from

CLASSES = ("convolution", "elementwise")
NAMES = ("conv", "add", None)
TYPES = ("Conv", "Add", "Adding")
CALLS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 90), st.integers(0, 30)), min_size=1, max_size=30
)


@pytest.mark.parametrize("odd", [10**400, -(10**400), float("inf"), float("nan"), True, "1", None])
def test_a_number_that_is_none_of_ours_is_no_question(odd: object) -> None:
    assert question_of({"drawing": "d", "number": odd}) is None
    asked = question_of({
        "drawing": "d", "number": 1, "windows": [[0, odd]], "pixels": odd,
        "mark": {"rows": [odd], "side": odd, "op": odd},
        "stretch": [[odd, odd]],
        "search": {"text": "x", "at": odd, "side": odd, "call": odd, "step": odd},
    })  # fmt: skip
    assert asked == Question("d", 1, mark=Mark((), -1, -1))


def side_of(calls: list[tuple[int, int, int]]) -> dict[str, Any]:
    """A side of a payload: calls are (operator, start, length), in two lanes that may overlap."""
    calls = sorted(calls, key=lambda call: call[1])
    op, start, dur = (np.array(column) for column in zip(*calls, strict=True))
    count = len(NAMES)
    return {
        "label": "a",
        "caption": "",
        "folded": None,
        "dur_ns": int((start + dur).max()),
        "lanes": [{"label": "", "small": False, "of": 0, "depth": 0}],
        "ops": {
            "name": list(NAMES),
            "op_type": list(TYPES),
            "op_class": ["convolution", "elementwise", "elementwise"],
            "inputs": [None] * count,
            "outputs": [None] * count,
            "provider": [None] * count,
            "row": [0, 1, None],
            "group": [None] * count,
        },
        "calls": {"op": op, "lane": np.zeros(len(op), int), "start_ns": start, "dur_ns": dur},
    }


@given(CALLS, st.integers(0, 80), st.integers(1, 60))
def test_sums_are_those_of_every_ns(
    calls: list[tuple[int, int, int]], start: int, length: int
) -> None:
    side = side_of(calls)
    found = sums(side, start, start + length)
    end = min(start + length, side["dur_ns"])
    columns = (side["calls"][name].tolist() for name in ("op", "start_ns", "dur_ns"))
    parts = [
        (op, max(start, first), min(end, first + dur))
        for op, first, dur in zip(*columns, strict=True)
        if first < end and (first + dur > start or first >= start)  # 0 ns are an execution, too
    ]
    assert found["executions"] == len(parts)
    assert found["busy"] == len({ns for _, first, last in parts for ns in range(first, last)})
    for sum_ in found["operators"]:
        of = [(last - first) for op, first, last in parts if op == sum_["op"]]
        assert (sum_["time"], sum_["count"]) == (sum(of), len(of))
        longest = sum_["longest"]
        assert side["calls"]["op"][longest] == sum_["op"]
    assert sum(each["time"] for each in found["classes"]) == sum(b - a for _, a, b in parts)
    assert {each["key"] for each in found["classes"]} <= set(CLASSES)


def test_more_operators_than_have_a_line_are_together() -> None:
    side = side_of([(0, 0, 1)])
    side["ops"]["op_class"] = ["convolution"] * 14
    side["calls"] = {
        "op": np.arange(14),
        "lane": np.zeros(14, int),
        "start_ns": np.arange(14) * 20,
        "dur_ns": np.arange(14) + 1,
    }
    side["dur_ns"] = 300
    found = sums(side, 0, 300)
    assert [each["time"] for each in found["operators"]] == [14, 13, 12, 11, 10, 9, 8, 7, 6, 5]
    assert found["rest"] == {"operators": 4, "time": 10, "count": 4}


@given(CALLS, CALLS, st.integers(0, 90))
def test_hits_come_one_after_the_other_and_round_again(
    one: list[tuple[int, int, int]], two: list[tuple[int, int, int]], at: int
) -> None:
    payload = {"sides": [side_of(one), side_of(two)]}
    hits = sorted(
        (int(start), number, call)
        for number, side in enumerate(payload["sides"])
        for call, (op, start) in enumerate(
            zip(side["calls"]["op"], side["calls"]["start_ns"], strict=True)
        )
        if op in (1, 2)  # Add and Adding
    )
    first = find(payload, Search("add", at, -1, -1, 1))
    assert first.hits == len(hits)
    if not hits:
        assert first.side is None
        return
    place = next((place for place, hit in enumerate(hits) if hit[0] >= at), 0)
    assert (first.side, first.call, first.place) == (*hits[place][1:], place + 1)
    assert first.side is not None and first.call is not None
    for step in (1, -1):
        other = find(payload, Search("add", 0, first.side, first.call, step))
        expected = (place + step) % len(hits)
        assert (other.side, other.call, other.place) == (*hits[expected][1:], expected + 1)


@pytest.mark.parametrize(
    "asked",
    [None, 7, "x", [], {}, {"drawing": 3, "number": 1}, {"drawing": "a", "number": float("nan")}],
)
def test_anything_else_is_no_question(asked: object) -> None:
    assert question_of(asked) is None


def test_a_question_is_taken_part_by_part() -> None:
    asked = {
        "drawing": "a",
        "number": 3.0,
        "windows": [[0, 10.0], [5, 5]],
        "pixels": 10**9,
        "mark": {"rows": [4, "x"], "side": True, "op": None},
        "stretch": [[1, 9], None],
        "search": {"text": " AdD ", "at": 0, "side": -1, "call": -1, "step": "x"},
    }
    assert question_of(asked) == Question(
        "a", 3, None, 1000, Mark((4,), -1, -1), ((1, 9), None), Search("add", 0, -1, -1, 1)
    )
    assert question_of({**asked, "windows": [[0, 10]], "pixels": 50}) == Question(
        "a", 3, ((0, 10),), 50, Mark((4,), -1, -1), ((1, 9), None), Search("add", 0, -1, -1, 1)
    )


def test_an_answer_has_what_was_asked_for() -> None:
    side = side_of([(i % 3, 10 * i, 4) for i in range(50)])
    payload = {"span_ns": side["dur_ns"], "classes": [], "groups": [], "sides": [side]}
    drawing = Drawing(Layers(payload), {"words": {}, "sides": [{}]})
    question = Question(
        drawing.id,
        5,
        ((100, 201),),
        50,
        Mark((1,), -1, -1),
        ((0, 20),),
        Search("conv", 95, -1, -1, 1),
    )
    answer, data = opened(drawing.answer(question))
    assert (answer["drawing"], answer["answers"]) == (drawing.id, 5)
    [lane] = answer["shown"]["sides"][0]["lanes"]
    assert unpacked_from(lane["calls"]["start_ns"], data) == list(range(100, 201, 10))
    [marks] = answer["marks"]
    assert marks["count"] == 17
    assert unpacked_from(marks["calls"]["start_ns"], data) == [100, 130, 160, 190]
    assert answer["sums"][0]["executions"] == 2
    assert answer["hit"]["hits"] == 17 and answer["hit"]["call"]["start_ns"] == 120
    nothing, _ = opened(drawing.answer(Question(drawing.id, 6)))
    assert set(nothing) == {"drawing", "answers"}


def test_an_overview_of_operators_that_all_differ_is_small() -> None:
    """Two runs of 60,000 calls, each of an operator of its own, with names of 100 characters."""
    count = 60_000
    rng = np.random.default_rng(1)
    side = side_of([(0, 0, 1)])
    durs = rng.lognormal(8, 1.5, count).astype("int64") + 1
    starts = np.cumsum(durs + 50) - durs
    names = [f"{at:_<100}" for at in range(count)]
    side["ops"] = {
        **{name: [None] * count for name in ("inputs", "outputs", "provider", "group")},
        "name": names,
        "op_type": [f"Type{at % 40}" for at in range(count)],
        "op_class": [CLASSES[at % 2] for at in range(count)],
        "row": list(range(count)),
    }
    side["calls"] = {
        "op": rng.permutation(count),
        "lane": np.zeros(count, int),
        "start_ns": starts,
        "dur_ns": durs,
    }
    side["dur_ns"] = int(starts[-1] + durs[-1])
    payload = {"span_ns": side["dur_ns"], "classes": [], "groups": [], "sides": [side, side]}
    base = Drawing(Layers(payload), {"words": {}, "sides": [{}, {}]}).base
    assert 100_000 < len(base) < 350_000
