"""Idle time by what the host did: what each interval is put to, and that nothing is lost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.host.idle import HostIdle, idle_by_host
from fusescope.analysis.host.latency import launch_latency
from fusescope.analysis.host.leaves import Leaves
from fusescope.analysis.host.runs import idle_of_runs
from fusescope.analysis.metrics.spans import union_ns
from fusescope.analysis.readers import read_path
from fusescope.analysis.trace import Trace, operators_frame
from tests.conftest import SHARED_TRACES
from tests.host.hosts import Call, Span, host_of, trace_of

needs_real = pytest.mark.usefixtures("shared_traces")
KINETO = SHARED_TRACES / "third_party/kineto"

# One thread loads data until 50, then launches two kernels; the second one waits for an allocation.
SPANS: list[Span] = [
    (0, "annotation", "ProfilerStep#3", 0, 200),
    (0, "frame", "train.py(3): main", 0, 150),
    (0, "annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 5, 50),
    (0, "operator", "aten::mm", 55, 100),
    (0, "runtime", "cudaLaunchKernel", 56, 58),
    (0, "runtime", "cudaMalloc", 60, 95),
    (0, "runtime", "cudaLaunchKernel", 96, 99),
]
CALLS: list[Call] = [(60, 70, 0, 56), (110, 140, 0, 96)]


def causes(found: HostIdle | None) -> list[tuple[str, str, int, int]]:
    assert found is not None
    return [(one.kind, one.name, one.idle_ns, one.count) for one in found.causes]


def of(trace: Trace, *windows: tuple[int, int]) -> HostIdle | None:
    return idle_by_host(trace, np.array([a for a, _ in windows]), np.array([b for _, b in windows]))


def test_each_interval_is_put_to_what_the_launching_thread_did() -> None:
    """Idle are 0 to 60, 70 to 110 and 140 to 200: 45 of data, 25 of cudaMalloc; the operator's own
    55 to 56 and 95 to 96, and from launch to start 56 to 60 and 96 to 110; main around them, 0 to
    5, 50 to 55 and 140 to 150; and nothing but the step's mark from 150 on."""
    found = of(trace_of(SPANS, CALLS), (0, 200))
    assert causes(found) == [
        ("unknown", "", 50, 1),
        ("data_loading", "DataLoader.__next__", 45, 1),
        ("allocation", "cudaMalloc", 25, 1),
        ("launching", "", 20, 2),
        ("python", "train.py(3): main", 20, 2),
    ]
    assert found is not None and found.idle_ns == 160
    assert found.causes[2].path == ("train.py(3): main", "aten::mm", "cudaMalloc")
    assert found.causes[2].longest_ns == (70, 95)


def test_a_queue_between_the_threads_that_ask_and_that_hand_over() -> None:
    """Thread 0 asks at 40 for what thread 1 hands over at 60 and runs from 70 on. Until 40 counts
    what thread 0 did, but from 30 on what thread 1 was at; from 40 to 50, where that does nothing,
    and after 60 the kernel is being launched."""
    spans: list[Span] = [
        (0, "frame", "train.py(3): main", 0, 25), (0, "frame", "late.py(1): f", 41, 90),
        (1, "runtime", "aclrtMalloc", 30, 35), (1, "operator", "Dequeue@Add", 50, 60),
        (0, "operator", "aten::add", 35, 41),
    ]  # fmt: skip
    calls: list[Call] = [(-20, 0, 0, -30), (70, 80, 0, 40)]
    handed = [(1, -25), (1, 60)]
    trace = trace_of(spans, calls, handed=handed)
    assert causes(of(trace, (0, 70))) == [
        ("launching", "", 35, 1), ("python", "train.py(3): main", 25, 1),
        ("allocation", "aclrtMalloc", 5, 1), ("unknown", "", 5, 1),
    ]  # fmt: skip
    latency = launch_latency(trace)
    assert latency is not None and latency.median_ns == 7, "of 5 and 10"
    alone = trace_of(spans, calls)
    assert causes(of(alone, (0, 70)))[0] == ("launching", "", 35, 1), "30 of it before it starts"
    assert alone.host is not None and alone.host.submit_lanes is None


