"""One variant of a model for jax, ready to run."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.text import clean_text
from fusescope.collectors.jax import devices, models
from fusescope.collectors.jax.devices import Device
from fusescope.collectors.jax.programs import library_fusions, mixed_fusion
from fusescope.collectors.models.array import Array
from fusescope.collectors.workers.jobs import SessionSettings

OPTIONS: dict[str, dict[str, str]] = {
    "unfused": {"xla_disable_hlo_passes": "fusion"},
    "fused": {},
}
# XLA fuses for a device in passes of other names; one that it does not know is none.
ON_DEVICE: dict[str, dict[str, str]] = {
    **OPTIONS,
    "unfused": {
        "xla_disable_hlo_passes": "fusion,priority-fusion,multi_output_fusion,fusion_merger,"
        "horizontal-loop-fusion,horizontal-input-fusion"
    },
}


def prepare_process(settings: SessionSettings) -> None:
    """Threads, and no compiled code of another process; before JAX looks for devices."""
    os.environ["NPROC"] = os.environ["PJRT_NPROC"] = str(settings.threads)
    jax.config.update("jax_enable_compilation_cache", False)
    devices.prefer(settings.placement)


def _on_device(device: Device) -> dict[str, str]:
    """What holds on a device alone."""
    return {"device": device.name, "kernel_times": "device"}


class JaxSession:
    """`compile_ns` is what compiling took, or the first run of `eager`; `settings` are what was
    set, for people who want to repeat it, `program` what was compiled, None for `eager`."""

    def __init__(self, settings: SessionSettings, variant: str) -> None:
        self.device = devices.chosen(settings.placement)
        self.loaded = models.of(settings)
        self.settings: dict[str, str | int | float | bool] = {
            "execution": "operator by operator (jax.disable_jit)",
            "intra_op_threads": settings.threads,
            "provider": self.device.provider,
            **({} if self.device.is_cpu else _on_device(self.device)),
            **({"dtype": settings.placement.dtype} if settings.placement.dtype else {}),
        }
        self._eager = variant == "eager"
        self.program: Any | None = None
        self._run: Any = self.loaded.call
        self._result: Any = None
        started = time.perf_counter_ns()
        if self._eager:
            self.run()
        else:
            options = OPTIONS[variant] if self.device.is_cpu else ON_DEVICE[variant]
            program = self._compiled(variant, options)
            self._run = self.program = program
            text = program.as_text() or ""
            if variant == "unfused" and (found := mixed_fusion(text)) is not None:
                raise FuseScopeError(
                    "jax_still_fused",
                    kernel=clean_text(found[0], 80),
                    n=len(found[1]),
                    operators=clean_text(", ".join(found[1]), 200),
                )
            shown = ", ".join(f"{name}={value}" for name, value in options.items())
            kinds = library_fusions(text)
            self.settings |= {
                "execution": "jax.jit",
                **({"compiler_options": shown} if shown else {}),
                **({"library_fusions": clean_text(kinds, 200)} if kinds else {}),
            }
        self.compile_ns = time.perf_counter_ns() - started

    def feed(self, values: Mapping[str, Array]) -> None:
        """Puts other values in place of these inputs, of a model that is translated from ONNX."""
        made = self.loaded.network
        assert made is not None
        inputs = (jnp.asarray(values[name]) for name in made.program.inputs)
        self.loaded = replace(self.loaded, inputs=(self.loaded.inputs[0], *inputs))

    def run(self) -> None:
        """One run of the whole model, until its results are there."""
        if self._eager:
            with jax.disable_jit():
                self._result = jax.block_until_ready(self._run(*self.loaded.inputs))
        else:
            self._result = jax.block_until_ready(self._run(*self.loaded.inputs))

    def outputs(self) -> list[Array | None]:
        """What the latest run returned; half-precision as float32."""
        leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(self._result)]
        return [leaf.astype("f4") if leaf.dtype.kind == "V" else leaf for leaf in leaves]

    def _compiled(self, variant: str, options: dict[str, str]) -> Any:
        try:
            lowered = jax.jit(self.loaded.call).lower(*self.loaded.inputs)
            return lowered.compile(compiler_options=options)
        except Exception as error:  # whatever the model or the compiler raises
            first = str(error).strip().partition("\n")[0]
            reason = clean_text(f"{type(error).__name__}: {first}", 240)
            raise FuseScopeError("torch_not_compiled", variant=variant, reason=reason) from error
