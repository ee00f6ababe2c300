"""The ledger's terms from the raw files: zip and json only, exact fractions, no reader of ours."""

from __future__ import annotations

import io
import json
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

_KERNEL = "_kernel_time"
_SHAPES = ("op_name", "input_type_shape", "output_type_shape")
Event = dict[str, Any]
Window = tuple[int, int]
Work = tuple[
    str, str
]  # the engine gives one name to several operators: their shapes tell them apart
Run = tuple[int, int, int, dict[Work, list[int]]]


@dataclass(frozen=True)
class RawMeans:
    """Means of one variant in ns: over the runs of a block, then over blocks."""

    wall: Fraction
    span: Fraction
    busy: Fraction
    kernel: Fraction
    operators: Mapping[str, Fraction]
    slow: Mapping[str, Fraction]


def raw_means(data: bytes, names: Iterable[str]) -> dict[str, RawMeans]:
    """Means of these variants over the blocks that all of them have."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        record = json.loads(archive.read("experiment.json"))
        variants = {v["name"]: v for v in record["variants"] if v["name"] in set(names)}
        blocks = set.intersection(
            *({p["block"] for p in v["profiles"]} for v in variants.values()),
            *(set(v["samples"]["block"]) for v in variants.values()),
        )
        return {name: _variant(archive, v, sorted(blocks)) for name, v in variants.items()}


def trimmed(data: bytes, names: Iterable[str]) -> bytes:
    """A copy with these variants alone: a whole recording takes long to read."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        record = json.loads(archive.read("experiment.json"))
    record["variants"] = [v for v in record["variants"] if v["name"] in set(names)]
    text = json.dumps(record)
    kept = {"experiment.json", record["model_graph"]}
    kept |= {profile["file"] for variant in record["variants"] for profile in variant["profiles"]}
    kept |= {variant[key] for variant in record["variants"] for key in ("graph", "matches")}
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as old,
        zipfile.ZipFile(buffer, "w") as new,
    ):
        for name in old.namelist():
            if name in kept:
                new.writestr(name, text if name == "experiment.json" else old.read(name))
    return buffer.getvalue()


