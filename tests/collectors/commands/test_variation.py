"""Variants of a command: products of settings, their names and their bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.commands.variation import MAX_VARIANTS, split_command, variants_of


def test_settings_combine_and_the_first_varies_slowest() -> None:
    found = variants_of(("A=1,0", "B=x"), ("--dtype=half,full",), ())
    assert [one.name for one in found] == [
        "A=1 --dtype=half", "A=1 --dtype=full", "A=0 --dtype=half", "A=0 --dtype=full",
    ]  # fmt: skip
    assert [dict(one.environment) for one in found] == [
        {"A": "1", "B": "x"}, {"A": "1", "B": "x"}, {"A": "0", "B": "x"}, {"A": "0", "B": "x"},
    ]  # fmt: skip
    assert [one.arguments for one in found] == [
        ("--dtype=half",), ("--dtype=full",), ("--dtype=half",), ("--dtype=full",),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("argument", "words", "names"),
    [
        ("--eager,", [("--eager",), ()], ["--eager", "no --eager"]),
        (
            "--batch 8,--batch 16",
            [("--batch", "8"), ("--batch", "16")],
            ["--batch 8", "--batch 16"],
        ),
        ("--a=1,--b=2", [("--a=1",), ("--b=2",)], ["--a=1", "--b=2"]),
        ("--x=1\\,2,3", [("--x=1,2",), ("--x=3",)], ["--x=1,2", "--x=3"]),
        ("--x=,3", [(), ("--x=3",)], ["no --x", "--x=3"]),
    ],
)
def test_arguments_in_every_form(
    argument: str, words: list[tuple[str, ...]], names: list[str]
) -> None:
    found = variants_of((), (argument,), ())
    assert [one.arguments for one in found] == words
    assert [one.name for one in found] == names


def test_an_empty_value_takes_a_variable_out() -> None:
    found = variants_of(("A=1,",), (), ())
    assert [dict(one.environment) for one in found] == [{"A": "1"}, {"A": None}]
    assert [one.name for one in found] == ["A=1", "no A"]


def test_names_stand_in_place_of_the_values() -> None:
    found = variants_of(("A=1,0",), (), ("compiled", "eager"))
    assert [one.name for one in found] == ["compiled", "eager"]
    assert variants_of((), (), ())[0].name == "command"


@pytest.mark.parametrize(
    ("environment", "arguments", "names", "code"),
    [
        (("A=1,2,3,4,5", "B=1,2,3,4"), (), (), "command_variants_many"),
        (("A=1,2",), (), ("one",), "command_names_other"),
        (("A=1,2",), (), ("one", "ONE"), "command_names_alike"),
        (("A=1,1",), (), (), "command_names_alike"),
        (("A=" + "x" * 70 + ",2",), (), (), "command_name_long"),
        (("A=/tmp/x,2",), (), (), "command_name_impossible"),
        (("A",), (), (), "option_malformed"),
        (("1A=2",), (), (), "option_malformed"),
        ((), (",",), (), "option_malformed"),
        ((), ('--x "1,2',), (), "command_quotes_open"),
    ],
)
def test_what_cannot_be_combined(
    environment: tuple[str, ...], arguments: tuple[str, ...], names: tuple[str, ...], code: str
) -> None:
    with pytest.raises(FuseScopeError) as caught:
        variants_of(environment, arguments, names)
    assert caught.value.code == code


@given(
    st.lists(st.integers(1, 5), min_size=1, max_size=3),
)
def test_every_combination_is_there_once(counts: list[int]) -> None:
    texts = tuple(f"V{at}=" + ",".join(map(str, range(n))) for at, n in enumerate(counts))
    product = 1
    for count in counts:
        product *= count
    if product > MAX_VARIANTS:
        with pytest.raises(FuseScopeError):
            variants_of(texts, (), ())
        return
    found = variants_of(texts, (), ())
    assert len({tuple(one.environment.items()) for one in found}) == product
    assert len({one.name for one in found}) == len(found) == product


def test_a_command_is_split_as_a_shell_would_and_no_more() -> None:
    assert split_command("python 'my bench.py' $HOME | cat") == (
        "python", "my bench.py", "$HOME", "|", "cat",
    )  # fmt: skip
    with pytest.raises(FuseScopeError, match="empty"):
        split_command("  ")


@pytest.mark.parametrize(
    ("environment", "argument", "names"),
    [
        ("HF_TOKEN=abc,def", "", ["HF_TOKEN #1", "HF_TOKEN #2"]),
        ("HF_TOKEN=abc,", "", ["HF_TOKEN #1", "no HF_TOKEN"]),
        ("", "--api-key=abc,def", ["--api-key #1", "--api-key #2"]),
        ("", "--token abc,--token def", ["--token #1", "--token #2"]),
        ("", "--token abc,def", ["--token #1", "--token #2"]),
        ("", "--max-tokens=64,128", ["--max-tokens=64", "--max-tokens=128"]),
        ("", "--tokenizer=a,b", ["--tokenizer=a", "--tokenizer=b"]),
        ("USE_TOKEN=0,1", "", ["USE_TOKEN=0", "USE_TOKEN=1"]),
    ],
)
def test_a_name_that_is_made_of_values_has_none_of_a_secret(
    environment: str, argument: str, names: list[str]
) -> None:
    found = variants_of((environment,) if environment else (), (argument,) if argument else (), ())
    assert [one.name for one in found] == names
