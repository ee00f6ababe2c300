"""Communication stands beside the operators: in no fusion group, and in every sum."""

from __future__ import annotations

import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.compare.totals import totals
from fusescope.analysis.metrics.breakdown import by_type
from fusescope.analysis.readers.building.trace_tables import build_trace
from fusescope.analysis.report.tables import operator_totals
from fusescope.analysis.trace import Meta, Trace
from fusescope.analysis.wording import total_basis, totals_sentence
from fusescope.analysis.wording.waterfall import waterfall_steps

US = 1000


def trace(name: str, reduce_us: int, members: str | None = None) -> Trace:
    """Mul, all-reduce, Add on one stream; `members` of the Mul."""
    operators = (("Mul_1", "Mul", 30), ("hcom_allReduce_1", "hcom_allReduce_", reduce_us),
                 ("Add_1", "Add", 20))  # fmt: skip
    start, starts = 0, []
    for _, _, dur in operators:
        starts.append(start * US)
        start += dur
    rows: dict[str, list[object]] = {
        "name": [name for name, _, _ in operators],
        "op_type": [kind for _, kind, _ in operators],
        "is_communication": [kind.startswith("hcom") for _, kind, _ in operators],
        "inputs": ["float32[4,4]"] * 3,
        "outputs": ["float32[4,4]"] * 3,
        "start_ns": list(starts),
        "dur_ns": [dur * US for _, _, dur in operators],
        "run": ["1"] * 3,
    }
    if members is not None:
        rows["members"] = [members, None, None]
        rows["members_source"] = ["names", None, None]
    return build_trace(Meta("kineto", "test", file_name=name), rows)


@pytest.mark.parametrize("members", [None, "Mul_1 + Sub_1"], ids=["inferred", "members"])
def test_a_collective_is_in_no_group_and_in_the_sum(members: str | None) -> None:
    comparison: Comparison = compare(
        side_of_trace(trace("before", 500)), side_of_trace(trace("after", 900, members))
    )
    grouped = {
        operator.name
        for group in comparison.fusion.groups
        for operator in (*group.baseline, *group.candidate)
    }
    assert "Add_1" in grouped and not [name for name in grouped if "hcom" in name]
    beside = comparison.ledger.ungrouped
    assert beside.loc[beside["name"] == "hcom_allReduce_1", "reason"].tolist() == [
        "communication", "communication",
    ]  # fmt: skip
    terms = comparison.ledger.reconciliation
    assert terms.groups_ns == 0
    assert terms.communication_ns == 400 * US == terms.delta_ns
    assert terms.ungrouped_ns == 0
    steps = {step.label: step.value_ns for step in waterfall_steps(comparison)}
    assert steps["communication"] == 400 * US and "operators in no group" not in steps


def test_the_sum_of_operators_says_that_communication_is_not_in_it() -> None:
    comparison = compare(*(side_of_trace(trace(name, 500)) for name in ("before", "after")))
    found = {total.kind: total for total in totals(comparison)}
    assert found["busy"].baseline_ns == 550 * US and found["operator_sum"].baseline_ns == 50 * US
    told = {kind: total_basis(total, comparison) for kind, total in found.items()}
    assert told["busy"].startswith("union of operator times and communication, ")
    assert "added up, without communication, " in told["operator_sum"]


def test_communication_beside_operators_counts_once() -> None:
    # The collective starts with the Mul of 30 µs on another stream: 500 and 900 µs, of which the
    # run has 520 and 920: the Add waits for it.
    def beside(name: str, reduce_us: int) -> Trace:
        rows = {
            "name": ["Mul_1", "hcom_allReduce_1", "Add_1"],
            "op_type": ["Mul", "hcom_allReduce_", "Add"],
            "is_communication": [False, True, False],
            "inputs": ["float32[4,4]"] * 3,
            "outputs": ["float32[4,4]"] * 3,
            "stream": ["1", "2", "1"],
            "start_ns": [0, 0, reduce_us * US],
            "dur_ns": [30 * US, reduce_us * US, 20 * US],
            "run": ["1"] * 3,
        }
        return build_trace(Meta("kineto", "test", file_name=name), rows)

    sides = (side_of_trace(beside("before", 10)), side_of_trace(beside("after", 900)))
    terms = compare(*sides).ledger.reconciliation
    # Before: the Mul ran 30 µs, of which 10 beside the collective, then the Add from 10 to 30 µs.
    # After: 900 µs of the collective with the Mul inside it, then the Add.
    assert terms.delta_ns == (920 - 30) * US
    assert terms.communication_ns == 890 * US
    # Sum - union: 60 - 30 before, 950 - 920 after.
    assert terms.overlap_ns == 0 and terms.groups_ns == 0 and terms.ungrouped_ns == 0
    hidden = compare(sides[1], side_of_trace(trace("serial", 900))).ledger.reconciliation
    # The same collective, no longer beside the Mul: the run takes 30 µs more, of the overlap.
    assert (hidden.delta_ns, hidden.communication_ns, hidden.overlap_ns) == (30 * US, 0, 30 * US)


def test_communication_without_a_type_is_not_of_unknown_type() -> None:
    rows = {
        "name": ["aclnnAdd_1", "hcom_allReduce__1"],
        "dur_ns": [1000, 5000],
        "is_communication": [False, True],
    }
    trace = build_trace(Meta("ascend_kernel_details", "Ascend PyTorch Profiler"), rows)
    times = by_type(trace).set_index("op_type")["total_ns"].to_dict()
    assert times == {"communication": 5000, "unknown": 1000}


def test_sums_of_all_operators_leave_communication_out() -> None:
    sides = (side_of_trace(trace("before", 500)), side_of_trace(trace("after", 700)))
    found = compare(*sides)
    assert operator_totals(found) == ("50", "50", "0")
    assert totals_sentence(found) == (
        "All operators but communication: 50.0 µs → 50.0 µs (0 ns), the sum of their mean "
        "times. Communication: 500 µs → 700 µs (+200 µs)."
    )
