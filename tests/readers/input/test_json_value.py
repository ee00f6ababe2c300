"""Single values out of JSON: the value, or what stands for everything else."""

from __future__ import annotations

import msgspec
import pytest

from analysis.errors import FuseScopeError
from analysis.readers.input.json_value import decode, refused

DAMAGED = (b"", b"{", b'"text"', b'["\xff"]', b"[" * 100_000)


def test_a_value_of_the_type_is_taken() -> None:
    assert decode(b"[1, 2]", list[int], ()) == [1, 2]
    assert decode(msgspec.Raw(b'"a"'), str, None) == "a"


@pytest.mark.parametrize("raw", DAMAGED)
def test_everything_else_is_the_default(raw: bytes) -> None:
    assert decode(raw, list[list[object]], None) is None


@pytest.mark.parametrize("raw", DAMAGED[1:])
def test_what_cannot_be_decoded_is_refused(raw: bytes) -> None:
    is_deep = len(raw) > 100
    said = "nested too deeply" if is_deep else "This report of OpenVINO's counters is damaged"
    with (
        pytest.raises(FuseScopeError, match=said) as caught,
        refused("a.json", "openvino_report_damaged"),
    ):
        msgspec.json.decode(raw, type=list[list[object]])
    assert caught.value.where == "a.json"
    assert ("reason" in caught.value.values) is not is_deep
