"""Times of the single operators of a group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.groups.fusion import Operator
from fusescope.analysis.compare.side import Role


@dataclass(frozen=True)
class OperatorTime:
    """Mean time of one operator per run as profiled, in ns, and how often it is executed in one."""

    per_run_ns: float
    executions: float


def operator_times(
    comparison: Comparison, role: Role, operators: Sequence[Operator]
) -> list[OperatorTime | None]:
    """Return the time of each of these operators of one side, None where its trace has none.

    An operator is found by its row in the trace where it has one, as kernels of one name have, else
    by its name.
    """
    table = comparison.operators
    table = table[table[f"operator_{role}"].notna()]
    side = comparison.baseline if role == "baseline" else comparison.candidate
    names = side.trace.texts("name")
    by_row: dict[int, OperatorTime] = {}
    by_name: dict[str, OperatorTime] = {}
    columns = (f"operator_{role}", f"per_run_ns_{role}", f"count_{role}")
    for row, ns, count in zip(*(table[column] for column in columns), strict=True):
        by_row[int(row)] = OperatorTime(float(ns), float(count))
        by_name[str(names[int(row)])] = by_row[int(row)]
    return [by_name.get(one.name) if one.row is None else by_row.get(one.row) for one in operators]