def test_a_gap_inside_a_graph_is_not_the_hosts() -> None:
    """One call launches three kernels and returns at 90, when most of them have run. The device was
    idle from 0 to 10 until the first one, which is launching; from 20 to 30 and from 40 to 80
    between those of the graph, which were launched. What is launched at 95 is again the host's."""
    spans: list[Span] = [
        (0, "runtime", "cudaGraphLaunch", 2, 90), (0, "runtime", "cudaLaunchKernel", 95, 98)
    ]  # fmt: skip
    graph: list[Call] = [(at, at + 10, 0, 2) for at in (10, 30, 80)]
    found = of(trace_of(spans, [*graph, (100, 110, 0, 95)]), (0, 110))
    assert found is not None
    kinds = {cause.kind: (cause.idle_ns, cause.count) for cause in found.causes}
    assert kinds["queued"] == (50, 2)
    assert sum(ns for ns, _ in kinds.values()) == 70


def test_windows_stand_apart() -> None:
    """A window that cuts intervals, one in a kernel, and one outside of everything."""
    found = of(trace_of(SPANS, CALLS), (30, 65), (62, 68), (300, 310), (80, 80))
    assert found is not None
    times = {cause.kind: list(row) for cause, row in found.by_window(4).items()}
    assert times == {
        "data_loading": [20, 0, 0, 0], "python": [5, 0, 0, 0], "launching": [5, 0, 0, 0],
        "unknown": [0, 0, 10, 0],
    }  # fmt: skip


def test_the_thread_that_launches_next_counts_and_where_it_does_nothing_the_one_before() -> None:
    """Thread 1 launches the second kernel. Until 60 it waits for nothing that is seen, so thread 0
    is asked; from 60 on its own hipFree counts, although thread 0 computes."""
    spans: list[Span] = [
        (0, "operator", "aten::a", 0, 30), (0, "frame", "m.py(1): f", 30, 100),
        (1, "runtime", "hipFree", 60, 90),
    ]  # fmt: skip
    found = of(trace_of(spans, [(10, 40, 0, 5), (100, 110, 1, 91)]), (40, 110))
    assert causes(found) == [
        ("allocation", "hipFree", 30, 1), ("python", "m.py(1): f", 21, 1), ("launching", "", 9, 1)
    ]  # fmt: skip


def test_a_thread_that_waits_for_another_is_not_what_is_named() -> None:
    """The main thread waits in run_backward for the thread that frees memory."""
    spans: list[Span] = [
        (0, "frame", "<built-in method run_backward of torch._C._EngineBase object at 0x1>", 0, 90),
        (1, "runtime", "hipFree", 20, 80),
    ]  # fmt: skip
    found = of(trace_of(spans, [(5, 20, 1, 1), (90, 110, 0, 85)]), (20, 90))
    assert [one[:3] for one in causes(found)] == [
        ("allocation", "hipFree", 60),
        ("launching", "", 5),
        ("python", "<built-in method run_backward of torch._C._EngineBase object at 0x1>", 5),
    ]


def test_what_is_launched_after_a_wait_is_late_because_of_the_wait() -> None:
    """The device runs dry at 40, in a wait until 50, after which Python takes 20 and an operator 10
    until its launch; before the third kernel the host does not wait."""
    spans: list[Span] = [
        (0, "runtime", "cudaStreamSynchronize", 20, 50), (0, "frame", "m.py(1): f", 50, 70),
        (0, "operator", "aten::mm", 70, 95), (0, "operator", "aten::mm", 105, 120),
    ]  # fmt: skip
    found = of(trace_of(spans, [(10, 40, 0, 5), (90, 110, 0, 80), (120, 130, 0, 115)]), (10, 130))
    assert causes(found) == [
        ("synchronisation", "cudaStreamSynchronize", 30, 1), ("python", "m.py(1): f", 20, 1),
        ("launching", "", 10, 1),
    ]  # fmt: skip
    assert found is not None and found.causes[0].path == ("cudaStreamSynchronize",)


def test_a_copy_that_returns_when_it_is_done_is_the_hosts_until_then() -> None:
    """The call lasts from 100 to 300,000 ns, what it copies from 299,000 on."""
    spans: list[Span] = [
        (0, "operator", "aten::to", 50, 300_010), (0, "runtime", "cudaMemcpyAsync", 100, 300_000)
    ]  # fmt: skip
    found = of(trace_of(spans, [(10, 60, 0, 5), (299_000, 299_900, 0, 100)]), (10, 299_900))
    assert causes(found) == [
        ("copy_waits", "cudaMemcpyAsync", 298_900, 1), ("launching", "", 40, 1)
    ]  # fmt: skip


