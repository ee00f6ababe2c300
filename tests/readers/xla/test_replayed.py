"""Kernels of a command buffer, and the host's steps that launched kernels."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from fusescope.analysis.readers import read
from fusescope.analysis.readers.building.replays import adds_up, placed
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace

MAKE: dict[str, Any] = runpy.run_path(
    str(Path(__file__).parents[3] / "sample_traces" / "formats" / "xplane" / "make.py")
)
message: Callable[..., bytes] = MAKE["message"]
Plane: Any = MAKE["Plane"]
space: Callable[..., bytes] = MAKE["space"]

# name, opcode, and the original; in the order of the schedule, which is not that of the file.
SCHEDULE = (
    ("arg", "parameter", ""),
    ("custom-call.4", "custom-call", "first"),
    ("loop_fusion.3", "fusion", "gelu_1"),
    ("custom-call.1", "custom-call", "second"),
    ("custom-call.2", "custom-call", "third"),
    ("softmax.30", "fusion", "softmax"),
    ("custom-call.9", "custom-call", "fourth"),
    ("loop_fusion.2", "fusion", "gelu_2"),
    ("custom-call.7", "custom-call", "last"),
)


def program(schedule: Sequence[tuple[str, str, str]] = SCHEDULE) -> bytes:
    made, inner = [], []
    for number, (name, opcode, original) in enumerate(schedule, start=1):
        shape = message((2, 11), (3, 8))
        named = message((2, f"jit(f)/{original}"))
        called = [(38, bytes([100 + number]))] if opcode == "fusion" else []
        if called:
            inside = message((1, "m"), (2, "multiply"), (35, 1), (7, named))
            inner.append(message((1, f"fused{number}"), (2, inside), (5, 100 + number), (6, 1)))
        # Each reads the one before, so that the order of the file is one of the graph.
        reads = [(36, bytes([number - 1]))] if number > 1 else []
        told = [(7, named)] if original else []
        made.append(
            message((1, name), (2, opcode), (3, shape), (35, number), *told, *reads, *called)
        )
    entry = message((1, "main"), *((2, one) for one in made), (5, 8), (6, len(made)))
    order = message((1, bytes(range(1, len(made) + 1))))
    schedules = message((1, message((1, 8), (2, order))))
    return message(
        (1, message((1, "jit_f"), *((3, one) for one in inner), (3, entry), (6, 8), (7, schedules)))
    )


def opened(
    names: Sequence[str],
    launches: int = 1,
    marks: Sequence[tuple[int, int]] = (),
    launch_every_ns: int = 1000,
    own: bytes | None = None,
) -> Trace:
    """Each launch runs the kernels of `names`, 10 ns each, 100 ns after the host's call of it."""
    metadata = Plane("/host:metadata")
    metadata.event("jit_f(19)", 0, 0, **{"of_Hlo Proto": own if own is not None else program()})
    device, host = Plane("/device:GPU:0"), Plane("/host:CPU")
    kernels, calls = [], []
    for launch in range(launches):
        begin = launch * launch_every_ns
        calls.append(host.event("cuGraphLaunch", begin * 1000, 5_000, correlation_id=launch + 1))
        for place, name in enumerate(names):
            kernels.append(
                device.event(
                    name, (begin + 100 + 12 * place) * 1000, 10_000, hlo_op="command_buffer_1",
                    program_id=19, correlation_id=launch + 1,
                )
            )  # fmt: skip
    device.line("Stream #1", 0, kernels[::-1])
    steps = [
        host.event("run", start * 1000, (end - start) * 1000, step_num=at)
        for at, (start, end) in enumerate(marks)
    ]
    host.line("python", 0, steps + calls)
    trace = read(Source("x.xplane.pb", space([metadata, device, host])))
    assert isinstance(trace, Trace)
    return trace


def told(trace: Trace) -> list[tuple[str, str]]:
    """Name and originals of each call in order of time."""
    calls = trace.calls.sort_values("start_ns")
    names, members = trace.texts("name"), trace.texts("members")
    return [(names[at], str(members[at]).replace("jit(f)/", "")) for at in calls["operator"]]


