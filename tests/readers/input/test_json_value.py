"""Single values out of JSON: the value, or what stands for everything else."""

from __future__ import annotations

import msgspec
import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.readers.input.json_value import decode, decoded_whole, refused
from fusescope.analysis.trace import Diagnostic

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


def test_a_whole_file_is_mended_and_that_is_noted_once() -> None:
    notes: list[Diagnostic] = []
    text = b'{"a": [NaN, Infinity, -Infinity, 1], "b": inf, "c": "NaN, Infinity"}'
    value = decoded_whole(text, dict[str, object], notes)
    assert value == {"a": [None, None, None, 1], "b": None, "c": "NaN, Infinity"}
    assert [(note.code, note.count) for note in notes] == [("json_mended", 4)]


@pytest.mark.parametrize("raw", [b'{"a": NaN', b'{"a": Nope}', b'["text"]'])
def test_what_cannot_be_mended_says_why(raw: bytes) -> None:
    notes: list[Diagnostic] = []
    with pytest.raises(msgspec.MsgspecError):
        decoded_whole(raw, dict[str, object], notes)
    assert notes == []
