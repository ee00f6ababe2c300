"""Records unfused.xplane.pb and fused.xplane.pb: two blocks of one line each, by JAX on a CPU.

Run it in its folder with the Python of `fusescope runtimes add jax`.
"""

from __future__ import annotations

import gc
import shutil
import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

STEPS = 6
OPTIONS: dict[str, dict[str, str]] = {
    "unfused": {"xla_disable_hlo_passes": "fusion"},
    "fused": {},
}


def block(x: jax.Array, weights: jax.Array, bias: jax.Array) -> jax.Array:
    """A product, a bias, an activation and a normalisation."""
    y = jnp.tanh(x @ weights + bias)
    return x + y / (1.0 + jnp.abs(y).sum(-1, keepdims=True))


def model(x: jax.Array, layers: list[tuple[jax.Array, jax.Array]]) -> jax.Array:
    """The same block twice, so that its lines name two operators each."""
    for weights, bias in layers:
        x = block(x, weights, bias)
    return x


def main() -> None:
    """Compiles both variants, and profiles a few runs of each."""
    drawn = np.random.default_rng(0)
    layers = [
        (drawn.normal(size=(64, 64)).astype("f4"), drawn.normal(size=64).astype("f4"))
        for _ in range(2)
    ]
    x = drawn.normal(size=(256, 64)).astype("f4")
    profiling = jax.profiler.ProfileOptions()
    profiling.python_tracer_level = 0
    for name, options in OPTIONS.items():
        run = jax.jit(model).lower(x, layers).compile(compiler_options=options)
        for _ in range(10):
            jax.block_until_ready(run(x, layers))
        with tempfile.TemporaryDirectory() as folder:
            with jax.profiler.trace(folder, profiler_options=profiling):
                for step in range(STEPS):
                    with jax.profiler.StepTraceAnnotation("step", step_num=step):
                        jax.block_until_ready(run(x, layers))
            (profile,) = Path(folder).glob("plugins/profile/*/*.xplane.pb")
            shutil.copy(profile, f"{name}.xplane.pb")
        del run  # else the next profile holds its program, too
        gc.collect()


if __name__ == "__main__":
    main()
