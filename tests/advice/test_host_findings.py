"""Idle time by what the host did, as findings: what is named, and what is then not said twice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fusescope.analysis.advice import Findings
from fusescope.analysis.host.causes import CauseKind
from fusescope.analysis.metrics.stretch import Stretch
from fusescope.analysis.trace import Diagnostic
from fusescope.analysis.wording import findings as words
from fusescope.analysis.wording.explanation.changes.idle import IDLE_BY
from fusescope.analysis.wording.findings.host import CAUSES
from tests.advice.traces import found_in, of_code, reason
from tests.host.hosts import Call, Span, trace_of

OLD = {"dispatch_bound", "idle_before", "idle_after", "idle_time"}
LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"


def codes(found: Findings) -> list[str]:
    return [one.code for one in found.found]


def told(found: Findings) -> dict[str, tuple[float, float, int, str]]:
    """Idle ns, share, gaps and place of each cause."""
    return {
        str(one.values["cause"]): (
            float(str(one.values["idle_ns"])),
            float(str(one.values["share"])),
            int(str(one.values["places"])),
            str(one.values["place"]),
        )
        for one in found.found
        if one.code == "idle_by_host"
    }


def step(at: int, loads: int) -> tuple[list[Span], list[Call]]:
    """Loads for so many ns, launches a kernel that runs until 990, and waits until 1000."""
    spans: list[Span] = [
        (0, "annotation", LOADER, at, at + loads),
        (0, "operator", "aten::mm", at + loads, at + loads + 20),
        (0, "runtime", "cudaLaunchKernel", at + loads + 5, at + loads + 15),
        (0, "runtime", "cudaDeviceSynchronize", at + loads + 20, at + 1000),
    ]
    return spans, [(at + loads + 15, at + 990, 0, at + loads + 5)]


def test_data_is_named_with_its_time_in_a_run() -> None:
    """Loading takes 300 and 500 of two runs of 1000 ns. Before the kernel of each stand 15 ns of
    launching, after it 10 of waiting."""
    (spans, calls), (more, others) = step(0, 300), step(1000, 500)
    trace = trace_of([*spans, *more], [*calls, *others], [(0, 1000), (1000, 2000)])
    found = found_in(trace)
    assert told(found) == {"data_loading": (400, 0.4, 1, "DataLoader.__next__")}
    one = of_code(found, "idle_by_host")
    assert one is not None and one.at_most_ns == 400 and one.of_ns is None
    assert one.stretch == Stretch(0, 300), "in the run that timelines show"
    assert not OLD & set(codes(found))
    text = "".join(part.text for part in words.limit_parts(one))
    assert "400 ns, 40.0 % of the time" in text and "DataLoader.__next__" in text
    assert words.label_text(one) == "Idle while data is loaded"
    assert "num_workers" in words.remedy_text(one)
    bare = found_in(replace(trace, host=None))
    assert OLD & set(codes(bare)), "without the host it is said as before"
    assert reason(bare, "idle_by_host") == "no_host_calls"


def test_a_file_that_marks_no_runs_has_the_finding_too() -> None:
    """From the first kernel to the last, 100 to 1400 ns: 800 in hipFree, by the operator that calls
    it, in two gaps."""
    spans: list[Span] = [
        (0, "operator", "autograd::engine::evaluate_function: X", 0, 1500),
        (0, "operator", "aten::convolution_backward", 0, 1500),
        (0, "runtime", "hipFree", 200, 600), (0, "runtime", "hipFree", 800, 1200),
    ]  # fmt: skip
    calls: list[Call] = [(100, 200, 0, 50), (600, 800, 0, 600), (1200, 1400, 0, 1200)]
    found = found_in(trace_of(spans, calls))
    place = "aten::convolution_backward › hipFree"
    assert told(found) == {"allocation": (800, pytest.approx(800 / 1300), 2, place)}
    one = of_code(found, "idle_by_host")
    assert one is not None and one.of_ns == 1300
    assert reason(found, "idle_time") == "runs_unknown"


def test_a_call_that_several_operators_make_has_the_time_of_each_apart() -> None:
    """Of 900 ns in hipFree 400 are in a convolution, 300 in a sum, and 200 in a product: no path
    takes all 900. Where one operator has it all, it stands in front of the call."""
    names = ("aten::convolution_backward", "aten::sum", "aten::mm")
    spans: list[Span] = []
    for name, start, end in zip(names, (200, 800, 1300), (600, 1100, 1500), strict=True):
        spans += [(0, "operator", name, start, end), (0, "runtime", "hipFree", start, end)]
    calls: list[Call] = [
        (100, 200, 0, 50), (600, 800, 0, 600), (1100, 1300, 0, 1100), (1500, 1700, 0, 1500)
    ]  # fmt: skip
    one = of_code(found_in(trace_of(spans, calls)), "idle_by_host")
    assert one is not None
    assert (one.values["place"], one.values["place_ns"]) == ("hipFree", 900)
    assert (one.values["by"], one.values["by_ns"]) == ("aten::convolution_backward", 400)
    text = "".join(part.text for part in words.limit_parts(one))
    assert text.endswith(
        "the largest part, 900 ns, in hipFree. Of that idle time in hipFree the largest part, "
        "400 ns, is in aten::convolution_backward."
    )


def test_what_is_bound_by_dispatch_is_said_once() -> None:
    """Ten kernels of 20 ns, one each 100 ns: the operator that launches it takes the 80 before."""
    spans: list[Span] = [(0, "operator", "aten::add", 100 * at, 100 * at + 80) for at in range(10)]
    calls: list[Call] = [(100 * at + 80, 100 * at + 100, 0, 100 * at + 75) for at in range(10)]
    found = found_in(trace_of(spans, calls, [(0, 1000)]))
    assert "dispatch_bound" in codes(found) and not told(found)
    # The same gaps in the code of the program.
    code: list[Span] = [(0, "frame", "m.py(1): f", 100 * at, 100 * at + 76) for at in range(10)]
    found = found_in(trace_of(code, calls, [(0, 1000)]))
    assert told(found)["python"] == (750, 0.75, 10, "m.py(1): f")
    assert not OLD & set(codes(found))


@pytest.mark.parametrize(
    ("launched", "says"), [(-10, "within 10.0 ns"), (-200_000, "100 µs later")]
)
def test_launching_says_whether_the_host_is_ahead_elsewhere(launched: int, says: str) -> None:
    """Of two kernels the first starts 10 ns, or 200 µs, after its launch, the second 10 ns: in the
    median 10 ns, or 100.005 µs."""
    spans: list[Span] = [(0, "operator", "aten::add", -200_000, 1000)]
    calls: list[Call] = [(0, 690, 0, launched), (790, 1000, 0, 780)]
    one = of_code(found_in(trace_of(spans, calls, [(0, 1000)])), "idle_by_host")
    assert one is not None and one.values["cause"] == "launching"
    assert says in words.why_text(one)


@pytest.mark.parametrize(("share", "tries"), [(0.9, "Graphs launch 90.0 %"), (0.3, "CUDA graphs")])
def test_graphs_are_no_advice_where_they_launch_most_kernels(share: float, tries: str) -> None:
    spans: list[Span] = [(0, "operator", "aten::add", 100 * at, 100 * at + 80) for at in range(10)]
    calls: list[Call] = [(100 * at + 80, 100 * at + 100, 0, 100 * at + 75) for at in range(10)]
    note = Diagnostic("info", "graphs_launched", 9, values={"share": share})
    bound = replace(trace_of(spans, calls, [(0, 1000)]), diagnostics=(note,))
    between: list[Call] = [(0, 690, 0, -10), (790, 1000, 0, 780)]
    spans = [(0, "operator", "aten::add", -200, 1000)]
    some = replace(trace_of(spans, between, [(0, 1000)]), diagnostics=(note,))
    for trace, code in ((bound, "dispatch_bound"), (some, "idle_by_host")):
        one = of_code(found_in(trace), code)
        assert one is not None and tries in words.remedy_text(one)


def test_code_of_the_profiler_is_said_to_be_its_own() -> None:
    for name, is_own in (("torch_npu/profiler/profiler.py(2): step", True), ("m.py(1): f", False)):
        code: list[Span] = [(0, "frame", name, 100 * at, 100 * at + 76) for at in range(10)]
        calls: list[Call] = [(100 * at + 80, 100 * at + 100, 0, 100 * at + 75) for at in range(10)]
        found = found_in(trace_of(code, calls, [(0, 1000)])).found
        one = next(each for each in found if each.values.get("cause") == "python")
        assert ("profiler's own" in words.why_text(one)) is is_own


@pytest.mark.parametrize(
    ("wait", "says"), [(400, "launches operators, the longest 400 ns."), (30, "operators.")]
)
def test_a_gap_that_is_much_of_the_idle_time_of_launching_is_named(wait: int, says: str) -> None:
    """Twenty gaps of 30 ns and one of 400, which is 40 % of their time: fewer launches would not
    shorten that one."""
    spans: list[Span] = [(0, "operator", "aten::add", 0, 5000)]
    calls: list[Call] = []
    at = 0
    for gap in (*[30] * 20, wait):
        calls.append((at, at + 100, 0, at - 5))
        at += 100 + gap
    calls.append((at, 5000, 0, at - 5))
    one = of_code(found_in(trace_of(spans, calls, [(0, 5000)])), "idle_by_host")
    assert one is not None and one.values["cause"] == "launching"
    assert "".join(part.text for part in words.limit_parts(one)).endswith(says)


def test_what_was_launched_already_is_said_of_the_device() -> None:
    """Both kernels were launched at once; between them the device has nothing running for 100."""
    spans: list[Span] = [(0, "operator", "aten::add", 0, 1000)]
    calls: list[Call] = [(0, 400, 0, 0), (500, 1000, 0, 10)]
    found = found_in(trace_of(spans, calls, [(0, 1000)]))
    assert told(found) == {"queued": (100, 0.1, 1, "")}


def test_what_the_file_does_not_show_is_not_said() -> None:
    """Most of the idle time lies where no span is: so the older findings stand."""
    spans: list[Span] = [(0, "operator", "aten::add", 0, 20)]
    calls: list[Call] = [(20, 200, 0, 15), (800, 1000, 0, 795)]
    found = found_in(trace_of(spans, calls, [(0, 1000)]))
    assert not told(found).keys() - {"launching"} and "idle_before" in codes(found)


def test_little_idle_time_is_no_finding() -> None:
    """40 of 1000 ns."""
    spans: list[Span] = [(0, "runtime", "cudaMalloc", 0, 1000)]
    found = found_in(trace_of(spans, [(0, 480, 0, 0), (520, 1000, 0, 519)], [(0, 1000)]))
    assert not told(found)


def test_every_kind_of_cause_but_the_unknown_has_its_words() -> None:
    kinds = set(CauseKind.__args__)  # type: ignore[attr-defined]
    assert set(CAUSES) == set(IDLE_BY) == kinds - {"unknown"}
