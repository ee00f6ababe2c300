"""Source: the bytes of one input, named for messages, unpacked at most once."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.job import Job
from fusescope.analysis.limits import DEFAULT_LIMITS, MIB, Limits
from fusescope.analysis.readers.input.unpacking import MAGIC_BYTES, is_packed, unpacked
from fusescope.analysis.trace import Diagnostic, Meta

HEAD_BYTES = 64 * 1024
_BLOCK = 1024 * 1024
_LINE_END = 4  # bytes of the longest, in UTF-16

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
        self.rests_on_others = False

    @cached_property
    def data(self) -> bytes:
        """The file as it came. Raises FuseScopeError when it cannot be read."""
        return self._data if isinstance(self._data, bytes) else self._data(None)

    @property
    def beside(self) -> tuple[Source, ...]:
        """Other files of the same folder, zip or upload, this one not among them. For readers:
        what they make of this file rests on those from now on."""
        self.rests_on_others = True
        return self.neighbours

    @cached_property
    def neighbours(self) -> tuple[Source, ...]:
        """The same for whoever does not read this file."""
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

    @property
    def size(self) -> int:
        """Bytes of the file as it came; one on disk is not read for it."""
        if self._is_on_disk and self.on_disk is not None:
            with _readable(self.name):
                return self.on_disk.stat().st_size
        return len(self.data)

    @property
    def ends_line(self) -> bool:
        """True where the content ends with the end of a line; a file on disk is not read for it."""
        if self._is_on_disk and self.on_disk is not None and not self.is_packed:
            with _readable(self.name), self.on_disk.open("rb") as file:
                file.seek(max(0, self.size - _LINE_END))
                return file.read().endswith((b"\n", b"\r", b"\n\0"))
        return self.content.endswith((b"\n", b"\r", b"\n\0"))

    @property
    def is_packed(self) -> bool:
        """True for gzip and zstd."""
        return is_packed(self.load(MAGIC_BYTES))

    @cached_property
    def sha256(self) -> str:
        """Hash of the file as it came, in hex; one on disk is read for it part by part. Raises
        FuseScopeError for what has no end, or is larger than the limit."""
        if self._is_on_disk and self.on_disk is not None:
            if not isinstance(self._data, bytes):
                self._data(0)
            digest = hashlib.sha256()
            with _readable(self.name), self.on_disk.open("rb") as file:
                while block := file.read(_BLOCK):
                    digest.update(block)
            return digest.hexdigest()
        return hashlib.sha256(self.data).hexdigest()

    @property
    def _is_on_disk(self) -> bool:
        """True where the file is not in memory and need not be."""
        return not isinstance(self._data, bytes) and "data" not in vars(self) and bool(self.on_disk)

    @cached_property
    def content(self) -> bytes:
        """The bytes with one layer of gzip or zstd removed.

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
        job: Job | None = None,
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
            job=job,
        )

    def blocks(self, size: int) -> Iterator[bytes]:
        """The content in parts of `size` bytes, more or less.

        A file on disk that is not in memory is read part by part; after the last of them its hash
        and notes are known as well. Raises FuseScopeError as `content` does.
        """
        if "content" not in vars(self) and self.is_packed:
            yield from self._gunzipped(size)  # packed it is small
        elif self._is_on_disk and self.on_disk is not None:
            yield from self._streamed(size, self.on_disk)
        else:
            yield from _cut(self.content, size)

    @property
    def noted(self) -> tuple[Diagnostic, ...]:
        """What was found out about the files beside it when they were listed."""
        return tuple(self._noted)

    @property
    def notes(self) -> tuple[Diagnostic, ...]:
        """What was odd about the packing (junk, a missing end), and files left out beside it."""
        return (*self._packing, *self._noted)

    @cached_property
    def _packing(self) -> tuple[Diagnostic, ...]:
        return self._unpacked[1]

    def _gunzipped(self, size: int) -> Iterator[bytes]:
        notes: list[Diagnostic] = []
        parts: list[bytes] = []
        is_first = True
        for block in unpacked(self.data, self.name, self.limits, notes):
            if is_first and block:
                if is_packed(block):
                    raise FuseScopeError("compressed_twice", where=self.name)
                is_first = False
            parts.append(block)
            if sum(map(len, parts)) >= size:
                yield b"".join(parts)
                parts.clear()
        if parts:
            yield b"".join(parts)
        self.__dict__["_packing"] = tuple(notes)

    def _streamed(self, size: int, path: Path) -> Iterator[bytes]:
        digest = hashlib.sha256()
        # Hashing takes no turn of the interpreter, so it runs beside what is done with the parts.
        with _readable(self.name), path.open("rb") as file, ThreadPoolExecutor(1) as hashing:
            pending = None
            while block := file.read(size):
                if pending is not None:
                    pending.result()
                pending = hashing.submit(digest.update, block)
                yield block
        self.__dict__.setdefault("sha256", digest.hexdigest())
        self.__dict__.setdefault("_packing", ())

    @cached_property
    def head(self) -> bytes:
        """The first 64 KiB of the content: what readers sniff at."""
        if isinstance(self._data, bytes) or "content" in self.__dict__:
            first = self.data
        else:
            first = self._data(HEAD_BYTES)
        if not is_packed(first):
            return first[:HEAD_BYTES]
        head = b""
        try:
            for part in unpacked(first, self.name, self.limits, []):
                head += part[: HEAD_BYTES - len(head)]
                if len(head) >= HEAD_BYTES:
                    break
        except FuseScopeError:
            return self.content[:HEAD_BYTES]  # says what is wrong
        return self.content[:HEAD_BYTES] if is_packed(head) else head

    @property
    def whole_head(self) -> bytes:
        """The same, with all of the content looked at where it is packed and shorter than that."""
        head = self.head
        is_short = len(head) < HEAD_BYTES and self.is_packed
        return self.content[:HEAD_BYTES] if is_short else head

    @cached_property
    def _unpacked(self) -> tuple[bytes, tuple[Diagnostic, ...]]:
        if not is_packed(self.data):
            return self.data, ()
        notes: list[Diagnostic] = []
        content = b"".join(unpacked(self.data, self.name, self.limits, notes))
        if is_packed(content):
            raise FuseScopeError("compressed_twice", where=self.name)
        return content, tuple(notes)


@contextmanager
def _readable(name: str) -> Iterator[None]:
    """Says what is wrong with a file that cannot be read."""
    try:
        yield
    except FileNotFoundError as error:
        raise FuseScopeError("no_such_file", where=name) from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise FuseScopeError("unreadable_file", where=name, reason=reason) from error


def load_file(path: Path, name: str, limits: Limits) -> Load:
    """A function that reads the file at `path`, whole or its first bytes, under the limits."""

    def load(count: int | None) -> bytes:
        with _readable(name):
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

    return load


def _cut(content: bytes, size: int) -> Iterator[bytes]:
    return (content[at : at + size] for at in range(0, len(content), size))
