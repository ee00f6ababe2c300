"""A model run piece by piece: each piece a session of ONNX Runtime, or a kernel of our own.

collectors/derive/pieces.py makes the pieces, once in a recording. Tensors pass between them without
a copy: kernels see the memory of the engine's tensors. All sessions share one allocator, so that a
tensor that is freed can be reused by the next piece.
"""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import onnxruntime as ort
from onnxruntime.capi import onnxruntime_pybind11_state as binding

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.models.array import Array
from fusescope.collectors.runtimes.onnxruntime import PROVIDERS, numpy_of, session_options
from fusescope.collectors.workers.given import load_inputs
from fusescope.collectors.workers.jobs import KernelCall, SessionSettings, Step, Steps

MAX_THREADS = 8192
CLOCK_TOLERANCE_NS = 2_000_000
ALIGNMENT = 64  # bytes, of a cache line and of the widest vector register
PROVIDER = "FuseScope"

Values = dict[str, Any]  # tensor name -> OrtValue
OpenedKernel = tuple[Callable[..., None], list[Array]]  # with the constant operands of its call
OpenKernel = Callable[[KernelCall, str, int], OpenedKernel]  # call, machine code, threads


class SegmentsSession:
    """The pieces, run one after the other.

    With `profile` (a folder) every session writes a profile of its own; `end_profiling` puts
    them and the calls of the kernels on one clock. With spinning the sessions share one thread
    pool, as eager frameworks do: pools that spin would steal each other's cores. Without, each
    has a pool that sleeps, because the shared pool cannot be told not to spin; the threads of
    kernels always sleep. One run is made here.
    """

    def __init__(
        self,
        settings: SessionSettings,
        steps: Path,
        open_kernel: OpenKernel,
        *,
        profile: Path | None = None,
    ) -> None:
        plan = msgspec.json.decode(steps.read_bytes(), type=Steps)
        sessions = sum(step.kernel is None for step in plan.steps)
        threads = sessions * (settings.threads - 1)
        if not settings.spin and threads > MAX_THREADS:
            raise FuseScopeError("pieces_too_many_threads", pieces=sessions, threads=threads)
        self._profiled = profile is not None
        self._runs: list[tuple[int, int]] = []
        ort_options = _options(settings)
        if profile is not None:
            ort_options.enable_profiling = True
        self._clock: Callable[[], int] = time.time_ns
        self._zero = self._clock()
        self._pieces: list[_Session | _Kernel] = []
        self._buffers = [_aligned(size) for size in plan.buffers]
        known = False
        for index, step in enumerate(plan.steps):
            if step.kernel is not None:
                self._pieces.append(
                    _Kernel(
                        step,
                        step.kernel,
                        self._buffers,
                        open_kernel(step.kernel, plan.kernel_cache, settings.threads),
                    )
                )
                continue
            if profile is not None:
                ort_options.profile_file_prefix = str(profile / f"{index:05d}")
            before = _clocks()
            session = ort.InferenceSession(step.file, ort_options, providers=PROVIDERS)
            if profile is not None and not known:
                known = True
                self._zero = session.get_profiling_start_time_ns()
                self._clock = _engine_clock(before, self._zero)
            self._pieces.append(_Session(step, session))
        self._inputs: Values = {}
        for name, array in load_inputs(settings).items():
            value = binding.OrtValue.ortvalue_from_shape_and_type(
                list(array.shape), array.dtype, _cpu()
            )
            value.update_inplace(array)
            self._inputs[name] = value
        self._output_names = plan.outputs
        self._outputs: list[Any] = []
        self.run()

    def feed(self, values: Mapping[str, Array]) -> None:
        """Puts other values of the same type and shape in place of these inputs."""
        for name, array in values.items():
            self._inputs[name].update_inplace(array)

    def run(self) -> None:
        """One run of the whole model."""
        if not self._profiled:
            self._run()
            return
        start = self._clock()
        self._run()
        self._runs.append((start, max(0, self._clock() - start)))  # it may be set back

    def outputs(self) -> list[Array | None]:
        """The model's outputs of the latest run; None for what numpy cannot hold."""
        return [numpy_of(value) for value in self._outputs]

    def end_profiling(self, to: Path) -> tuple[list[int], list[int]]:
        """Writes the events of all pieces on one clock, whose zero is the first session's.

        Returns start and duration of every run in ns after that zero. Of the sessions' events
        only `ts` is changed, by whole microseconds.
        """
        events: list[dict[str, Any]] = []
        for index, piece in enumerate(self._pieces):
            events += piece.events(self._zero, index)
        events.sort(key=lambda event: event["ts"])
        with to.open("wb") as merged:
            merged.write(b"[\n")
            merged.write(b",\n".join(msgspec.json.encode(event) for event in events))
            merged.write(b"\n]\n")
        return _spans([(start - self._zero, dur) for start, dur in self._runs], events)

    def _run(self) -> None:
        values = dict(self._inputs)
        self._outputs = []  # their memory is free for this run
        clock = self._clock if self._profiled else None
        for piece in self._pieces:
            piece.run(values, clock)
            for name in piece.free:
                del values[name]
        self._outputs = [values[name] for name in self._output_names]


