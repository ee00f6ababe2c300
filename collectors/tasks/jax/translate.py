"""Translate an ONNX model to JAX, before anything runs."""

from __future__ import annotations

import jax

from fusescope.collectors.jax.translated import network
from fusescope.collectors.workers.jobs import TranslateJob as Job


def run(job: Job) -> None:
    """Raises FuseScopeError for a form of an operator that is not translated."""
    made, inputs = network.load(job.settings)
    jax.eval_shape(made, *inputs)
