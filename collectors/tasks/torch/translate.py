"""Translate an ONNX model to torch, before anything runs."""

from __future__ import annotations

from fusescope.collectors.torch.translated import network
from fusescope.collectors.workers.jobs import TranslateJob as Job


def run(job: Job) -> None:
    """Raises FuseScopeError for a form of an operator that is not translated."""
    network.load(job.settings)
