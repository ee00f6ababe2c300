"""Readers: bytes -> Trace or Experiment. One file a format, one entry in READERS.

Content decides, the most specific format first; names only label messages.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from analysis.errors import FuseScopeError
from analysis.experiment import Experiment
from analysis.limits import DEFAULT_LIMITS, Limits
from analysis.readers.experiment import ExperimentReader
from analysis.readers.onnxruntime import OnnxRuntimeReader
from analysis.readers.source import Source, open_source
from analysis.trace import Trace


class Reader(Protocol):
    """What a format must offer. `read` raises FuseScopeError and nothing else."""

    name: str

    def sniff(self, head: bytes) -> bool:
        """True when the first bytes look like this format."""

    def read(self, source: Source) -> Trace | Experiment:
        """The whole file as a value."""


READERS: tuple[Reader, ...] = (ExperimentReader(), OnnxRuntimeReader())

_FOREIGN = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"%PDF", "a PDF document"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"\x80\x04", "a Python pickle"),
    (b"\x80\x05", "a Python pickle"),
    (b"\x7fELF", "a program"),
    (b"<!DOCTYPE html", "an HTML page"),
    (b"<html", "an HTML page"),
)
_OPENS = (
    "FuseScope opens experiment files (.zip) and ONNX Runtime profiles (.json, plain or gzipped)."
)


def read(source: Source) -> Trace | Experiment:
    """The trace or experiment in `source`. Raises FuseScopeError that says what it is instead."""
    if not source.data:
        raise FuseScopeError("This file is empty", where=source.name, hint=_OPENS)
    head = source.head
    for reader in READERS:
        if reader.sniff(head):
            return reader.read(source)
    raise FuseScopeError(f"This is {_describe(head)}", where=source.name, hint=_OPENS)


def read_path(path: Path, limits: Limits = DEFAULT_LIMITS) -> Trace | Experiment:
    """The trace or experiment in the file at `path`; errors as in `read`."""
    return read(open_source(path, limits))


def _describe(head: bytes) -> str:
    for magic, name in _FOREIGN:
        if head[: len(magic)].lower() == magic.lower():
            return f"{name}, not a trace"
    text = head.strip(b" \t\r\n\x00\xef\xbb\xbf")
    if not text:
        return "a file without content"
    if text[:1] in b"[{":
        return "JSON, but not in a format that FuseScope knows"
    if text[:1] in b'0123456789"ntf-' and len(text) < 64:
        return "not a trace"
    return "not in a format that FuseScope knows"
