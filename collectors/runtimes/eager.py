"""ONNX Runtime, each node in a session of its own, tensors passed between: eager execution.

runtimes/eager_steps.py makes the one-node models, once in a recording. All sessions share one
allocator, so that a tensor that is freed can be reused by the next node.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import onnxruntime as ort
from onnxruntime.capi import onnxruntime_pybind11_state as binding

from analysis.errors import FuseScopeError
from collectors.jobs import Bench, Steps
from collectors.runtimes.onnxruntime import (
    PROVIDERS,
    Array,
    load_inputs,
    numpy_of,
    options,
)

MAX_THREADS = 8192
CLOCK_TOLERANCE_NS = 2_000_000


class EagerSession:
    """Every node's session, run one after the other.

    With `profile` (a folder) every session writes a profile of its own; `end_profiling` puts
    them on one clock. With spinning the sessions share one thread pool, as eager frameworks
    do: pools that spin would steal each other's cores. Without, each has a pool that sleeps,
    because the shared pool cannot be told not to spin. One run is made here.
    """

    def __init__(self, bench: Bench, *, profile: Path | None = None) -> None:
        assert bench.steps is not None
        plan = msgspec.json.decode(Path(bench.steps).read_bytes(), type=Steps)
        if not bench.spin and len(plan.steps) * (bench.threads - 1) > MAX_THREADS:
            raise FuseScopeError(
                f"Eager would need {len(plan.steps) * (bench.threads - 1)} threads, a pool for "
                "each node",
                hint="Lower --threads, or leave eager out of --variants.",
            )
        self._profiled = profile is not None
        self._runs: list[tuple[int, int]] = []
        settings = _options(bench)
        if profile is not None:
            settings.enable_profiling = True
        device = binding.OrtDevice(binding.OrtDevice.cpu(), binding.OrtDevice.default_memory(), 0)
        self._run_options = ort.RunOptions()
        self._clock: Callable[[], int] = time.time_ns
        self._steps: list[tuple[Any, list[str], list[str], tuple[str, ...], list[Any]]] = []
        for place, step in enumerate(plan.steps):
            if profile is not None:
                settings.profile_file_prefix = str(profile / f"{place:05d}")
            before = _clocks()
            session = ort.InferenceSession(step.file, settings, providers=PROVIDERS)
            if profile is not None and not self._steps:
                self._clock = _engine_clock(before, session.get_profiling_start_time_ns())
            self._steps.append(
                (
                    session,
                    list(step.inputs),
                    list(step.outputs),
                    step.free,
                    [device] * len(step.outputs),
                )
            )
        self._inputs: dict[str, Any] = {}
        for name, array in load_inputs(bench).items():
            value = binding.OrtValue.ortvalue_from_shape_and_type(
                list(array.shape), array.dtype, device
            )
            value.update_inplace(array)
            self._inputs[name] = value
        self._output_names = plan.outputs
        self._outputs: list[Any] = []
        self.run()

    def run(self) -> None:
        """One run of the whole model."""
        if not self._profiled:
            self._run()
            return
        start = self._clock()
        self._run()
        self._runs.append((start, self._clock() - start))

    def outputs(self) -> list[Array | None]:
        """The model's outputs of the latest run; None for what numpy cannot hold."""
        return [numpy_of(value) for value in self._outputs]

    def end_profiling(self, to: Path) -> tuple[list[int], list[int]]:
        """Writes the events of all sessions on one clock, whose zero is the first session's.

        Returns start and duration of every run in ns after that zero. Only `ts` is changed, by
        whole microseconds.
        """
        files = [
            (step[0].get_profiling_start_time_ns(), Path(step[0].end_profiling()))
            for step in self._steps
        ]
        zero = min((start for start, _ in files), default=0)
        events: list[dict[str, Any]] = []
        for start, file in files:
            shift = (start - zero) // 1000
            for event in msgspec.json.decode(file.read_bytes(), type=list[dict[str, Any]]):
                event["ts"] += shift
                events.append(event)
            file.unlink()
        events.sort(key=lambda event: event["ts"])
        with to.open("wb") as merged:
            merged.write(b"[\n")
            merged.write(b",\n".join(msgspec.json.encode(event) for event in events))
            merged.write(b"\n]\n")
        return _spans([(start - zero, dur) for start, dur in self._runs], events)

    def _run(self) -> None:
        values = dict(self._inputs)
        for session, reads, writes, free, devices in self._steps:
            feeds = binding.OrtValueVector()
            for name in reads:
                feeds.push_back(values[name])
            fetches = binding.OrtValueVector()
            session.run_with_ortvaluevector(
                self._run_options, reads, feeds, writes, fetches, devices
            )
            for name, value in zip(writes, fetches, strict=True):
                values[name] = value
            for name in free:
                del values[name]
        self._outputs = [values[name] for name in self._output_names]


@dataclass(frozen=True)
class _Reading:
    clock: Callable[[], int]
    ns: int


def _clocks() -> list[_Reading]:
    """The clocks that an engine may count on: the system's, or a steady one (macOS)."""
    clocks: list[Callable[[], int]] = [time.time_ns, time.monotonic_ns, time.perf_counter_ns]
    if hasattr(time, "CLOCK_MONOTONIC_RAW"):
        clocks.append(lambda: time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW))
    return [_Reading(clock, clock()) for clock in clocks]


def _engine_clock(before: list[_Reading], start_ns: int) -> Callable[[], int]:
    """The clock whose readings around the session's creation enclose its profiling start."""
    for reading in before:
        late = reading.clock() + CLOCK_TOLERANCE_NS
        if reading.ns - CLOCK_TOLERANCE_NS <= start_ns <= late:
            return reading.clock
    raise FuseScopeError(
        "The engine's profile runs on a clock that FuseScope does not know",
        hint="Leave eager out of --variants.",
    )


def _spans(
    runs: list[tuple[int, int]], events: list[dict[str, Any]]
) -> tuple[list[int], list[int]]:
    """Start and duration of the runs, each widened to hold its node events: the profile counts
    whole microseconds, so an event may seem to start up to one before its run."""
    starts, durations = [], []
    nodes = [
        (event["ts"] * 1000, (event["ts"] + event["dur"]) * 1000)
        for event in events
        if event.get("cat") == "Node"
    ]
    for start, dur in runs:
        end = start + dur
        inside = [node for node in nodes if node[0] >= start - 1000 and node[1] <= end + 1000]
        first = min((node[0] for node in inside), default=start)
        last = max((node[1] for node in inside), default=end)
        starts.append(min(start, first))
        durations.append(max(end, last) - min(start, first))
    return starts, durations


def _options(bench: Bench) -> ort.SessionOptions:
    """Settings of every node's session. What is shared is set up once in a process."""
    settings = options("none", threads=bench.threads, spin=bench.spin)
    settings.add_session_config_entry("session.use_env_allocators", "1")
    settings.use_per_session_threads = not bench.spin
    if not _shared:
        if bench.spin:
            ort.set_global_thread_pool_sizes(bench.threads, 1)
        info = ort.OrtMemoryInfo(
            "Cpu", ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, ort.OrtMemType.DEFAULT
        )
        ort.create_and_register_allocator(info, None)
        _shared.append(True)
    return settings


_shared: list[bool] = []