class _Session:
    """A piece that the engine runs."""

    def __init__(self, step: Step, session: Any) -> None:
        self.free = step.free
        self._session = session
        self._reads = list(step.inputs)
        self._writes = list(step.outputs)
        self._devices = [_cpu()] * len(step.outputs)
        self._options = ort.RunOptions()

    def run(self, values: Values, clock: Callable[[], int] | None) -> None:
        feeds = binding.OrtValueVector()
        for name in self._reads:
            feeds.push_back(values[name])
        fetches = binding.OrtValueVector()
        self._session.run_with_ortvaluevector(
            self._options, self._reads, feeds, self._writes, fetches, self._devices
        )
        for name, value in zip(self._writes, fetches, strict=True):
            values[name] = value

    def events(self, zero: int, index: int) -> list[dict[str, Any]]:
        """The session's profile, in µs after `zero`; the session ends."""
        shift = (self._session.get_profiling_start_time_ns() - zero) // 1000
        file = Path(self._session.end_profiling())
        events = msgspec.json.decode(file.read_bytes(), type=list[dict[str, Any]])
        file.unlink()
        for event in events:
            event["ts"] += shift
        return events


class _Kernel:
    """A piece that a kernel of our own runs."""

    def __init__(
        self, step: Step, call: KernelCall, buffers: list[Array], kernel: OpenedKernel
    ) -> None:
        self.free = step.free
        self._call = call
        self._output = step.outputs[0]
        self._function, self._kept = kernel
        self._calls: list[tuple[int, int]] = []
        self._arguments: list[Any] = []
        if call.buffer is not None:
            count = math.prod(call.shape)
            output = buffers[call.buffer][: 4 * count].view(np.float32)
            self._value = binding.OrtValue.ortvalue_from_numpy(output.reshape(call.shape), _cpu())
            self._arguments.append(output)
        # (place of the argument, tensor, values in it), and the address of the last run's
        self._fed: list[tuple[int, str, int]] = []
        fixed = iter(self._kept)
        for name, shape in zip(call.operands, call.operand_shapes, strict=True):
            if name in step.inputs:
                self._fed.append((len(self._arguments), name, math.prod(shape)))
                self._arguments.append(None)
            else:
                self._arguments.append(next(fixed))
        self._addresses = [0] * len(self._fed)
        if call.scratch is not None:
            self._arguments.append(buffers[call.scratch].view(np.float32))
        self._arguments += call.numbers
        sizes = [4 * math.prod(shape) for shape in call.operand_shapes]
        fed = sum(s for n, s in zip(call.operands, sizes, strict=True) if n in step.inputs)
        self._told = {
            "op_name": call.op_name,
            "provider": PROVIDER,
            "activation_size": str(fed),
            "parameter_size": str(sum(sizes) - fed),
            "output_size": str(4 * math.prod(call.shape)),
            "thread_scheduling_stats": "",
            "input_type_shape": [{"float": list(shape)} for shape in call.operand_shapes],
            "output_type_shape": [{"float": list(call.shape)}],
        }

    def run(self, values: Values, clock: Callable[[], int] | None) -> None:
        for index, (argument, name, count) in enumerate(self._fed):
            address = values[name].data_ptr()
            if address != self._addresses[index]:
                self._addresses[index] = address
                self._arguments[argument] = _floats_at(address, count)
        if clock is None:
            self._function(*self._arguments)
        else:
            start = clock()
            self._function(*self._arguments)
            self._calls.append((start, max(0, clock() - start)))
        over = self._call.over
        values[self._output] = values[over] if over else self._value

    def events(self, zero: int, index: int) -> list[dict[str, Any]]:
        """An event a call as the engine writes them for its nodes, in µs after `zero`."""
        return [
            {
                "cat": "Node",
                "pid": 0,
                "tid": 0,
                "dur": dur / 1000,
                "ts": (start - zero) / 1000,
                "ph": "X",
                "name": f"{self._call.node}_kernel_time",
                "args": {**self._told, "node_index": str(index)},
            }
            for start, dur in self._calls
        ]


def _floats_at(address: int, count: int) -> Array:
    """The float32 values at an address: a view, valid as long as the tensor."""
    memory: Any = (ctypes.c_float * count).from_address(address)
    floats: Array = np.frombuffer(memory, np.float32)
    return floats


def _aligned(size: int) -> Array:
    """`size` bytes that start at a cache line."""
    block = np.empty(size + ALIGNMENT, np.uint8)
    start = -block.ctypes.data % ALIGNMENT
    return block[start : start + size]


def _cpu() -> Any:
    return binding.OrtDevice(binding.OrtDevice.cpu(), binding.OrtDevice.default_memory(), 0)


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
    raise FuseScopeError("profile_clock_unknown")


def _spans(
    runs: list[tuple[int, int]], events: list[dict[str, Any]]
) -> tuple[list[int], list[int]]:
    """Start and duration of the runs, each widened to hold its node events: the profile counts
    whole microseconds, so an event may seem to start up to one before its run."""
    starts, durations = [], []
    nodes = [
        (round(event["ts"] * 1000), round((event["ts"] + event["dur"]) * 1000))
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


def _options(settings: SessionSettings) -> ort.SessionOptions:
    """Settings of every piece's session. What is shared is set up once in a process."""
    ort_options = session_options(settings)
    ort_options.add_session_config_entry("session.use_env_allocators", "1")
    ort_options.use_per_session_threads = not settings.spin
    if not _shared:
        if settings.spin:
            ort.set_global_thread_pool_sizes(settings.threads, 1)
        info = ort.OrtMemoryInfo(
            "Cpu", ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, ort.OrtMemType.DEFAULT
        )
        ort.create_and_register_allocator(info, None)
        _shared.append(True)
    return ort_options


_shared: list[bool] = []
