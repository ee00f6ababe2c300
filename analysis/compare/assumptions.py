"""What the reader of a comparison may set: it changes modelled figures, never measured ones.

The runs that a file holds are the exception: a file that does not mark them measures no run, and
one of several kinds of work has several.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fusescope.analysis.compare.side import Side
from fusescope.analysis.metrics.cache_use import DEFAULT_CACHE_BYTES
from fusescope.analysis.metrics.small_ops import default_tau
from fusescope.analysis.metrics.utilisation import (
    Tops,
    heavy_operators,
    main_type,
    no_type_peak,
)
from fusescope.analysis.operators.device_peaks import DevicePeaks, device_peaks
from fusescope.analysis.quantity import Basis, Quantity, Reason
from fusescope.analysis.work_units.work import Work


@dataclass(frozen=True)
class Assumptions:
    """None takes the recording's own value, else the default.

    `tau_ns`: bound of a short operator; `peak_flops_per_s`: arithmetic peak for traces of another
    machine, whatever the data type; `cache_bytes`: size of the modelled cache;
    `bandwidth_bytes_per_s`: of main memory. `runs` (baseline, candidate): how many runs a file
    holds that does not mark them; `work` which kind of work is compared of files that hold several.
    """

    tau_ns: float | None = None
    peak_flops_per_s: float | None = None
    cache_bytes: int | None = None
    bandwidth_bytes_per_s: float | None = None
    runs: tuple[int | None, int | None] = (None, None)
    work: Work | None = None


def tau(assumptions: Assumptions, baseline: Side, candidate: Side) -> Quantity:
    """One bound for both sides: as set, else 10 x the larger dispatch cost, at least 10 µs."""
    if assumptions.tau_ns is not None:
        return Quantity(assumptions.tau_ns, "ns", "assumed")
    costs = [side.peaks.dispatch_ns if side.peaks else None for side in (baseline, candidate)]
    known = [cost for cost in costs if cost is not None]
    value, basis = default_tau(max(known) if len(known) == 2 else None)
    return Quantity(value, "ns", basis)


def named_device(side: Side) -> DevicePeaks | None:
    """The product that a trace's device is by its name, with its public peaks; None of a
    recording, and for a name that is not that of one product."""
    return None if side.has_model else device_peaks(side.trace.meta.device)


def peak(assumptions: Assumptions, side: Side) -> Quantity:
    """FLOP/s of the machine that the side ran on: as set, else measured, else the public figure of
    its device, else none; of a device for the data type that its counted operators spend most time
    in."""
    measured = side.peaks.gemm_flops_per_s if side.peaks else None
    by_type = _by_type(side)
    if assumptions.peak_flops_per_s is None and by_type is not None:
        known = by_type.get(main_type(side.trace) or "")
        basis: Basis = "measured" if side.device else "assumed"
        reason = None if known else no_type_peak(heavy_operators(side.trace))
        return Quantity(known, "flop/s", basis, reason)
    return _limit(assumptions.peak_flops_per_s, measured, None, "flop/s", "no_peak")


def int8_peak(assumptions: Assumptions, side: Side) -> Quantity:
    """Operations on 8-bit numbers per second, as `peak`: what is set holds for all types."""
    measured = side.peaks.int8_ops_per_s if side.peaks else None
    device = named_device(side)
    public = device.flops_per_s.get("int8") if device else None
    return _limit(assumptions.peak_flops_per_s, measured, public, "op/s", "no_int8_peak")


def bandwidth(assumptions: Assumptions, side: Side) -> Quantity:
    """Bytes per second of the main memory that the side ran on: as set, else measured, else the
    public figure of its device, else none."""
    memory = side.peaks.memory if side.peaks else side.device.bandwidth if side.device else None
    measured = memory.bytes_per_s if memory else None
    device = named_device(side)
    public = device.bytes_per_s if device else None
    entered = assumptions.bandwidth_bytes_per_s
    return _limit(entered, measured, public, "byte/s", "no_bandwidth")


def tops(assumptions: Assumptions, side: Side) -> Tops:
    """The arithmetic peaks as plain numbers; by data type where they are those of a device."""
    return Tops(
        peak(assumptions, side).value,
        int8_peak(assumptions, side).value,
        _by_type(side) if assumptions.peak_flops_per_s is None else None,
    )


def _by_type(side: Side) -> Mapping[str, float] | None:
    """The peaks of a side's device by data type: as measured in its recording, else public figures
    by its name; None where there are neither."""
    if side.device is not None:
        return {one.data_type: one.flops_per_s for one in side.device.products}
    named = named_device(side)
    return named.flops_per_s if named else None


def _limit(
    entered: float | None, measured: float | None, public: float | None, unit: str, reason: Reason
) -> Quantity:
    if entered is not None:
        return Quantity(entered, unit, "assumed")
    if measured is None and public is not None:
        return Quantity(public, unit, "assumed")
    return Quantity(measured, unit, "measured", None if measured else reason)


def cache_size(assumptions: Assumptions, baseline: Side, candidate: Side) -> Quantity:
    """The modelled cache of both sides: as set, else the recording's last level, else 32 MiB."""
    if assumptions.cache_bytes is not None:
        return Quantity(float(assumptions.cache_bytes), "bytes", "assumed")
    for side in (baseline, candidate):
        caches = side.experiment.record.machine.caches if side.experiment else ()
        if caches:
            last = max(caches, key=lambda cache: cache.level)
            return Quantity(float(last.bytes), "bytes", "measured")
    return Quantity(float(DEFAULT_CACHE_BYTES), "bytes", "assumed")
