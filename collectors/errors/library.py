"""What goes wrong with a custom-op library, as one sentence and a next step."""

from __future__ import annotations

import re
from typing import Literal

from fusescope.analysis.errors import FuseScopeError

_ASKED = re.compile(r"requested API version \[?(\d+)")


def _of(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


# Patterns over the words of the engine, of Linux's loader and of macOS's, with the library's path
# as LIBRARY, in the order in which they are looked for.
_Plain = Literal[
    "library_over_memory", "library_without_entry", "library_other_processor", "library_not_shared",
    "library_cut_short", "library_noexec",
]  # fmt: skip
_PLAIN: tuple[tuple[re.Pattern[str], _Plain], ...] = (
    (_of(r"cannot allocate memory"), "library_over_memory"),
    (
        _of(r"get symbol RegisterCustomOps\b|symbol not found.*RegisterCustomOps\b"),
        "library_without_entry",
    ),
    # Linux's loader passes over a library of another machine as if it were not there
    (
        _of(r"wrong ELF class|incompatible architecture|LIBRARY: cannot open shared object file"),
        "library_other_processor",
    ),
    (
        _of(r"invalid ELF header|not a mach-o file|ELF file's phentsize|only ET_DYN"),
        "library_not_shared",
    ),
    (_of(r"file too short|truncated|cannot read file data"), "library_cut_short"),
)
_Named = Literal["library_needs_library", "library_needs", "library_uses"]
_NAMED: tuple[tuple[re.Pattern[str], _Named], ...] = (
    (
        _of(r"with error: ([^:\s]+): cannot open shared object file|Library not loaded: (\S+)"),
        "library_needs_library",
    ),
    (_of(r"version [`'\"]([^`'\"\s]+)[`'\"] not found"), "library_needs"),
    (
        _of(r"undefined symbol: ([^\s,]+)|symbol not found in flat namespace '([^']+)'"),
        "library_uses",
    ),
)
_NOT_ALLOWED = _of(r"permission denied|operation not permitted")


def refusal(text: str, path: str) -> FuseScopeError | None:
    """What the words of engine or system mean when the library at `path` did not load; None where
    they are not known. Its names are cut to what is printable."""
    known = text.replace(path, "LIBRARY")
    for pattern, code in _PLAIN:
        if pattern.search(known):
            return _plain(code)
    for pattern, named in _NAMED:
        if found := pattern.search(known):
            name = next((group for group in found.groups() if group), "")
            return _named(named, "".join(c for c in name if c.isprintable())[:80])
    return _plain("library_noexec") if _NOT_ALLOWED.search(known) else None


def _plain(code: _Plain) -> FuseScopeError:
    return FuseScopeError(code)


def _named(code: _Named, name: str) -> FuseScopeError:
    return FuseScopeError(code, name=name)


def crash(library: str, signal: str, status: int, last_words: str) -> FuseScopeError:
    """The process with the library in it ended, by a signal or, where that is '', by itself."""
    if asked := _ASKED.search(last_words):
        return FuseScopeError("library_newer", version=asked[1])
    if signal:
        return FuseScopeError("library_killed", library=library, signal=signal)
    return FuseScopeError("library_ended", library=library, status=status)
