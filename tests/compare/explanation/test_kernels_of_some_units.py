"""Kernels that not every unit runs: told with how many do, where the other side has none."""

from __future__ import annotations

from dataclasses import replace

from fusescope.analysis.compare.explanation import explain
from fusescope.analysis.compare.explanation.explanation import Explanation
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording.explanation import leading_sentence
from tests.step_traces import Kernel, steps_of

STEP = [Kernel("gemm_a", 200), Kernel("softmax_b", 100), Kernel("gemm_c", 200)]
CLIP = Kernel("multi_tensor_norm", 150)


def explained(before: Trace, after: Trace) -> Explanation:
    explanation = explain(before, after)
    assert explanation is not None
    return explanation


def test_a_kernel_of_one_step_of_five_is_told_with_that_step() -> None:
    """150 us in one of 5 steps are 30 us a step."""
    pair = steps_of([STEP] * 5), steps_of([*[STEP] * 3, [*STEP, CLIP, CLIP], STEP])
    (change,) = explained(*pair).changes
    assert (change.code, change.change_ns, change.values["executions"]) == ("added", 60_000, 2)
    (kernel,) = change.after
    assert (kernel.count, kernel.ns) == (0.4, 60_000)
    sentence = leading_sentence(explained(*pair))
    assert "2 kernels run only in the candidate: +60.0 µs per step (multi_tensor_norm)." in sentence
    assert "In 1 of the candidate's 5 steps it is 300 µs, in the others 0 ns." in sentence
    (gone,) = explained(*reversed(pair)).changes
    assert (gone.code, gone.change_ns, gone.values["some_side"]) == ("removed", -60_000, 0)


def test_a_kernel_of_some_steps_of_both_sides_is_no_change() -> None:
    """It runs in another step of each side."""
    pair = steps_of([*[STEP] * 4, [*STEP, CLIP]]), steps_of([[*STEP, CLIP], *[STEP] * 4])
    assert not explained(*pair).changes


def test_more_of_a_kernel_that_every_step_runs_is_not_told_as_new() -> None:
    more = [*STEP, replace(STEP[1], us=150)]
    pair = steps_of([STEP] * 5), steps_of([*[STEP] * 4, more])
    assert not any(one.code == "added" for one in explained(*pair).changes)
