"""What a variant runs in place of the model: pieces of it, or a rewritten copy."""

from __future__ import annotations

import importlib
from typing import Any

import onnx

from fusescope.collectors.variants import Kind, find
from fusescope.collectors.workers.jobs import Derived
from fusescope.collectors.workers.jobs import DeriveJob as Job

# Kind -> module whose `derive(job, variant, model) -> Derived` makes it.
MODULES: dict[Kind, str] = {
    "rules": "fusescope.collectors.derive.rules",
    "eager": "fusescope.collectors.derive.segments",
    "custom": "fusescope.collectors.derive.segments",
    "segments": "fusescope.collectors.derive.segments",
    "inside": "fusescope.collectors.derive.inside",
    "library": "fusescope.collectors.derive.library",
    "int8": "fusescope.collectors.derive.quantise",
    "dynamic": "fusescope.collectors.derive.dynamic",
    "model": "fusescope.collectors.derive.other_model",
    "provider": "fusescope.collectors.derive.provider",
}


def run(job: Job) -> Derived:
    """Writes into the job's folder. Raises FuseScopeError where the model does not allow it."""
    variant = find(job.variant)
    module: Any = importlib.import_module(MODULES[variant.kind])
    derived: Derived = module.derive(job, variant, onnx.load(job.settings.model))
    return derived
