"""Calls of the host that both sides make, and kernels that both run at the same speed, by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.explanation import explain
from fusescope.analysis.compare.explanation.explanation import KernelTime
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.report.explanation.explanation_json import explanation_values
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording.explanation import change_sentence, leading_sentence
from fusescope.analysis.wording.explanation.same_kernels import common_kernels_said
from tests.host.hosts import Span
from tests.step_traces import Kernel, Launch, steps_of

GEMM, RELU = Kernel("gemm", 50, "matrix_product"), Kernel("relu", 50, "activation")
TALK = Kernel("ncclDevKernel_AllReduce", 20, "communication")


def synchronised(waits_us: int, calls: int = 1) -> Trace:
    """Three steps of two kernels of 50 us. The host synchronises so often a step, 5 us each while
    the first kernel runs, the last time until 1 us before it launches the second kernel, which
    starts 1 us later and `waits_us` behind the first."""
    spans, launches = list[Span](), list[Launch]()
    for step in range(3):
        begin = step * (100 + waits_us)
        launches += [(0, max(0.0, begin - 1.0)), (0, begin + 49.0 + waits_us)]
        for call in range(calls):
            at = begin + 5 + 10 * call
            end = begin + 48 + waits_us if call == calls - 1 else at + 5
            spans.append((0, "runtime", "cudaStreamSynchronize", at * 1000, end * 1000))
    steps = [[GEMM, replace(RELU, after_us=waits_us)]] * 3
    return steps_of(steps, spans=spans, launches=launches)


def without_synchronising() -> Trace:
    spans: list[Span] = [(0, "operator", "aten::mm", 0, 300_000)]
    return steps_of([[GEMM, RELU]] * 3, spans=spans, launches=[(0, 45.0 * at) for at in range(6)])


@pytest.mark.parametrize(
    ("before", "calls", "said"),
    [
        (
            synchronised(0),
            1,
            (
                "The device is idle for 99.0 µs while the host is in cudaStreamSynchronize, which "
                "it calls as often in the baseline, there without idle time: +99.0 µs per step."
            ),
        ),
        (
            synchronised(0),
            2,
            (
                "The device is idle for 99.0 µs while the host is in cudaStreamSynchronize: "
                "+99.0 µs per step (calls: 2; 1 in the baseline, without idle time)."
            ),
        ),
        (
            without_synchronising(),
            1,
            (
                "The device is idle for 99.0 µs while the host synchronises "
                "(cudaStreamSynchronize), which it is not in the baseline: +99.0 µs per step."
            ),
        ),
    ],
)
def test_only_a_call_of_one_side_is_new(before: Trace, calls: int, said: str) -> None:
    values = explanation_values(explain(before, synchronised(100, calls)))
    assert values is not None
    [change] = (one for one in values["changes"] if one["host"][-1:] == ["cudaStreamSynchronize"])
    assert change["sentence"] == said
    if before.host is not None and "cudaStreamSynchronize" in before.host.names:
        call = change["call"]
        assert (call["before"]["count"], call["after"]["count"]) == (1, calls)


def test_a_wait_of_every_step_on_both_sides_is_said_with_the_same_kernels() -> None:
    found = explain(synchronised(10), synchronised(100))
    assert found is not None
    assert leading_sentence(found).startswith(
        "Both sides run the same 2 kernels at the same speed (100 µs and 100 µs); the device "
        "is idle for 100 µs instead of 10.0 µs per step. On both sides the host waits for the "
        "device in cudaStreamSynchronize, once per step, so it cannot launch far ahead."
    )
    more = explain(synchronised(10), synchronised(100, calls=2))
    assert more is not None and "On both sides the host waits" not in leading_sentence(more)


def launching(step: list[Kernel], idle_us: int, *, marked: bool = True) -> Trace:
    """Eight steps of these kernels, each launched by a call that ends when it starts and takes so
    long; the device is idle meanwhile."""
    step = [replace(kernel, after_us=idle_us) for kernel in step]
    spans, launches, now = list[Span](), list[Launch](), 0
    for kernel in step * 8:
        spans.append((0, "runtime", "cudaLaunchKernel", now * 1000, (now + idle_us) * 1000))
        launches.append((0, float(now)))
        now += idle_us + int(kernel.us)
    return steps_of([step] * 8, spans=spans, launches=launches, marked=marked)


def test_the_same_kernels_at_the_same_speed_are_said_to_be() -> None:
    """Kernels of 100 us and a collective of 20; the device is idle for 6 and for 90 us."""
    step = [GEMM, RELU, TALK]
    found = explain(launching(step, 2), launching(step, 30))
    assert found is not None and found.outcome == "changed"
    said = leading_sentence(found)
    assert said.startswith(
        "Both sides run the same 3 kernels and collectives, all but collectives at the same speed "
        "(100 µs and 100 µs); the device is idle for 90.0 µs instead of 6.00 µs per step."
    )
    slower = explain(launching(step, 2), launching([replace(GEMM, us=55), RELU, TALK], 30))
    assert slower is not None
    assert "at the same speed" not in leading_sentence(slower), "a kernel takes 10 % longer"
    same = explain(launching(step, 30), launching(step, 30))
    assert same is not None and "at the same speed" not in leading_sentence(same)


def test_other_kernels_that_take_as_long_together_are_said_to() -> None:
    """Each kernel takes 10 % more or less than before, both together 100 us; the device is idle for
    6 and for 90 us."""
    step = [GEMM, RELU, TALK]
    other = [replace(GEMM, us=55), replace(RELU, us=45), TALK]
    found = explain(launching(step, 2), launching(other, 30))
    assert found is not None
    assert leading_sentence(found).startswith(
        "All kernels together take as long on both sides (100 µs and 100 µs); the device is "
        "idle for 90.0 µs instead of 6.00 µs per step."
    )
    copy = Kernel("Memcpy DtoD", 9, "copy")
    found = explain(launching([*step, copy], 2), launching([*other, replace(copy, us=4)], 30))
    assert found is not None
    assert leading_sentence(found).startswith(
        "All kernels together, without copies and fills of memory, take as long on both sides "
        "(100 µs and 100 µs)"
    )
    assert "more than the device" not in leading_sentence(found)
    # Of 100 us of kernels 96 are in the step, as where some run at once: busy is less than the sum.
    # What copies and collectives take beside them is not of it.
    for computing, whose in (
        ((96_000, 96_000), "The times of kernels add up to more than the device is busy with"),
        ((96_000, 104_000), "The times of the baseline's kernels add up to more than its device"),
        ((104_000, 96_000), "The times of the candidate's kernels add up to more than its device"),
    ):
        assert found.sides is not None and min(found.unit.busy_ns) > 100_000
        sides = [
            replace(side, parts=replace(side.parts, computing_ns=ns))
            for side, ns in zip(found.sides, computing, strict=True)
            if side.parts is not None
        ]
        outside = replace(found, sides=(sides[0], sides[1]))
        assert whose in leading_sentence(outside)
        assert "them: some run outside the run that launched them." in leading_sentence(outside)
        for at_once_ns, why in ((4_000, "time."), (2_000, "time, and some outside the run")):
            both = [replace(side, at_once_ns=at_once_ns) for side in sides]
            said = leading_sentence(replace(found, sides=(both[0], both[1])))
            assert f"them: some run at the same {why}" in said
    longer = explain(launching(step, 2), launching([replace(GEMM, us=55), RELU, TALK], 30))
    assert longer is not None and "as long on both sides" not in leading_sentence(longer)


def test_what_kernels_take_at_once_is_known_of_each_side() -> None:
    """Of 50 us of each of two kernels 20 are while the other one runs."""
    beside = replace(RELU, at_us=30.0)
    found = explain(steps_of([[GEMM, RELU]] * 2), steps_of([[GEMM, beside]] * 2))
    assert found is not None and found.sides is not None
    assert [side.at_once_ns for side in found.sides] == [0, 20_000]


def test_what_has_the_largest_part_of_launching_is_named() -> None:
    """Of 56 us more, 50 are in aten::empty and 6 in the launches themselves."""
    before, after = launching([GEMM, RELU], 2), launching([GEMM, RELU], 30)
    found = explain(before, after)
    assert found is not None
    (idle,) = [change for change in found.changes if change.values.get("kind") == "launching"]
    launch, empty = KernelTime("cudaLaunchKernel", 2, 4_000), KernelTime("aten::empty", 1, 1_000)
    sides = {
        "before": (launch, empty),
        "after": (replace(launch, ns=10_000), replace(empty, ns=51_000)),
    }
    told = change_sentence(replace(idle, **sides), found.unit)
    assert told.endswith(
        "per step, the largest part in aten::empty (+50.0 µs); each cudaLaunchKernel takes "
        "30.0 µs instead of 2.00 µs."
    )
    turned = {"before": sides["before"], "after": (replace(launch, ns=40_000), empty)}
    assert "largest part" not in change_sentence(replace(idle, **turned), found.unit)


def test_the_launches_of_a_sentence_are_those_of_the_figures() -> None:
    """Five kernels repeat, all launched by calls of 2 and of 30 us, of which the baseline does not
    say the one of one kernel: 34 in 7 repetitions."""
    step = [GEMM, *(replace(RELU, name=f"relu_{at}") for at in range(4))]
    before, after = (launching(step, us, marked=False) for us in (2, 30))
    assert before.host is not None
    known = before.host.launch_rows != 12
    host = replace(
        before.host,
        launch_rows=before.host.launch_rows[known],
        launch_lanes=before.host.launch_lanes[known],
        launch_ns=before.host.launch_ns[known],
    )
    pair = compare(side_of_trace(replace(before, host=host)), side_of_trace(after))
    values = explanation_values(pair.explanation)
    assert values is not None and values["unit"]["kind"] == "repeat"
    [change] = (one for one in values["changes"] if one["call"] is not None)
    launches, took = pair.figure("launches"), pair.figure("launch_time")
    assert (launches.baseline.value, launches.candidate.value) == (34 / 7, 5)
    call = change["call"]
    assert [call[side]["count"] for side in ("before", "after")] == [34 / 7, 5]
    assert took.baseline.value is not None
    assert (call["before"]["ns"], call["after"]["ns"]) == (round(took.baseline.value), 150_000)
    assert (
        "takes 30.0 µs instead of 2.00 µs, all together +140 µs on the host)" in change["sentence"]
    )


def test_kernels_that_two_stages_have_in_common_are_said_to_take_as_long() -> None:
    """Six layers of 100 us on both, and a head of 300 us on one: 600 us of both are the same. Where
    one of them takes 20 % longer, nothing is said."""
    layer = [GEMM, RELU]
    head = [Kernel("gemm_head", 200, "matrix_product"), Kernel("softmax_loss", 100, "softmax")]
    for side in (0, 1):
        steps = [layer * 6, [*layer * 6, *head]]
        before, after = (steps_of([step]) for step in (steps if side else steps[::-1]))
        found = explain(before, after)
        assert found is not None and found.outcome == "changed"
        (told,) = common_kernels_said(replace(found, difference="stages"))
        assert str(told) == (
            "The kernels that both stages run take as long on both (600 µs in the baseline, 600 µs "
            "in the candidate)."
        )
        assert common_kernels_said(found) == []
    slower = [GEMM, replace(RELU, us=60)] * 6
    found = explain(steps_of([layer * 6]), steps_of([[*slower, *head]]))
    assert found is not None
    assert common_kernels_said(replace(found, difference="stages")) == []


def test_launches_of_another_name_are_named_on_both_sides() -> None:
    """A launch takes 30 us by HIP, before 2 us by CUDA."""
    before, after = launching([GEMM, RELU], 2), launching([GEMM, RELU], 30)
    assert after.host is not None
    names = tuple(name.replace("cuda", "hip") for name in after.host.names)
    found = explain(before, replace(after, host=replace(after.host, names=names)))
    assert found is not None
    (idle,) = [change for change in found.changes if change.values.get("kind") == "launching"]
    told = change_sentence(idle, found.unit)
    assert (
        "(each hipLaunchKernel takes 30.0 µs, each cudaLaunchKernel of the baseline 2.00 µs, "
        "all together +56.0 µs on the host)"
    ) in told
    # The same change beside launches that take less time is not put to them.
    shorter = {"each_ns": 1_000, "call_after_ns": 2_000}
    other = replace(idle, values={**idle.values, **shorter})
    assert "hipLaunchKernel" not in change_sentence(other, found.unit)
    same = explain(before, after)
    assert same is not None
    (idle,) = [change for change in same.changes if change.values.get("kind") == "launching"]
    assert (
        "takes 30.0 µs instead of 2.00 µs, all together +56.0 µs on the host)"
        in change_sentence(idle, same.unit)
    )
