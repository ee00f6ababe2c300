"""Which of several files belong together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.compare.likeness import belong_together, like_these, likeness
from fusescope.analysis.readers.building.trace_tables import build_trace
from fusescope.analysis.trace import Meta, Trace


def trace(times: dict[str, int], format_: str = "kineto") -> Trace:
    """A file of one execution of each op type, of so many ns."""
    rows = {"name": list(times), "op_type": list(times), "dur_ns": list(times.values())}
    return build_trace(Meta(format_, "T"), rows)


def test_likeness_is_common_time_and_half_as_much_common_words() -> None:
    """Times agree in 0.25 of MatMul; of the words net, a and b one of three: (0.25 + 1/6) / 1.5."""
    first = ("net_a", trace({"MatMul": 75, "Add": 25}))
    other = ("net_b", trace({"MatMul": 25, "Conv": 75}))
    assert likeness(first, other) == pytest.approx((0.25 + 0.5 / 3) / 1.5)
    assert likeness(first, first) == pytest.approx(1.0)
    assert likeness(first, ("net_a", trace({"MatMul": 75, "Add": 25}, "nsys_db"))) == 0.0


def test_files_of_one_model_belong_together() -> None:
    attention = {"MatMul": 60, "Softmax": 30, "Add": 10}
    images = {"Conv": 80, "Relu": 20}
    files = [
        ("a_other.json", trace({"Sort": 10})),
        ("bert_h100.json", trace(attention)),
        ("m_images.json", trace(images)),
        ("bert_mi300.json", trace({**attention, "Add": 14})),
        ("z_rest.json", trace({"TopK": 10})),
    ]
    assert belong_together(files) == (1, 3)
    # A third recording of the model is one of them, whatever it is called.
    assert belong_together([*files, ("bert_again.json", trace(attention))]) == (1, 3, 5)


TIMES = st.dictionaries(st.sampled_from("abcde"), st.integers(0, 10**9), min_size=1)


@given(st.lists(st.tuples(st.text(max_size=9), TIMES), min_size=2, max_size=5))
def test_likeness_is_a_part_and_the_same_both_ways(files: list[tuple[str, dict[str, int]]]) -> None:
    named = [(name, trace(times)) for name, times in files]
    assert likeness(named[0], named[1]) == pytest.approx(likeness(named[1], named[0]))
    assert 0.0 <= likeness(named[0], named[1]) <= 1.0 + 1e-9
    places = belong_together(named)
    assert len(places) >= 2 and set(places) <= set(range(len(named)))


def test_others_that_are_like_a_pair() -> None:
    """A pair of attention; the first other one is it again, the others are of images and of another
    profiler."""
    attention = {"MatMul": 60, "Softmax": 30, "Add": 10}
    pair = (("before.json", trace(attention)), ("after.json", trace({**attention, "Add": 14})))
    others = [
        ("again.json", trace(attention)),
        ("images.json", trace({"Conv": 80, "Relu": 20})),
        ("nsys.json", trace(attention, "nsys_db")),
    ]
    assert like_these(pair, others) == (0,)
