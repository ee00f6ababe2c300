"""scripts/check_device.py with the processor as the device: needs torch and minutes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.torch_python import TORCH

ROOT = Path(__file__).resolve().parents[2]

if TORCH.kind != "ready":
    pytest.skip("torch is not there: fusescope runtimes add torch", allow_module_level=True)


def check(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    words = ["scripts/check_device.py", "--out", str(folder), "--only", "attention", *options]
    return subprocess.run(
        [sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_what_is_looked_at_holds_on_the_processor(tmp_path: Path) -> None:
    done = check(tmp_path, "--device", "cpu", "--blocks", "1", "--rounds", "3")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert [line for line in lines if "groups of fused: holds" in line]
    assert sum(": holds: 0 ns of " in line for line in lines) == 3
    assert sum("plain loop: shown" in line for line in lines) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["attention-cpu.zip"]


def test_a_device_that_is_not_there_fails_the_check(tmp_path: Path) -> None:
    done = check(tmp_path, "--device", "npu")
    assert done.returncode == 1
    assert "recorded: DOES NOT HOLD: This PyTorch" in done.stdout
    assert not list(tmp_path.iterdir())


def test_what_no_time_is_left_for_is_counted(tmp_path: Path) -> None:
    done = check(tmp_path, "--device", "cpu", "--seconds", "1")
    assert done.returncode == 1
    assert done.stdout == "attention: left out, 1 s are left of 1.0\n"
