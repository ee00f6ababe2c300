"""ONNX Runtime, the whole graph in one session."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec
import numpy as np
import onnxruntime as ort

from fusescope.collectors.models.array import Array
from fusescope.collectors.runtimes import kernels, providers
from fusescope.collectors.workers.given import load_inputs
from fusescope.collectors.workers.jobs import Optimization, SessionSettings

ort.disable_telemetry_events()  # events of the process; the files: collectors/__init__.py

PROVIDERS = [providers.CPU]
_LEVELS = {
    "none": ort.GraphOptimizationLevel.ORT_DISABLE_ALL,
    "basic": ort.GraphOptimizationLevel.ORT_ENABLE_BASIC,
    "extended": ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
    "all": ort.GraphOptimizationLevel.ORT_ENABLE_ALL,
}


class Session(Protocol):
    """One variant, ready to run on the inputs it was given."""

    def feed(self, values: Mapping[str, Array]) -> None:
        """Puts other values of the same type and shape in place of these inputs."""
        ...

    def run(self) -> None:
        """One run of the whole model."""
        ...

    def outputs(self) -> list[Array | None]:
        """The model's outputs of the latest run; None for what numpy cannot hold."""
        ...

    def end_profiling(self, to: Path) -> tuple[list[int], list[int]] | None:
        """Writes the profile. Returns start and duration of every run, in ns on the clock of
        the file, where the profile itself does not mark them."""
        ...


def options(
    optimization: Optimization, *, threads: int, spin: bool, library: str | None = None
) -> ort.SessionOptions:
    """Settings of every session of a recording: one inter-op thread, errors only, and the
    operators of the user's own `library`."""
    ort_options = ort.SessionOptions()
    ort_options.graph_optimization_level = _LEVELS[optimization]
    ort_options.intra_op_num_threads = threads
    ort_options.inter_op_num_threads = 1
    ort_options.log_severity_level = 3
    ort_options.add_session_config_entry("session.intra_op.allow_spinning", "1" if spin else "0")
    if library is not None:
        ort_options.register_custom_ops_library(library)
    return ort_options


def session_options(
    settings: SessionSettings, optimization: Optimization = "none"
) -> ort.SessionOptions:
    """Those of a session with the threads and the libraries of the recording."""
    ort_options = options(
        optimization,
        threads=settings.threads,
        spin=settings.spin,
        library=settings.custom_op_library,
    )
    if settings.kernel_library is not None:
        ort_options.register_custom_ops_library(settings.kernel_library)
    return ort_options


def numpy_of(value: Any) -> Array | None:
    """An OrtValue's content; None for sequences and types that numpy does not have."""
    try:
        array = value.numpy()
    except RuntimeError:
        return None
    return array if isinstance(array, np.ndarray) else None


class GraphSession:
    """The whole graph in one session, inputs bound once, outputs preallocated. On a device both are
    copied in every run, as where the data comes from the host.

    `disabled` optimizers are off although their level is on. `profile` is a path prefix for the
    engine's profile, `dump` where the engine writes the graph that it made. One run is made here
    to learn the output shapes.
    """

    def __init__(
        self,
        settings: SessionSettings,
        optimization: Optimization,
        *,
        disabled: Sequence[str] = (),
        profile: Path | None = None,
        dump: Path | None = None,
    ) -> None:
        ort_options = session_options(settings, optimization)
        if profile is not None:
            ort_options.enable_profiling = True
            ort_options.profile_file_prefix = str(profile)
        if dump is not None:
            ort_options.optimized_model_filepath = str(dump)
        self._session = ort.InferenceSession(
            settings.model,
            ort_options,
            providers=providers.made_ready(settings.provider, settings.threads),
            disabled_optimizers=list(disabled) or None,
        )
        self._inputs: dict[str, Any] = {}
        for name, array in load_inputs(settings).items():
            value = ort.OrtValue.ortvalue_from_shape_and_type(list(array.shape), array.dtype)
            value.update_inplace(array)
            self._inputs[name] = value
        self._names = [output.name for output in self._session.get_outputs()]
        self._outputs: list[Any] = []  # of the latest run on a device
        self._binding: Any = None
        if providers.has_device(settings.provider):
            self.run()
        else:
            self._bind()

    def feed(self, values: Mapping[str, Array]) -> None:
        """Puts other values of the same type and shape in place of these inputs."""
        for name, array in values.items():
            self._inputs[name].update_inplace(array)

    def run(self) -> None:
        """One run of the whole model."""
        if self._binding is None:
            self._outputs = self._session.run_with_ort_values(self._names, self._inputs)
        else:
            self._session.run_with_iobinding(self._binding)

    def outputs(self) -> list[Array | None]:
        """The model's outputs of the latest run; None for what numpy cannot hold."""
        values = self._outputs if self._binding is None else self._binding.get_outputs()
        return [numpy_of(value) for value in values]

    def end_profiling(self, to: Path) -> None:
        """Writes the engine's profile, untouched but for kernels on a device; it marks every run as
        `model_run`."""
        os.replace(self._session.end_profiling(), to)
        if kernels.are_timed():
            kernels.add_to(to, self._session.get_profiling_start_time_ns())

    def _bind(self) -> None:
        """The inputs never change, so neither do the output shapes."""
        self._binding = self._session.io_binding()
        for name, value in self._inputs.items():
            self._binding.bind_ortvalue_input(name, value)
        for name in self._names:
            self._binding.bind_output(name)
        self.run()
        first = self.outputs()  # copies: in older releases the values change with the binding
        self._binding.clear_binding_outputs()
        for name, array in zip(self._names, first, strict=True):
            if array is None or array.dtype.kind not in "fiub":
                self._binding.bind_output(name)
            else:
                kept = ort.OrtValue.ortvalue_from_shape_and_type(list(array.shape), array.dtype)
                self._binding.bind_ortvalue_output(name, kept)


def profiled_run(settings: SessionSettings, folder: Path) -> list[dict[str, Any]]:
    """The events of the engine's profile of a run, every optimisation off. `folder` exists."""
    profile = folder / "profile.json"
    GraphSession(settings, "none", profile=folder / "profile").end_profiling(profile)
    events = msgspec.json.decode(profile.read_bytes(), type=list[dict[str, Any]])
    profile.unlink()
    return events
