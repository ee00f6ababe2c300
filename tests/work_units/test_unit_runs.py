"""Units of work as runs: headline, findings, figures and explanation are of one whole, by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import pytest

from fusescope.analysis.advice import findings
from fusescope.analysis.advice.explanation import explain_subject
from fusescope.analysis.advice.explanation.explanation import TraceExplanation
from fusescope.analysis.advice.sides import advised
from fusescope.analysis.advice.subject import Subject
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.assumptions import Assumptions
from fusescope.analysis.compare.explanation import explain
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.doctor import examine
from fusescope.analysis.metrics.breakdown import by_operator
from fusescope.analysis.metrics.device import device_use
from fusescope.analysis.timeline.payload import trace_payload
from fusescope.analysis.trace import Diagnostic, Trace, runs_frame
from fusescope.analysis.wording import findings as words
from fusescope.analysis.wording.doctor import read_sentence
from fusescope.analysis.wording.explanation import leading_sentence
from fusescope.analysis.wording.explanation.trace import trace_sentence
from fusescope.analysis.wording.explanation.works import after_said, idle_said
from fusescope.analysis.wording.single import trace_facts, trace_parts
from fusescope.analysis.work_units import Work, with_common_runs, with_unit_runs
from fusescope.analysis.work_units.earlier import launched_earlier
from tests.host.hosts import Span, host_of
from tests.step_traces import Kernel, Launch, steps_of

# start and kernel, and when the host launched it, all in us; None where the file does not say it
Placed = tuple[float, Kernel, float | None]
GEMM = Kernel("gemm", 60, "matrix_product")
RELU = Kernel("relu", 20, "activation")
WARM = Kernel("warm", 50, "elementwise")
DECODE, PREFILL = "step[DECODE bs=4]", "step[EXTEND bs=2 toks=64]"


def file_of(placed: Sequence[Placed], annotations: Sequence[tuple[str, float, float]]) -> Trace:
    """A file that marks no runs, with these kernels and these annotations of its host, in us."""
    kernels, launches, now = [], list[Launch](), 0.0
    for start, kernel, launch in placed:
        kernels.append(replace(kernel, after_us=start - now))
        launches.append(None if launch is None else (0, launch))
        now = start + kernel.us
    spans: list[Span] = [
        (0, "annotation", name, round(begin * 1000), round(end * 1000))
        for name, begin, end in annotations
    ]
    return steps_of([kernels], marked=False, spans=spans, launches=launches)


def units(
    names: Sequence[str], first_us: float
) -> tuple[list[Placed], list[tuple[str, float, float]]]:
    """Units of 200 us from there on, in each of which the device computes for 80."""
    placed, annotations = list[Placed](), []
    for at, name in enumerate(names):
        begin = first_us + 200 * at
        annotations.append((name, begin, begin + 200))
        placed += [(begin + 2, GEMM, begin + 1), (begin + 90, RELU, begin + 1)]
    return placed, annotations


def after_a_gap(names: Sequence[str]) -> Trace:
    """A kernel of 50 us outside all units, then nothing until they begin after 10 ms."""
    placed, annotations = units(names, 10_000)
    return file_of([(0, WARM, 0), *placed], annotations)


def explained(trace: Trace) -> tuple[Subject, TraceExplanation]:
    subject = advised(trace)
    found = explain_subject(subject)
    assert found is not None
    return subject, found


def note_of(trace: Trace, code: str) -> Diagnostic:
    [found] = (note for note in trace.diagnostics if note.code == code)
    return found


def text(side_parts: object) -> str:
    return "".join(part.text for part in side_parts)  # type: ignore[attr-defined]


def test_a_gap_before_all_units_is_no_time_of_a_unit() -> None:
    subject, found = explained(after_a_gap([DECODE] * 3))
    assert (found.unit.kind, found.unit.count, found.unit.wall_ns) == ("annotation", 3, 200_000)
    assert found.unit.parts.idle_ns == 120_000
    assert subject.run_ns == 200_000
    assert subject.step is not None and subject.step.idle_ns == 120_000
    told = findings(subject)
    assert told.has_runs and told.run_ns == 200_000
    idle = [one for one in told.found if one.code in ("idle_by_host", "dispatch_bound")]
    assert idle and all(one.share is not None and one.share <= 0.6 for one in idle)
    assert words.times_text(told) == "Times are means as profiled."


def test_headline_and_timeline_are_of_the_unit() -> None:
    side = advised(after_a_gap([DECODE] * 3)).side
    assert text(trace_parts(side)) == "A step of t takes 200 µs as profiled"
    assert trace_payload(side)["sides"][0]["dur_ns"] == 200_000
    assert "4 executions" not in trace_facts(side)
    assert "2 executions of 2 distinct operators a step." in trace_facts(side)


def test_runs_that_are_not_alike_have_more_operators_together_than_executions_each() -> None:
    """Two operators in each of two runs, one of which both have: three in all."""
    steps = [[Kernel("gemm", 10), Kernel(name, 10)] for name in ("norm", "softmax")]
    told = trace_facts(side_of_trace(steps_of(steps)))
    assert "2 executions a step, 3 distinct operators in all steps." in told
    names = ("gemm", "norm", "softmax", "copy")
    uneven = [[Kernel(name, 10) for name in names[:most]] for most in (3, 4)]
    told = trace_facts(side_of_trace(steps_of(uneven)))
    assert "3.5 executions a step, 4 distinct operators in all steps." in told


def test_what_the_file_shows_beside_its_units_is_said_once() -> None:
    side = advised(after_a_gap([DECODE] * 3)).side
    note = note_of(side.trace, "runs_beside")
    assert (note.count, note.values["before"], note.values["time"]) == (1, 10_000_000, 50_000)
    told = trace_facts(side)
    assert "each of 3 called step[DECODE bs=4] counts as one step" in told
    read = read_sentence(examine(side.trace))
    assert read == "3 steps; 3 distinct operators and 7 executions in all."
    assert "Beside these runs the file shows 10.0 ms before the first, by the clock." in told
    assert "1 execution, which takes 50.0 µs, is in no run." in told
    assert told.count("Beside") == 1


def test_classes_and_findings_add_up_to_no_more_than_the_unit() -> None:
    subject, found = explained(after_a_gap([DECODE] * 3))
    assert sum(one.ns for one in found.classes) == 80_000
    shares = [subject.share(ns) for ns in subject.times.values()]
    assert sum(share or 0.0 for share in shares) == pytest.approx(0.4)
    assert "warm" not in subject.times


def test_a_pair_and_a_trace_alone_are_of_the_same_unit() -> None:
    before, after = after_a_gap([DECODE] * 3), after_a_gap([DECODE] * 5)
    pair = compare(side_of_trace(before), side_of_trace(after))
    _, alone = explained(before)
    assert pair.explanation is not None
    unit = pair.explanation.unit
    assert (unit.kind, unit.counts) == ("annotation", (3, 5))
    assert unit.before_ns == alone.unit.wall_ns == 200_000
    assert unit.busy_ns[0] == alone.unit.parts.busy_ns == 80_000
    assert pair.figure("latency").baseline.value == pytest.approx(200_000)
    assert pair.figure("device_idle").candidate.value == pytest.approx(0.6)
    assert not {"no_runs", "runs_differ"} & {note.code for note in pair.diagnostics}


def test_units_of_other_work_are_in_no_run_and_counted() -> None:
    trace = after_a_gap([PREFILL, DECODE, DECODE, PREFILL, DECODE])
    subject, found = explained(trace)
    assert (found.unit.count, found.unit.others) == (3, 2)
    assert note_of(subject.trace, "runs_of_other_work").count == 2
    assert "2 other steps in the file do other work" in trace_sentence(found)
    assert by_operator(subject.trace)["count"].tolist() == [1, 1]
    assert note_of(subject.trace, "runs_beside").values["between"] == 200_000


def test_the_kind_of_work_can_be_chosen() -> None:
    trace = after_a_gap([PREFILL, DECODE, DECODE, PREFILL, DECODE])
    prefill = Work("prefill", 2, 64)
    assert len(with_unit_runs(trace, prefill).runs) == 2
    assert len(with_unit_runs(trace, Work("mixed", 1, 1)).runs) == 3, "it has no such work"
    sides = side_of_trace(trace), side_of_trace(after_a_gap([PREFILL] * 4 + [DECODE] * 5))
    found = compare(*sides, Assumptions(work=prefill))
    assert found.explanation is not None
    assert found.explanation.unit.works == (prefill, prefill)
    assert found.explanation.unit.counts == (2, 4)


def test_two_phases_are_each_by_their_own_units() -> None:
    sides = side_of_trace(after_a_gap([DECODE] * 3)), side_of_trace(after_a_gap([PREFILL] * 2))
    found = compare(*sides)
    assert found.verdict.reason == "different_phases"
    assert found.figure("device_busy").baseline.value == 80_000
    assert found.figure("kernels").candidate.value == 2


def test_a_single_step_begins_behind_what_was_launched_before_the_file_begins() -> None:
    """A step from 1 to 500 us; the device runs earlier kernels of 50 us until 100, then own ones of
    60 us at 100, 200 and 300: on the device the step takes the 400 us that are left."""
    earlier: list[Placed] = [(at, replace(GEMM, us=50), None) for at in (0, 50)]
    own: list[Placed] = [(at, GEMM, 5.0) for at in (100, 200, 300)]
    subject, found = explained(file_of([*earlier, *own], [("execute_model", 1.0, 500.0)]))
    assert [(one.op_class, one.ns) for one in found.classes] == [("matrix_product", 180_000)]
    assert by_operator(subject.trace)["per_run_ns"].sum() == 180_000
    note = note_of(subject.trace, "launched_before")
    assert (note.count, note.values["ns"]) == (2, 100_000)
    assert note_of(subject.trace, "run_behind_earlier").values["host"] == 499_000
    assert not any(note.code == "runs_beside" for note in subject.trace.diagnostics), "said once"
    assert (found.unit.wall_ns, found.unit.host_ns) == (400_000, 499_000)
    assert (found.unit.behind_ns, found.unit.earlier_ns) == (100_000, 0)
    assert (found.unit.parts.computing_ns, found.unit.parts.idle_ns) == (180_000, 220_000)
    assert (
        "A step takes 400 µs on the device; the file shows one. Before it the device ran what the "
        "host had launched before the file began (100 µs); on the host the step takes 499 µs."
        in trace_sentence(found)
    )


def test_earlier_kernels_on_another_stream_run_in_a_step_that_does_not_wait_for_them() -> None:
    """Earlier kernels run until 50 and, beside the step's own from 60 on, until 150."""
    own: list[Placed] = [(60 + 50 * at, WARM, 5.0) for at in range(4)]
    beside: Placed = (50, replace(GEMM, us=100, at_us=50), None)
    trace = step_to_300([(0, replace(GEMM, us=50), None), *own, beside])
    _, found = explained(trace)
    assert (found.unit.wall_ns, found.unit.earlier_ns, found.unit.behind_ns) == (
        240_000, 90_000, 60_000,
    )  # fmt: skip


