"""Collectives beside computing: only the time that computing does not hide makes a step longer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.compare.explanation import explain
from fusescope.analysis.metrics.exposure import exposed_collectives
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording.explanation import leading_sentence
from tests.step_traces import Kernel, steps_of

GEMM = Kernel("gemm", 100, "matrix_product")
NORM = Kernel("norm", 20, "normalisation")


def reduce(at_us: float, us: float) -> Kernel:
    return Kernel("ncclDevKernel_AllReduce_Sum_bf16", us, "communication", at_us=at_us)


def exposed_us(trace: Trace) -> list[float]:
    found = exposed_collectives(trace)
    assert found is not None
    talks = trace.operators["is_communication"].to_numpy()[trace.calls["operator"].to_numpy()]
    assert not found[~talks].any()
    return (found[talks] / 1000).tolist()


@pytest.mark.parametrize(
    ("collectives", "exposed"),
    [
        # Four products run from 0 to 400 us.
        ([reduce(50, 100)], [0]),
        ([reduce(350, 100)], [50]),
        ([reduce(400, 30)], [30]),
        ([reduce(350, 100), reduce(380, 100)], [50, 30]),  # from 450 to 480 the second alone
        ([reduce(410, 50), reduce(420, 10)], [50, 0]),  # the second within the first
    ],
)
def test_what_nothing_hides_of_each_collective(
    collectives: list[Kernel], exposed: list[float]
) -> None:
    assert exposed_us(steps_of([[*collectives, *[GEMM] * 4]])) == exposed


@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(1, 40)), min_size=1, max_size=6),
    st.lists(st.integers(1, 20), max_size=4),
)
def test_exposed_time_is_the_union_of_collectives_without_that_of_kernels(
    collectives: list[tuple[int, int]], kernels: list[int]
) -> None:
    trace = steps_of(
        [
            [
                *(reduce(*each) for each in collectives),
                *(Kernel("k", us, after_us=3) for us in kernels),
            ]
        ]
    )
    talking, computing = np.zeros(200, dtype=bool), np.zeros(200, dtype=bool)
    for at, us in collectives:
        talking[at : at + us] = True
    now = 0
    for us in kernels:
        computing[now + 3 : now + 3 + us] = True
        now += 3 + us
    assert sum(exposed_us(trace)) == (talking & ~computing).sum()


def test_a_collective_that_computing_hides_is_no_cause() -> None:
    """It takes 200 us instead of 100, beside 400 us of products; a norm takes 60 instead of 20."""
    before = steps_of([[reduce(50, 100), *[GEMM] * 4, NORM]] * 3)
    slow = Kernel("norm", 60, "normalisation")
    found = explain(before, steps_of([[reduce(50, 200), *[GEMM] * 4, slow]] * 3))
    assert found is not None
    assert [(change.code, change.change_ns) for change in found.changes] == [("time", 40_000)]
    assert found.rest_ns == 0


def test_of_a_collective_only_what_is_not_hidden_counts() -> None:
    """From 350 us on it takes 150 instead of 100: 50 and then 100 us behind the last product."""
    before = steps_of([[reduce(350, 100), *[GEMM] * 4]] * 3)
    found = explain(before, steps_of([[reduce(350, 150), *[GEMM] * 4]] * 3))
    assert found is not None and found.rest_ns == 0
    [change] = found.changes
    assert (change.code, change.change_ns) == ("communication", 50_000)
    assert (change.before_ns, change.after_ns) == (50_000, 100_000)
    assert (change.values["all_before_ns"], change.values["all_after_ns"]) == (100_000, 150_000)
    assert (
        "runs for 100 µs instead of 50.0 µs while nothing is computed, with the wait for other "
        "ranks: +50.0 µs per step (in all 150 µs instead of 100 µs in 1 execution; computing "
        "hides the rest)." in leading_sentence(found).replace("**", "")
    )


def test_collectives_that_nothing_hides_are_told_as_they_are() -> None:
    before = steps_of([[*[GEMM] * 4, reduce(400, 100)]] * 3)
    found = explain(before, steps_of([[*[GEMM] * 4, reduce(400, 150)]] * 3))
    assert found is not None
    [change] = found.changes
    assert change.change_ns == 50_000 and "all_before_ns" not in change.values
    assert "takes 150 µs instead of 100 µs in 1 execution, with" in leading_sentence(found)
