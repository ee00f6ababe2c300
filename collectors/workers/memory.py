"""Resident memory of this process, and its peak."""

from __future__ import annotations

import resource
import sys
from dataclasses import dataclass
from pathlib import Path

_STATUS = Path("/proc/self/status")


@dataclass(frozen=True)
class PeakMemory:
    """Watches the resident peak from `start` on. `source` says where the figure comes from."""

    level_bytes: int
    source: str

    @classmethod
    def start(cls) -> PeakMemory:
        """Resets the kernel's high-water mark where that is possible."""
        try:
            Path("/proc/self/clear_refs").write_text("5")
            return cls(_status_bytes("VmRSS"), "VmHWM")
        except (OSError, KeyError, ValueError):
            # without a reset the mark of the imports stands in for the level: never too high
            return cls(_maximum_bytes(), "ru_maxrss")

    def peak_bytes(self) -> int:
        """Resident peak since `start`, above the level at `start`."""
        peak = _status_bytes("VmHWM") if self.source == "VmHWM" else _maximum_bytes()
        return max(0, peak - self.level_bytes)


def _status_bytes(field: str) -> int:
    for line in _STATUS.read_text().splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0]) * 1024
    raise KeyError(field)


def _maximum_bytes() -> int:
    maximum = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return maximum if sys.platform == "darwin" else maximum * 1024
