"""What a variant runs in place of the model: pieces of it, or a rewritten copy."""

from __future__ import annotations

import importlib
from typing import Any

import onnx

from collectors.variants import Kind, find
from collectors.workers.jobs import Derived
from collectors.workers.jobs import DeriveJob as Job

# Kind -> module whose `derive(job, variant, model) -> Derived` makes it.
MODULES: dict[Kind, str] = {
    "rules": "collectors.derive.rules",
    "eager": "collectors.derive.segments",
    "custom": "collectors.derive.segments",
    "segments": "collectors.derive.segments",
    "inside": "collectors.derive.inside",
    "library": "collectors.derive.library",
    "int8": "collectors.derive.quantise",
    "dynamic": "collectors.derive.dynamic",
    "model": "collectors.derive.other_model",
    "provider": "collectors.derive.provider",
}


def run(job: Job) -> Derived:
    """Writes into the job's folder. Raises FuseScopeError where the model does not allow it."""
    variant = find(job.variant)
    module: Any = importlib.import_module(MODULES[variant.kind])
    derived: Derived = module.derive(job, variant, onnx.load(job.settings.model))
    return derived
