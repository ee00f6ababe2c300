"""Traces of very many different operators: what comparing two costs, against the same with few."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from benchmarks.row import Row
from benchmarks.traces.op_summary import op_summary
from fusescope.analysis.advice import Subject, findings
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.side import Side, side_of_trace
from fusescope.analysis.readers import read_path
from fusescope.analysis.report.html import report_html
from fusescope.analysis.trace import Trace

_ROWS = 200_000
_FEW, _MANY = 200, 12_000  # numbers in names: some 8,000 and 120,000 different operators


def measure() -> list[Row]:
    """CPU time of each step for two traces of many operators, and how often that of few it is."""
    with tempfile.TemporaryDirectory() as text:
        few, count_few = _steps(Path(text), _FEW)
        many, count = _steps(Path(text), _MANY)
    rows = [
        Row(
            f"two op_summary of {_ROWS:,} rows, {count:,} different operators",
            "",
            "",
            f"{count / count_few:.0f} x as many as in the other two",
        )
    ]
    return rows + [
        Row(f"  {what}", f"{took:.2f} s CPU", "", f"{took / few[what]:.1f} x that of the other two")
        for what, took in many.items()
    ]


def _steps(folder: Path, names: int) -> tuple[dict[str, float], int]:
    """Seconds of each step, and the different operators of a trace."""
    took: dict[str, float] = {}

    def timed(what: str, began: float) -> None:
        took[what] = time.process_time() - began

    began = time.process_time()
    traces = [_read(folder, names, seed) for seed in (0, 1)]
    timed("reading both", began)
    sides: tuple[Side, Side] = (side_of_trace(traces[0]), side_of_trace(traces[1]))
    began = time.process_time()
    comparison = compare(*sides)
    timed("compare", began)
    began = time.process_time()
    findings(Subject(sides[1], comparison))
    timed("what limits the candidate", began)
    began = time.process_time()
    page = report_html(comparison)
    timed("the report", began)
    assert len(page) < 8e6
    return took, len(traces[0].operators)


def _read(folder: Path, names: int, seed: int) -> Trace:
    path = folder / f"{names}_{seed}" / "op_summary.csv"
    path.parent.mkdir()
    with path.open("w", buffering=1 << 20) as file:
        file.writelines(op_summary(_ROWS, seed, names=names))
    trace = read_path(path, above=False)
    assert isinstance(trace, Trace)
    return trace
