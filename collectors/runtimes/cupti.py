"""When kernels and copies ran on a CUDA device, by NVIDIA's CUPTI, which pip installs with the
libraries of CUDA. ONNX Runtime's packages are built without it.

Records are read at the places that cupti_activity.h of CUDA 12 and 13 has them at.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Iterator
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

_NAMES = ("libcupti.so.13", "libcupti.so.12", "libcupti.so")
_COPY, _SET, _DRIVER, _RUNTIME, _KERNEL = 1, 2, 4, 5, 10  # CUpti_ActivityKind
_KINDS = (_COPY, _SET, _DRIVER, _RUNTIME, _KERNEL)
_BUFFER_BYTES = 8 * 1024 * 1024
_FORCED = 1  # flushing also what is not complete
_CLOCK_TRIES = 50
# CUpti_ActivityMemcpyKind
_COPIES = {
    1: "Memcpy HtoD", 2: "Memcpy DtoH", 3: "Memcpy HtoA", 4: "Memcpy AtoH", 5: "Memcpy AtoA",
    6: "Memcpy AtoD", 7: "Memcpy DtoA", 8: "Memcpy DtoD", 9: "Memcpy HtoH", 10: "Memcpy PtoP",
}  # fmt: skip
_Requested = ctypes.CFUNCTYPE(None, POINTER(POINTER(c_uint8)), POINTER(c_size_t), POINTER(c_size_t))
_Completed = ctypes.CFUNCTYPE(None, c_void_p, c_uint32, POINTER(c_uint8), c_size_t, c_size_t)


class NotTimed(Exception):
    """CUPTI is not there or does not start; the text says why."""


@dataclass(frozen=True)
class Activity:
    """A kernel, copy or fill on the device, in ns since 1970; `launched_ns` is when the host called
    for it, None where CUPTI does not tell."""

    name: str
    stream: int
    start_ns: int
    dur_ns: int
    launched_ns: int | None
    is_copy: bool = False


@dataclass
class Recording:
    """What CUPTI has recorded of this process since `started`. `dropped` counts records that it had
    no room for."""

    _library: ctypes.CDLL
    _ahead_ns: int  # of CUPTI's clock, of the system's
    _buffers: dict[int, ctypes.Array[c_uint8]] = field(default_factory=dict)
    _done: list[tuple[int, str, int, int, int, bool]] = field(default_factory=list)
    _calls: dict[int, int] = field(default_factory=dict)
    _callbacks: tuple[object, ...] = ()
    dropped: int = 0

    def activities(self) -> list[Activity]:
        """Those until now, by start. The device has nothing left to do. Raises NotTimed where some
        were dropped: operators without all of their kernels would look faster than they are."""
        _check(self._library, self._library.cuptiActivityFlushAll(_FORCED))
        if self.dropped:
            raise NotTimed(f"{self.dropped} records were dropped")
        found = []
        for correlation, name, stream, start, end, is_copy in self._done:
            called = self._calls.get(correlation)
            launched = None if called is None else called - self._ahead_ns
            found.append(
                Activity(name, stream, start - self._ahead_ns, end - start, launched, is_copy)
            )
        self._done.clear()
        self._calls.clear()
        # Profiles during which the system's clock was set are taken again, by the clock as it is.
        self._ahead_ns = _ahead_ns(self._library)
        return sorted(found, key=lambda one: one.start_ns)

    def _start(self) -> None:
        requested, completed = _Requested(self._request), _Completed(self._complete)
        self._callbacks = requested, completed  # must outlive the calls
        _check(self._library, self._library.cuptiActivityRegisterCallbacks(requested, completed))
        for kind in _KINDS:
            _check(self._library, self._library.cuptiActivityEnable(kind))

    def _request(self, buffer: object, size: object, records: object) -> None:
        room = (c_uint8 * _BUFFER_BYTES)()
        address = ctypes.addressof(room)
        self._buffers[address] = room
        buffer[0] = ctypes.cast(room, POINTER(c_uint8))  # type: ignore[index]
        size[0], records[0] = _BUFFER_BYTES, 0  # type: ignore[index]

    def _complete(
        self, context: object, stream: int, buffer: object, size: int, valid: int
    ) -> None:
        address = ctypes.cast(buffer, c_void_p).value or 0  # type: ignore[arg-type]
        for record in self._records(address, valid):
            self._read(record)
        lost = c_size_t()
        told = self._library.cuptiActivityGetNumDroppedRecords
        if told(c_void_p(context), c_uint32(stream), byref(lost)) == 0:  # type: ignore[arg-type]
            self.dropped += lost.value
        self._buffers.pop(address, None)

    def _records(self, address: int, valid: int) -> Iterator[int]:
        record = c_void_p()
        while (
            self._library.cuptiActivityGetNextRecord(
                c_void_p(address), c_size_t(valid), byref(record)
            )
            == 0
        ):
            if record.value:
                yield record.value

    def _read(self, at: int) -> None:
        kind = c_int.from_address(at).value
        if kind in (_DRIVER, _RUNTIME):
            self._calls[_u32(at + 32)] = _u64(at + 8)
        elif kind == _KERNEL:
            text = c_char_p.from_address(at + 104).value or b""
            name = text.decode("utf-8", "replace")
            self._done.append(
                (_u32(at + 92), name, _u32(at + 48), _u64(at + 16), _u64(at + 24), False)
            )
        elif kind in (_COPY, _SET):
            name = "Memset"
            if kind == _COPY:
                name = _COPIES.get(c_uint8.from_address(at + 4).value, "Memcpy")
            self._done.append(
                (_u32(at + 44), name, _u32(at + 40), _u64(at + 16), _u64(at + 24), True)
            )


_kept: list[Recording] = []


def started() -> Recording:
    """Records from here on what this process has a CUDA device do. Raises NotTimed."""
    library = _loaded()
    recording = Recording(library, _ahead_ns(library))
    _kept.append(recording)  # CUPTI calls back also after a start that failed
    recording._start()
    return recording


def _loaded() -> ctypes.CDLL:
    tried = ""
    for path in (*_installed(), *_NAMES):
        try:
            library = ctypes.CDLL(path)
        except OSError as error:
            tried = tried or str(error)
            continue
        library.cuptiActivityGetNextRecord.argtypes = (c_void_p, c_size_t, POINTER(c_void_p))
        library.cuptiGetTimestamp.argtypes = (POINTER(c_uint64),)
        return library
    raise NotTimed(tried)


def _installed() -> list[str]:
    """Where pip put the library, the newest CUDA first."""
    found: list[str] = []
    for name in ("nvidia-cuda-cupti", "nvidia-cuda-cupti-cu13", "nvidia-cuda-cupti-cu12"):
        try:
            files = metadata.files(name) or ()
        except metadata.PackageNotFoundError:
            continue
        found += [str(one.locate()) for one in files if one.name.startswith("libcupti.so")]
    return [path for path in found if Path(path).is_file()]


def _ahead_ns(library: ctypes.CDLL) -> int:
    """How far CUPTI's clock is ahead of the system's, from the quickest of some readings."""
    best, ahead = 1 << 62, 0
    told = c_uint64()
    for _ in range(_CLOCK_TRIES):
        before = time.time_ns()
        _check(library, library.cuptiGetTimestamp(byref(told)))
        after = time.time_ns()
        if after - before < best:
            best, ahead = after - before, told.value - (before + after) // 2
    return ahead


def _check(library: ctypes.CDLL, code: int) -> None:
    if code:
        text = c_char_p()
        library.cuptiGetResultString(code, byref(text))
        raise NotTimed((text.value or b"").decode("utf-8", "replace") or f"CUPTI error {code}")


def _u32(at: int) -> int:
    return c_uint32.from_address(at).value


def _u64(at: int) -> int:
    return c_uint64.from_address(at).value
