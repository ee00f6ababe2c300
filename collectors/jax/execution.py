"""Programs given as HLO text, compiled and run by JAX's own XLA client on the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
from jax.extend.backend import get_backend

from fusescope.collectors.jax import internals

# What makes one operator of several, or others of one: each piece is to stay what it is.
_PASSES_OFF = "fusion,algsimp,simplification,cse"


def optimised_text(compiled: Any) -> str:
    """The optimised program of what `jax.jit(...).lower(...).compile()` returns, constants with all
    of their values."""
    (module,) = compiled.runtime_executable().hlo_modules()
    options = internals.hlo("HloPrintOptions")()
    options.print_large_constants = True
    options.print_control_dependencies = False
    return str(module.to_string(options))


class Execution:
    """Runs programs; equal ones are compiled once."""

    def __init__(self) -> None:
        self._client = get_backend("cpu")
        self._devices = internals.xla("DeviceList")(tuple(self._client.local_devices()[:1]))
        self._options = internals.xla("CompileOptions")()
        build = self._options.executable_build_options
        build.debug_options.xla_disable_hlo_passes = _PASSES_OFF
        build.debug_options.xla_backend_optimization_level = 0
        build.debug_options.xla_llvm_disable_expensive_passes = True
        self._programs: dict[str, Any] = {}

    def run(self, text: str, given: Sequence[Any]) -> list[jax.Array]:
        """What the program makes of these arrays, elements of a tuple one after the other. Raises
        whatever XLA raises."""
        program = self._programs.get(text)
        if program is None:
            module = internals.hlo("hlo_module_from_text")(text)
            whole = internals.hlo("XlaComputation")(module.as_serialized_hlo_module_proto())
            stable = internals.xla("_xla.mlir.xla_computation_to_mlir_module")(whole)
            program = self._client.compile_and_load(stable, self._devices, self._options)
            self._programs[text] = program
        made = program.execute_sharded(list(given)).disassemble_into_single_device_arrays()
        return [arrays[0] for arrays in made]
