"""Inputs of a module as they are typed on the command line."""

from __future__ import annotations

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.app.recording.given import given_inputs
from fusescope.collectors.record import GivenInput, Recording


def test_shape_type_range_and_dynamic_dimensions() -> None:
    found = given_inputs(
        ["mask=2,8:bool", "1=3", "0=1,~512:int64", "step=:int32"], {"0": (5, 9), "x": (0, 1)}
    )
    assert found == (
        GivenInput("0", (1, 512), "int64", 5, 9, dynamic=(1,)),
        GivenInput("1", (3,)),
        GivenInput("mask", (2, 8), "bool"),
        GivenInput("step", (), "int32"),
    )


@pytest.mark.parametrize(
    ("texts", "code"),
    [
        (["tokens"], "option_malformed"),
        (["tokens=0,2"], "option_malformed"),
        (["tokens=1,x"], "option_malformed"),
        (["a b=1"], "option_malformed"),
        (["tokens=1,~:int64"], "option_malformed"),
        (["tokens=1,5:int6"], "input_type_unknown"),
        (["x=1", "x=2"], "input_given_twice"),
        (["0=1", "2=1"], "input_place_missing"),
    ],
)
def test_what_is_malformed(texts: list[str], code: str) -> None:
    with pytest.raises(FuseScopeError) as caught:
        given_inputs(texts, {})
    assert caught.value.code == code


def test_they_are_of_torch_alone_and_ranges_are_of_them() -> None:
    given = (GivenInput("x", (1,)),)
    with pytest.raises(FuseScopeError) as caught:
        Recording("net.py:make", runtime="jax", variants=("fused",), given=given).plan()
    assert caught.value.code == "given_of_others"
    with pytest.raises(FuseScopeError) as caught:
        Recording("mul_add", variants=("fused",), given=given).plan()
    assert caught.value.code == "given_of_others"
    with pytest.raises(FuseScopeError) as caught:
        Recording(
            "net.py:make", runtime="torch", variants=("fused",), given=given,
            input_ranges={"y": (0, 1)},
        ).plan()  # fmt: skip
    assert caught.value.code in ("range_of_no_input", "runtime_not_installed")
