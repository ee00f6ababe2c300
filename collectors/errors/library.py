"""What goes wrong with a custom-op library, as one sentence and a next step."""

from __future__ import annotations

import re

from analysis.errors import FuseScopeError

_NEWER = (
    "The custom-op library is for a newer engine, whose interface has version {name}",
    "Build it for the engine that is installed, or install the one that it is for.",
)
_ASKED = re.compile(r"requested API version \[?(\d+)")
# Patterns over the words of the engine, of Linux's loader and of macOS's, with the library's path
# as LIBRARY, in the order in which they are looked for.
_REFUSALS = tuple(
    (re.compile(pattern, re.IGNORECASE), what, hint)
    for pattern, what, hint in (
        (
            r"cannot allocate memory",
            "The custom-op library needs more memory than the limit",
            "Raise the limit with --memory-limit.",
        ),
        (
            r"get symbol RegisterCustomOps\b|symbol not found.*RegisterCustomOps\b",
            "The custom-op library has no function RegisterCustomOps, which the engine calls",
            'Export it, with C linkage (extern "C" in C++): docs/custom-op.md has an example.',
        ),
        (
            # Linux's loader passes over a library of another machine as if it were not there
            r"wrong ELF class|incompatible architecture|LIBRARY: cannot open shared object file",
            "The custom-op library was built for another processor",
            "Build it on this machine, or for it.",
        ),
        (
            r"invalid ELF header|not a mach-o file|ELF file's phentsize|only ET_DYN",
            "The custom-op library is no shared library",
            "Name the file that the compiler made with -shared.",
        ),
        (
            r"file too short|truncated|cannot read file data",
            "The custom-op library is cut short, or no shared library",
            "Name the file that the compiler made with -shared, or copy it again.",
        ),
        (
            r"with error: ([^:\s]+): cannot open shared object file|Library not loaded: (\S+)",
            "The custom-op library needs the library {name}, which the system does not find",
            "Install it, or add its folder to LD_LIBRARY_PATH.",
        ),
        (
            r"version [`'\"]([^`'\"\s]+)[`'\"] not found",
            "The custom-op library needs {name}, which this system does not have",
            "Build it on this machine.",
        ),
        (
            r"undefined symbol: ([^\s,]+)|symbol not found in flat namespace '([^']+)'",
            "The custom-op library uses {name}, which no library that it is linked with has",
            "Link the library that has it, or define it.",
        ),
        (
            r"permission denied|operation not permitted",
            "The system runs no code of the custom-op library",
            "Put it into a folder that is not mounted noexec, and let your user read it.",
        ),
    )
)


def refusal(text: str, path: str) -> FuseScopeError | None:
    """What the words of engine or system mean when the library at `path` did not load; None where
    they are not known. Its names are cut to what is printable."""
    known = text.replace(path, "LIBRARY")
    for pattern, what, hint in _REFUSALS:
        if found := pattern.search(known):
            name = next((group for group in found.groups() if group), "")
            shown = "".join(c for c in name if c.isprintable())[:80]
            return FuseScopeError(what.format(name=shown), hint=hint)
    return None


def crash(library: str, how: str, last_words: str) -> FuseScopeError:
    """The process with the library in it ended; `how` says by what."""
    if asked := _ASKED.search(last_words):
        return FuseScopeError(_NEWER[0].format(name=asked[1]), hint=_NEWER[1])
    return FuseScopeError(
        f"The engine's process, with the custom-op library {library} in it, ended {how}",
        hint="Load and run the library in ONNX Runtime by itself, under a debugger.",
    )
