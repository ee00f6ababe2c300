"""What the device of a recording can do in JAX, measured once."""

from __future__ import annotations

from fusescope.collectors.jax import devices, peaks
from fusescope.collectors.jax.session import prepare_process
from fusescope.collectors.workers.jobs import DevicePeaks
from fusescope.collectors.workers.jobs import DevicePeaksJob as Job


def run(job: Job) -> DevicePeaks:
    """Raises FuseScopeError where the device fails."""
    prepare_process(job.settings)
    device = devices.chosen(job.settings.placement)
    with device.failing():
        return DevicePeaks(peaks.products(device), peaks.bandwidth())
