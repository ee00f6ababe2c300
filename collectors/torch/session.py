"""One variant of a model for torch, ready to run."""

from __future__ import annotations

import json
import os
import statistics
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
import torch._dynamo
from torch._dynamo.utils import counters
from torch.profiler import ProfilerActivity, profile

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.models.array import Array
from fusescope.collectors.torch import devices, internals, models
from fusescope.collectors.torch.compiling import ALWAYS as _ALWAYS
from fusescope.collectors.torch.compiling import Compiled, compiling, settings_of
from fusescope.collectors.torch.names import CUDA_GRAPH
from fusescope.collectors.torch.refusal import reason_of
from fusescope.collectors.workers.jobs import SessionSettings
from fusescope.collectors.workers.placement import CPU, Placement

GUARDED_RUNS = 20
_LISTED = 8
GUARD_EVENT = "TorchDynamo Cache Lookup"


def prepare_process(settings: SessionSettings) -> None:
    """Threads, no gradients, and where compiled code lies, for everything in this process."""
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = settings.compiled
    torch.set_num_threads(settings.threads)
    torch.set_grad_enabled(False)
    for name, value in (("automatic_dynamic_shapes", False), ("recompile_limit", 64)):
        if hasattr(torch._dynamo.config, name):
            setattr(torch._dynamo.config, name, value)
    if settings.placement.tf32 is not None:
        torch.set_float32_matmul_precision("high" if settings.placement.tf32 else "highest")
        torch.backends.cudnn.allow_tf32 = settings.placement.tf32


def recorded_settings(settings: SessionSettings, variant: str) -> dict[str, str | int | bool]:
    """What was set, for people who want to repeat it."""
    denied = settings.denied.get(variant)
    changed = {} if variant == "eager" else settings_of(variant, profiled=False)
    shown = {name: _shown(value) for name, value in changed.items() if name not in _ALWAYS}
    dynamic = "; ".join(
        f"{_input_name(one.name)}: {', '.join(map(str, one.dynamic))}"
        for one in settings.given
        if one.dynamic
    )
    inductor = ", ".join(f"{name}={value}" for name, value in shown.items())
    return {
        "execution": "eager" if variant == "eager" else "torch.compile(dynamic=False)",
        **({"inductor": inductor} if inductor else {}),
        **({"denied_operators": ", ".join(denied.nodes)} if denied else {}),
        **({"dtype": settings.placement.dtype} if settings.placement.dtype else {}),
        **({"dynamic_dimensions": dynamic} if dynamic else {}),
        **({"restored_before_each_run": _listed(settings.changed)} if settings.changed else {}),
        "intra_op_threads": settings.threads,
        "intra_op_spinning": False,
        "provider": devices.chosen(settings.placement).provider,
        **_on_device(settings.placement),
    }


def _on_device(placement: Placement) -> dict[str, str | int | bool]:
    """What holds on a device alone."""
    if placement.kind == CPU:
        return {}
    device = devices.chosen(placement)
    is_timed = len(device.profiled()) > 1
    return {
        "device": device.name,
        **({"kernel_times": "device"} if is_timed else {}),
        "float32_products": torch.get_float32_matmul_precision(),
        "tf32_convolutions": bool(torch.backends.cudnn.allow_tf32),
        "l2_flushed": placement.flush_l2,
    }


def _input_name(name: str) -> str:
    return f"input_{name}" if name.isdigit() else name


def _listed(names: Sequence[str]) -> str:
    """The first of them, and how many there are."""
    some = ", ".join(names[:_LISTED])
    return some if len(names) <= _LISTED else f"{some}, … ({len(names)})"


def _shown(value: object) -> str:
    return type(value).__name__ if callable(value) else str(value)