def step_to_300(placed: Sequence[Placed]) -> Trace:
    """A file that marks one step, from 1 to 300 us; what was launched before is not of it."""
    return step_to(300, placed)


def step_to(end_us: int, placed: Sequence[Placed]) -> Trace:
    """The same with another end."""
    file = file_of(placed, [("forward", 1.0, 2.0)])
    run = pd.array([None if by is None else 0 for *_, by in placed], "Int64")
    length = end_us * 1000 - 1000
    runs = runs_frame(run=[0], kind=["step"], start_ns=[1000], dur_ns=[length], profiled=[True])
    return replace(file, runs=runs, calls=file.calls.assign(run=run))


def test_kernels_that_run_after_the_end_of_a_step_are_said_to() -> None:
    """A step from 1 to 300 us: an earlier kernel until 10, own ones at 100, 200 and 290, the last
    50 us after the end, and another of 20 wholly after it."""
    earlier: list[Placed] = [(0, replace(GEMM, us=10), None)]
    own: list[Placed] = [(at, GEMM, 5.0) for at in (100, 200, 290)]
    trace = step_to_300([*earlier, *own, (350, RELU, 6.0)])
    _, found = explained(trace)
    assert (found.unit.wall_ns, found.unit.parts.idle_ns) == (299_000, 160_000)
    assert (found.unit.parts.computing_ns, found.unit.earlier_ns) == (139_000, 9_000)
    assert found.unit.after_ns == 70_000
    in_classes = sum(one.ns for one in found.classes)
    assert in_classes - found.unit.after_ns + found.unit.earlier_ns == 139_000
    told = trace_sentence(found)
    assert (
        "Of the time in which the device is not idle, 9.00 µs goes to kernels that were launched "
        "before the file begins; the times of layers and classes are without them." in told
    )
    said = "Of the times of layers and classes, 70.0 µs is after the step ends."
    assert said in trace_sentence(found)