def test_kernels_of_a_command_buffer_are_known_by_the_schedule() -> None:
    trace = opened(["gemm", "loop_fusion_3", "gemm", "gemm", "softmax_30"])
    assert told(trace) == [
        ("gemm", "first"), ("loop_fusion_3", "gelu_1"), ("gemm", "second"), ("gemm", "third"),
        ("softmax_30", "softmax"),
    ]  # fmt: skip
    types = dict(zip(trace.texts("name"), trace.texts("op_type"), strict=True))
    assert (types["gemm"], types["softmax_30"]) == ("custom-call", "softmax")
    assert set(trace.texts("outputs")) == {"float32[8]"}


def test_one_kernel_serves_all_fusions_of_equal_code() -> None:
    """Both fusions run the code of the first one, so its name stands twice."""
    kernels = ["loop_fusion_3", "gemm", "gemm", "softmax_30", "gemm", "loop_fusion_3", "gemm"]
    assert told(opened(kernels)) == [
        ("loop_fusion_3", "gelu_1"), ("gemm", "second"), ("gemm", "third"),
        ("softmax_30", "softmax"), ("gemm", "fourth"), ("loop_fusion_3", "gelu_2"),
        ("gemm", "last"),
    ]  # fmt: skip


def test_library_kernels_that_nothing_tells_apart_are_of_all_calls_between() -> None:
    kernels = ["loop_fusion_3", "gemm", "cast", "gemm", "softmax_30"]
    middle = [text for name, text in told(opened(kernels)) if name in ("gemm", "cast")]
    assert middle == ["second + third"] * 3
    with_parts = ["loop_fusion_3", "gemm", "splitKreduce_kernel", "gemm", "softmax_30"]
    assert [text for _, text in told(opened(with_parts))] == [
        "gelu_1", "second", "second", "third", "softmax",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "kernels",
    [
        ["loop_fusion_3", "loop_fusion_3"],  # a kernel is missing
        ["loop_fusion_3"],  # which of the two?
        ["gemm", "gemm"],  # nothing has a name
        ["softmax_30", "softmax_30"],
    ],
)
def test_nothing_is_said_of_kernels_that_do_not_fit_in_exactly_one_way(kernels: list[str]) -> None:
    assert {text for _, text in told(opened(kernels))} == {""}
    assert {text for _, text in told(opened(["softmax_30"], own=b"\x0a\x03abc"))} == {""}


def test_runs_of_a_gpu_are_the_steps_that_launched() -> None:
    trace = opened(["gemm", "softmax_30"], 3, [(0, 900), (1000, 1900), (2000, 2900)])
    assert trace.runs[["start_ns", "dur_ns"]].to_numpy().tolist() == [
        [0, 900], [1000, 900], [2000, 900],
    ]  # fmt: skip
    assert sorted(trace.calls["run"]) == [0, 0, 1, 1, 2, 2]


def test_a_host_that_runs_ahead_marks_no_time() -> None:
    """Marked are the launches alone: a run lasts from its first kernel to the end of its last."""
    trace = opened(["gemm", "softmax_30"], 2, [(0, 50), (1000, 1050)])
    assert trace.runs[["start_ns", "dur_ns"]].to_numpy().tolist() == [[100, 22], [1100, 22]]


def test_a_launch_outside_every_step_is_counted() -> None:
    trace = opened(["softmax_30"], 3, [(0, 900), (1000, 1900)])
    assert {note.code: note.count for note in trace.diagnostics}["outside_runs"] == 1
    assert len(opened(["softmax_30"], 2).runs) == len(opened(["softmax_30"], 1).runs)


def test_kernels_of_calls_by_their_place() -> None:
    assert placed("ab", [False, False]) == [("a",), ("b",)]
    assert placed("ab", [False, True, False]) == [("a",), ("a",), ("b",)]
    assert placed("a", [False, False]) == [("a",), ("a",)]
    assert placed("ab", [False]) == [("a", "b")]
    assert placed("", [False, True]) == [(), ()]
    assert placed("a", [True]) == [("a",)]
    assert adds_up("void cublasLt::splitKreduce_kernel<32, 16>") and not adds_up("gemm_split")
