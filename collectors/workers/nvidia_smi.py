"""What NVIDIA's driver says of a device at the moment, by nvidia-smi."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from fusescope.analysis.experiment import DeviceState

_FIELDS = (
    "clocks.sm", "clocks.mem", "temperature.gpu", "power.draw", "utilization.gpu", "memory.used",
    "driver_version",
)  # fmt: skip
SECONDS = 10
_MIB = 1024 * 1024


@dataclass(frozen=True)
class Told:
    """`state` is that of the moment, `driver` the driver's version, '' where it is not said."""

    state: DeviceState
    driver: str


def ask(device: str) -> Told | None:
    """Return what it says of a device ('GPU-…', as the driver identifies it, or its number), None
    where there is no nvidia-smi, or it does not answer."""
    command = [
        "nvidia-smi", f"--id={device}", f"--query-gpu={','.join(_FIELDS)}",
        "--format=csv,noheader,nounits",
    ]  # fmt: skip
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.SubprocessError):
        return None
    values = [value.strip() for value in done.stdout.strip().split(",")]
    if done.returncode or len(values) != len(_FIELDS):
        return None
    return Told(_state(values), values[-1] if values[-1][:1].isdigit() else "")


def _state(values: Sequence[str]) -> DeviceState:
    clock, memory_clock, temperature, power, busy, used = (number(v) for v in values[:6])
    return DeviceState(
        clock_mhz=clock,
        memory_clock_mhz=memory_clock,
        temperature_c=temperature,
        power_w=power,
        busy=None if busy is None else busy / 100,
        used_bytes=None if used is None else int(used * _MIB),
    )


def number(text: str, below: float = 1e9) -> float | None:
    """Return the number; '[N/A]' and '[Not Supported]' are none."""
    try:
        found = float(text)
    except ValueError:
        return None
    return found if 0 <= found < below else None