def test_two_devices_say_what_is_after_the_end_of_the_step() -> None:
    """Two steps of 300 us whose last product of 60 ends 50 and 10 us after them: the sum of the
    operators is more than what a step takes of the device."""

    gemms = (
        replace(GEMM, name="sm90_gemm", by="aten::mm"),
        replace(GEMM, name="Cijk", by="aten::mm"),
    )
    relus = replace(RELU, name="relu_a", by="aten::relu"), replace(RELU, name="b", by="aten::relu")
    before = step_to_300([(1, gemms[0], 2.0), (70, relus[0], 3.0), (290, gemms[0], 5.0)])
    after = step_to_300(
        [(1, relus[1], 2.0), (30, relus[1], 2.0), (70, gemms[1], 3.0), (250, gemms[1], 5.0)]
    )
    found = explain(before, after)
    assert found is not None and found.sides is not None and found.has_other_kernels
    assert [side.after_ns for side in found.sides] == [50_000, 10_000]
    assert [str(said) for said in after_said(found)] == [
        "Of both together, 10.0 µs is after the step ends (50.0 µs in the baseline)."
    ]
    assert idle_said(found) == [], "kernels after the end are no part of the step"
    within = step_to_300([(1, gemms[0], 2.0), (70, relus[0], 3.0)])
    busier = step_to_300([(1, relus[1], 2.0), (70, gemms[1], 3.0), (200, relus[1], 5.0)])
    pair = explain(within, busier)
    assert pair is not None and pair.has_other_kernels
    assert [str(said) for said in idle_said(pair)] == [
        "Idle time adds 199 µs instead of 219 µs (−20.0 µs)."
    ]


