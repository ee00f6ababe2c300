"""The file that keeps what releases made of a model: read back whole, or refused in a sentence."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.readers import read, read_all, read_path
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.releases.changes import changes
from fusescope.analysis.releases.history import (
    RECORD_NAME,
    Release,
    history_file,
    is_history,
    parse_history,
)
from tests.releases.test_changes import FUSED, PLAIN, history

SEEN = history(FUSED, None, PLAIN)


def packed(content: bytes, name: str = RECORD_NAME) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return whole.getvalue()


def test_what_is_written_is_read() -> None:
    data = history_file(SEEN)
    assert is_history(data)
    again = parse_history(data, "x.zip")
    assert again == SEEN
    assert changes(again)[0].lost == {"Gelu": 1}
    assert data == history_file(SEEN)  # the same history, the same bytes


def test_another_zip_is_none() -> None:
    assert not is_history(packed(b"{}", "experiment.json"))
    assert not is_history(b"PK\x03\x04")


def changed(**fields: object) -> bytes:
    values = msgspec.json.decode(msgspec.json.encode(SEEN))
    return packed(msgspec.json.encode({**values, **fields}))


def test_a_reader_of_recordings_says_what_it_is_and_where_it_is_shown(tmp_path: Path) -> None:
    (tmp_path / "net.zip").write_bytes(history_file(SEEN))
    inside = Source("all.zip", packed(history_file(SEEN), "net.zip"))
    (failed,) = read_all([Source("net.zip", history_file(SEEN))]).failed
    errors = [failed[1]]
    for attempt in (
        lambda: read_path(tmp_path / "net.zip"),
        lambda: read_path(tmp_path / "net.zip", wanted=lambda record: record.names),
        lambda: read_path(tmp_path),  # a folder that holds it
        lambda: read(inside),
    ):
        with pytest.raises(FuseScopeError) as raised:
            attempt()
        errors.append(raised.value)
    for error in errors:
        assert error.code == "releases_instead_of_recording"
        assert error.text.startswith("This file holds what releases of an engine make of a model")
        assert "page Releases" in error.text and "fusescope serve net.zip." in error.text


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PK\x03\x04 and nothing",
        packed(b"[]"),
        packed(b"{}"),
        packed(b"[" * 100_000),
        packed(b"{}", "other.json"),
        changed(releases=[{"version": "1.0", "made": 7}]),
        changed(releases=[{"version": "1.0", "made": -1}]),
        changed(made=[{"graph": msgspec.to_builtins(FUSED) | {
            "nodes": msgspec.to_builtins(FUSED.nodes) * 2}}]),
    ],
)  # fmt: skip
def test_damaged_files_are_refused_in_a_sentence(data: bytes) -> None:
    with pytest.raises(FuseScopeError) as raised:
        parse_history(data, "x.zip")
    assert raised.value.code == "releases_file_damaged"
    assert "(x.zip)" in raised.value.text


def test_a_newer_file_says_so() -> None:
    with pytest.raises(FuseScopeError, match="newer FuseScope"):
        parse_history(changed(schema_version=2), "x.zip")


@given(st.integers(0, 2000), st.integers(1, 255))
def test_a_damaged_byte_is_an_error_or_does_no_harm(place: int, bits: int) -> None:
    data = bytearray(history_file(SEEN))
    data[place % len(data)] ^= bits
    try:
        read = parse_history(bytes(data), "x.zip")
        changes(read)
    except FuseScopeError:
        return
    assert all(isinstance(one, Release) for one in read.releases)
