"""The device that runs a model for JAX: whether it is there, and what it says of itself.

Written against JAX's documentation, and tested with stand-ins: JAX is imported where it is used.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import DeviceFacts, DeviceState
from fusescope.analysis.text import clean_text
from fusescope.collectors.workers import nvidia_smi
from fusescope.collectors.workers.placement import CPU, Placement

KINDS = ("cuda", "rocm")
_OUT_OF_MEMORY = "RESOURCE_EXHAUSTED"


@dataclass(frozen=True)
class Device:
    """`kind` is what the recording calls it, `own` JAX's object, `identity` what the driver is
    asked for: its number among all, or its UUID."""

    kind: str
    own: Any
    identity: str = "0"

    @property
    def provider(self) -> str:
        """Return what runs operators, as the record of a variant names it."""
        return self.kind.upper()

    @property
    def name(self) -> str:
        """Return what its maker calls it."""
        return clean_text(str(getattr(self.own, "device_kind", "")) or self.kind, 80)

    @property
    def is_cpu(self) -> bool:
        """Whether it is the processor."""
        return self.kind == CPU

    def peaks(self) -> dict[str, int]:
        """Return the peak of memory in this process, as a setting of a variant; {} where JAX does
        not count it."""
        peak = self._memory().get("peak_bytes_in_use")
        return {"device_allocated_bytes": int(peak)} if peak else {}

    def facts(self) -> DeviceFacts:
        """Return what the device is, with its state at the moment."""
        told = self._told()
        limit = self._memory().get("bytes_limit")
        version = getattr(getattr(self.own, "client", None), "platform_version", "")
        return DeviceFacts(
            kind=self.kind,
            name=self.name,
            memory_bytes=int(limit) if limit else None,
            driver=told.driver if told is not None else "",
            runtime=clean_text(str(version).strip().partition("\n")[0], 60),
            states=() if told is None else (told.state,),
        )

    def state(self) -> DeviceState | None:
        """Return clocks, temperature and use at the moment, None where nothing tells them."""
        told = self._told()
        return None if told is None else told.state

    @contextmanager
    def failing(self) -> Iterator[None]:
        """Raises FuseScopeError where the device fails in here, or has too little memory."""
        import jax

        try:
            yield
        except jax.errors.JaxRuntimeError as error:
            if self.is_cpu:
                raise
            reason = clean_text(str(error).partition("\n")[0], 240)
            if _OUT_OF_MEMORY in reason:
                free = self._free_bytes()
                raise FuseScopeError("device_out_of_memory", device=self.kind, free=free) from error
            raise FuseScopeError("device_failed", device=self.kind, reason=reason) from error

    def _memory(self) -> dict[str, Any]:
        """What JAX counts of its memory; the processor has nothing of that."""
        return {} if self.is_cpu else self.own.memory_stats() or {}

    def _free_bytes(self) -> int:
        counted = self._memory()
        return max(0, int(counted.get("bytes_limit", 0)) - int(counted.get("bytes_in_use", 0)))

    def _told(self) -> nvidia_smi.Told | None:
        return nvidia_smi.ask(self.identity) if self.kind == "cuda" else None


def prefer(placement: Placement) -> None:
    """Has JAX look for the kind of the recording's device and for the processor alone, and take
    memory as it needs it; before it looks for any."""
    import jax

    if placement.kind != CPU:
        os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
        jax.config.update("jax_platforms", f"{placement.kind},{CPU}")


def chosen(placement: Placement) -> Device:
    """Return the device of a worker that sees no other."""
    import jax

    return Device(placement.kind, jax.devices()[0], _identity(0, placement.number))


def found(placement: Placement) -> Device:
    """Return the device, for a worker that sees all. Raises FuseScopeError where this JAX has no
    part for its kind, or it cannot be used, or there are fewer of its kind."""
    import jax

    kind = placement.kind
    try:
        devices = jax.devices(kind)
    except RuntimeError as error:
        reason = clean_text(str(error).partition("\n")[0], 240)
        if "Unknown backend" in reason or "not in the list of known backends" in reason:
            version = clean_text(str(jax.__version__), 40)
            raise FuseScopeError(
                "device_not_in_build", engine="jax", device=kind, version=version
            ) from error
        raise FuseScopeError(
            "device_not_usable", engine="JAX", device=kind, reason=reason
        ) from error
    if placement.number >= len(devices):
        raise FuseScopeError(
            "device_not_there", engine="JAX", device=placement.device, count=len(devices)
        )
    number = placement.number
    return Device(kind, devices[number], _identity(number, number))


def _identity(place: int, number: int) -> str:
    """What the driver calls the device at that place of those that are visible; its number where
    nothing is hidden."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
    return named[place].strip() if place < len(named) and named[place].strip() else str(number)
