"""Shapes as people type them."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fusescope.analysis.errors import FuseScopeError
from fusescope.app.recording.shapes import shapes_of


def test_several_shapes() -> None:
    text = " input = 1, 3,224,224 ; a=b:0=2;"
    assert shapes_of(text) == {"input": (1, 3, 224, 224), "a=b:0": (2,)}
    assert shapes_of("") == shapes_of(" ; ") == {}


@pytest.mark.parametrize(
    "text", ["x", "x=", "=1,2", "x=1,,2", "x=1,-2", "x=0", "x=1.5", "x=batch", "x=1_0", "x=١"]
)
def test_what_is_no_shape_is_one_sentence(text: str) -> None:
    with pytest.raises(FuseScopeError, match="is not a shape of an input"):
        shapes_of(text)


def test_an_input_has_one_shape() -> None:
    with pytest.raises(FuseScopeError, match="two shapes"):
        shapes_of("x=1;x=2")


@given(
    st.text(max_size=60) | st.from_regex(r"( ?[ab]=[0-9]{1,3}(,[0-9]{1,3}){0,3};)+", fullmatch=True)
)
@example("a=1,2;b=3")
def test_any_text_gives_shapes_or_a_sentence(text: str) -> None:
    try:
        found = shapes_of(text)
    except FuseScopeError:
        return
    assert all(size >= 1 for shape in found.values() for size in shape)
