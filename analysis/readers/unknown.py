"""Errors for files, and folders of files, that no reader knows: what they are instead."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Literal

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import Message
from fusescope.analysis.readers.companions import companion
from fusescope.analysis.readers.foreign import foreign_error, spreadsheet_among
from fusescope.analysis.readers.input.source import HEAD_BYTES, Source
from fusescope.analysis.text import display_name

_PICKLE = Message("a Python pickle")
_HTML = Message("an HTML page")
_FOREIGN = (
    (b"\x89PNG", Message("a PNG image")),
    (b"\xff\xd8\xff", Message("a JPEG image")),
    (b"%PDF", Message("a PDF document")),
    (b"SQLite format 3\x00", Message("a SQLite database")),
    (b"\x80\x04", _PICKLE),
    (b"\x80\x05", _PICKLE),
    (b"\x7fELF", Message("a program")),
    (b"<!DOCTYPE html", _HTML),
    (b"<html", _HTML),
)
_JSON = re.compile(rb'\{\s*["}]|\[\s*(?:[\[{"\]\d-]|true|false|null)')


def no_trace(name: str, files: Sequence[Source], zip_: str) -> FuseScopeError:
    """Return the error for a folder, or for a zip that lies at `zip_`, in which no reader knows a
    file."""
    if spreadsheet_among(files):
        return FuseScopeError("spreadsheet", where=name)
    for source in files:
        shown = display_name(source.path.removeprefix(f"{zip_}/"))
        if foreign := foreign_error(source, shown):
            return foreign.at(name)
        try:
            known = companion(source.head)
        except FuseScopeError:
            continue
        if known:
            return FuseScopeError(
                "companion_among",
                where=name,
                file=shown,
                content=known.content,
                instead=known.instead,
            )
    return FuseScopeError("no_trace_among", where=name)


def unknown_file(source: Source) -> FuseScopeError:
    """Return the error for a file that no reader knows."""
    if not source.data:
        return FuseScopeError("empty_file", where=source.name)
    try:
        head = source.content[:HEAD_BYTES]
    except FuseScopeError as error:  # its head was readable
        return error
    if any(note.code in ("gzip_cut_short", "zstd_cut_short") for note in source.notes):
        return FuseScopeError("cut_before_operators", where=source.name)
    if foreign := foreign_error(source):
        return foreign
    if known := companion(head):
        return FuseScopeError(
            "companion_file", where=source.name, content=known.content, instead=known.instead
        )
    for magic, kind in _FOREIGN:
        if head[: len(magic)].lower() == magic.lower():
            return FuseScopeError("other_file", where=source.name, kind=kind)
    code = _code(head)
    if code == "unknown_format" and source.name.lower().endswith(".onnx"):
        shown = shlex.quote(source.name)
        return FuseScopeError(
            "model_instead_of_recording",
            where=source.name,
            record=f"fusescope collect {shown}",
            explain=f"fusescope fuse {shown} --explain",
        )
    return FuseScopeError(code, where=source.name)


def _code(
    head: bytes,
) -> Literal["blank_file", "not_a_trace", "unknown_format", "unknown_json"]:
    text = head.strip(b" \t\r\n\x00\xef\xbb\xbf")
    if not text:
        return "blank_file"
    if _JSON.match(text):
        return "unknown_json"
    if text[:1] in b'0123456789"ntf-' and len(text) < 64:
        return "not_a_trace"
    return "unknown_format"