def test_a_repetition_is_what_the_device_runs_whoever_launched_it() -> None:
    layer = [("norm", 5), ("qkv", 40), ("attention", 30), ("mlp", 80), ("gelu", 7)]
    placed, now = list[Placed](), 0.0
    for copy in range(20):
        for name, us in layer:
            placed.append((now, Kernel(name, us), None if copy < 2 else now))
            now += us
    trace = with_unit_runs(file_of(placed, []))
    assert (trace.runs["kind"] == "repeat").all() and len(trace.runs) == 19
    assert by_operator(trace)["count"].tolist() == [1] * 5


def test_units_are_found_once() -> None:
    first, second = after_a_gap([DECODE, PREFILL, DECODE]), after_a_gap([DECODE] * 4)
    cut = with_unit_runs(first)
    assert with_unit_runs(cut) is cut
    pair = with_common_runs(first, second)
    assert with_common_runs(*pair) == pair
    marked = steps_of([(GEMM, RELU)] * 3)
    assert with_unit_runs(marked) is marked
    once = steps_of([tuple(Kernel(f"kernel_{at}", 9) for at in range(40))], marked=False)
    assert with_unit_runs(once) is once, "the file is the whole"


def step_behind(us: float) -> Trace:
    """A step from 1 to 180 us in which an earlier product of `us` runs until 110, none for 0, then
    three kernels of 20 us."""
    earlier: list[Placed] = [(110 - us, replace(GEMM, us=us), None)] if us else []
    own: list[Placed] = [(110 + 20 * at, replace(RELU, us=20), 5.0) for at in range(3)]
    return step_to(180, [*earlier, *own])


