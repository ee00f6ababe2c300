"""What the units of each side consist of: parts that add up, kernels of graphs, earlier layers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from fusescope.analysis.compare.explanation import explain
from fusescope.analysis.compare.explanation.explanation import IdleTime, UnitOfSide, UnitParts
from fusescope.analysis.compare.explanation.sides import ExplainedSide
from fusescope.analysis.report.explanation.explanation_json import explanation_values
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording.explanation import leading_sentence
from fusescope.analysis.wording.explanation.earlier import earlier_said
from fusescope.analysis.work_units import units_of
from tests.compare.graphs.captures import LAYER, replay, trace_of
from tests.host.hosts import Span
from tests.step_traces import Kernel, Launch, steps_of

GEMM = Kernel("gemm", 60, "matrix_product")
COPY = Kernel("Memcpy HtoD", 10, "copy")
TALK = Kernel("ncclDevKernel_AllReduce", 25, "communication")


def sides(before: Trace, after: Trace) -> tuple[UnitOfSide, UnitOfSide]:
    found = explain(before, after)
    assert found is not None and found.sides is not None
    return found.sides


def test_the_parts_of_a_unit_add_up_to_it() -> None:
    step = [GEMM, COPY, TALK, replace(GEMM, after_us=5)]
    slow = [*step[:3], replace(GEMM, after_us=45)]
    one, other = sides(steps_of([step] * 3), steps_of([step, slow, step]))
    assert one.parts == UnitParts(120_000, 25_000, 10_000, 5_000)
    assert (one.median_ns, one.shortest_ns, one.longest_ns) == (160_000,) * 3
    assert (other.median_ns, other.shortest_ns, other.longest_ns) == (160_000, 160_000, 200_000)
    assert (one.launched_ns, one.earlier_ns, one.graph_kernels, one.devices) == (None, None, 0, 1)


def test_units_without_starts_are_busy_for_the_union_of_their_own_calls() -> None:
    """Of 120 us each: a kernel of 60, and one of 40 on another stream, of which 20 are beside
    it."""
    step = [replace(COPY, us=40, at_us=40), GEMM, replace(GEMM, us=20, after_us=40)]
    trace = steps_of([step, step[1:], step])
    side = ExplainedSide.of(trace, replace(units_of(trace), starts_ns=np.full(3, -1)))
    assert side.busy_of_units.tolist() == [100_000, 80_000, 100_000]


def with_earlier(layers: int, gemm_us: int = 60) -> Trace:
    """A step of 14 layers of 100 us, before which the device runs `layers` of the step before."""
    others = [Kernel(name, 8) for name in ("norm", "add", "gelu", "mul", "cast")]
    layer = [replace(GEMM, us=gemm_us), *others]
    launches: list[Launch] = [None] * (6 * layers)
    launches += [(0, 1.0 + at) for at in range(6 * 14)]
    spans: list[Span] = [(0, "operator", "aten::mm", 0, 900_000)]
    trace = steps_of([layer * (14 + layers)], spans=spans, launches=launches)
    run = pd.array([None if launch is None else 0 for launch in launches], "Int64")
    return replace(trace, calls=trace.calls.assign(run=run))


def test_layers_that_were_launched_before_the_file_are_counted() -> None:
    found = explain(with_earlier(10), with_earlier(10))
    assert found is not None and found.sides is not None
    assert [side.earlier_ns for side in found.sides] == [1_000_000, 1_000_000]
    assert [side.launched_ns for side in found.sides] == [1_400_000, 1_400_000]
    assert [side.earlier_layers for side in found.sides] == [10, 10]
    assert found.unit.before_ns == 1_400_000, "what the step launched is its time"
    (said,) = earlier_said(found)
    assert str(said) == (
        "When the recording began the device still ran 10 layers of earlier work, which are no "
        "part of the step: 1.00 ms on both sides."
    )
    more = explain(with_earlier(10), with_earlier(11))
    assert more is not None and more.outcome == "no_change"
    assert (
        "Before the step the device ran what the host had launched before the file began: 1.10 ms, "
        "in the baseline 1.00 ms. How much of it a file shows depends on when it begins."
        in leading_sentence(more)
    )


def test_a_slower_kernel_is_named_in_the_step_and_in_the_work_before_it() -> None:
    """A product takes 30 us more in each of 14 layers, and in each of 10 before them."""
    found = explain(with_earlier(10), with_earlier(10, gemm_us=90))
    values = explanation_values(found)
    assert found is not None and values is not None
    assert (values["unit"]["before_ns"], values["unit"]["after_ns"]) == (1_400_000, 1_820_000)
    assert [one["change_ns"] for one in values["changes"]] == [420_000]
    earlier = values["earlier"]
    assert (earlier["before_ns"], earlier["after_ns"]) == (1_000_000, 1_300_000)
    assert [one["change_ns"] for one in earlier["changes"]] == [300_000]
    for part in (values | values["unit"], earlier):
        told = sum(one["change_ns"] for one in part["changes"])
        assert told + part["rest_ns"] == part["after_ns"] - part["before_ns"]
    said = leading_sentence(found)
    assert "which are no part of the step: 1.30 ms instead of 1.00 ms (+300 µs)." in said
    assert "take 1.26 ms instead of 840 µs: +420 µs per step." in said
    assert "10 layers of earlier work" in said and "1.30 ms instead of 1.00 ms" in said
    assert "+300 µs in that earlier work." in said


def test_kernels_of_graphs_are_counted_in_a_unit() -> None:
    """The unit is a layer of 4 kernels, of which a graph has 6."""
    one, other = sides(*(trace_of(replay(LAYER * 6, times=n), f"{n}.json") for n in (1, 3)))
    assert (one.graph_kernels, other.graph_kernels) == (4, 4)
    assert (one.graph_launches, other.graph_launches) == (1 / 5, 3 / 17)


def test_idle_time_is_told_by_cause_the_longest_first() -> None:
    step = [Kernel("a", 50, after_us=200), Kernel("b", 50, after_us=100)]
    spans: list[Span] = [(0, "operator", "enumerate(DataLoader)#_X.__next__", 0, 199_000)]
    trace = steps_of([step], spans=spans, launches=[(0, 199.0), (0, 349.0)])
    one, _ = sides(trace, trace)
    assert one.parts is not None and one.parts.idle_ns == 300_000
    assert one.idle[0] == IdleTime("data_loading", "DataLoader.__next__", 199_000)
    assert sum(each.ns for each in one.idle) == 300_000


def test_idle_time_names_the_call_behind_it_with_its_own_time() -> None:
    """Data loading takes 199 and 99 us itself; the device is idle for all of it."""

    def loaded(us: int) -> Trace:
        step = [Kernel("a", 50, after_us=us + 1), Kernel("b", 50, after_us=100)]
        name = "enumerate(DataLoader)#_X.__next__"
        spans: list[Span] = [(0, "operator", name, 0, us * 1_000)]
        return steps_of([step], spans=spans, launches=[(0, float(us)), (0, us + 150.0)])

    values = explanation_values(explain(loaded(199), loaded(99)))
    assert values is not None
    (change,) = [one for one in values["changes"] if one["code"] == "idle"]
    assert change["change_ns"] == -100_000
    assert change["call"]["before"] == {"count": 1, "ns": 199_000}
    assert change["call"]["after"] == {"count": 1, "ns": 99_000}
    assert "__next__" in change["call"]["name"]


@settings(deadline=None, max_examples=30)
@given(
    st.lists(
        st.lists(
            st.builds(replace, st.sampled_from([GEMM, COPY, TALK]), us=st.integers(1, 90)),
            min_size=1,
            max_size=8,
        ),
        min_size=1,
        max_size=4,
    )
)
def test_parts_add_up_whatever_runs(steps: list[list[Kernel]]) -> None:
    trace = steps_of(steps)
    found = explain(trace, trace)
    assert found is not None and found.sides is not None
    for side in found.sides:
        assert side.parts is not None
        assert sum(vars(side.parts).values()) == found.unit.before_ns
        assert side.shortest_ns <= side.median_ns <= side.longest_ns
