"""What collectives wait for other ranks: between two ranks, by a counter, and by a bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.advice.explanation import explain_trace
from fusescope.analysis.advice.findings import findings
from fusescope.analysis.advice.subject import Subject
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.side import Side, side_of_trace
from fusescope.analysis.job import Collectives, Job, collectives_frame
from fusescope.analysis.ranks.waits import Waits, waiting, waits_of, waits_of_pair
from fusescope.analysis.report.explanation.explanation_json import explanation_values
from fusescope.analysis.trace import Meta, Trace, calls_frame, operators_frame, runs_frame
from fusescope.analysis.wording.explanation.savings import saving_said
from fusescope.analysis.wording.findings import remedy_text, why_text

US = 1000
EPOCH = 1_764_000_000 * 10**9
KERNEL = "ncclDevKernel_AllReduce_Sum(x)"


def rank_of(
    rank: int,
    times: Sequence[tuple[int, int]],
    *,
    clock_ns: int = 0,
    started_ns: int | None = EPOCH,
    is_numbered: bool = True,
    transfers: Sequence[int] | None = None,
    sizes: Sequence[int] | None = None,
) -> Trace:
    """A rank whose collectives have these starts and ends, in us, on a clock that is ahead."""
    count = len(times)
    starts = [0, *(start * US + clock_ns for start, _ in times)]
    lasts = [US, *((end - start) * US for start, end in times)]
    operators = operators_frame(
        operator=[0, 1],
        name=["gemm", KERNEL],
        op_type=["gemm", "AllReduce"],
        op_class=["matrix_product", "communication"],
        level=["device_kernel"] * 2,
        is_communication=[False, True],
    )
    calls = calls_frame(
        operator=[0, *([1] * count)],
        run=[0] * (count + 1),
        start_ns=starts,
        dur_ns=lasts,
        source_row=list(range(count + 1)),
        stream=["7"] * (count + 1),
        device=["0"] * (count + 1),
    )
    end = max(start + last for start, last in zip(starts, lasts, strict=True))
    runs = runs_frame(run=[0], kind=["step"], start_ns=[0], dur_ns=[end], profiled=[True])
    table = collectives_frame(
        source_row=np.arange(1, count + 1),
        group=["9"] * count,
        members=["0,1,2"] * count,
        kind=["all_reduce"] * count,
        size=[3] * count,
        bytes=[1000] * count if sizes is None else list(sizes),
        number=list(range(count)) if is_numbered else [None] * count,
        transfer_ns=[None] * count if transfers is None else [one * US for one in transfers],
    )
    job = Job(rank, 3, ids=("job",))
    meta = Meta("kineto", "PyTorch", sha256=f"{rank:064d}", started_ns=started_ns, job=job)
    return Trace(meta, runs, operators, calls, collectives=Collectives(table))


def told(waits: Waits | None) -> list[int]:
    assert waits is not None
    return [round(ns / US) for ns in waits.ns.tolist()]


def test_of_two_ranks_the_first_waits_until_the_last_one_comes() -> None:
    """Rank 0 comes 70 us before rank 1 to the first, 20 us after it to the second."""
    first = rank_of(0, [(100, 210), (300, 350)])
    second = rank_of(1, [(170, 210), (280, 350)])
    found = waits_of_pair(first, second)
    assert found is not None
    assert [each.basis for each in found] == ["measured", "measured"]
    assert told(found[0]) == [70, 0] and told(found[1]) == [0, 20]
    assert found[0].calls.tolist() == [1, 2]


def test_no_common_clock_is_needed_where_collectives_are_numbered() -> None:
    first = rank_of(0, [(100, 210), (300, 350)])
    other = rank_of(1, [(170, 210), (280, 350)], clock_ns=123_456_789, started_ns=None)
    found = waits_of_pair(first, other)
    assert found is not None and told(found[0]) == [70, 0]
    unnumbered = [replace(trace, collectives=_without_numbers(trace)) for trace in (first, other)]
    assert waits_of_pair(unnumbered[0], unnumbered[1]) is None
    on_a_clock = rank_of(1, [(170, 210), (280, 350)], is_numbered=False)
    found = waits_of_pair(unnumbered[0], on_a_clock)
    assert found is not None and told(found[0]) == [70, 0]


def _without_numbers(trace: Trace) -> Collectives:
    assert trace.collectives is not None
    table = trace.collectives.table.copy()
    table["number"] = np.nan
    return Collectives(table.astype({"number": "Int64"}))


def test_what_does_not_end_together_is_not_one_collective() -> None:
    first = rank_of(0, [(100, 210), (300, 350), (400, 500)])
    second = rank_of(1, [(170, 210), (280, 350), (4400, 4500)])
    found = waits_of_pair(first, second)
    assert found is not None and found[0].calls.tolist() == [1, 2]


def test_other_sizes_and_other_groups_are_not_matched() -> None:
    first = rank_of(0, [(100, 210)])
    assert waits_of_pair(first, rank_of(1, [(100, 210)], sizes=[7])) is None
    assert waits_of_pair(first, replace(first, collectives=None)) is None


def test_the_counter_says_when_data_moved() -> None:
    trace = rank_of(0, [(100, 210), (300, 350)], transfers=[30, 60])
    waits = waits_of(trace)
    assert waits is not None and waits.basis == "counter"
    assert told(waits) == [80, 0]  # 110 - 30; never below 0
    found = waiting(trace, np.array([1, 2]))
    assert found is not None and (found.ns, found.of_ns) == (80 * US, 160 * US)
    assert found.share == 0.5


def test_the_shortest_execution_on_as_much_data_bounds_the_transfer() -> None:
    times = [(0, 40), (100, 150), (200, 300), (400, 460), (500, 600)]
    trace = rank_of(0, times, sizes=[5, 5, 5, 7, 7])
    waits = waits_of(trace)
    assert waits is not None and waits.basis == "modelled"
    # three of 5 bytes: 40, 50 and 100 us; of 7 bytes only two, which bound nothing
    assert waits.calls.tolist() == [1, 2, 3] and told(waits) == [0, 10, 60]
    # of all 350 us, 190 are of known ones
    found = waiting(trace, np.arange(1, 6))
    assert found is not None and found.basis == "modelled" and found.ns == 70 * US
    assert waiting(rank_of(0, [(0, 40), (50, 90), (100, 140)]), np.arange(1, 4)) is None


def test_without_sizes_or_numbers_nothing_is_said() -> None:
    trace = replace(rank_of(0, [(0, 40), (100, 150), (200, 300)]), collectives=None)
    assert waits_of(trace) is None and waiting(trace, np.array([1])) is None


def test_a_change_of_communication_is_parted_into_wait_and_transfer() -> None:
    """Rank 1 takes 300 us longer to compute, for which rank 0 waits."""
    first, second = rank_of(0, [(1000, 1900)]), rank_of(1, [(1300, 1900)])
    found = compare(Side("a", first), Side("b", second))
    values = explanation_values(found.explanation)
    assert values is not None
    [change] = [each for each in values["changes"] if each["code"] == "communication"]
    assert change["change_ns"] == -300 * US
    assert change["waits"] == {
        "before_ns": 300 * US,
        "after_ns": 0,
        "before_for": 1,
        "after_for": 0,
        "basis": "measured",
    }
    assert "the baseline waits 300 µs for rank 1" in change["sentence"]
    assert "where both take part; waits for other ranks are not among it." in change["sentence"]


def test_of_one_rank_twice_the_bound_of_each_parts_the_change() -> None:
    first = rank_of(0, [(0, 40), (100, 140), (200, 240)])
    later = rank_of(0, [(0, 40), (100, 140), (200, 340)])
    second = replace(later, meta=replace(later.meta, sha256="b" * 64))
    found = compare(Side("a", first), Side("b", second))
    values = explanation_values(found.explanation)
    assert values is not None and values["ranks"] is None
    [change] = [each for each in values["changes"] if each["code"] == "communication"]
    assert (change["change_ns"], change["waits"]["after_ns"]) == (100 * US, 100 * US)
    assert change["waits"]["basis"] == "modelled"
    assert "modelled" in change["sentence"]


@given(
    st.lists(
        st.tuples(st.integers(0, 400), st.integers(0, 400), st.integers(1, 100)),
        min_size=1,
        max_size=12,
    ),
    st.integers(-(10**9), 10**9),
)
def test_waits_are_from_the_own_start_to_the_latest(
    drawn: list[tuple[int, int, int]], clock_ns: int
) -> None:
    """Two ranks come to each collective when they do, and leave when the data have moved."""
    times: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
    expected: tuple[list[int], list[int]] = ([], [])
    now = 1000
    for *arrivals, transfer in drawn:
        starts = [now + arrival for arrival in arrivals]
        end = max(starts) + transfer
        for rank, start in enumerate(starts):
            times[rank].append((start, end))
            expected[rank].append(max(starts) - start)
        now = end + 1000
    found = waits_of_pair(rank_of(0, times[0]), rank_of(1, times[1], clock_ns=clock_ns))
    assert found is not None
    assert told(found[0]) == expected[0] and told(found[1]) == expected[1]


@pytest.mark.parametrize("calls", [np.array([], dtype="int64"), np.array([99])])
def test_calls_that_are_not_known_wait_nothing(calls: np.ndarray) -> None:
    waits = Waits("counter", np.array([1, 5]), np.array([10, 20]))
    ns, known = waits.of(calls)
    assert ns == 0 and not known.any()


def test_one_trace_says_what_of_its_communication_is_waiting() -> None:
    """Two collectives of 110 and 50 us, in which data move for 30 us each."""
    trace = rank_of(0, [(100, 210), (300, 350)], transfers=[30, 30])
    explained = explain_trace(trace)
    assert explained is not None
    [saving] = [each for each in explained.savings if each.code == "communication"]
    told = {name: saving.values[name] for name in ("wait_ns", "wait_of_ns", "wait_basis")}
    assert told == {"wait_ns": 100 * US, "wait_of_ns": 160 * US, "wait_basis": "counter"}
    assert "no data moved for 100 µs" in str(saving_said(saving, explained.unit))
    [found] = [
        each
        for each in findings(Subject(side_of_trace(trace))).found
        if each.code == "communication"
    ]
    assert found.values["wait_share"] == 0.625
    assert "In 62.5 % of the time of its collectives no data moved" in why_text(found)
    assert "with the one that comes last" in remedy_text(found)