def test_what_changed_before_a_pair_of_single_steps_is_no_change_of_them() -> None:
    """Kernels that were launched before the file begins take 50 us more, on the same device: each
    trace shows alone what the pair shows of it."""
    before, after = step_behind(50), step_behind(100)
    found = compare(side_of_trace(before), side_of_trace(after))
    told = found.explanation
    assert told is not None and told.earlier is not None
    assert (told.outcome, told.unit.before_ns, told.unit.change_ns) == ("no_change", 70_000, 0)
    assert [explained(trace)[1].unit.wall_ns for trace in (before, after)] == [70_000, 70_000]
    earlier = told.earlier
    assert (earlier.unit.before_ns, earlier.unit.after_ns) == (50_000, 100_000)
    [change] = earlier.changes
    assert (change.code, change.change_ns, change.before[0].name) == ("time", 50_000, "gemm")
    table = found.op_types.set_index("op_type")["delta_ns"]
    assert "gemm" not in table.index
    said = leading_sentence(told)
    assert (
        "Before the step the device ran what the host had launched before the file began: 100 µs, "
        "in the baseline 50.0 µs." in said
    )
    assert "takes 100 µs instead of 50.0 µs: +50.0 µs in that earlier work." in said


def test_a_step_beside_one_that_begins_behind_earlier_kernels_is_of_the_device_too() -> None:
    """The device is free when the other step begins, and runs it from its start to 180 us."""
    found = compare(side_of_trace(step_behind(100)), side_of_trace(step_behind(0)))
    told = found.explanation
    assert told is not None and told.earlier is None
    assert (told.unit.before_ns, told.unit.after_ns) == (70_000, 179_000)
    assert all(
        note_of(side.trace, "run_behind_earlier") for side in (found.baseline, found.candidate)
    )


def test_a_queued_unit_begins_where_the_device_is_free() -> None:
    """A decoding step whose kernels wait 900 us after their launch, in which the file shows the
    device do 5 us: what it ran is not in the file, and no idle time of the step of 100 us."""
    small = replace(WARM, us=5)
    placed = [(10.0, small, 1.0), (1000.0, GEMM, 100.0), (1080.0, RELU, 100.0)]
    trace = file_of(placed, [(DECODE, 90, 200)])
    subject, found = explained(trace)
    assert (found.unit.count, found.unit.wall_ns) == (1, 100_000)
    assert found.unit.parts.idle_ns == 20_000
    assert subject.step is not None and subject.step.idle_ns == 20_000
    # Where the file shows what it waits for, it is part of how long the step takes.
    busy = [(10.0, replace(WARM, us=980), 1.0), *placed[1:]]
    _, waits = explained(file_of(busy, [(DECODE, 90, 200)]))
    assert waits.unit.wall_ns == 1100_000 - 90_000


def test_the_host_s_time_in_launches_of_a_unit() -> None:
    """Each unit launches both kernels at once, in a call of 3 us."""
    placed, annotations = units([DECODE] * 3, 10_000)
    trace = file_of([(0, WARM, 0), *placed], annotations)
    assert trace.host is not None
    spans: list[Span] = [
        (0, "runtime", "cudaGraphLaunch", round(at * 1000), round(at * 1000) + 3000)
        for at in (0, 10_001, 10_201, 10_401)
    ]
    spans += [(0, "annotation", name, int(b * 1000), int(e * 1000)) for name, b, e in annotations]
    calls = trace.calls["start_ns"].tolist()
    launches = [
        (at, at + 1, 0, round(by * 1000))
        for at, (_, _, by) in zip(calls, [(0, WARM, 0.0), *placed], strict=True)
        if by is not None
    ]
    runs = with_unit_runs(replace(trace, host=host_of(spans, launches))).runs
    assert runs["launches"].tolist() == [1, 1, 1]
    assert runs["launch_ns"].tolist() == [3000] * 3
    assert with_unit_runs(trace).runs["launch_ns"].isna().all(), "it has no calls of the host"


def test_kernels_of_one_entry_in_a_queue_are_launches_of_their_own() -> None:
    """One thread enqueues both kernels of a unit at once, another one hands each to the device in a
    call of 2 us."""
    placed, annotations = units([DECODE] * 3, 10_000)
    trace = file_of([(0, WARM, 0), *placed], annotations)
    queued = [
        (start, start + 1, 0, round(by * 1000))
        for start, (_, _, by) in zip(
            trace.calls["start_ns"].tolist(), [(0, WARM, 0.0), *placed], strict=True
        )
        if by is not None
    ]
    handed = [(1, at * 10_000) for at in range(len(queued))]
    spans: list[Span] = [(1, "runtime", "hipLaunchKernel", at, at + 2000) for _, at in handed]
    spans += [(0, "annotation", name, int(b * 1000), int(e * 1000)) for name, b, e in annotations]
    runs = with_unit_runs(replace(trace, host=host_of(spans, queued, handed))).runs
    assert runs["launches"].tolist() == [2, 2, 2]
    assert runs["launch_ns"].tolist() == [4000] * 3


