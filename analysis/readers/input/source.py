"""Source: the bytes of one input, named for messages, unpacked at most once."""

from __future__ import annotations

import hashlib
import stat
import zlib
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from analysis.errors import FuseScopeError
from analysis.limits import DEFAULT_LIMITS, MIB, Limits
from analysis.trace import Diagnostic, Meta

HEAD_BYTES = 64 * 1024
_GZIP = b"\x1f\x8b"
_BLOCK = 1024 * 1024
_FIRST_BLOCK = 4096  # of a gzip member: many may be tiny, and what is behind each is copied

Load = Callable[[int | None], bytes]  # the first n bytes, or all
Beside = Callable[[], "tuple[Source, ...]"]


class Source:
    """One file. `name` is a label only: no file is ever opened by it.

    `path` tells files of one folder, zip or upload apart, parts joined by '/'. `beside` are the
    other files there that may belong to the same recording; they are loaded when they are read.
    `noted` takes what is found out about them then. `on_disk` is where the file lies as it came;
    None for what came through the browser or out of a zip.
    """

    def __init__(
        self,
        name: str,
        data: bytes | Load,
        limits: Limits = DEFAULT_LIMITS,
        *,
        path: str = "",
        beside: tuple[Source, ...] | Beside = (),
        noted: list[Diagnostic] | None = None,
        on_disk: Path | None = None,
    ) -> None:
        self.name = name
        self.limits = limits
        self.path = path or name
        self._data = data
        self._beside = beside
        self.on_disk = on_disk
        self._noted = noted if noted is not None else []

    @cached_property
    def data(self) -> bytes:
        """The file as it came. Raises FuseScopeError when it cannot be read."""
        return self._data if isinstance(self._data, bytes) else self._data(None)

    @cached_property
    def beside(self) -> tuple[Source, ...]:
        """Other files of the same folder, zip or upload, this one not among them."""
        return self._beside if isinstance(self._beside, tuple) else self._beside()

    def load(self, count: int | None) -> bytes:
        """The first `count` bytes, or all, as they came."""
        if isinstance(self._data, bytes):
            return self._data[:count]
        return self._data(count) if count is not None else self.data

    def forget(self) -> None:
        """Let go of bytes that can be loaded again; the head stays."""
        if not isinstance(self._data, bytes):
            for name in ("data", "content", "_unpacked"):
                self.__dict__.pop(name, None)

    def among(self, beside: tuple[Source, ...]) -> Source:
        """The same file with other files beside it."""
        data = self.__dict__.get("data", self._data)
        return type(self)(
            self.name, data, self.limits, path=self.path, beside=beside, on_disk=self.on_disk
        )

    @cached_property
    def sha256(self) -> str:
        """Hash of the file as it came, in hex."""
        return hashlib.sha256(self.data).hexdigest()

    @cached_property
    def content(self) -> bytes:
        """The bytes with one layer of gzip removed.

        Raises FuseScopeError when they unpack to more than the limit or are compressed twice.
        """
        return self._unpacked[0]

    def meta(
        self,
        format_: str,
        tool: str,
        *,
        version: str | None = None,
        device: str | None = None,
        files: Iterable[str] = (),
        private: Mapping[str, str] = MappingProxyType({}),
        started_ns: int | None = None,
    ) -> Meta:
        """Where a trace of this file comes from, and when it began; `files` were read with it."""
        return Meta(
            format_,
            tool,
            version,
            device,
            self.name,
            self.sha256,
            files=tuple(files),
            redactable=MappingProxyType(dict(private)),
            started_ns=started_ns,
        )

    @property
    def notes(self) -> tuple[Diagnostic, ...]:
        """What was odd about the packing (junk, a missing end), and files left out beside it."""
        return (*self._unpacked[1], *self._noted)

    @cached_property
    def head(self) -> bytes:
        """The first 64 KiB of the content: what readers sniff at."""
        if isinstance(self._data, bytes) or "content" in self.__dict__:
            first = self.data
        else:
            first = self._data(HEAD_BYTES)
        if not first.startswith(_GZIP):
            return first[:HEAD_BYTES]
        try:
            head = zlib.decompressobj(wbits=31).decompress(first, HEAD_BYTES)
        except zlib.error:
            return self.content[:HEAD_BYTES]  # says what is wrong
        return self.content[:HEAD_BYTES] if head.startswith(_GZIP) else head

    @cached_property
    def _unpacked(self) -> tuple[bytes, tuple[Diagnostic, ...]]:
        if not self.data.startswith(_GZIP):
            return self.data, ()
        content, notes = _gunzip(self.data, self.name, self.limits)
        if content.startswith(_GZIP):
            raise FuseScopeError("compressed_twice", where=self.name)
        return content, notes


def load_file(path: Path, name: str, limits: Limits) -> Load:
    """A function that reads the file at `path`, whole or its first bytes, under the limits."""

    def load(count: int | None) -> bytes:
        try:
            facts = path.stat()
            if not stat.S_ISREG(facts.st_mode):
                raise FuseScopeError("not_regular_file", where=name)
            size = facts.st_size
            if size > limits.file_bytes:
                raise FuseScopeError(
                    "file_too_large",
                    where=name,
                    size_mib=size // MIB,
                    limit_mib=limits.file_bytes // MIB,
                    raised=limits.raised("file_bytes", size),
                )
            with path.open("rb") as file:
                # read(n) takes n bytes of memory at once, however short the file is.
                return file.read(size if count is None else min(size, count))
        except FileNotFoundError as error:
            raise FuseScopeError("no_such_file", where=name) from error
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise FuseScopeError("unreadable_file", where=name, reason=reason) from error

    return load


def _gunzip(data: bytes, name: str, limits: Limits) -> tuple[bytes, tuple[Diagnostic, ...]]:
    """All members of a gzip file, bounded, and what was odd.

    Raises FuseScopeError for a bomb or damaged data.
    """
    parts: list[bytes] = []
    size = at = 0
    notes: list[Diagnostic] = []
    while data.startswith(_GZIP, at):
        member = zlib.decompressobj(wbits=31)
        pending, step = b"", _FIRST_BLOCK
        try:
            while not member.eof:
                if not pending:
                    pending = data[at : at + step]
                    at, step = at + len(pending), _BLOCK
                block = member.decompress(pending, _BLOCK)
                size += len(block)
                if size > limits.unpacked_bytes:
                    raise FuseScopeError(
                        "gzip_too_large",
                        where=name,
                        limit_mib=limits.unpacked_bytes // MIB,
                        raised=limits.raised("unpacked_bytes"),
                    )
                parts.append(block)
                if not block and not pending:
                    break
                pending = member.unconsumed_tail
        except zlib.error as error:
            raise FuseScopeError("gzip_damaged", where=name, reason=str(error)) from error
        if not member.eof:
            notes.append(Diagnostic("warning", "gzip_cut_short"))
        at -= len(member.unused_data)
    junk = data[at:]
    if junk.strip(b"\0"):
        notes.append(Diagnostic("warning", "gzip_junk", len(junk)))
    return b"".join(parts), tuple(notes)
