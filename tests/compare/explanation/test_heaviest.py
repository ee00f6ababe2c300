"""The kernels of most time of a unit, and columns of which each text is asked once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.compare.explanation.sides import ExplainedSide
from fusescope.analysis.trace import Meta, Trace, calls_frame, operators_frame, runs_frame
from fusescope.analysis.work_units.units import whole_file

_OPERATORS = [("gemm", "float32[2,2]"), ("gemm", "float32[4,4]"), ("add", None), ("x" * 90, "")]


def _side(calls: list[tuple[int, int]]) -> ExplainedSide:
    names, inputs = zip(*_OPERATORS, strict=True)
    starts = [sum(ns for _, ns in calls[:at]) for at in range(len(calls))]
    trace = Trace(
        Meta("test", "test", file_name="trace.json"),
        runs_frame(run=[0], kind=["file"], dur_ns=[sum(ns for _, ns in calls)], profiled=[True]),
        operators_frame(
            operator=range(len(names)),
            name=list(names),
            op_type=["gemm", "gemm", None, "x"],
            inputs=list(inputs),
            level=["device_kernel"] * len(names),
            flops=[16, 128, None, 1],
        ),
        calls_frame(
            operator=[of for of, _ in calls],
            run=[0] * len(calls),
            start_ns=starts,
            dur_ns=[ns for _, ns in calls],
        ),
    )
    return ExplainedSide.of(trace, whole_file(trace))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 9)), min_size=1, max_size=12))
def test_kernels_of_most_time_come_first(calls: list[tuple[int, int]]) -> None:
    side = _side(calls)
    totals: dict[int, list[int]] = {}
    for of, ns in calls:
        totals.setdefault(of, []).append(ns)
    ranked = sorted(totals.items(), key=lambda item: -sum(item[1]))
    flops = (16, 128, None, 1)
    found = [
        (
            one.time.name,
            one.time.count,
            one.time.ns,
            one.shapes,
            one.flops,
            one.shortest_ns,
            one.longest_ns,
        )
        for one in side.heaviest(3)
    ]
    assert found == [
        (
            side.names[of],
            len(each),
            sum(each),
            _OPERATORS[of][1] or "",
            None if (one := flops[of]) is None else one * len(each),
            min(each),
            max(each),
        )
        for of, each in ranked[:3]
    ]


def test_a_text_is_asked_once_and_null_as_none_at_all() -> None:
    asked: list[str] = []
    trace = _side([(0, 1)]).trace
    said = trace.each("name", lambda name: asked.append(name) or (len(name),))
    assert said == [(4,), (4,), (3,), (90,)]
    assert sorted(asked) == ["", "add", "gemm", "x" * 90]
    assert trace.each("op_type", bool) == [True, True, False, True]
