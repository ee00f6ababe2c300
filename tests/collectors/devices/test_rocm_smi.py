"""What rocm-smi says of a device, with a stand-in for it."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from fusescope.analysis.experiment import DeviceState
from fusescope.collectors.workers import rocm_smi

CARD = {
    "PCI Bus": "0000:2F:00.0", "sclk clock speed:": "(800Mhz)", "mclk clock speed:": "(1600Mhz)",
    "Temperature (Sensor edge) (C)": "32.0", "Temperature (Sensor junction) (C)": "35.0",
    "Average Graphics Package Power (W)": "89.0", "GPU use (%)": "25",
    "VRAM Total Used Memory (B)": "200804560896",
}  # fmt: skip
OTHER = {"PCI Bus": "0000:30:00.0", "sclk clock speed:": "(300Mhz)"}
SYSTEM = {"Driver version": "6.14.14"}


@pytest.fixture
def says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A program of that name that prints what a test gives it."""

    def say(text: str, code: int = 0) -> None:
        program = tmp_path / "rocm-smi"
        (tmp_path / "said").write_text(text)
        program.write_text(f"#!/bin/sh\ncat {tmp_path}/said\nexit {code}\n")
        program.chmod(program.stat().st_mode | stat.S_IEXEC)
        monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")

    return say


def test_the_card_at_that_place_is_told_of(says: Any) -> None:
    says(json.dumps({"card0": OTHER, "card1": CARD, "system": SYSTEM}))
    told = rocm_smi.ask("0000:2f:00.0")
    assert told is not None and told.driver == "6.14.14"
    assert told.state == DeviceState(
        clock_mhz=800, memory_clock_mhz=1600, temperature_c=35, power_w=89, busy=0.25,
        used_bytes=200_804_560_896,
    )  # fmt: skip


def test_the_only_card_is_meant_where_nothing_says_which(says: Any) -> None:
    newer = {"Current Socket Graphics Package Power (W)": "9.2", "GPU use (%)": "N/A"}
    says(json.dumps({"card0": newer}))
    told = rocm_smi.ask("")
    assert told is not None and told.driver == ""
    assert told.state == DeviceState(power_w=9.2)
    says(json.dumps({"card0": CARD, "card1": OTHER}))
    assert rocm_smi.ask("") is None
    assert rocm_smi.ask("0000:99:00.0") is None


@pytest.mark.parametrize(
    ("text", "code"), [("", 0), ("[]", 0), ("{", 0), ('{"card0": 3}', 0), ("{}", 2)]
)
def test_what_says_nothing_is_none(says: Any, text: str, code: int) -> None:
    says(text, code)
    assert rocm_smi.ask("") is None


def test_without_the_program_nothing_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert rocm_smi.ask("") is None
