"""Messages: placeholders, plurals, emphasis, names that are never interpreted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.messages import Message, Part, listed, paragraph, say

FASTER = Message("{candidate:name} is **{speedup:factor} faster** than {baseline:name}")


def test_values_are_written_in_the_format_of_their_placeholder() -> None:
    text = say(
        "{took:duration}, {share:percent}, {size:bytes}, {runs:count}, {rest}.",
        took=12_345, share=0.256, size=93_400_000, runs=12_345, rest="x",
    )  # fmt: skip
    assert text == "12.3 µs, 25.6 %, 93.4 MB, 12\u202f345, x."


def test_a_missing_value_is_a_dash_and_a_missing_placeholder_an_error() -> None:
    assert say("{a:duration} {b:blocks} {c} {d:name}", a=None, b=None, c=None, d="") == "– – – "
    with pytest.raises(KeyError, match="b"):
        say("{b}", a=1)


@pytest.mark.parametrize(
    ("n", "text"),
    [(0, "0 runs were"), (1, "1 run was"), (2, "2 runs were"), (1.5, "1.5 runs were")],
)
def test_the_value_n_decides_between_one_and_many(n: float, text: str) -> None:
    assert say("{n:count} run was", "{n:count} runs were", n=n) == text


def test_things_that_are_counted_have_their_own_plural() -> None:
    text = say("{a:blocks} of {b:runs}, {c:operators}", a=1, b=24, c=1_000)
    assert text == "1 block of 24 runs, 1\u202f000 operators"


def test_a_sentence_in_pieces_marks_names_and_what_is_emphasised() -> None:
    assert FASTER.parts(candidate="fused", speedup=2.123, baseline="unfused") == (
        Part("fused", "name"),
        Part(" is "),
        Part("2.12× faster", "number"),
        Part(" than "),
        Part("unfused", "name"),
    )


def test_a_sentence_inside_another_keeps_its_names_and_takes_its_emphasis() -> None:
    inner = Message("of {name:name}").of(name="x")
    outer = Message("a {inner} **b {inner}**")
    assert outer.parts(inner=inner) == (
        Part("a of "),
        Part("x", "name"),
        Part(" "),
        Part("b of ", "number"),
        Part("x", "name"),
    )
    assert str(outer.of(inner=inner)) == "a of x b of x"


@given(st.text(min_size=1), st.text(min_size=1))
def test_names_are_inserted_as_they_are(candidate: str, baseline: str) -> None:
    parts = FASTER.parts(candidate=candidate, speedup=2, baseline=baseline)
    assert [part.text for part in parts if part.role == "name"] == [candidate, baseline]
    assert [part.text for part in parts if part.role != "name"] == [
        " is ",
        "2.00× faster",
        " than ",
    ]


def test_sentences_follow_each_other_and_empty_ones_are_left_out() -> None:
    assert paragraph("A.", "", "B.") == "A. B."
    assert paragraph("", "") == ""


@pytest.mark.parametrize(
    ("texts", "text"),
    [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")],
)
def test_a_list_of_names(texts: list[str], text: str) -> None:
    assert listed(texts) == text


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("fused", "unfused", "fused 比 unfused 快"),
        ("规则", "未融合", "规则比未融合快"),
        ("规则", "unfused", "规则比 unfused 快"),
        ("（规则）", "95 %", "（规则）比 95 % 快"),
        ("规则 ", " x", "规则  比  x 快"),  # a name stays as it is
    ],
)
def test_no_space_stands_between_chinese_and_chinese(one: str, other: str, expected: str) -> None:
    assert Message("{one:name} 比 {other:name} 快").text(one=one, other=other) == expected


def test_the_emphasised_is_chinese_too() -> None:
    parts = Message("占 **{share}** 的组").parts(share="一半")
    assert parts == (Part("占"), Part("一半", "number"), Part("的组"))


def test_times_beside_their_change_are_as_far_apart_as_it_says() -> None:
    """3.159 - 1.914 = 1.245 ms, which reads as 1.24; 3.16 - 1.91 would be 1.25."""
    message = Message("It takes {takes:duration} instead of {took:duration}: {ns:signed_duration}.")
    text = message.text(takes=3_158_600, took=1_914_100, ns=1_244_500)
    assert text == "It takes 3.159 ms instead of 1.914 ms: +1.24 ms."
    # 3.17 - 1.91 = 1.26: nothing more is needed.
    assert message.text(takes=3_170_000, took=1_910_000, ns=1_260_000) == (
        "It takes 3.17 ms instead of 1.91 ms: +1.26 ms."
    )
    # The change of something else, and no change at all.
    assert message.text(takes=3_158_600, took=1_914_100, ns=-20_000) == (
        "It takes 3.16 ms instead of 1.91 ms: −20.0 µs."
    )
    assert message.text(takes=None, took=1_914_100, ns=None) == (
        "It takes – instead of 1.91 ms: –."
    )


def test_of_several_times_those_are_finer_that_the_change_is_of() -> None:
    message = Message(
        "{a:duration}, {b:duration} and {c:duration}: **{ns:signed_duration}**, as {inner}"
    )
    inner = Message("{a:duration} to {b:duration}").of(a=3_158_600, b=1_914_100)
    text = message.text(a=5_555_500, b=3_158_600, c=1_914_100, ns=-1_244_500, inner=inner)
    assert text == "5.56 ms, 3.159 ms and 1.914 ms: −1.24 ms, as 3.16 ms to 1.91 ms"


def test_times_beside_their_ratio_give_it_when_divided() -> None:
    """19.941 / 17.371 = 1.1479; the rounded ones, 19.9 / 17.4, would be 14.4 % apart."""
    change = Message("{after:duration} instead of {before:duration} ({change:change})")
    before, after = 17_371_000, 19_941_000
    text = change.text(before=before, after=after, change=after / before - 1)
    assert text == "19.94 ms instead of 17.37 ms (+14.8 %)"
    # 140 / 175 is 20.0 % less, which is within the last digit of 20.1 %: nothing more is needed.
    assert change.text(before=175_150_000, after=139_950_000, change=13995 / 17515 - 1) == (
        "140 ms instead of 175 ms (−20.1 %)"
    )
    # The change of something else, and none.
    assert change.text(before=before, after=after, change=0.5) == (
        "19.9 ms instead of 17.4 ms (+50.0 %)"
    )
    assert change.text(before=before, after=0, change=None) == "0 ns instead of 17.4 ms (–)"


def test_of_a_part_and_of_a_factor_too() -> None:
    """1.0449 of 9.9551 ms are 10.496 %, and 1.04 of 9.96 are 10.44 %, within the last digit; 5.5451
    are 2.752 times 2.0149 ms, where 5.55 are 2.761 times 2.01."""
    part = Message("{part:duration} of {whole:duration}, {share:percent}; {other:duration} else")
    values = {"part": 1_044_900, "whole": 9_955_100, "other": 5_000_000}
    assert part.text(share=10449 / 99551, **values) == "1.04 ms of 9.96 ms, 10.5 %; 5.00 ms else"
    assert part.text(share=0.999, **values) == "1.04 ms of 9.96 ms, 99.9 %; 5.00 ms else"
    factor = Message("{low:duration} to {high:duration}: {ratio:factor}")
    assert factor.text(low=2_014_900, high=5_545_100, ratio=55451 / 20149) == (
        "2.015 ms to 5.545 ms: 2.75×"
    )
