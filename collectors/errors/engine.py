"""What an engine says when it fails, as one sentence and a next step."""

from __future__ import annotations

import errno
import os
import re
import signal
import tempfile
from pathlib import Path

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.errors import library as library_errors
from fusescope.collectors.files import scratch

TEXT_CHARS = 400
_WORD_CHARS = 80
_READ_CHARS = 8000

_PREFIX = re.compile(r"^\s*\[ONNXRuntimeError\]\s*:\s*\d+\s*:\s*\w+\s*:\s*")
_SOURCE = re.compile(r"\S*\.(?:cc|h|cpp|hpp):\d+\s*")  # the engine's own source positions
# A C++ signature in front of what a macro of the engine says, and what it says of itself.
_SIGNATURE = re.compile(
    r"(?:\b(?:static|virtual|void|bool|auto|int|size_t|(?:common::)?Status)\s+)*"
    r"onnxruntime::[\w:~]+(?:<[^<>()]*>)?\([^()]*(?:\([^()]*\)[^()]*)*\)(?:\s*const\b)?\s*"
)
_THROWN = re.compile(r"what\(\):\s*(.+)")
_TEMPORARY = re.compile(r"[^\s'\"(]*[/\\]fusescope-(?:recording|worker)-[^/\\\s]*[/\\]?")
_MEMORY = re.compile(
    r"bad[_ ]alloc|bad allocation|failed to allocate|unable to allocate|out of memory|"
    r"can(?:no|')t allocate|failed to map segment|Resource temporarily unavailable|"
    r"can't start new thread|Integer overflow|SafeIntException|std::length_error|exceeds maximum",
    re.IGNORECASE,
)
_NO_OPERATOR = re.compile(r"([\w.]+:[\w.]+)\(-?\d+\) is not a registered function/op")
_OPSET = re.compile(
    r"Opset (\d+) is under development.*for domain \S+ is till opset (\d+)", re.DOTALL
)
_FORMAT = re.compile(r"model IR version: (\d+), max supported IR version: (\d+)")
_NO_KERNEL = re.compile(r"Could not find an implementation for (\S+)\((\d+)\)")


def clean(text: str, limit: int = TEXT_CHARS) -> str:
    """One line without control characters and private folders, at most `limit` characters.

    Long words (names) and long lines are cut in the middle: an engine names the node first and
    gives its reason last.
    """
    line = "".join(c if c.isprintable() else " " for c in _without_folder(_cut(text, _READ_CHARS)))
    line = " ".join(_cut(word, _WORD_CHARS) for word in line.split())
    return _cut(line, limit)


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    head = (limit - 1) // 3
    return f"{text[:head]}…{text[len(text) - (limit - 1 - head) :]}"


def _without_folder(text: str) -> str:
    """Paths in a recording's temporary folder, from there on; a worker's own lies beside it."""
    beside = os.path.dirname(tempfile.gettempdir())
    return _TEMPORARY.sub("", text.replace(f"{beside}/fusescope-", "/fusescope-"))


def sentence(error: BaseException, memory_bytes: int | None) -> FuseScopeError:
    """The error of an engine (or of a package it needs) as something the user can act on."""
    text = str(error)
    if isinstance(error, OSError) and error.errno in scratch.FULL:
        return scratch.refused(error)
    if scratch.is_full(Path(tempfile.gettempdir())):  # engines say nothing of the kind
        return scratch.refused(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    if isinstance(error, MemoryError) or _MEMORY.search(text):
        return too_big(memory_bytes)
    if isinstance(error, ImportError):
        return missing_package(error)
    if "Protobuf parsing failed" in text or "DecodeError" in type(error).__name__:
        return unreadable()
    if found := _NO_OPERATOR.search(text):
        return FuseScopeError("operator_missing", operator=clean(found[1], 80))
    if found := _NO_KERNEL.search(text):
        return FuseScopeError("kernel_missing", operator=clean(found[1], 60), opset=found[2])
    if found := _OPSET.search(text):
        return FuseScopeError("opset_too_new", opset=int(found[1]), known=int(found[2]))
    if found := _FORMAT.search(text):
        return FuseScopeError("model_format_too_new", format=int(found[1]), known=int(found[2]))
    told = refused(text) or type(error).__name__
    return FuseScopeError("engine_refused", reason=told)


def refused(text: str) -> str:
    """The engine's own words, without what only its developers need."""
    known = _SOURCE.sub("", _PREFIX.sub("", _cut(text, _READ_CHARS)))
    return clean(_SIGNATURE.sub("", known))


def unreadable() -> FuseScopeError:
    """The file holds no model."""
    return FuseScopeError("model_unreadable")


def missing_package(error: ImportError) -> FuseScopeError:
    """A package that recording needs is not installed."""
    name = clean(error.name or str(error), 60).split(".")[0]
    return FuseScopeError("package_missing", package=name, extra="collect")


def missing_in_environment(error: ImportError) -> FuseScopeError:
    """A package cannot be imported in an engine's own environment."""
    name = clean(error.name or str(error), 60).split(".")[0]
    return FuseScopeError("runtime_package_missing", package=name)


def too_big(memory_bytes: int | None) -> FuseScopeError:
    """The engine ran into the memory limit."""
    if not memory_bytes:
        return FuseScopeError("engine_out_of_memory")
    return FuseScopeError("engine_over_limit", limit=memory_bytes)


def too_slow(seconds: float) -> FuseScopeError:
    """The engine did not come back in time."""
    return FuseScopeError("engine_too_slow", seconds=seconds)


def crash(
    code: int, last_words: str, memory_bytes: int | None, library: str = ""
) -> FuseScopeError:
    """The engine's process ended without an answer; `code` is its exit status. With a `library`
    of the user's in there, that is the first suspect."""
    if _MEMORY.search(last_words) or "MemoryError" in last_words:
        return too_big(memory_bytes)
    if code == -signal.SIGKILL:  # the limit is another error: our own process notices it
        return FuseScopeError("engine_killed_by_others")
    name = _signal_name(-code) if code < 0 else ""
    if library:
        return library_errors.crash(clean(library, 80), name, code, last_words)
    thrown = _THROWN.search(last_words)
    reason = refused(thrown[1]) if thrown else ""
    if name and reason:
        return FuseScopeError("engine_killed_saying", signal=name, reason=reason)
    if name:
        return FuseScopeError("engine_killed", signal=name)
    if reason:
        return FuseScopeError("engine_ended_saying", status=code, reason=reason)
    return FuseScopeError("engine_ended", status=code)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
