"""Whole-process times of command lines, interleaved, against a bare Python start."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.row import Row

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = ROOT / "sample_traces" / "mobilenetv2.zip"
_ROUNDS = 7
_FUSESCOPE = [sys.executable, "-m", "app.cli.main"]


def measure() -> list[Row]:
    """Rows for --help and compare."""
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "fusescope --help": [*_FUSESCOPE, "--help"],
        "fusescope compare SAMPLE": [*_FUSESCOPE, "compare", str(SAMPLE)],
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    for round_ in range(_ROUNDS + 1):
        for name, command in commands.items():
            start = time.perf_counter()
            subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
            if round_:  # the first round fills the file cache
                times[name].append(time.perf_counter() - start)
    bare = times.pop("python -c pass")
    targets = {"fusescope --help": "< 0.5 s", "fusescope compare SAMPLE": "< 2 s"}
    return [
        Row(
            name,
            f"{statistics.median(values):.2f} s",
            targets[name],
            f"{statistics.median(v / b for v, b in zip(values, bare, strict=True)):.1f} x a bare "
            "Python start",
        )
        for name, values in times.items()
    ]