def test_what_was_launched_already_is_not_the_hosts() -> None:
    """The second kernel was launched while the first one ran; the third 200 µs before it began; the
    fourth has no launch in the file, so the host counts until it begins."""
    busy: list[Span] = [(0, "frame", "m.py(1): f", 0, 900_000)]
    calls: list[Call] = [
        (100, 200, 0, 50), (210, 300, 0, 150), (200_700, 200_800, 0, 700),
        (201_000, 201_100, None, 0),
    ]  # fmt: skip
    found = of(trace_of(busy, calls), (100, 201_100))
    assert causes(found) == [("queued", "", 10 + 200_000, 2), ("python", "m.py(1): f", 600, 2)]
    early = of(trace_of(busy, [(5, 10, None, 0), (20, 30, None, 0), (40, 50, 0, 35)]), (5, 50))
    assert causes(early) == [
        ("queued", "", 10, 1), ("launching", "", 5, 1), ("python", "m.py(1): f", 5, 1)
    ]  # fmt: skip


def test_without_launches_the_thread_with_most_calls_counts() -> None:
    spans: list[Span] = [(2, "runtime", "hipMalloc", 10, 20), (1, "frame", "x.py(1): f", 0, 50)]
    found = of(trace_of(spans, [(0, 10, None, 0), (20, 30, None, 0)]), (0, 30))
    assert causes(found) == [("allocation", "hipMalloc", 10, 1)]


def test_nothing_is_said_without_a_host_or_without_starts() -> None:
    trace = trace_of(SPANS, CALLS)
    assert of(replace(trace, host=None), (0, 200)) is None
    calls = trace.calls.copy()
    calls.loc[1, "start_ns"] = None
    assert of(replace(trace, calls=calls), (0, 200)) is None
    far: list[Span] = [(at, "frame", "f", -(2**60), 2**60) for at in range(5)]
    assert of(trace_of(far, CALLS), (0, 200)) is None, "too far apart to be numbered"


NAMES = ("cudaMalloc", "train.py(3): main", "aten::mm", "ProfilerStep#1", "enumerate(DataLoader)#x")
KINDS = ("operator", "frame", "annotation", "runtime")


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    time = st.integers(0, 40)
    spans = draw(
        st.lists(
            st.tuples(
                st.integers(0, 2), st.sampled_from(KINDS), st.sampled_from(NAMES), time, time
            ),
            min_size=1,
        )
    )
    lane = st.none() | st.integers(0, 3)
    calls = draw(st.lists(st.tuples(time, time, lane, time), min_size=1))
    handed = draw(st.lists(st.none() | st.tuples(st.integers(0, 3), time), max_size=len(calls)))
    return trace_of(
        [(a, b, c, min(d, e), max(d, e)) for a, b, c, d, e in spans],
        [(min(a, b), max(a, b), c, d) for a, b, c, d in calls],
        handed=handed,
    )


@given(traces(), st.lists(st.tuples(st.integers(-5, 45), st.integers(0, 20)), max_size=4))
def test_the_causes_of_a_window_add_up_to_its_idle_time(
    trace: Trace, windows: list[tuple[int, int]]
) -> None:
    starts = np.array([start for start, _ in windows], dtype="int64")
    ends = starts + np.array([length for _, length in windows], dtype="int64")
    found = idle_by_host(trace, starts, ends)
    assert found is not None
    by_window = sum(found.by_window(len(windows)).values(), np.zeros(len(windows), dtype="int64"))
    begins = trace.calls["start_ns"].to_numpy("int64")
    lasts = begins + trace.calls["dur_ns"].to_numpy()
    for at, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        low, high = np.clip(begins, start, end), np.clip(lasts, start, end)
        assert by_window[at] == end - start - union_ns(low, high - low)
    assert sum(one.idle_ns for one in found.causes) == found.idle_ns


@given(traces())
def test_the_innermost_span_is_the_last_to_begin_of_those_that_run(trace: Trace) -> None:
    """Span by span and ns by ns. Of those that begin together it is the last in their order."""
    host = trace.host
    assert host is not None
    lanes = np.repeat(np.arange(3), 45)
    times = np.tile(np.arange(-2, 43), 3)
    found = Leaves(host).of(lanes, times, times + 1)
    assert found.of.tolist() == list(range(len(lanes))), "times are whole, so no ns is cut"
    for lane, time, span in zip(lanes.tolist(), times.tolist(), found.spans.tolist(), strict=True):
        runs = [
            at
            for at in range(len(host.lanes))
            if host.lane_names[host.lanes[at]] == f"thread {lane}"
            and host.starts_ns[at] <= time < host.ends_ns[at]
        ]
        if host.lane_names[lane : lane + 1] == (f"thread {lane}",):
            assert span == (runs[-1] if runs else -1)


