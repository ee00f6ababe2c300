"""Records the samples in sample_traces/ and writes the README beside them: `make samples`.

Takes a few minutes and wants a quiet machine. Nothing is replaced before both are recorded and
the folder is known to stay small.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import zipfile
from pathlib import Path

from analysis.compare.verdict import decided
from analysis.errors import FuseScopeError
from analysis.experiment import ExperimentRecord, parse_record
from collectors.progress import Progress
from collectors.record import Recording, record

FOLDER = Path(__file__).resolve().parent.parent / "sample_traces"
# Model -> options beyond its name; an ablation of all optimizers shows what a ledger is good for.
MODELS = {"mobilenetv2": "--ablate --blocks 8", "resnet50": ""}
PROFILED_ROUNDS = 5
MAX_BYTES = 6_000_000


def main() -> int:
    """Exit code 0 when both samples are in place."""
    with tempfile.TemporaryDirectory(prefix="fusescope-samples-") as temporary:
        files = {}
        for model, options in MODELS.items():
            recording = Recording(
                model=model,
                out=Path(temporary) / f"{model}.zip",
                profiled_rounds=PROFILED_ROUNDS,
                ablate="--ablate" in options,
                blocks=8 if "--blocks 8" in options else None,
                command=f"fusescope collect {model} {options}".strip(),
            )
            files[model] = record(recording, on_progress=_print, enough=decided)
        records = {model: _read(path) for model, path in files.items()}
        if any(one.outcome.stopped == "interrupted" for one in records.values()):
            print("Interrupted: the samples stay as they were.", file=sys.stderr)
            return 2
        size = sum(path.stat().st_size for path in files.values())
        if size > MAX_BYTES:
            print(f"{size} bytes is too much; lower PROFILED_ROUNDS.", file=sys.stderr)
            return 2
        FOLDER.mkdir(exist_ok=True)
        for model, path in files.items():
            part = FOLDER / f".{model}.zip.part"
            part.write_bytes(path.read_bytes())
            part.replace(FOLDER / f"{model}.zip")
    (FOLDER / "README.md").write_text(readme(records), encoding="utf-8")
    return 0


def readme(records: dict[str, ExperimentRecord]) -> str:
    """What was recorded, on what, how, and the medians in it."""
    first = next(iter(records.values()))
    machine, engine = first.machine, first.engine
    lines = [
        "# Sample recordings",
        "",
        "Real recordings of two built-in models, made by `make samples`, as was this file.",
        "The format is described in docs/experiment-file.md.",
        "",
        f"Machine: {machine.cpu_model}, {machine.physical_cores} cores, {machine.os}.",
        f"Engine: {engine.name} {engine.version}.",
        "",
        "| file | recorded | threads | blocks x rounds | load before, after | variant | ms |",
        "|---|---|---|---|---|---|---|",
    ]
    for model, one in records.items():
        for variant in one.variants:
            median_ms = statistics.median(variant.samples.wall_ns) / 1e6
            lines.append(
                f"| {model}.zip | {one.created[:10]} | {one.settings.threads} "
                f"| {one.outcome.blocks} x {one.settings.rounds} "
                f"| {_load(one.machine.load_before)}, {_load(one.machine.load_after)} "
                f"| {variant.name} | {median_ms:.2f} |"
            )
    lines += [
        "",
        "The times are medians over all blocks, for orientation only.",
        "The verdict pairs variants inside a block (docs/recording.md).",
        "",
        "## How each was made",
        "",
        "| file | command | batch | seed | spinning | stopped | blocks replaced |",
        "|---|---|---|---|---|---|---|",
        *(_made(model, one) for model, one in records.items()),
        "",
        "| file | input | dtype | shape | values |",
        "|---|---|---|---|---|",
        *(
            f"| {model}.zip | {fact.name} | {fact.dtype} | {list(fact.shape)} | {fact.source} |"
            for model, one in records.items()
            for fact in one.model.inputs
        ),
        "",
    ]
    return "\n".join(lines)


def _made(model: str, one: ExperimentRecord) -> str:
    settings, outcome = one.settings, one.outcome
    batch = "unknown" if one.model.batch is None else one.model.batch
    spinning = "on" if settings.spin else "off"
    return (
        f"| {model}.zip | `{settings.command}` | {batch} | {settings.seed} | {spinning} "
        f"| {outcome.stopped} | {outcome.blocks_replaced} |"
    )


def _load(load: float | None) -> str:
    return "unknown" if load is None else f"{load:.2f}"


def _read(path: Path) -> ExperimentRecord:
    with zipfile.ZipFile(path) as archive:
        return parse_record(archive.read("experiment.json"))


def _print(step: Progress) -> None:
    print(step.message, flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except FuseScopeError as error:
        print(error.text, file=sys.stderr)
        sys.exit(2)
