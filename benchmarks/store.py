"""The store: what reading a trace of a million events again costs, against parsing it."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path

from benchmarks import traces
from benchmarks.row import Row
from fusescope.analysis.readers import read_path
from fusescope.app.store import keeping, settings

_EVENTS = 1_000_000
_ROUNDS = 3
_SETTLED_S = 2.5  # a file that has just changed may change again


def measure() -> list[Row]:
    """Rows of processor time, measured in turn: parsing, keeping, and reading again, also from a
    copy elsewhere, whose content has to be hashed."""
    took: dict[str, list[float]] = {"parse": [], "keep": [], "again": [], "copy": []}
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        path = folder / "a" / "trace.json"
        path.parent.mkdir()
        traces.write("kineto", _EVENTS, path)
        time.sleep(_SETTLED_S)
        before = os.environ.get(settings.FOLDER_VARIABLE)
        try:
            for turn in range(_ROUNDS):
                os.environ[settings.FOLDER_VARIABLE] = str(folder / f"library{turn}")
                took["parse"].append(_cpu_s(lambda: read_path(path)))
                took["keep"].append(_cpu_s(lambda: keeping.read_through(path)))
                took["again"].append(_cpu_s(lambda: keeping.read_through(path)))
                copy = folder / f"copy{turn}" / "trace.json"
                copy.parent.mkdir()
                copy.hardlink_to(path)
                took["copy"].append(_cpu_s(lambda copy=copy: keeping.read_through(copy)))
        finally:
            os.environ.pop(settings.FOLDER_VARIABLE)
            if before is not None:
                os.environ[settings.FOLDER_VARIABLE] = before
    parse, keep, again, copied = (statistics.median(times) for times in took.values())
    kept = max(0.0, keep - parse)
    return [
        Row(f"parsing Kineto, {_EVENTS:,} events", f"{parse:.2f} s CPU", ""),
        Row("  keeping it, once", f"{kept:.2f} s CPU", "", f"{kept / parse:.0%} of parsing"),
        Row(
            "  reading it again", f"{again:.3f} s CPU", "1/20", f"{parse / again:.0f} times cheaper"
        ),
        Row(
            "  … a copy elsewhere", f"{copied:.3f} s CPU", "", f"{parse / copied:.0f} times cheaper"
        ),
    ]


def _cpu_s(ask) -> float:  # type: ignore[no-untyped-def]
    began = time.process_time()
    ask()
    return time.process_time() - began
