"""One variant of a model for OpenVINO, ready to run."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import openvino

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.models.array import Array
from fusescope.collectors.openvino import names
from fusescope.collectors.openvino.layers import layers_of
from fusescope.collectors.openvino.program import Source, properties
from fusescope.collectors.workers.given import load_inputs
from fusescope.collectors.workers.jobs import SessionSettings


class OpenvinoSession:
    """`compile_ns` is what reading and compiling took, `requests` how many inferences a run starts
    at once; `settings` are what was set, for people who want to repeat it."""

    def __init__(self, settings: SessionSettings, variant: str, *, counted: bool = False) -> None:
        started = time.perf_counter_ns()
        self.source = Source(settings)
        wanted = self.source.made if variant == names.MARKED else ()
        self.marked = self.source.marked(wanted)
        set_to = properties(settings, variant, counted=counted)
        self.program = self.source.compiled(self.marked.model, set_to)
        if variant == names.BF16 and self._told("INFERENCE_PRECISION_HINT") != "bf16":
            raise FuseScopeError("openvino_no_bf16")
        self.requests = 1
        if variant == "throughput":
            self.requests = int(self.program.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS"))
        self._running = [self.program.create_infer_request() for _ in range(self.requests)]
        for request in self._running:
            give(request, settings)
        self.compile_ns = time.perf_counter_ns() - started
        added = len(self.marked.added)
        self.settings: dict[str, str | int | float | bool] = {
            "execution": "one compiled model",
            "intra_op_threads": set_to["INFERENCE_NUM_THREADS"],
            "intra_op_spinning": False,
            "provider": "CPU",
            "inference_precision": self._told("INFERENCE_PRECISION_HINT"),
            "performance_hint": set_to.get("PERFORMANCE_HINT", "none given"),
            "streams": self._told("NUM_STREAMS"),
            **({"requests_at_once": self.requests} if self.requests > 1 else {}),
            **({"marked_outputs": added} if added else {}),
        }

    def feed(self, values: Mapping[str, Array]) -> None:
        """Puts other values of the same type and shape in place of these inputs."""
        for request in self._running:
            _set(request, values)

    def run(self) -> None:
        """One run of the whole model; of several requests, one of each, at the same time."""
        for request in self._running:
            request.start_async()
        for request in self._running:
            request.wait()

    def outputs(self) -> list[Array | None]:
        """What the latest run returned, of the model's own outputs."""
        count = len(self.marked.tensors) - len(self.marked.added)
        return [np.array(self._running[0].get_output_tensor(place).data) for place in range(count)]

    def counters(self) -> list[Any]:
        """The engine's own: means over all runs so far, in whole µs, a row a layer."""
        return list(self._running[0].profiling_info)

    def layer_names(self) -> dict[str, str]:
        """What the variant's graph calls the layers that the engine has a name for."""
        return {one.own: one.name for one in layers_of(self.program, self.source.order)}

    def _told(self, name: str) -> str:
        value = self.program.get_property(name)
        return value.get_type_name() if isinstance(value, openvino.Type) else str(value)


def give(request: Any, settings: SessionSettings) -> None:
    """Sets the recorded inputs."""
    _set(request, load_inputs(settings))


def _set(request: Any, values: Mapping[str, Array]) -> None:
    for name, array in values.items():
        request.set_tensor(name, openvino.Tensor(np.ascontiguousarray(array)))
