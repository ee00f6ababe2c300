"""Processes and devices: whether one file holds what several ranks recorded.

Profilers of frameworks record one process a file, and Ascend's one device a process: a file of
several was put together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable

from analysis.text import clean_text
from analysis.trace import Diagnostic, DiagnosticCode


def several_processes(of_rows: Iterable[Hashable | None]) -> list[Diagnostic]:
    """A note with the number of processes where rows are of more than one; None is unknown."""
    return _several("several_processes", of_rows)


def several_devices(of_rows: Iterable[Hashable | None]) -> list[Diagnostic]:
    """The same for devices, where each has a rank of its own."""
    return _several("several_devices", of_rows)


def _several(code: DiagnosticCode, of_rows: Iterable[Hashable | None]) -> list[Diagnostic]:
    counts = Counter(of_row for of_row in of_rows if of_row is not None)
    if len(counts) < 2:
        return []
    rows = ", ".join(f"{_text(of_row)}: {count}" for of_row, count in counts.most_common(4))
    return [Diagnostic("warning", code, len(counts), clean_text(rows, 120))]


def _text(value: Hashable) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
