"""Damaged files by the thousand: `python -m tests.security.fuzz --count 20000`.

For every file of every miniature: only a FuseScopeError or a valid Trace may come out, in less
than a second of CPU time, within the memory limit. Prints a table; a failure names format, file and
seed, and its bytes lie in the folder that --keep names.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import sys
import time
import traceback
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.readers import read, read_all
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.report.exports.inspection import inspection_json
from fusescope.analysis.trace import Trace
from tests import miniatures
from tests.security.mutations import mutated

MAX_CPU_S = 1.0
MEMORY_BYTES = 1024 * 1024 * 1024  # beyond what Python and its libraries take themselves
_SEED_STEP = 1_000_003
_SHOWN_EVERY = 5  # what is shown of a trace takes longer than reading it


@dataclass
class Outcome:
    """What came of the mutations of one file."""

    format: str
    file: str
    count: int = 0
    traces: int = 0
    refused: int = 0
    slowest_s: float = 0.0
    failures: list[str] = field(default_factory=list)
    errors: dict[str, int] = field(default_factory=dict)


def attempt(source: Source, *, show: bool) -> tuple[Trace | Experiment | FuseScopeError, float]:
    """What reading gives, and its CPU seconds; with `show`, with what is shown of it."""
    start = time.process_time()
    value: Trace | Experiment | FuseScopeError
    try:
        value = read(source)
        if show:
            inspection_json(value)
    except FuseScopeError as error:
        value = error
    return value, time.process_time() - start


def fuzz_file(
    format_name: str, place: int, sources: tuple[Source, ...], seeds: range, keep: Path | None
) -> Outcome:
    """Mutate the file at `place`; its neighbours stay whole. Companions go in beside the rest."""
    target = sources[place]
    outcome = Outcome(format_name, target.path)
    others = tuple(source for source in sources if source is not target)
    for seed in seeds:
        data = mutated(target.content, seed * _SEED_STEP + place)
        outcome.count += 1
        try:
            show = seed % _SHOWN_EVERY == 0
            source = Source(target.name, data, path=target.path, beside=others)
            value, seconds = attempt(source, show=show)
            if show and others:
                read_all([*others, Source(target.name, data, path=target.path)])
            if seconds > MAX_CPU_S:  # the machine may have been busy: only a repeat counts
                again = Source(target.name, data, path=target.path, beside=others)
                seconds = min(seconds, attempt(again, show=show)[1])
            outcome.slowest_s = max(outcome.slowest_s, seconds)
            if seconds > MAX_CPU_S:
                outcome.failures.append(f"seed {seed}: {seconds:.2f} s of CPU time")
            if isinstance(value, FuseScopeError):
                outcome.refused += 1
                what = value.what[:60]
                outcome.errors[what] = outcome.errors.get(what, 0) + 1
            else:
                outcome.traces += 1
        except (Exception, MemoryError):  # noqa: BLE001 - that is what is looked for
            last = traceback.format_exc().strip().splitlines()
            outcome.failures.append(f"seed {seed}: {last[-1][:200]} at {last[-3].strip()[:160]}")
            if keep is not None:
                keep.mkdir(parents=True, exist_ok=True)
                (keep / f"{format_name}-{place}-{seed}").write_bytes(data)
    return outcome


def main(arguments: list[str] | None = None) -> int:
    """Run it; 3 when anything failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="mutations of each sample")
    parser.add_argument("--seed", type=int, default=0, help="first seed")
    parser.add_argument("--formats", nargs="*", help="names of readers; all without it")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", type=Path, help="folder for files that failed")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    tasks = [
        (reader.name, place, range(options.seed + start, options.seed + end), options.keep)
        for reader in miniatures.FORMATS
        if not options.formats or reader.name in options.formats
        for place, start, end in _shares(len(miniatures.files(reader)), options.count)
    ]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.jobs, context, initializer=_limit_memory) as pool:
        outcomes = list(pool.map(_task, *zip(*tasks, strict=True)))
    merged: dict[tuple[str, str], Outcome] = {}
    for one in outcomes:
        known = merged.setdefault((one.format, one.file), Outcome(one.format, one.file))
        known.count += one.count
        known.traces += one.traces
        known.refused += one.refused
        known.slowest_s = max(known.slowest_s, one.slowest_s)
        known.failures += one.failures
        for what, count in one.errors.items():
            known.errors[what] = known.errors.get(what, 0) + count
    failed = [one for one in merged.values() if one.failures]
    if options.json:
        print(json.dumps([asdict(one) for one in merged.values()]))
    else:
        for one in merged.values():
            print(
                f"{one.format:24} {one.file[:40]:40} {one.count:6} read {one.traces:6} refused "
                f"{one.refused:6} slowest {one.slowest_s:.3f} s failures {len(one.failures)}"
            )
        for one in failed:
            for line in one.failures[:10]:
                print(f"FAILED {one.format} {one.file} {line}")
    return 3 if failed else 0


def _shares(files: int, count: int) -> list[tuple[int, int, int]]:
    """(file, first, end) so that all mutations of a sample are `count`, the main file's half."""
    each = [count] if files == 1 else [count // files + (i < count % files) for i in range(files)]
    shares = []
    for place, size in enumerate(each):
        shares += [(place, at, min(at + 500, size)) for at in range(0, size, 500)]
    return shares


def _task(name: str, place: int, seeds: range, keep: Path | None) -> Outcome:
    reader = next(reader for reader in miniatures.FORMATS if reader.name == name)
    return fuzz_file(name, place, miniatures.files(reader), seeds, keep)


def _limit_memory() -> None:
    """No reader may take more than the limit above what is mapped after the first reads.

    Arrow's allocator alone reserves a GiB of addresses, which it does not fill, when it starts.
    """
    for reader in miniatures.FORMATS:
        attempt(miniatures.main_file(reader), show=True)
    with open("/proc/self/statm", encoding="ascii") as file:
        mapped = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + MEMORY_BYTES,) * 2)


if __name__ == "__main__":
    sys.exit(main())
