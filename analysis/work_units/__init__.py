"""Units of work: what one step of a trace is, named by annotations, else found by repetition."""

from __future__ import annotations

from fusescope.analysis.work_units.finding import (
    are_two_phases,
    common_units,
    same_work,
    steady_units,
    units_of,
)
from fusescope.analysis.work_units.runs import run_word, with_common_runs, with_unit_runs
from fusescope.analysis.work_units.units import UnitKind, Units
from fusescope.analysis.work_units.work import Work

__all__ = [
    "UnitKind",
    "Units",
    "Work",
    "are_two_phases",
    "common_units",
    "run_word",
    "same_work",
    "steady_units",
    "units_of",
    "with_common_runs",
    "with_unit_runs",
]
