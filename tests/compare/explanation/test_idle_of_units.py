"""What the device waits for in each of several units: change, chance, and stalls of few units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fusescope.analysis.compare.explanation import explain
from fusescope.analysis.compare.explanation.explanation import Change, Explanation
from fusescope.analysis.host_activity import RUNTIME
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording.explanation import leading_sentence
from tests.host.hosts import Call, Span, trace_of

LOADING = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
UNEVEN = (10_000, 50_000, 30_000, 70_000, 20_000, 40_000)
BUSY_NS, LAUNCH_NS = 100_000, 1_000


def steps_that_wait(waits_ns: Sequence[int], during: str = LOADING) -> Trace:
    """Return a trace of a step for each of these waits: the host is in `during`, launches a kernel,
    and the kernel runs."""
    spans: list[Span] = []
    calls: list[Call] = []
    runs: list[tuple[int, int]] = []
    at = 0
    for wait_ns in waits_ns:
        launch = at + wait_ns
        begin = launch + LAUNCH_NS
        spans += [
            (0, "operator", during, at, launch),
            (0, "runtime", "cudaLaunchKernel", launch, begin),
        ]
        calls.append((begin, begin + BUSY_NS, 0, launch))
        runs.append((at, begin + BUSY_NS))
        at = begin + BUSY_NS
    return _of_one_kernel(trace_of(spans, calls, runs))


def _of_one_kernel(trace: Trace) -> Trace:
    return replace(trace, operators=trace.operators.head(1), calls=trace.calls.assign(operator=0))


def explained(before: Trace, after: Trace) -> Explanation:
    explanation = explain(before, after)
    assert explanation is not None
    return explanation


def idle_change(before: Trace, after: Trace) -> Change:
    (change,) = [one for one in explained(before, after).changes if one.code == "idle"]
    return change


def test_steps_that_each_wait_longer_have_changed_however_uneven_they_are() -> None:
    """Each step waits 9 us longer; the waits of either side have a standard deviation of 21.6 us,
    so that twice the standard error of the difference of their means is 25 us."""
    longer = [wait + 9_000 + at % 2 for at, wait in enumerate(UNEVEN)]
    change = idle_change(steps_that_wait(UNEVEN), steps_that_wait(longer))
    assert change.change_ns in (9_000, 9_001)
    assert change.values["kind"] == "data_loading"


def test_steps_that_wait_longer_here_and_shorter_there_have_not_changed() -> None:
    others = (30_000, 20_000, 65_000, 24_000, 60_000, 45_000)  # 4 us longer on average
    found = explained(steps_that_wait(UNEVEN), steps_that_wait(others))
    assert found.outcome == "no_change"
    assert not found.changes


def test_one_step_that_stalls_is_a_change_of_its_own() -> None:
    """One of 6 steps waits 640 us longer, which is 106.7 us a step; the others wait 30 us."""
    stalled = (10_000, 50_000, 30_000, 710_000, 20_000, 40_000)
    change = idle_change(steps_that_wait(UNEVEN), steps_that_wait(stalled))
    assert change.change_ns in (106_666, 106_667)
    few = ("some_units", "all_units", "some_ns", "other_ns", "some_side")
    assert [change.values[name] for name in few] == [1, 6, 710_000, 30_000, 1]


def test_an_operator_that_reads_a_value_waits_for_the_device() -> None:
    """A file without calls to the runtime below its operators."""
    pair = [steps_that_wait([ns] * 4, "aten::item") for ns in (80_000, 180_000)]
    change = idle_change(pair[0], pair[1])
    assert (change.values["kind"], change.values["cause"]) == ("synchronisation", "aten::item")
    assert change.change_ns == 100_000


def test_launching_that_one_operator_holds_up_names_it() -> None:
    """Launches take as long as before: the operator in front of them is what changed."""
    pair = [steps_that_wait([ns] * 4, "aten::embedding") for ns in (20_000, 120_000)]
    found = explained(pair[0], pair[1])
    (change,) = found.changes
    assert (change.values["kind"], change.values["inside"]) == ("launching", "aten::embedding")
    sentence = leading_sentence(found)
    assert "+100 µs" in sentence and "nearly all of it in aten::embedding" in sentence
    assert "cudaLaunchKernel" not in sentence


def test_a_gap_of_one_step_that_no_call_of_the_host_explains_is_no_change() -> None:
    """All kernels are launched at once: in one of 5 steps the device begins the next one late."""

    def queued(gaps_ns: Sequence[int]) -> Trace:
        spans: list[Span] = [(0, "runtime", "cudaLaunchKernel", 0, LAUNCH_NS)]
        calls: list[Call] = []
        runs: list[tuple[int, int]] = []
        at = LAUNCH_NS
        for gap_ns in gaps_ns:
            calls.append((at + gap_ns, at + gap_ns + BUSY_NS, 0, 0))
            runs.append((at, at + gap_ns + BUSY_NS))
            at += gap_ns + BUSY_NS
        return _of_one_kernel(trace_of(spans, calls, runs))

    found = explained(queued([0] * 5), queued([0, 0, 388_000, 0, 0]))
    assert found.outcome == "no_change"
    assert not found.changes


def steps_of_two_waits(embedding_ns: int, copies_ns: Sequence[int]) -> Trace:
    """Return a trace of a step for each of these waits in aten::copy_, which follows one in
    aten::embedding: of two kernels, launched behind one each."""
    spans: list[Span] = []
    calls: list[Call] = []
    runs: list[tuple[int, int]] = []
    at = 0
    for copy_ns in copies_ns:
        first = at
        for name, wait_ns in (("aten::embedding", embedding_ns), ("aten::copy_", copy_ns)):
            launch, begin = at + wait_ns, at + wait_ns + LAUNCH_NS
            spans += [
                (0, "operator", name, at, launch),
                (0, "runtime", "cudaLaunchKernel", launch, begin),
            ]
            calls.append((begin, begin + BUSY_NS, 0, launch))
            at = begin + BUSY_NS
        runs.append((first, at))
    return _of_one_kernel(trace_of(spans, calls, runs))


def test_one_call_of_the_host_that_takes_far_longer_is_said_beside_the_mean() -> None:
    """Embeddings take 100 us longer in each of 6 steps, and one of 6 copies 300 us more than the
    others, which is 50 us of the 150 us a step."""
    before = steps_of_two_waits(20_000, [2_000] * 6)
    found = explained(before, steps_of_two_waits(120_000, [2_000] * 3 + [302_000] + [2_000] * 2))
    (change,) = found.changes
    assert change.change_ns == 150_000
    sentence = leading_sentence(found)
    assert "One of the candidate's 6 gaps in aten::copy_ lasts 302 µs" in sentence
    assert "the others 2.00 µs on average: +50.0 µs of the change" in sentence


def test_one_long_call_of_the_baseline_makes_the_candidate_seem_faster() -> None:
    slow = steps_of_two_waits(120_000, [2_000] * 3 + [302_000] + [2_000] * 2)
    found = explained(slow, steps_of_two_waits(20_000, [2_000] * 6))
    (change,) = found.changes
    assert (change.values["long_side"], change.values["long_more_ns"]) == (0, -50_000)
    assert "One of the baseline's 6 gaps in aten::copy_ lasts 302 µs" in leading_sentence(found)


def test_calls_of_the_host_that_all_take_longer_have_no_long_one() -> None:
    before = steps_of_two_waits(20_000, [2_000] * 6)
    found = explained(before, steps_of_two_waits(120_000, [32_000] * 6))
    (change,) = found.changes
    assert "long_side" not in change.values and "One of the" not in leading_sentence(found)


def test_a_short_copy_that_launches_is_told_from_one_that_waits() -> None:
    """In each step the host is in a copy before it launches: for 10 us, and for 40 us on the
    candidate, which is launching. A copy from 50 us on waits, and is called so."""

    def copies(ns: int) -> Trace:
        trace = steps_that_wait([ns] * 6, "cudaMemcpyAsync")
        assert trace.host is not None
        kinds = np.full(len(trace.host.kind_of), RUNTIME, trace.host.kind_of.dtype)
        return replace(trace, host=replace(trace.host, kind_of=kinds))

    change = idle_change(copies(10_000), copies(40_000))
    assert change.values["kind"] == "launching"
    assert "cudaMemcpyAsync (< 50 µs)" in {one.name for one in change.after}
    change = idle_change(copies(60_000), copies(90_000))
    assert (change.values["kind"], change.values["cause"]) == ("copy_waits", "cudaMemcpyAsync")