def test_runs_and_a_file_without_any() -> None:
    """Of two runs of 100 ns the second has no kernel at all."""
    whole = idle_of_runs(trace_of(SPANS, CALLS))
    assert whole is not None and (whole.runs, whole.count, whole.wall_ns) == ((), 1, 80)
    assert whole.idle.idle_ns == 40 and whole.share == 0.5
    two = idle_of_runs(trace_of(SPANS, CALLS, [(0, 100), (100, 200)]))
    assert two is not None and (two.count, two.wall_ns, two.idle.idle_ns) == (2, 200, 160)
    assert idle_of_runs(replace(trace_of(SPANS, CALLS), host=None)) is None


def test_the_latency_from_launch_to_start() -> None:
    """4 and 14 ns, and 250 µs."""
    found = launch_latency(trace_of(SPANS, CALLS))
    assert found is not None
    assert (found.median_ns, found.launches, found.host_is_ahead) == (9, 2, False)
    late = launch_latency(trace_of(SPANS, [(250_056, 250_070, 0, 56), (1, 2, None, 0)]))
    assert (
        late is not None and (late.median_ns, late.launches) == (250_000, 1) and late.host_is_ahead
    )
    # Of three kernels of one graph the first starts 9 ns after the launch.
    graph = [(at, at + 10, 0, 56) for at in (65, 80_000, 160_000)]
    one = launch_latency(trace_of(SPANS, graph))
    assert one is not None and (one.median_ns, one.launches) == (9, 1)
    trace = trace_of(SPANS, CALLS)
    table = operators_frame(
        operator=[0, 1], name=["a", "b"], op_type=["mm"] * 2, level=["framework_op"] * 2
    )
    assert launch_latency(replace(trace, operators=table)) is None, "nothing was launched"
    assert launch_latency(trace_of(SPANS, [(1, 2, None, 0)])) is None


def test_the_latency_is_that_of_kernels_in_runs() -> None:
    """Of the run the kernels start 4 and 14 ns after their launches; a copy in it starts 80 ns
    after its own, and three kernels behind the run 1000 ns: neither is in the median of 9."""
    behind: list[Call] = [(at, at + 1, 0, at - 1000) for at in (2000, 3000, 4000)]
    calls: list[Call] = [*CALLS, (180, 190, 0, 100), *behind]
    trace = trace_of(SPANS, calls, [(0, 200)])
    types = ["gemm", "gemm", "Memcpy DtoH", *["gemm"] * 3]
    trace = replace(trace, operators=trace.operators.assign(op_type=pd.Categorical(types)))
    found = launch_latency(trace)
    assert found is not None and (found.median_ns, found.launches) == (9, 2)
    only_behind = trace_of(SPANS, behind, [(0, 200)])
    assert launch_latency(only_behind) is None


def test_a_host_of_nothing_but_moments() -> None:
    assert host_of([]) is None
    found = of(trace_of([(0, "runtime", "cudaMalloc", 5, 5)], CALLS), (0, 60))
    assert causes(found) == [("unknown", "", 56, 1), ("launching", "", 4, 1)]


@needs_real
@pytest.mark.parametrize(
    ("file", "kind", "name", "ms", "tolerance"),
    [
        ("mi300-train_resnet18.json.gz", "allocation", "hipFree", 2998, 0.001),
        # From the first kernel to the last; the first step waits for data before it, too.
        ("resnet50-workers_0.pt.trace.json.gz", "data_loading", "DataLoader.__next__", 287, 0.03),
        ("resnet50-workers_4.pt.trace.json.gz", "data_loading", "DataLoader.__next__", 8.5, 0.99),
    ],
)
def test_real_traces_say_what_an_expert_finds_in_them(
    file: str, kind: str, name: str, ms: float, tolerance: float
) -> None:
    trace = read_path(KINETO / file)
    assert isinstance(trace, Trace)
    starts = trace.calls["start_ns"].to_numpy("int64")
    ends = starts + trace.calls["dur_ns"].to_numpy()
    found = of(trace, (int(starts.min()), int(ends.max())))
    assert found is not None
    (one,) = [one for one in found.causes if (one.kind, one.name) == (kind, name)]
    assert one.idle_ns / 1e6 == pytest.approx(ms, rel=tolerance)
