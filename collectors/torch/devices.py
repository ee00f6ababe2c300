"""The device that runs a model for torch: whether it is there, what it is, how to wait for it, and
what it says of itself.

One object for every kind, the processor among them: what a kind does not have is None.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch.profiler import ProfilerActivity

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import DeviceFacts, DeviceState
from fusescope.analysis.text import clean_text
from fusescope.collectors.workers import nvidia_smi, rocm_smi
from fusescope.collectors.workers.placement import CPU, Placement

_TOO_OLD = re.compile(r"driver on your system is too old", re.IGNORECASE)
_ON_CUDA = ("cuda", "rocm")  # what PyTorch calls CUDA
# As triton.testing.do_bench empties caches: larger than the last level of any device.
_FLUSHED_BYTES = 256 * 1024 * 1024
_PROVIDERS = {"cuda": "CUDA", "rocm": "ROCM", "xpu": "XPU", "mps": "MPS", "npu": "NPU", CPU: "CPU"}


@dataclass(frozen=True)
class Device:
    """`kind` is what the recording calls it ('rocm'), `place` what PyTorch does ('cuda:0')."""

    kind: str
    place: torch.device

    @property
    def provider(self) -> str:
        """Return what runs operators, as the record of a variant names it."""
        return _PROVIDERS[self.kind]

    @property
    def name(self) -> str:
        """Return what its maker calls it."""
        return clean_text(str(getattr(self._properties(), "name", "")) or self.kind, 80)

    @property
    def is_cpu(self) -> bool:
        """Whether it is the processor."""
        return self.kind == CPU

    @property
    def has_tf32(self) -> bool:
        """Whether it is of a kind that can round float32 to TF32 in products."""
        return self.kind in _ON_CUDA

    def rounds_to_tf32(self, operators: Iterable[str]) -> bool:
        """Whether it rounds float32 to TF32 in one of these operators, as PyTorch is set."""
        if not self.has_tf32:
            return False
        of_products = torch.get_float32_matmul_precision() != "highest"
        return of_products or (
            torch.backends.cudnn.allow_tf32 and any("conv" in name for name in operators)
        )

    def synchronise(self) -> None:
        """Wait until the device has done everything that it was given."""
        torch.get_device_module(self.place.type).synchronize()

    def event(self) -> Any | None:
        """Return an event that takes the device's own time, None for a kind without such."""
        made = getattr(torch.get_device_module(self.place.type), "Event", None)
        return None if self.is_cpu or made is None else made(enable_timing=True)

    def profiled(self) -> list[ProfilerActivity]:
        """Return what the profiler is to record: the host, and what runs on the device where the
        profiler of this PyTorch sees that."""
        wanted = {"cuda": "CUDA", "rocm": "CUDA", "xpu": "XPU"}.get(self.kind, "")
        known = getattr(ProfilerActivity, wanted, None)
        is_seen = known is not None and known in torch.profiler.supported_activities()
        return [ProfilerActivity.CPU, *([known] if is_seen else [])]

    def start_peaks(self) -> None:
        """From here on the peaks of memory are counted anew."""
        module = torch.get_device_module(self.place.type)
        if hasattr(module, "reset_peak_memory_stats"):
            module.reset_peak_memory_stats()

    def peaks(self) -> dict[str, int]:
        """Return the peaks of memory since then, as settings of a variant; {} where PyTorch does
        not count them."""
        module = torch.get_device_module(self.place.type)
        names = {"allocated": "max_memory_allocated", "reserved": "max_memory_reserved"}
        return {
            f"device_{what}_bytes": int(getattr(module, name)())
            for what, name in names.items()
            if hasattr(module, name)
        }

    def emptied_caches(self) -> torch.Tensor:
        """Return memory that displaces what the caches hold when it is written."""
        return torch.empty(_FLUSHED_BYTES // 4, dtype=torch.int32, device=self.place)

    def facts(self) -> DeviceFacts:
        """Return what the device is, with its state at the moment."""
        told = self._told()
        properties = self._properties()
        runtime = {"cuda": torch.version.cuda, "rocm": torch.version.hip}.get(self.kind)
        memory = getattr(properties, "total_memory", None)
        l2 = getattr(properties, "L2_cache_size", None)
        return DeviceFacts(
            kind=self.kind,
            name=self.name,
            memory_bytes=int(memory) if memory else None,
            l2_bytes=int(l2) if l2 else None,
            driver=told.driver if told is not None else "",
            runtime=f"{self.provider} {runtime}" if runtime else "",
            states=() if told is None else (told.state,),
        )

    def state(self) -> DeviceState | None:
        """Return clocks, temperature and use at the moment, None where nothing tells them."""
        told = self._told()
        return None if told is None else told.state

    def _properties(self) -> Any:
        module = torch.get_device_module(self.place.type)
        if self.is_cpu or not hasattr(module, "get_device_properties"):
            return None
        return module.get_device_properties(self.place)

    def _told(self) -> nvidia_smi.Told | None:
        if self.kind == "rocm":
            return rocm_smi.ask(_bus_of(self._properties()))
        if self.kind != "cuda":
            return None
        uuid = getattr(self._properties(), "uuid", None)
        return nvidia_smi.ask(f"GPU-{uuid}" if uuid else str(self.place.index or 0))

    @contextmanager
    def failing(self) -> Iterator[None]:
        """Raises FuseScopeError where the device fails in here, or has too little memory."""
        try:
            yield
        except torch.OutOfMemoryError as error:
            free = self._free_bytes()
            raise FuseScopeError("device_out_of_memory", device=self.kind, free=free) from error
        except torch.AcceleratorError as error:
            reason = clean_text(str(error).partition("\n")[0], 240)
            raise FuseScopeError("device_failed", device=self.kind, reason=reason) from error

    def _free_bytes(self) -> int:
        module = torch.get_device_module(self.place.type)
        try:
            free, _ = module.mem_get_info()
        except (AttributeError, RuntimeError):
            return 0
        return int(free)


def _bus_of(properties: Any) -> str:
    """Where a device is on the PCI bus, as drivers write it; '' where PyTorch does not say it."""
    places = [getattr(properties, f"pci_{part}_id", None) for part in ("domain", "bus", "device")]
    if not all(isinstance(one, int) for one in places):
        return ""
    domain, bus, number = places
    return f"{domain:04x}:{bus:02x}:{number:02x}.0"


def chosen(placement: Placement) -> Device:
    """Return the device of a worker that sees no other."""
    _import_backend(placement.kind)
    kind = "cuda" if placement.kind in _ON_CUDA else placement.kind
    place = torch.device(kind) if kind in (CPU, "mps") else torch.device(kind, 0)
    return Device(placement.kind, place)


def found(placement: Placement) -> Device:
    """Return the device, for a worker that sees all. Raises FuseScopeError where this PyTorch was
    built without its kind, its driver does not do, or there are fewer of its kind."""
    kind = placement.kind
    _import_backend(kind)
    if not _is_built(kind):
        raise FuseScopeError(
            "device_not_in_build",
            engine="torch",
            device=kind,
            version=clean_text(str(torch.__version__), 40),
        )
    type_ = "cuda" if kind in _ON_CUDA else kind
    module = torch.get_device_module(type_)
    count = int(module.device_count())
    if not module.is_available() or not count:
        raise _unusable(kind, module)
    if placement.number >= count:
        raise FuseScopeError(
            "device_not_there", engine="PyTorch", device=placement.device, count=count
        )
    place = torch.device(type_) if kind in (CPU, "mps") else torch.device(type_, placement.number)
    return Device(kind, place)


def _import_backend(kind: str) -> None:
    """What brings a kind of device to PyTorch that is not part of it. Where that is not installed,
    PyTorch was built without it."""
    if kind == "npu":
        try:
            importlib.import_module("torch_npu")
        except ImportError:
            return


def _is_built(kind: str) -> bool:
    if kind == "cuda":
        return torch.version.cuda is not None
    if kind == "rocm":
        return torch.version.hip is not None
    if kind == "mps":
        return bool(torch.backends.mps.is_built())
    if kind == "xpu":
        return bool(torch.xpu._is_compiled())
    return kind == CPU or hasattr(torch, kind)


def _unusable(kind: str, module: Any) -> FuseScopeError:
    """Why a device of which PyTorch knows the kind is not there: what it says when it begins."""
    reason = ""
    try:
        module.init()
    except Exception as error:  # noqa: BLE001 - each kind raises its own
        reason = clean_text(str(error).partition("\n")[0], 240)
    if _TOO_OLD.search(reason):
        version = clean_text(str(torch.__version__), 40)
        return FuseScopeError("device_driver_too_old", device=kind, version=version, reason=reason)
    reason = reason or "no device was found"
    return FuseScopeError("device_not_usable", engine="PyTorch", device=kind, reason=reason)
