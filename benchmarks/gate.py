"""`make validate-gate`: how often a gate on times is wrong on recordings of equal variants, and
what it sees of changes planted in them. Prints the table of docs/ci.md.

`fused` and `threads:N` with as many threads are one setting under two names, so both sides of such
a recording are equal but for the noise of this machine.
"""

from __future__ import annotations

import argparse
import platform
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.experiment import Experiment, ExperimentRecord
from fusescope.analysis.gate.condition import parse_condition
from fusescope.analysis.gate.times import judge_times
from fusescope.analysis.readers import read_path
from fusescope.collectors.record import Recording, record

MODEL = "mynet_composite"
THREADS = 2
NAMES = ("fused", f"threads:{THREADS}")
CONDITIONS = ("speedup < 1 with 95%", "latency slower 3%")
EFFECTS = (0.0, 0.02, 0.03, 0.05, 0.10)  # how much longer the candidate is made
BLOCKS, ROUNDS = 8, 12


@dataclass(frozen=True)
class Recorded:
    """A recording, and whether the two copies of its baseline were alike."""

    record: ExperimentRecord
    is_steady: bool


def recordings(count: int, model: str) -> Iterator[Recorded]:
    """As many, one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            asked = Recording(
                model=model,
                out=Path(folder) / f"{number}.zip",
                variants=NAMES,
                baseline=NAMES[0],
                threads=THREADS,
                blocks=BLOCKS,
                rounds=ROUNDS,
                profiled_rounds=2,
                own_pass=False,
            )
            found = read_path(record(asked, on_progress=lambda *_: None))
            assert isinstance(found, Experiment)
            print(f"{number + 1} of {count}", flush=True)
            first, second = (side_of_variant(found, name) for name in NAMES)
            verdict = compare(first, second).verdict
            yield Recorded(found.record, verdict.reason != "control_differs")


def longer(made: ExperimentRecord, effect: float) -> ExperimentRecord:
    """The recording with every run of the candidate made longer by that part."""
    variants = [
        variant
        if variant.name != NAMES[1]
        else msgspec.structs.replace(
            variant,
            samples=msgspec.structs.replace(
                variant.samples,
                wall_ns=[round(ns * (1 + effect)) for ns in variant.samples.wall_ns],
            ),
        )
        for variant in made.variants
    ]
    return msgspec.structs.replace(made, variants=variants)


def table(found: Sequence[Recorded]) -> list[str]:
    """How many of the recordings fail each condition, for each planted change, as Markdown."""
    lines = [
        "| Planted change | " + " | ".join(f"`{text}` fails" for text in CONDITIONS) + " |",
        "|---|" + "---|" * len(CONDITIONS),
    ]
    for effect in EFFECTS:
        cells = [f"{effect:.0%} slower" if effect else "none"]
        for text in CONDITIONS:
            condition = parse_condition(text)
            outcomes = [
                judge_times(
                    condition, longer(one.record, effect), NAMES, is_control_steady=one.is_steady
                ).outcome
                for one in found
            ]
            cells.append(f"{outcomes.count('failed')} of {len(found)}")
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def main() -> None:
    """Records, judges and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--model", default=MODEL)
    asked = parser.parse_args()
    found = list(recordings(asked.count, asked.model))
    machine = found[0].record.machine
    print(
        f"\n{asked.count} recordings of {asked.model} of {BLOCKS} blocks, {machine.cpu_model}, "
        f"{machine.physical_cores} cores, {platform.system()}, {datetime.now(UTC):%Y-%m-%d}:\n"
    )
    print("\n".join(table(found)))
    unsteady = sum(not one.is_steady for one in found)
    print(f"\nThe two copies of the baseline differed in {unsteady}, of which nothing is told.")


if __name__ == "__main__":
    main()
