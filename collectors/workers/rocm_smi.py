"""What AMD's driver says of a device at the moment, by rocm-smi."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from typing import Any

from fusescope.analysis.experiment import DeviceState
from fusescope.collectors.workers.nvidia_smi import SECONDS, Told, number

_COMMAND = (
    "rocm-smi", "--showclocks", "--showtemp", "--showpower", "--showuse", "--showmeminfo", "vram",
    "--showbus", "--showdriverversion", "--json",
)  # fmt: skip
# Releases have other names for the same; the first that is there counts.
_TEMPERATURE = ("Temperature (Sensor junction) (C)", "Temperature (Sensor edge) (C)")
_POWER = ("Average Graphics Package Power (W)", "Current Socket Graphics Package Power (W)")


def ask(bus: str) -> Told | None:
    """Return what it says of the device at that place of the PCI bus ('0000:2f:00.0'), or of the
    only one there is for ''; None where there is no rocm-smi, it does not answer, or nothing says
    which device is meant."""
    try:
        done = subprocess.run(
            _COMMAND, capture_output=True, text=True, timeout=SECONDS, check=False
        )
        said = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError, RecursionError):
        return None
    if done.returncode or not isinstance(said, dict):
        return None
    cards = [one for name, one in said.items() if name.startswith("card") and _is_card(one)]
    meant = [one for one in cards if str(one.get("PCI Bus", "")).casefold() == bus.casefold()]
    if not bus and len(cards) == 1:
        meant = cards
    if len(meant) != 1:
        return None
    system = said.get("system")
    driver = str(system.get("Driver version", "")) if isinstance(system, dict) else ""
    return Told(_state(meant[0]), driver[:40] if driver[:1].isdigit() else "")


def _is_card(said: object) -> bool:
    return isinstance(said, dict)


def _state(card: Mapping[str, Any]) -> DeviceState:
    busy, used = _of(card, "GPU use (%)"), _of(card, "VRAM Total Used Memory (B)", 2.0**60)
    return DeviceState(
        clock_mhz=_of(card, "sclk clock speed:"),
        memory_clock_mhz=_of(card, "mclk clock speed:"),
        temperature_c=_first(card, _TEMPERATURE),
        power_w=_first(card, _POWER),
        busy=None if busy is None else min(1.0, busy / 100),
        used_bytes=None if used is None else int(used),
    )


def _first(card: Mapping[str, Any], names: tuple[str, ...]) -> float | None:
    return next((found for name in names if (found := _of(card, name)) is not None), None)


def _of(card: Mapping[str, Any], name: str, below: float = 1e9) -> float | None:
    """A number of that name: '35.0', or of a clock '(1600Mhz)'."""
    text = str(card.get(name, "")).strip("() ").casefold().removesuffix("mhz")
    return number(text, below)