def test_what_the_file_says_is_of_the_runs_that_figures_are_of() -> None:
    trace = with_unit_runs(after_a_gap([DECODE] * 3))
    codes = {note.code for note in examine(trace).noted}
    assert "runs_annotated" in codes and "no_runs" not in codes
    assert {one.figure: one.available for one in examine(trace).answers}["latency"]


def test_communication_that_one_side_has_is_told_of_a_run() -> None:
    talk = Kernel("ncclDevKernel_AllReduce", 20, "communication")
    placed, annotations = units([DECODE] * 3, 10_000)
    talks: list[Placed] = [(start + 70, talk, start + 65) for start, kernel, _ in placed[1::2]]
    spoken = sorted([*placed, *talks], key=lambda each: each[0])
    found = compare(
        side_of_trace(after_a_gap([DECODE] * 3)), side_of_trace(file_of(spoken, annotations))
    )
    [note] = (each for each in found.diagnostics if each.code == "communication_differs")
    assert note.values == {"on": "candidate", "per_run_ns": 20_000}


def test_launches_of_a_run_are_the_mean_of_those_that_the_file_shows() -> None:
    """The host is steps ahead, and launched one of five steps of the device before the file began:
    each of the others has two launches, alone and in a pair."""
    step = [GEMM, replace(RELU, us=30, after_us=10)]
    launches: list[Launch] = [None] * 3
    launches += [(0, 1.0 + 50 * at + each) for at in range(4) for each in (0, 1)]
    spans: list[Span] = [(0, "operator", "aten::mm", 0, 200_000)]
    runs = [(50.0 * at, 50.0 * at + 50) for at in range(4)]
    early = [replace(RELU, us=250), *step]
    trace = steps_of([early + step, step, step, step], spans=spans, launches=launches, runs_us=runs)
    pair = compare(side_of_trace(trace), side_of_trace(trace))
    assert len(pair.baseline.trace.profiled_runs) == 4, "in a pair as alone"
    alone = device_use(with_unit_runs(trace))
    assert alone is not None and alone.launches == 2
    assert pair.figure("launches").baseline.value == 2
    assert len(with_unit_runs(trace).profiled_runs) == 4


def test_the_device_has_its_own_period_beside_a_busier_stream_of_earlier_work() -> None:
    """40 kernels of stream 8 were launched before the file and end before its steps; those of 100
    us on the host take 400 us on stream 7, the last one 380."""
    kernels = [replace(WARM, us=10, at_us=20.0 * at) for at in range(40)]
    launches: list[Launch] = [None] * 40
    now = 0.0
    for step in range(3):
        for at in range(4):
            start = 1000.0 + 400 * step + 100 * at
            kernels.append(replace(GEMM, us=80, after_us=start - now))
            launches.append((0, 20.0 + 100 * step + 10 * at))
            now = start + 80
    spans: list[Span] = [
        (0, "annotation", DECODE, 10_000 + 100_000 * at, 110_000 + 100_000 * at) for at in range(3)
    ]
    trace = with_unit_runs(steps_of([kernels], marked=False, spans=spans, launches=launches))
    assert trace.runs["start_ns"].tolist() == [1_000_000, 1_400_000, 1_800_000]
    assert trace.runs["dur_ns"].tolist() == [400_000, 400_000, 380_000]


def test_a_stream_without_launches_says_nothing_of_what_was_launched_before_the_file() -> None:
    """Stream 8 runs a kernel before the first of which the file has the launch, and one after it:
    only the former was surely launched before the file began."""
    kernels = [replace(WARM, us=10, at_us=0.0), *[replace(GEMM, after_us=20)] * 4]
    kernels.append(replace(WARM, us=10, at_us=100.0))
    launches: list[Launch] = [None, *((0, 1.0 + at) for at in range(4)), None]
    spans: list[Span] = [(0, "operator", "aten::mm", 0, 9_000)]
    trace = steps_of([kernels], marked=False, spans=spans, launches=launches)
    assert launched_earlier(trace).tolist() == [True, False, False, False, False, False]
