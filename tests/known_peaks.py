"""What a machine can do, as a recording that ships says: to measure it takes 4 s and every core.

The measurement itself is a matter of tests/collectors/test_peaks.py, and of the recording of
tests/security/test_nothing_leaves.py, which goes all the way.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fusescope.analysis.experiment import Peaks, parse_record
from fusescope.collectors.workers.pool import WorkerPool

RECORDING = Path(__file__).resolve().parents[1] / "sample_traces" / "recipes" / "add_relu.zip"

# For `python -c`, in front of a program that records.
SETUP = "from tests import known_peaks; known_peaks.use(); "


def peaks() -> Peaks:
    with zipfile.ZipFile(RECORDING) as archive:
        return parse_record(archive.read("experiment.json")).peaks


def in_place_of_measuring() -> Callable[..., Any]:
    """For `WorkerPool.run`: every other task is done by a worker as always."""
    known, run = peaks(), WorkerPool.run

    def answer(pool: WorkerPool, task: str, *arguments: Any, **named: Any) -> Any:
        return known if task == "peaks" else run(pool, task, *arguments, **named)

    return answer


def use() -> None:
    """In a process that records; a test of this process patches it for a while."""
    WorkerPool.run = in_place_of_measuring()  # type: ignore[method-assign]
