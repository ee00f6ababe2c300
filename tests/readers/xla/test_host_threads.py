"""What the threads of the host did in an XLA profile: which line launches, and which one asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fusescope.analysis.host.latency import launch_latency
from fusescope.analysis.host.runs import idle_of_runs
from fusescope.analysis.trace import Trace
from tests.conftest import SHARED_TRACES
from tests.readers.xla.test_xplane import Plane, read_bytes, space

US = 1_000_000  # ps
EXECUTE = "PjRtStreamExecutorLoadedExecutable::Execute"


def events(plane: Any, *spans: tuple[str, int, int]) -> list[bytes]:
    return [plane.event(name, start * US, (end - start) * US) for name, start, end in spans]


def calls(plane: Any, *launches: tuple[int, int, int]) -> list[bytes]:
    return [
        plane.event("cuLaunchKernel", start * US, (end - start) * US, correlation_id=number)
        for number, start, end in launches
    ]


def profile(*lines: tuple[str, tuple[tuple[str, int, int], ...]]) -> Trace:
    """Kernels of dot.3 from 20 to 30 and from 70 to 80 µs, launched at 5 and at 52 µs on a line
    of the tracer; `lines` are those of XLA and Python."""
    device, host = Plane("/device:GPU:0"), Plane("/host:CPU")
    kernels = [
        device.event("gemm", start * US, 10 * US, correlation_id=number, hlo_op=("ref", "dot.3"))
        for number, start in ((1, 20), (2, 70))
    ]
    device.line("Stream #7(Kernel)", 0, kernels)
    host.line("Host Threads/9", 0, calls(host, (1, 5, 6), (2, 52, 54)))
    for name, spans in lines:
        host.line(name, 0, events(host, *spans))
    return read_bytes(space([device, host]))


POOL = ("py_xla_execute/1", (("dot.3", 4, 8), ("dot.3", 50, 58)))
PYTHON = ("python", (("$train.py:7 main", 0, 100), (EXECUTE, 2, 10), (EXECUTE, 40, 60)))


def causes(trace: Trace) -> dict[tuple[str, str], int]:
    found = idle_of_runs(trace)
    assert found is not None
    return {(one.kind, one.name): one.idle_ns for one in found.idle.causes}


def test_a_launch_belongs_to_the_line_in_whose_instruction_it_lies() -> None:
    """Idle are 30 to 70. The pool's thread is at it from 50 on; until 40, when Python's thread has
    the program executed, that one counts; from 54 on the launched kernel starts."""
    trace = profile(POOL, PYTHON)
    assert trace.host is not None
    assert trace.host.lane_names == ("thread py_xla_execute/1", "thread python")
    assert causes(trace) == {("launching", ""): 30_000, ("python", "train.py(7): main"): 10_000}
    latency = launch_latency(trace)
    assert latency is not None and latency.median_ns == 16_500, "of 15 and 18, not from Execute"


def test_two_lines_that_may_have_launched_it_are_none() -> None:
    """Both are in dot.3 when it is launched, so the line of calls stays alone, and Python's, which
    executes then, is asked: 10 of main, and 12 from Execute to the launch."""
    trace = profile(POOL, ("py_xla_execute/2", POOL[1]), PYTHON)
    assert trace.host is not None and "thread Host Threads/9" in trace.host.lane_names
    assert causes(trace) == {("launching", ""): 30_000, ("python", "train.py(7): main"): 10_000}


def test_two_lines_that_execute_are_no_one_who_asked() -> None:
    trace = profile(POOL, PYTHON, ("python2", PYTHON[1]))
    assert causes(trace) == {("launching", ""): 20_000, ("unknown", ""): 20_000}


def test_a_device_without_launches_in_the_file_has_no_host() -> None:
    device, host = Plane("/device:TPU:0"), Plane("/host:CPU")
    device.line("XLA Ops", 0, [device.event("fusion.1", 0, 10 * US)])
    host.line("python", 0, events(host, *PYTHON[1]))
    assert read_bytes(space([device, host])).host is None


@pytest.mark.usefixtures("shared_traces")
def test_a_real_profile_of_jax() -> None:
    """Of 12.2 ms of idle time the launching thread is in XLA for 8.3."""
    path: Path = SHARED_TRACES / "third_party/xplane/jax_conv_minimal_legacy.xplane.pb"
    found = causes(read_bytes(path.read_bytes()))
    assert found == {("launching", ""): 8_308_955, ("unknown", ""): 3_865_853}
