"""Lines of an XLA device that tell of the same time: which of them are its operators."""

from __future__ import annotations

from collections.abc import Iterable

_DERIVED = frozenset(
    name.lower()
    for name in (
        "Steps", "XLA Modules", "XLA Ops", "Async XLA Ops", "XLA TraceMe", "Source code",
        "TensorFlow Name Scope", "TensorFlow Ops", "Framework Name Scope", "Framework Ops",
        "Launch Stats", "XLA Ops (async)",
    )
)  # fmt: skip
STREAM = "Stream #"


def operator_lines(names: Iterable[str]) -> frozenset[str]:
    """The names of the lines that count: streams where the device has some, else the line of XLA's
    operators, else all that are not made from others."""
    told = frozenset(names)
    streams = frozenset(name for name in told if name.startswith(STREAM))
    operators = frozenset(name for name in told if name.lower() == "xla ops")
    return streams or operators or frozenset(n for n in told if n.lower() not in _DERIVED)
