"""What need not be in one trace as rows, each with its kernels and its places in the timeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fusescope.analysis import units
from fusescope.analysis.advice.explanation.explanation import Saving, SavingCode, TraceExplanation
from fusescope.analysis.compare.explanation.explanation import KernelTime
from fusescope.analysis.messages import passage
from fusescope.analysis.metrics.breakdown import by_operator
from fusescope.analysis.metrics.kernel_types import short_operator_names
from fusescope.analysis.report.explanation.rows import (
    MAX_FACT,
    MAX_KERNELS,
    MAX_NAME,
    ChangeRow,
    ExplainedRows,
    KernelRow,
    executions_text,
    host_text,
    ways_to,
)
from fusescope.analysis.text import clean_text
from fusescope.analysis.timeline.highlight import ShownChange
from fusescope.analysis.trace import Trace
from fusescope.analysis.units import column_of
from fusescope.analysis.wording.explanation import details as words
from fusescope.analysis.wording.explanation.savings import saving_said
from fusescope.analysis.wording.explanation.trace import FEW, lead_said, saving_leads, whole_said

# Savings whose kernels follow one another in a place; of others each execution is a place.
TOGETHER: tuple[SavingCode, ...] = ("layer", "recomputed")


def trace_rows(
    explanation: TraceExplanation, trace: Trace, shown: Sequence[ShownChange | None]
) -> ExplainedRows:
    """Return what one trace shows: sentences on its unit of work, and what need not be in rows, the
    largest first; `shown` is where its timeline draws each of them."""
    sentences = lead_said(explanation)
    unit, blocks = (passage(*(said.parts() for said in part)) for part in sentences[:2])
    is_first = saving_leads(explanation)
    before = [unit] if is_first else [unit, blocks]
    savings = explanation.savings[: FEW + 1]
    if not savings:
        before.append(passage(*(said.parts() for said in sentences[2])))
    names = _rows_by_name(trace)
    rows = tuple(
        _row(saving, explanation, names, place)
        for saving, place in zip(savings, shown, strict=False)
    )
    after = [passage(*(said.parts() for said in whole_said(explanation)))]
    after += [blocks] if is_first else []
    return ExplainedRows(tuple(filter(None, before)), rows, tuple(filter(None, after)), (), "", "")


def _row(
    saving: Saving,
    explanation: TraceExplanation,
    names: Mapping[str, int],
    shown: ShownChange | None,
) -> ChangeRow:
    """Return a finding as a row, whose bar is its part of the unit's time."""
    on_device, unit_ns = explanation.unit.on_device, max(1, explanation.unit.wall_ns)
    return ChangeRow(
        tuple(saving_said(saving, explanation.unit).parts()),
        units.duration(saving.ns),
        "same",
        0.0,
        min(100.0, 100 * saving.ns / unit_ns),
        _facts(saving),
        words.head_of_trace(saving.code, on_device=on_device),
        _kernels(saving, names),
        ways_to(shown, show=words.SHOW_ALONE, median=words.SHOW_MEDIAN_ALONE),
    )


def _kernels(saving: Saving, names: Mapping[str, int]) -> tuple[KernelRow, ...]:
    left = [each.ns for each in saving.before[MAX_KERNELS:]]
    times = column_of([*(each.ns for each in saving.before[:MAX_KERNELS]), sum(left)])
    shown = tuple(
        KernelRow(
            clean_text(each.name, MAX_NAME),
            times.text(each.ns),
            _each_text(saving, each),
            "",
            "",
            "",
            names.get(each.name),
        )
        for each in saving.before[:MAX_KERNELS]
    )
    if not left:
        return shown
    more = words.MORE_KERNELS.text(n=len(left))
    return (*shown, KernelRow(more, times.text(sum(left)), "", "", "", "", None))


def _each_text(saving: Saving, kernel: KernelTime) -> str:
    """Return how often and how long a kernel runs, on average where its executions are known to
    differ; of one long execution how long it and the others take, since its time is what it takes
    longer."""
    if saving.code == "outlier":
        values = saving.values
        return words.LONGEST.text(longest=values["longest_ns"], usual=values["usual_ns"])
    return executions_text(kernel)


def _facts(saving: Saving) -> tuple[tuple[str, str], ...]:
    facts = (
        (words.WHERE, " › ".join(saving.where)),
        (words.HOST, host_text(saving.host)),
    )
    return tuple((name.text(), clean_text(value, MAX_FACT)) for name, value in facts if value)


def _rows_by_name(trace: Trace) -> dict[str, int]:
    """Return the row of the operator of most time by the name that sentences have."""
    short = short_operator_names(trace)
    table = by_operator(trace).reset_index(drop=True).sort_values("per_run_ns", kind="stable")
    operators = zip(table.index.tolist(), table["operator"].astype("int64").tolist(), strict=True)
    return {short[operator]: int(row) for row, operator in operators}
