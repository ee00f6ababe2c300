"""Source: the bytes of one input, named for messages, unpacked at most once."""

from __future__ import annotations

import hashlib
import re
import zlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from analysis.errors import FuseScopeError
from analysis.limits import DEFAULT_LIMITS, Limits

HEAD_BYTES = 64 * 1024
_GZIP = b"\x1f\x8b"
_BLOCK = 1024 * 1024


@dataclass(frozen=True)
class Source:
    """One file. `name` is a label only: no file is ever opened by it."""

    name: str
    data: bytes
    limits: Limits = DEFAULT_LIMITS

    @cached_property
    def sha256(self) -> str:
        """Hash of the file as it came, in hex."""
        return hashlib.sha256(self.data).hexdigest()

    @cached_property
    def content(self) -> bytes:
        """The bytes with one layer of gzip removed.

        Raises FuseScopeError when they unpack to more than the limit or are compressed twice.
        """
        if not self.data.startswith(_GZIP):
            return self.data
        content = _gunzip(self.data, self.name, self.limits.unpacked_bytes)
        if content.startswith(_GZIP):
            raise FuseScopeError(
                "This file is compressed twice", where=self.name, hint="Unpack it once and retry."
            )
        return content

    @property
    def head(self) -> bytes:
        """The first 64 KiB of the content: what readers sniff at."""
        return self.content[:HEAD_BYTES]


def open_source(path: Path, limits: Limits = DEFAULT_LIMITS) -> Source:
    """The file at `path`. Raises FuseScopeError when it is missing, a folder, empty or too big."""
    name = display_name(str(path))
    try:
        if path.is_dir():
            raise FuseScopeError(
                "This is a folder", where=name, hint="Give the trace or experiment file in it."
            )
        size = path.stat().st_size
        if size > limits.file_bytes:
            raise FuseScopeError(
                f"This file has {size // 2**20} MiB, more than the limit of "
                f"{limits.file_bytes // 2**20} MiB",
                where=name,
                hint="Record fewer runs.",
            )
        return Source(name, path.read_bytes(), limits)
    except FileNotFoundError as error:
        raise FuseScopeError("There is no such file", where=name, hint="Check the path.") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise FuseScopeError(
            f"This file cannot be read: {reason}", where=name, hint="Check its permissions."
        ) from error


def display_name(name: str) -> str:
    """A file name fit to be shown: the last part after / and \\, printable, at most 120 chars."""
    last = re.split(r"[/\\]", name)[-1]
    shown = clean_text(last, DEFAULT_LIMITS.name_chars).strip()
    return shown or "unnamed"


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_BIDI = re.compile("[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def clean_text(text: str, chars: int = DEFAULT_LIMITS.text_chars) -> str:
    """Text from a trace without what could disturb a screen or a table.

    Control characters become \\x00-style escapes, bidirectional and zero-width controls go, lone
    surrogates become U+FFFD, and the rest is cut after `chars` with '…'.
    """
    if len(text) > chars:
        text = text[: chars - 1] + "…"
    if text.isascii() and text.isprintable():
        return text
    text = _SURROGATE.sub("\ufffd", _BIDI.sub("", text))
    return _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def _gunzip(data: bytes, name: str, limit: int) -> bytes:
    """All members of a gzip file, bounded. Raises FuseScopeError for a bomb or damaged data."""
    parts: list[bytes] = []
    size = 0
    rest = data
    while rest.startswith(_GZIP):
        member = zlib.decompressobj(wbits=31)
        pending = rest
        try:
            while not member.eof:
                block = member.decompress(pending, _BLOCK)
                size += len(block)
                if size > limit:
                    raise FuseScopeError(
                        f"This file decompresses to more than {limit // 2**20} MiB",
                        where=name,
                        hint="Record fewer runs.",
                    )
                parts.append(block)
                pending = member.unconsumed_tail
                if not block and not pending:
                    break
        except zlib.error as error:
            raise FuseScopeError(
                f"This gzip file is damaged: {error}", where=name, hint="Copy or record it again."
            ) from error
        rest = member.unused_data
    return b"".join(parts)
