"""Facts about this machine: CPU, cores, caches, memory, load."""

from __future__ import annotations

import contextlib
import os
import platform
import subprocess
import sys
from pathlib import Path

import psutil

from fusescope.analysis.experiment import Cache, Machine

_MEMORY_SHARE = 0.8
_CPUS = Path("/sys/devices/system/cpu")
_CACHE_TYPES = {"Data": "data", "Instruction": "instruction", "Unified": "unified"}


def facts() -> Machine:
    """This machine, without the loads. What cannot be read is None or empty."""
    return Machine(
        cpu_model=_cpu_model(),
        architecture=platform.machine() or "unknown",
        physical_cores=physical_cores(),
        logical_cores=logical_cores(),
        memory_bytes=psutil.virtual_memory().total,
        caches=_caches(),
        os=_os_name(),
        governor=_text(_CPUS / "cpu0/cpufreq/scaling_governor") or None,
    )


def load() -> float | None:
    """The 1-minute load average, None where the system has none."""
    try:
        return round(os.getloadavg()[0], 2)
    except (OSError, AttributeError):
        return None


def physical_cores() -> int:
    """Physical cores that this process may use, at least 1."""
    usable = _usable_cpus()
    cores = {
        (
            _text(_CPUS / f"cpu{cpu}/topology/physical_package_id"),
            _text(_CPUS / f"cpu{cpu}/topology/core_id"),
        )
        for cpu in usable
    }
    known = {core for core in cores if core[1]}
    return len(known) or min(psutil.cpu_count(logical=False) or 1, logical_cores())


def available_memory_bytes() -> int:
    """Memory that new processes can take: of the machine, or of this control group if less."""
    available: int = psutil.virtual_memory().available
    group = Path("/sys/fs/cgroup")
    with contextlib.suppress(ValueError, OSError):
        limit = int((group / "memory.max").read_text())
        available = min(available, limit - int((group / "memory.current").read_text()))
    return max(available, 0)


def memory_limit_bytes() -> int:
    """What workers may take where nobody says: some of what is available stays free."""
    return int(_MEMORY_SHARE * available_memory_bytes())


def _usable_cpus() -> list[int]:
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def logical_cores() -> int:
    """Logical cores that this process may use."""
    return len(_usable_cpus())


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()[:200]
    except OSError:
        return ""


def _cpu_model() -> str:
    if sys.platform == "darwin":
        return _sysctl("machdep.cpu.brand_string") or "unknown"
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip().lower() in ("model name", "hardware", "cpu model") and value.strip():
                return value.strip()[:200]
    # ARM boards name themselves in the device tree instead
    return _text(Path("/proc/device-tree/model")).strip("\0") or platform.processor() or "unknown"


def _caches() -> tuple[Cache, ...]:
    if sys.platform == "darwin":
        return _darwin_caches()
    found: dict[tuple[int, str, int], set[str]] = {}
    for cpu in _usable_cpus():
        for index in sorted((_CPUS / f"cpu{cpu}/cache").glob("index[0-9]*")):
            size = _text(index / "size")
            level, kind = _text(index / "level"), _CACHE_TYPES.get(_text(index / "type"))
            if size.endswith("K") and size[:-1].isdigit() and level.isdigit() and kind:
                key = (int(level), kind, int(size[:-1]) * 1024)
                shared = _text(index / "shared_cpu_list") or str(cpu)
                found.setdefault(key, set()).add(shared)
    return tuple(
        Cache(level=level, type=kind, bytes=size, instances=len(shared))
        for (level, kind, size), shared in sorted(found.items())
        if size > 0
    )


def _darwin_caches() -> tuple[Cache, ...]:
    names = (
        (1, "data", "hw.l1dcachesize"),
        (1, "instruction", "hw.l1icachesize"),
        (2, "unified", "hw.l2cachesize"),
        (3, "unified", "hw.l3cachesize"),
    )
    sizes = ((level, kind, _sysctl(name)) for level, kind, name in names)
    return tuple(
        Cache(level=level, type=kind, bytes=int(size))
        for level, kind, size in sizes
        if size.isdigit() and int(size) > 0
    )


def _sysctl(name: str) -> str:
    try:
        done = subprocess.run(
            ["sysctl", "-n", name], capture_output=True, text=True, timeout=5, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()[:200]


def _os_name() -> str:
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            release = platform.freedesktop_os_release()
            kernel = platform.release().partition("-")[0]  # the rest may name a person's build
            return f"{release.get('PRETTY_NAME', 'Linux')}, kernel {kernel}"[:200]
    return platform.platform()[:200]
