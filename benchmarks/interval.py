"""How narrow the interval of a recording gets in a given time."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

from benchmarks.row import Row
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.readers import read_path
from fusescope.collectors.record import Recording, record


def measure(seconds: tuple[int, ...] = (30, 60)) -> list[Row]:
    """Half-width of the 95 % interval of fused against unfused MobileNetV2, by time budget."""
    rows = []
    for budget in seconds:
        with tempfile.TemporaryDirectory() as folder:
            path = record(
                Recording(
                    model="mobilenetv2",
                    out=Path(folder) / "bench.zip",
                    variants=("unfused", "fused"),
                    seconds=budget,
                ),
                on_progress=lambda progress: None,  # and nobody says when it is enough
            )
            verdict = compare(*choose_sides(read_path(path))).verdict
        width = "no interval"
        if verdict.interval is not None:
            half = (math.log(verdict.interval.high) - math.log(verdict.interval.low)) / 2
            width = f"± {half:.2%}"
        rows.append(
            Row(
                f"MobileNetV2, fused against unfused, recorded for {budget} s",
                width,
                "as narrow as it gets",
                f"{verdict.samples[0]} blocks, speedup {verdict.speedup:.2f}x",
            )
        )
    return rows
