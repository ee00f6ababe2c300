"""Checks what recordings on a device are worth, on a machine that has one, in 8 minutes at most:

    python scripts/check_device.py --runtime torch@gpu --device cuda --out check

Records a convnet like MobileNetV2, a transformer block, a small convnet, and attention in bfloat16,
leaves the recordings in the folder, and says of each whether every operator is in one verified
group, the ledger adds up to the ns, the two copies of the baseline agree, and the un-profiled time
is that of a plain loop with events, within 3 %. Status 1 where one does not hold. On the processor,
which other work shares, the time is shown and fails nothing.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fusescope.analysis import readers
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.groups.lineage import lineage
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment, VariantRecord
from fusescope.collectors import torch as torch_recordings
from fusescope.collectors.environments import chosen
from fusescope.collectors.record import Placement, Recording, record
from fusescope.collectors.recording.placing import GRAPHS
from fusescope.collectors.workers import visible

SECONDS = 480
LARGEST_DIFFERENCE = 0.03
HERE = Path(__file__).resolve().parent
NETWORKS = Path(torch_recordings.__file__).with_name("networks.py")
LADDER = ("eager", "captured", "unfused", "fused")


@dataclass(frozen=True)
class Case:
    """A model, where its function is, and the type that it runs in."""

    name: str
    file: Path
    dtype: str = ""


CASES = (
    Case("mobilenet", HERE / "device_models.py"),
    Case("transformer", NETWORKS),
    Case("convnet", NETWORKS),
    Case("attention", HERE / "device_models.py", "bfloat16"),
)


@dataclass(frozen=True)
class Result:
    """What was looked at, whether it holds, and what was seen; `holds` None: it says nothing."""

    what: str
    holds: bool | None
    seen: str


def main() -> int:
    """Record, look, and say what was seen; the exit status."""
    options = _options()
    options.out.mkdir(parents=True, exist_ok=True)
    end, failed = time.monotonic() + options.seconds, 0
    for case in CASES:
        if options.only and case.name not in options.only:
            continue
        left = end - time.monotonic()
        if left < options.least_seconds:
            print(f"{case.name}: left out, {left:.0f} s are left of {options.seconds}", flush=True)
            failed += 1
            continue
        for result in _results(case, options):
            mark = {True: "holds", False: "DOES NOT HOLD", None: "shown"}[result.holds]
            print(f"{case.name}: {result.what}: {mark}: {result.seen}", flush=True)
            failed += result.holds is False
    return 1 if failed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--runtime", default="torch")
    parser.add_argument("--out", type=Path, default=Path("check_device"))
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--least-seconds", type=float, default=90, help="of one model")
    parser.add_argument("--timeout", type=float, default=300, help="of one variant alone, in s")
    parser.add_argument("--blocks", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", nargs="*", choices=[case.name for case in CASES])
    return parser.parse_args()


def _results(case: Case, options: argparse.Namespace) -> Iterator[Result]:
    placement = Placement(case.dtype, options.device)
    variants = LADDER
    if case.name == "transformer":
        variants += ("max-autotune",)
        variants += ("reduce-overhead",) if placement.kind in GRAPHS else ()
    started = time.monotonic()
    path = options.out / f"{case.name}-{options.device.replace(':', '-')}.zip"
    path.unlink(missing_ok=True)
    model = f"{case.file}:{case.name}"
    recording = Recording(
        model=model,
        runtime=options.runtime,
        variants=variants,
        out=path,
        threads=options.threads,
        blocks=options.blocks,
        rounds=options.rounds,
        run_timeout=options.timeout,
        placement=placement,
    )
    try:
        record(recording, on_progress=lambda step: None)
        experiment = readers.read_path(path)
        assert isinstance(experiment, Experiment)
    except FuseScopeError as error:
        yield Result("recorded", False, error.text)
        return
    size_kb = path.stat().st_size / 1000
    yield Result("recorded", True, f"{time.monotonic() - started:.0f} s, {size_kb:.0f} kB")
    for name in experiment.record.names:
        yield _groups(experiment, name)
    yield from _ledgers(experiment)
    yield from _times(experiment, model, placement, options)


def _groups(experiment: Experiment, name: str) -> Result:
    """Every operator of the model and of the variant in one group, and no boundary that differs; a
    variant without a graph says why."""
    what = f"groups of {name}"
    variant = experiment.record.variant(name)
    model, graph = experiment.model_graph, experiment.graphs.get(name)
    if model is None or graph is None:
        reason = variant.why_no_graph
        return Result(what, bool(reason), f"none: {reason or 'no reason is said'}")
    found = lineage(model, graph, experiment.matches.get(name, ()))
    originals = Counter(node for group in found.groups for node in group.original)
    ran = Counter(node for group in found.groups for node in group.optimised)
    ran.update(found.inserted)
    are_whole = originals == Counter(node.name for node in model.nodes)
    are_whole = are_whole and ran == Counter(node.name for node in graph.nodes)
    problems = len(found.unexplained) + len(found.mismatches)
    unjoined = [
        note.count
        for note in experiment.traces[name].diagnostics
        if note.code == "calls_not_of_graph"
    ]
    largest = max((len(group.original) for group in found.groups), default=0)
    seen = f"{len(model.nodes)} operators, {len(found.groups)} groups, the largest of {largest}"
    seen += f", {problems} not explained or differing, {sum(unjoined)} runs not of the graph"
    return Result(what, are_whole and not problems and not unjoined, seen)


def _ledgers(experiment: Experiment) -> Iterator[Result]:
    names = experiment.record.names
    first = side_of_variant(experiment, names[0])
    for name in names[1:]:
        comparison = compare(first, side_of_variant(experiment, name))
        total = comparison.ledger.reconciliation
        terms = (
            total.groups_ns, total.ungrouped_ns, total.communication_ns, total.slow_ns,
            total.overlap_ns, total.dispatch_ns, total.profiler_bias_ns, total.rounding_ns,
        )  # fmt: skip
        missing = (total.delta_ns or 0) - sum(term or 0 for term in terms)
        what = f"ledger of {names[0]} and {name}"
        yield Result(what, missing == 0, f"{missing} ns of {total.delta_ns} are in no term")


def _times(
    experiment: Experiment, model: str, placement: Placement, options: argparse.Namespace
) -> Iterator[Result]:
    """The two copies of the baseline, and the time beside that of a plain loop."""
    on_cpu = placement.device == "cpu"
    copies = _medians(experiment.record.variant(experiment.record.settings.baseline))
    apart = abs(copies[2] / copies[1] - 1)
    seen = f"the copies of the baseline are {apart:.2%} apart"
    yield Result("A/A control", None if on_cpu else apart <= LARGEST_DIFFERENCE, seen)
    plain = _plain(model, placement, options)
    if plain is None:
        yield Result("plain loop", False, "it did not run")
        return
    own = _medians(experiment.record.variant("fused"))[1]
    apart = abs(own / plain - 1)
    seen = f"fused {own / 1000:.1f} µs, in a plain loop {plain / 1000:.1f} µs: {apart:.2%} apart"
    yield Result("plain loop", None if on_cpu else apart <= LARGEST_DIFFERENCE, seen)


def _medians(variant: VariantRecord) -> dict[int, float]:
    """Copy -> median of its runs in ns, by events of the device where there are such."""
    samples = variant.samples
    times = samples.device_ns or samples.wall_ns
    return {
        copy: statistics.median(
            one for one, of in zip(times, samples.copy, strict=True) if of == copy
        )
        for copy in set(samples.copy)
    }


def _plain(model: str, placement: Placement, options: argparse.Namespace) -> float | None:
    device = "cuda" if placement.kind == "rocm" else placement.kind
    with tempfile.TemporaryDirectory() as cache:
        environment = {
            **os.environ,
            **(visible.environment(placement) or visible.HIDDEN),
            "TORCHINDUCTOR_CACHE_DIR": cache,
            "OMP_WAIT_POLICY": "PASSIVE",
        }
        words = [model, device, placement.dtype, str(options.threads)]
        done = subprocess.run(
            [str(chosen.python_of(options.runtime)), str(HERE / "plain_loop.py"), *words],
            env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
    if done.returncode:
        print(done.stderr[-1000:], file=sys.stderr)
        return None
    return float(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    sys.exit(main())
