"""What an engine says when it fails, as one sentence and a next step."""

from __future__ import annotations

import errno
import os
import re
import signal
import tempfile
from pathlib import Path

from analysis.errors import FuseScopeError
from collectors.errors import library as library_errors
from collectors.files import scratch

TEXT_CHARS = 400
_WORD_CHARS = 80
_READ_CHARS = 8000
OTHER_MODEL = "Check that the model runs in ONNX Runtime by itself."

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
    r"cannot allocate|failed to map segment|Resource temporarily unavailable|"
    r"can't start new thread|Integer overflow|SafeIntException|std::length_error|exceeds maximum",
    re.IGNORECASE,
)
_NO_OPERATOR = re.compile(r"([\w.]+:[\w.]+)\(-?\d+\) is not a registered function/op")
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
        return FuseScopeError(
            f"The engine has no operator {clean(found[1], 80)}",
            hint="On the command line, --custom-op-library PATH registers a library that has it.",
        )
    if found := _NO_KERNEL.search(text):
        return FuseScopeError(
            f"The engine has no CPU kernel for {clean(found[1], 60)} of opset {found[2]}",
            hint="Convert the model to another data type or opset.",
        )
    told = refused(text) or type(error).__name__
    return FuseScopeError(f"The engine refused the model: {told}", hint=OTHER_MODEL)


def refused(text: str) -> str:
    """The engine's own words, without what only its developers need."""
    known = _SOURCE.sub("", _PREFIX.sub("", _cut(text, _READ_CHARS)))
    return clean(_SIGNATURE.sub("", known))


def unreadable() -> FuseScopeError:
    """The file holds no model."""
    return FuseScopeError(
        "This is not an ONNX model, or it is cut short", hint="Export or copy it again."
    )


def missing_package(error: ImportError) -> FuseScopeError:
    """A package that recording needs is not installed."""
    name = clean(error.name or str(error), 60).split(".")[0]
    return FuseScopeError(
        f"Recording needs the package '{name}'", hint="Run: pip install 'fusescope[collect]'."
    )


def too_big(memory_bytes: int | None) -> FuseScopeError:
    """The engine ran into the memory limit."""
    limit = f" of {memory_bytes / 1e9:.2g} GB" if memory_bytes else ""
    return FuseScopeError(
        f"The model needs more memory than the limit{limit}",
        hint="Use a smaller batch or input, or raise the limit with --memory-limit.",
    )


def too_slow(seconds: float) -> FuseScopeError:
    """The engine did not come back in time."""
    return FuseScopeError(
        f"The engine did not finish within {seconds:g} s and was ended",
        hint="A loop in the model may never end; for a slow model raise --timeout.",
    )


def crash(
    code: int, last_words: str, memory_bytes: int | None, library: str = ""
) -> FuseScopeError:
    """The engine's process ended without an answer; `code` is its exit status. With a `library`
    of the user's in there, that is the first suspect."""
    if _MEMORY.search(last_words) or "MemoryError" in last_words or code == -signal.SIGKILL:
        return too_big(memory_bytes)
    try:
        how = f"by signal {signal.Signals(-code).name}" if code < 0 else f"with status {code}"
    except ValueError:
        how = f"by signal {-code}"
    if library:
        return library_errors.crash(clean(library, 80), how, last_words)
    thrown = _THROWN.search(last_words)
    said = f": {refused(thrown[1])}" if thrown else ""
    return FuseScopeError(f"The engine's process ended {how}{said}", hint=OTHER_MODEL)
