"""Large traces from bytes to a Trace with all its columns, against others in the same run.

Each way reads the same file in a process of its own, one after the other, round by round; CPU
times are medians of rounds. Ratios are compared with those of docs/benchmarks.md, and a warning
says which became worse.
"""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import median

from benchmarks import traces
from benchmarks.reading import WAYS
from benchmarks.row import Row

_ROOT = Path(__file__).parent.parent
PAGE = _ROOT / "docs" / "benchmarks.md"
_EVENTS = 1_000_000
_SCALES = (100_000, 1_000_000, 3_000_000)
_ROUNDS = 3
_WORSE = 1.25  # a ratio beyond this part of the committed one is told
# What each format is read with; the first is what others are measured against.
_FORMATS = {
    "kineto": ("json", "orjson", "read", "hta", "fusescope", "reopened"),
    "onnxruntime": ("json", "orjson", "read", "fusescope", "reopened"),
    "op_summary": ("pandas", "read", "fusescope", "reopened"),
    **dict.fromkeys(
        ("trace_view", "msprof", "mindspore", "rocprofv3", "rocprof"), ("json", "read", "fusescope")
    ),
}
_REAL = ("json", "orjson", "read", "fusescope", "reopened")
_LINE = re.compile(r"\|\s*([^|]+?)\s*\|\s*FuseScope\s*\|[^|]*\|\s*([\d.]+)x\s*\|")


@dataclass(frozen=True)
class Measured:
    """Medians of one way to read one file."""

    way: str
    cpu_s: float
    wall_s: float
    growth_mb: float


def measure() -> list[Row]:
    """A row for each file and way, and how CPU time grows with events; warns of worse ratios."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, path, ways in _files(Path(folder)):
            found = read_in_turn(path, ways)
            rows += _rows(name, found)
            _warn(name, found)
            if path.is_relative_to(folder):
                path.unlink()
        rows.append(_growth(Path(folder)))
    return rows


def read_in_turn(path: Path, ways: Sequence[str], rounds: int = _ROUNDS) -> list[Measured]:
    """Medians of every way that is installed, all of them in each round."""
    there = [way for way in ways if WAYS[way][1] is None or find_spec(str(WAYS[way][1]))]
    taken: dict[str, list[dict[str, float]]] = {way: [] for way in there}
    for _ in range(rounds):
        for way in there:
            taken[way].append(_alone(way, path))
    return [
        Measured(
            way, *(median(one[what] for one in of) for what in ("cpu_s", "wall_s", "growth_mb"))
        )
        for way, of in taken.items()
    ]


def ratios(page: str) -> dict[str, float]:
    """How many times less CPU than the plain parser FuseScope took, by file, in the table."""
    return {match[1]: float(match[2]) for match in _LINE.finditer(page)}


def worse(name: str, ratio: float, committed: dict[str, float]) -> str | None:
    """What to say of a ratio that is well below the committed one; None of any other."""
    known = committed.get(name)
    if known is None or ratio * _WORSE >= known:
        return None
    return f"{name}: {ratio:.2g}x less CPU than the plain parser, {known:.2g}x in {PAGE.name}"


def exponent(counts: Sequence[int], seconds: Sequence[float]) -> float:
    """The power of the count that time grows with: the slope of both as logarithms, by least
    squares. 1 is linear."""
    x, y = [math.log(count) for count in counts], [math.log(second) for second in seconds]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    above = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return above / sum((a - mean_x) ** 2 for a in x)


def _files(folder: Path) -> Iterator[tuple[str, Path, tuple[str, ...]]]:
    for format_, ways in _FORMATS.items():
        path = folder / (f"{format_}.csv" if format_ == "op_summary" else f"{format_}.json")
        traces.write(format_, _EVENTS, path)
        yield f"{format_}, {_EVENTS // 1_000_000}M", path, ways
    real = max(
        (_ROOT.parent / "shared" / "traces").rglob("*.json*"),
        key=lambda path: path.stat().st_size,
        default=None,
    )
    if real is not None:
        path = folder / real.name.removesuffix(".gz")
        path.write_bytes(_unpacked(real))
        yield "largest real trace", path, _REAL


def _unpacked(path: Path) -> bytes:
    import gzip

    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def _alone(way: str, path: Path) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.reading", way, str(path)],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _rows(name: str, found: list[Measured]) -> list[Row]:
    cpu_s = {one.way: one.cpu_s for one in found}
    plain = found[0]
    out = []
    for one in found:
        title = "FuseScope" if one.way == "fusescope" else one.way
        against = f"{plain.cpu_s / max(one.cpu_s, 0.001):.1f}x less CPU than {plain.way}"
        if one.way == "fusescope":
            against += "".join(
                f", {cpu_s[way] / one.cpu_s:.1f}x {way}"
                for way in ("orjson", "hta")
                if way in cpu_s
            )
            against += f", {one.cpu_s / max(cpu_s['read'], 0.001):.0f} times read"
        if one.way == "reopened":
            against += f", {cpu_s['fusescope'] / max(one.cpu_s, 0.001):.0f}x less than parsing"
        measured = f"{one.cpu_s:.2f} s CPU, {one.wall_s:.2f} s, {one.growth_mb:.0f} MB"
        out.append(Row(f"{name}: {title}", measured, "", against))
    return out


def _warn(name: str, found: list[Measured]) -> None:
    cpu_s = {one.way: one.cpu_s for one in found}
    committed = ratios(PAGE.read_text(encoding="utf-8")) if PAGE.exists() else {}
    said = worse(name, found[0].cpu_s / cpu_s["fusescope"], committed)
    if said:
        print(f"Warning: {said}", file=sys.stderr)


def _growth(folder: Path) -> Row:
    seconds = []
    for count in _SCALES:
        path = folder / f"{count}.json"
        traces.write("kineto", count, path)
        seconds.append(read_in_turn(path, ["fusescope"], rounds=1)[0].cpu_s)
        path.unlink()
    told = " / ".join(f"{second:.2f}" for second in seconds)
    grows = f"events to the power of {exponent(_SCALES, seconds):.2f}"
    return Row("kineto, 100k / 1M / 3M", f"{told} s CPU", "1.0", grows)
