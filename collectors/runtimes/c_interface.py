"""ONNX Runtime through its C interface, which is how several releases run in one process.

The interface is a table of functions that only grows: a place in it means the same in every
release. Places and signatures are those of onnxruntime_c_api.h.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from ctypes import CFUNCTYPE, POINTER, byref, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_void_p
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.models.array import Array
from fusescope.collectors.workers.jobs import SessionSettings

_VERSION = 5  # of the interface: the first one that has all of these functions
_ERRORS_ONLY, _ALL_OPTIMISATIONS, _DEVICE_ALLOCATOR, _DEFAULT_MEMORY = 3, 99, 0, 0
_PLACES: Mapping[str, tuple[int, tuple[Any, ...]]] = MappingProxyType(
    {
        "CreateEnv": (3, (c_int, c_char_p, POINTER(c_void_p))),
        "DisableTelemetryEvents": (6, (c_void_p,)),
        "CreateSession": (7, (c_void_p, c_char_p, c_void_p, POINTER(c_void_p))),
        "CreateSessionOptions": (10, (POINTER(c_void_p),)),
        "EnableProfiling": (14, (c_void_p, c_char_p)),
        "SetSessionLogSeverityLevel": (22, (c_void_p, c_int)),
        "SetSessionGraphOptimizationLevel": (23, (c_void_p, c_int)),
        "SetIntraOpNumThreads": (24, (c_void_p, c_int)),
        "SetInterOpNumThreads": (25, (c_void_p, c_int)),
        "SessionGetOutputCount": (31, (c_void_p, POINTER(c_size_t))),
        "SessionGetOutputName": (37, (c_void_p, c_size_t, c_void_p, POINTER(c_char_p))),
        "CreateTensorAsOrtValue": (
            48,
            (c_void_p, POINTER(c_int64), c_size_t, c_int, POINTER(c_void_p)),
        ),
        "IsTensor": (50, (c_void_p, POINTER(c_int))),
        "GetTensorMutableData": (51, (c_void_p, POINTER(c_void_p))),
        "GetTensorElementType": (60, (c_void_p, POINTER(c_int))),
        "GetDimensionsCount": (61, (c_void_p, POINTER(c_size_t))),
        "GetDimensions": (62, (c_void_p, POINTER(c_int64), c_size_t)),
        "GetTensorTypeAndShape": (65, (c_void_p, POINTER(c_void_p))),
        "CreateCpuMemoryInfo": (69, (c_int, c_int, POINTER(c_void_p))),
        "GetAllocatorWithDefaultOptions": (78, (POINTER(c_void_p),)),
        "SessionEndProfiling": (110, (c_void_p, c_void_p, POINTER(c_char_p))),
        "AddSessionConfigEntry": (130, (c_void_p, c_char_p, c_char_p)),
        "RunWithBinding": (133, (c_void_p, c_void_p, c_void_p)),
        "CreateIoBinding": (134, (c_void_p, POINTER(c_void_p))),
        "BindInput": (136, (c_void_p, c_char_p, c_void_p)),
        "BindOutput": (137, (c_void_p, c_char_p, c_void_p)),
        "BindOutputToDevice": (138, (c_void_p, c_char_p, c_void_p)),
        "GetBoundOutputValues": (
            140,
            (c_void_p, c_void_p, POINTER(POINTER(c_void_p)), POINTER(c_size_t)),
        ),
    }
)
_MESSAGE, _RELEASE_STATUS, _RELEASE_SESSION, _RELEASE_VALUE = 2, 93, 95, 96
_RELEASE_SHAPE, _RELEASE_OPTIONS, _RELEASE_BINDING = 99, 100, 135
# numpy's name of a type -> the interface's; strings have no memory of their own.
_TYPES: Mapping[str, int] = MappingProxyType(
    {
        "float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7,
        "bool": 9, "float16": 10, "float64": 11, "uint32": 12, "uint64": 13,
    }
)  # fmt: skip


class _Base(ctypes.Structure):
    _fields_ = [
        ("get_api", CFUNCTYPE(c_void_p, c_uint32)),
        ("get_version", CFUNCTYPE(c_char_p)),
    ]


class Library:
    """The library of one release, loaded. Raises FuseScopeError where it is none."""

    def __init__(self, path: Path) -> None:
        try:
            loaded = ctypes.CDLL(str(path))  # its names stay its own (RTLD_LOCAL)
            begin = loaded.OrtGetApiBase
        except (OSError, AttributeError) as error:
            raise _refused(str(error)) from None
        begin.restype = POINTER(_Base)
        base = begin().contents
        self.version = base.get_version().decode(errors="replace")
        table = base.get_api(_VERSION)
        if not table:
            raise _refused(f"it has no version {_VERSION} of the C interface")
        self._table = ctypes.cast(table, POINTER(c_void_p))
        self._functions = {
            name: CFUNCTYPE(c_void_p, *types)(self._place(at))
            for name, (at, types) in _PLACES.items()
        }
        self._message = CFUNCTYPE(c_char_p, c_void_p)(self._place(_MESSAGE))
        self._end_status = self.release(_RELEASE_STATUS)
        self.environment = self.made("CreateEnv", _ERRORS_ONLY, b"fusescope")
        self.call("DisableTelemetryEvents", self.environment)
        self.allocator = self.made("GetAllocatorWithDefaultOptions")
        self.memory = self.made("CreateCpuMemoryInfo", _DEVICE_ALLOCATOR, _DEFAULT_MEMORY)

    def call(self, name: str, *arguments: Any) -> None:
        """Calls a function of the interface. Raises FuseScopeError with what it says."""
        status = self._functions[name](*arguments)
        if status:
            said = (self._message(status) or b"").decode(errors="replace")
            self._end_status(status)
            raise FuseScopeError("engine_refused", reason=said)

    def made(self, name: str, *arguments: Any) -> c_void_p:
        """What a function makes and hands back as its last argument."""
        made = c_void_p()
        self.call(name, *arguments, byref(made))
        return made

    def function(self, name: str) -> Any:
        """The function itself, which returns a status, for a call that is timed."""
        return self._functions[name]

    def release(self, place: int) -> Any:
        """A function that ends something; it says nothing."""
        return CFUNCTYPE(None, c_void_p)(self._place(place))

    def _place(self, at: int) -> int:
        return int(self._table[at] or 0)


class LibrarySession:
    """The whole graph in one session of a library, every optimisation on, its inputs bound once and
    its outputs preallocated, as runtimes/onnxruntime.py does. `profile` is a path prefix for the
    engine's profile. It has run once."""

    def __init__(
        self, library: Library, settings: SessionSettings, profile: Path | None = None
    ) -> None:
        self._library = library
        options = library.made("CreateSessionOptions")
        library.call("SetSessionLogSeverityLevel", options, _ERRORS_ONLY)
        library.call("SetSessionGraphOptimizationLevel", options, _ALL_OPTIMISATIONS)
        library.call("SetIntraOpNumThreads", options, settings.threads)
        library.call("SetInterOpNumThreads", options, 1)
        spins = b"1" if settings.spin else b"0"
        library.call("AddSessionConfigEntry", options, b"session.intra_op.allow_spinning", spins)
        if profile is not None:
            library.call("EnableProfiling", options, os.fsencode(profile))
        model = os.fsencode(settings.model)
        self._session = library.made("CreateSession", library.environment, model, options)
        library.release(_RELEASE_OPTIONS)(options)
        self._binding = library.made("CreateIoBinding", self._session)
        self._values: list[c_void_p] = []
        with np.load(settings.inputs, allow_pickle=False) as archive:
            for index, name in enumerate(settings.input_names):
                self._bind(name, archive[f"arr_{index}"])
        self._execute = library.function("RunWithBinding")
        self._preallocate()

    def run(self) -> None:
        """One run of the whole model. Raises FuseScopeError where the engine refuses it."""
        if self._execute(self._session, None, self._binding):
            self._library.call("RunWithBinding", self._session, None, self._binding)

    def end_profiling(self, to: Path) -> None:
        """Writes the engine's profile, untouched; it marks every run as `model_run`."""
        name = c_char_p()
        allocator = self._library.allocator
        self._library.call("SessionEndProfiling", self._session, allocator, byref(name))
        os.replace(os.fsdecode(name.value or b""), to)

    def __del__(self) -> None:
        """The profiled sessions must not share caches and memory with those that were timed."""
        if hasattr(self, "_values"):
            self._library.release(_RELEASE_BINDING)(self._binding)
            for value in self._values:
                self._library.release(_RELEASE_VALUE)(value)
            self._library.release(_RELEASE_SESSION)(self._session)

    def _bind(self, name: str, array: Array) -> None:
        kind = _TYPES.get(str(array.dtype))
        if kind is None:
            raise _refused(f"an input is of the type {array.dtype}")
        value = self._tensor(array.shape, kind)
        data = self._library.made("GetTensorMutableData", value)
        whole = np.ascontiguousarray(array)
        ctypes.memmove(data, whole.ctypes.data, whole.nbytes)
        self._library.call("BindInput", self._binding, name.encode(), value)

    def _tensor(self, shape: tuple[int, ...], kind: int) -> c_void_p:
        sizes = (c_int64 * len(shape))(*shape)
        library = self._library
        value = library.made("CreateTensorAsOrtValue", library.allocator, sizes, len(shape), kind)
        self._values.append(value)
        return value

    def _preallocate(self) -> None:
        """The inputs never change, so neither do the output shapes."""
        library, count = self._library, c_size_t()
        library.call("SessionGetOutputCount", self._session, byref(count))
        names = []
        for index in range(count.value):
            name = c_char_p()
            where = (self._session, index, library.allocator)
            library.call("SessionGetOutputName", *where, byref(name))
            names.append(name.value)
            library.call("BindOutputToDevice", self._binding, name.value, library.memory)
        self.run()
        made = POINTER(c_void_p)()
        library.call(
            "GetBoundOutputValues", self._binding, library.allocator, byref(made), byref(count)
        )
        for index, name_ in enumerate(names):
            first = c_void_p(made[index])
            told = self._shape_of(first)
            library.release(_RELEASE_VALUE)(first)
            if told is not None:
                library.call("BindOutput", self._binding, name_, self._tensor(*told))

    def _shape_of(self, value: c_void_p) -> tuple[tuple[int, ...], int] | None:
        """Shape and type; None for what is not a tensor of numbers."""
        library, is_tensor, kind, rank = self._library, c_int(), c_int(), c_size_t()
        library.call("IsTensor", value, byref(is_tensor))
        if not is_tensor.value:
            return None
        told = library.made("GetTensorTypeAndShape", value)
        try:
            library.call("GetTensorElementType", told, byref(kind))
            library.call("GetDimensionsCount", told, byref(rank))
            sizes = (c_int64 * rank.value)()
            library.call("GetDimensions", told, sizes, rank.value)
        finally:
            library.release(_RELEASE_SHAPE)(told)
        return (tuple(sizes), kind.value) if kind.value in _TYPES.values() else None


def _refused(why: str) -> FuseScopeError:
    return FuseScopeError("engine_refused", reason=why)
