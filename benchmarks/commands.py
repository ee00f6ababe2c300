"""Processor time of command lines as whole processes, in turn, against `import pandas`."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks.row import Row

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = ROOT / "sample_traces" / "mobilenetv2.zip"
_ROUNDS = 7
_FUSESCOPE = [sys.executable, "-m", "fusescope.app.cli.main"]
_PANDAS = "python -c 'import pandas'"
_TARGETS = {
    "fusescope --help": "< 0.6 x",
    "fusescope compare SAMPLE": "< 2.2 x",
    "fusescope compare SAMPLE --json": "< 1.6 x",
}


def measure() -> list[Row]:
    """Return rows for --help and compare, with the median and its multiple of `import pandas`."""
    commands = {
        _PANDAS: [sys.executable, "-c", "import pandas"],
        "fusescope --help": [*_FUSESCOPE, "--help"],
        "fusescope compare SAMPLE": [*_FUSESCOPE, "compare", str(SAMPLE)],
        "fusescope compare SAMPLE --json": [*_FUSESCOPE, "compare", str(SAMPLE), "--json"],
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    for round_ in range(_ROUNDS + 1):
        for name, command in commands.items():
            taken = _cpu_s(command)
            if round_:  # the first round fills the file cache
                times[name].append(taken)
    pandas = times[_PANDAS]
    return [
        Row(
            name,
            f"{statistics.median(values):.2f} s CPU",
            _TARGETS.get(name, ""),
            f"{statistics.median(v / p for v, p in zip(values, pandas, strict=True)):.2f} x "
            "`import pandas`",
        )
        for name, values in times.items()
    ]


def _cpu_s(command: list[str]) -> float:
    """Return the processor time of a process, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