class TorchSession:
    """`compile_ns` is the time of the first run, with compilation where the variant has one, and
    `graphs` is how many graphs were compiled, of which `backward_graphs` compute gradients: of the
    others there is one more than there are graph breaks, or none.

    `profiled` adds an event for each generated kernel, `vary_weights` is for looking at values,
    `mapped` for looking at what each kernel computes.
    """

    def __init__(
        self,
        settings: SessionSettings,
        variant: str,
        *,
        profiled: bool = False,
        vary_weights: bool = False,
        mapped: bool = False,
    ) -> None:
        self.device = devices.chosen(settings.placement)
        self._events = (self.device.event(), self.device.event())
        self._marks_steps = variant == CUDA_GRAPH
        self.loaded = models.of(settings)
        if self.loaded.training is not None and variant == "freezing":
            raise FuseScopeError("torch_training_frozen")
        if vary_weights:
            self.loaded.vary_weights()
        self._before = [(tensor, tensor.clone()) for tensor in self.loaded.changing()]
        self.compiled: Compiled | None = None
        self._call: Any = self.loaded.call
        self._result: Any = None
        started = time.perf_counter_ns()
        if variant != "eager":
            self._call = torch.compile(self.loaded.call, dynamic=False)
            denied = settings.denied.get(variant)
            made = compiling(variant, profiled=profiled, denied=denied, mapped=mapped)
            with made as self.compiled:
                self._compile(variant)
        else:
            self.run()
        self.compile_ns = time.perf_counter_ns() - started
        self.graphs = len(self.compiled.modules) if self.compiled is not None else 0
        if self.compiled is not None and not internals.has("code"):
            self.graphs = int(counters["stats"]["unique_graphs"])
        self.backward_graphs = len(self.compiled.backward) if self.compiled is not None else 0
        # Torch counts one once a frame.
        self.graph_breaks = max(0, self.graphs - self.backward_graphs - 1)
        self._frames = counters["frames"]["ok"]

    def _compile(self, variant: str) -> None:
        """The first run. Raises FuseScopeError with what the compiler says."""
        try:
            self.run()
        except internals.COMPILER_ERRORS as error:
            reason = reason_of(str(error), type(error).__name__)
            raise FuseScopeError("torch_not_compiled", variant=variant, reason=reason) from error

    def guard_us(self, folder: Path) -> float | None:
        """Median time of finding the compiled code of a run, in us; None for the eager one."""
        if self.compiled is None:
            return None
        with profile(activities=[ProfilerActivity.CPU]) as profiler:
            for _ in range(GUARDED_RUNS):
                self.run_anew()
        file = folder / "guards.json"
        profiler.export_chrome_trace(str(file))
        events = json.loads(file.read_bytes())["traceEvents"]
        file.unlink()
        lookups = [event["dur"] for event in events if event["name"] == GUARD_EVENT]
        return round(statistics.median(lookups), 1) if lookups else None

    def recompilations(self) -> int:
        """How many frames were compiled after the first run."""
        return int(counters["frames"]["ok"] - self._frames)

    def feed(self, values: Mapping[str, Array]) -> None:
        """Puts other values in place of these inputs, of a model that is translated from ONNX."""
        for name, tensor in self.loaded.named_inputs():
            tensor.copy_(torch.from_numpy(values[name]))

    def run(self) -> None:
        """One run of the whole model, until the device is done with it."""
        first, last = self._events
        if self._marks_steps:
            torch.compiler.cudagraph_mark_step_begin()
        if first is not None:
            first.record()
        self._result = self._call(*self.loaded.inputs)
        if last is not None:
            last.record()
        self.device.synchronise()

    @property
    def device_ns(self) -> int | None:
        """The latest run between two events of the device; None for a device without events."""
        first, last = self._events
        return None if first is None else round(first.elapsed_time(last) * 1e6)

    def restore(self) -> None:
        """Puts back what the inputs and buffers held that a run writes into, and what a training
        step changes."""
        for tensor, before in self._before:
            tensor.copy_(before)
        if self.loaded.training is not None:
            self.loaded.training.restart()
        if self._before:
            self.device.synchronise()  # the copy is no part of the run

    def run_anew(self) -> None:
        """One run from what they held at first."""
        self.restore()
        self.run()

    def result(self) -> list[torch.Tensor]:
        """The tensors that the latest run returned, and those that it wrote into."""
        return self.loaded.results(self._result)

    def outputs(self) -> list[Array | None]:
        """What is compared of the latest run, as arrays; None for what numpy does not have."""
        return [array_of(tensor) for tensor in self.loaded.compared(self._result)]


def array_of(tensor: torch.Tensor) -> Array | None:
    """A tensor's values in the order of its shape; half-precision as float32."""
    tensor = tensor.detach().cpu().contiguous()
    if tensor.dtype in (torch.bfloat16, torch.float16):
        tensor = tensor.float()
    try:
        array: Array = tensor.numpy()
    except (TypeError, RuntimeError):
        return None
    return array