def rewritten(data: bytes, change: Callable[[str, bytes], bytes]) -> bytes:
    """A copy of the zip with every member passed through `change`."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as old,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for info in old.infolist():
            new.writestr(info.filename, change(info.filename, old.read(info)))
    return buffer.getvalue()


def slowed(data: bytes, variant: str, operator: str, factor: int) -> bytes:
    """A copy in which one operator of a variant takes `factor` times as long in every profile.

    What comes after it starts later, so the profile stays one that could have been recorded.
    """

    def change(name: str, content: bytes) -> bytes:
        if not name.startswith(f"profiles/{variant}/"):
            return content
        events: list[Event] = json.loads(content)
        added = [
            (event["ts"], (factor - 1) * event["dur"])
            for event in events
            if event["name"] == operator + _KERNEL
        ]
        for event in events:
            start, end = event["ts"], event["ts"] + event["dur"]
            event["ts"] += sum(more for at, more in added if at < start)
            if event["name"] == operator + _KERNEL:
                event["dur"] *= factor
            else:
                event["dur"] += sum(more for at, more in added if start <= at < end)
        return json.dumps(events).encode()

    return rewritten(data, change)


def paused(data: bytes, variant: str, block: int, operator: str, dur_us: int) -> bytes:
    """A copy in which one execution of an operator, the last of that block, takes so long, and
    what comes after it starts later."""

    def change(name: str, content: bytes) -> bytes:
        if name != f"profiles/{variant}/{block}.json":
            return content
        events: list[Event] = json.loads(content)
        slow = max(
            (event for event in events if event["name"] == operator + _KERNEL),
            key=lambda event: event["ts"],
        )
        start, more = slow["ts"], dur_us - slow["dur"]
        for event in events:
            if event is slow or event["ts"] < start < event["ts"] + event["dur"]:
                event["dur"] += more
            elif event["ts"] > start:
                event["ts"] += more
        return json.dumps(events).encode()

    return rewritten(data, change)


def lengthened(data: bytes, variant: str, operator: str, factor: int) -> bytes:
    """A copy in which one operator of a variant takes `factor` times as long, and nothing moves.

    Whoever edits a profile by hand does this: the operator now overlaps those after it.
    """

    def change(name: str, content: bytes) -> bytes:
        if not name.startswith(f"profiles/{variant}/"):
            return content
        events: list[Event] = json.loads(content)
        for event in events:
            if event["name"] == operator + _KERNEL:
                event["dur"] *= factor
        return json.dumps(events).encode()

    return rewritten(data, change)


def _variant(archive: zipfile.ZipFile, variant: Any, blocks: list[int]) -> RawMeans:
    samples = variant["samples"]
    wall = [
        _mean([w for w, b in zip(samples["wall_ns"], samples["block"], strict=True) if b == block])
        for block in blocks
    ]
    runs = [_runs(archive, variant, block) for block in blocks]
    excess = _excess([run for block in runs for run in block])
    operators = {name for block in runs for run in block for name, _ in run[3]}
    return RawMeans(
        wall=_mean(wall),
        span=_mean([_mean([run[0] for run in block]) for block in runs]),
        busy=_mean([_mean([run[1] for run in block]) for block in runs]),
        kernel=_mean([_mean([run[2] for run in block]) for block in runs]),
        operators={
            name: _mean([_mean([_taken(run, name) for run in block]) for block in runs])
            for name in operators
        },
        slow={
            name: _mean(
                [_mean([excess.get((id(run), name), 0) for run in block]) for block in runs]
            )
            for name in operators
        },
    )


def _taken(run: Run, name: str) -> int:
    return sum(sum(times) for (of, _), times in run[3].items() if of == name)


def _excess(runs: list[Run]) -> dict[tuple[int, str], Fraction]:
    """What slow executions took beyond their medians, by run and operator: as docs/fusion.md says,
    for profiles in whole µs."""
    found: dict[tuple[int, str], Fraction] = {}
    for work in {work for run in runs for work in run[3]}:
        of = [run for run in runs if work in run[3]]
        counts = Counter(len(run[3][work]) for run in of)
        usual = max(counts, key=lambda count: (counts[count], count))
        of = [run for run in of if len(run[3][work]) == usual]
        for place in range(usual if len(of) >= 3 else 0):
            times = sorted(run[3][work][place] for run in of)
            half = len(times) // 2
            median = Fraction(times[half] + times[-half - 1], 2)
            far = [run for run in of if run[3][work][place] > 3 * (median + 1000)]
            if len(far) <= max(1, len(of) / 4):
                for run in far:
                    key = (id(run), work[0])
                    found[key] = found.get(key, Fraction(0)) + run[3][work][place] - median
    return found


def _runs(archive: zipfile.ZipFile, variant: Any, block: int) -> list[Run]:
    """(span, union, sum, times by operator) of each run after warm-up, in ns."""
    runs = []
    for profile in variant["profiles"]:
        if profile["block"] != block:
            continue
        events: list[Event] = json.loads(archive.read(profile["file"]))
        if profile.get("run_start_ns") is not None:
            given = zip(profile["run_start_ns"], profile["run_dur_ns"], strict=True)
            windows = sorted((start, start + dur) for start, dur in given)
        else:
            windows = sorted(_window(e) for e in events if e["name"] == "model_run")
        kernels = [e for e in events if e["cat"] == "Node" and e["name"].endswith(_KERNEL)]
        for start, end in windows[profile["warmup_runs"] :]:
            inside = [e for e in kernels if start <= _window(e)[0] <= end]
            times: dict[Work, list[int]] = {}
            for event in inside:
                name = event["name"].removesuffix(_KERNEL)
                shapes = json.dumps([event["args"].get(key) for key in _SHAPES])
                times.setdefault((name, shapes), []).append(event["dur"] * 1000)
            union, reached = 0, 0
            for first, last in sorted(_window(e) for e in inside):
                union += max(0, last - max(first, reached))
                reached = max(reached, last)
            total = sum(map(sum, times.values()))
            runs.append((end - start, union, total, times))
    return runs


def _window(event: Event) -> Window:
    return event["ts"] * 1000, (event["ts"] + event["dur"]) * 1000


def _mean(values: list[Any]) -> Fraction:
    return Fraction(sum(values)) / len(values)
