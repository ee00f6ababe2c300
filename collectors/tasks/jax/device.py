"""Whether a device is there for JAX, and what it is, before anything runs on it."""

from __future__ import annotations

from fusescope.analysis.experiment import DeviceFacts
from fusescope.collectors.jax import devices
from fusescope.collectors.workers.jobs import DeviceJob as Job


def run(job: Job) -> DeviceFacts:
    """Raises FuseScopeError where it is not there."""
    devices.prefer(job.placement)
    return devices.found(job.placement).facts()
