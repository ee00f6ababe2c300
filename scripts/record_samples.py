"""Makes the samples in sample_traces/ and writes the README beside them: `make samples`.

Takes an hour or so and wants a quiet machine. `make samples ARGS="conv3x3 three_modes"` records
these only, `ARGS="--skip conv_bn_relu"` all but that one, `ARGS=--list` says what there is. A
sample is replaced as soon as its recording is complete, so that an interruption costs one; the
folder is known to stay small before that.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from fusescope.analysis.compare.timing.verdict import decided
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import ExperimentRecord, parse_record
from fusescope.analysis.recipes import RECIPES, Recipe
from fusescope.analysis.releases.history import History, history_file, parse_history
from fusescope.app.recipes.request import recording as of_recipe
from fusescope.collectors import bisect as collector
from fusescope.collectors.environments.catalogue import OWN, engine_of
from fusescope.collectors.environments.state import state_of
from fusescope.collectors.files import publication
from fusescope.collectors.progress import Progress
from fusescope.collectors.record import Recording, record, variant_names
from fusescope.collectors.releases.version import parse_span

FOLDER = Path(__file__).resolve().parent.parent / "sample_traces"
# Model -> options beyond its name; an ablation of all optimizers shows what a ledger is good for.
MODELS = {"mobilenetv2": "--ablate --blocks 8", "resnet50": ""}
# What docs/cases.md shows and the others do not have: model -> variants.
CASES = {
    "rotary_encoder": (
        "fused", "without:CommonSubexpressionElimination", "without:SkipLayerNormFusion",
    ),
    "relative_encoder": ("dynamic", "fused"),
    "group_norm": ("unfused", "fused"),
    "instance_norm": ("unfused", "fused"),
}  # fmt: skip
# Recorded where torch's environment is ready (`fusescope runtimes add torch`): built-in model ->
# variants.
TORCH = {"transformer": ("eager", "captured", "unfused", "fused")}
JAX = {"twice_read": ("eager", "unfused", "fused")}  # likewise
# Recorded where onnxruntime-gpu and a device of NVIDIA's are there.
CUDA = {"transformer_encoder": ("unfused", "fused", "provider:cuda:unfused", "provider:cuda")}
# Optimised by every release between two, without a time: built-in model -> releases.
RELEASES = {"transformer_encoder": "onnxruntime==1.20.1..1.32.0"}
PROFILED_ROUNDS = 5
FEW_PROFILED_ROUNDS = 1  # profiles are what makes the files large
MAX_BYTES = 13_000_000  # of everything in the folder

# Makes the file and returns it; None where that was interrupted.
Make = Callable[[Path], Path | None]


def main(arguments: list[str]) -> int:
    """Exit code 0 when all samples that were asked for are in place."""
    samples = _samples()
    parser = argparse.ArgumentParser(prog="make samples", description="Records sample_traces/.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="samples to record; default: all")
    parser.add_argument("--skip", action="append", default=[], metavar="NAME", help="but this one")
    parser.add_argument("--list", action="store_true", help="list the samples and record nothing")
    asked = parser.parse_args(arguments)
    unknown = [name for name in (*asked.names, *asked.skip) if name not in samples]
    if unknown:
        known = ", ".join(samples)
        print(f"There is no sample '{unknown[0]}'. Known: {known}.", file=sys.stderr)
        return 2
    wanted = [name for name in asked.names or samples if name not in asked.skip]
    for name in wanted:
        if asked.list:
            print(name)
        elif (engine := _engine(name)) and not _is_ready(engine):
            print(
                f"{name}: skipped, {engine} is not ready here. "
                f"Add it: fusescope runtimes add {engine}."
            )
        elif name.startswith("cuda_") and "provider:cuda" not in variant_names():
            print(f"{name}: skipped, onnxruntime-gpu is not installed here.")
        elif not _replace(name, samples[name]):
            return 2
    return 0


def _engine(name: str) -> str:
    """The engine with an environment of its own that the sample needs, '' for none."""
    runtime = next((one.runtime for one in RECIPES if one.name == name), OWN)
    if runtime != OWN:
        return runtime
    return next((one for one in ("torch", "jax") if name.startswith(f"{one}_")), "")


def _is_ready(engine: str) -> bool:
    return state_of(engine_of(engine)).kind == "ready"


def _samples() -> dict[str, Make]:
    """What is recorded, by the name of its file without the ending."""
    asked: list[tuple[str, Callable[[Path], Recording]]] = [
        *((model, partial(_of_model, model, options)) for model, options in MODELS.items()),
        *((model, partial(_of_case, model, chosen)) for model, chosen in CASES.items()),
        *((recipe.name, partial(_of_recipe, recipe)) for recipe in RECIPES),
        *(
            (f"{engine}_{model}", partial(_of_engine, engine, model, chosen))
            for engine, models_of in (("torch", TORCH), ("jax", JAX))
            for model, chosen in models_of.items()
        ),
        *((f"cuda_{model}", partial(_of_cuda, model, chosen)) for model, chosen in CUDA.items()),
    ]
    recorded: list[tuple[str, Make]] = [(name, partial(_recorded, of)) for name, of in asked]
    optimised: list[tuple[str, Make]] = [
        (model, partial(_optimised, model, span)) for model, span in RELEASES.items()
    ]
    found = dict([*recorded, *optimised])
    if len(found) < len(recorded) + len(optimised):
        raise AssertionError("two samples have one name")
    return found


def _of_model(model: str, options: str, out: Path) -> Recording:
    return Recording(
        model=model,
        out=out,
        profiled_rounds=PROFILED_ROUNDS,
        ablate="--ablate" in options,
        blocks=8 if "--blocks 8" in options else None,
        command=f"fusescope collect {model} {options}".strip(),
    )


def _of_case(model: str, variants: tuple[str, ...], out: Path) -> Recording:
    return Recording(
        model=model,
        out=out,
        variants=variants,
        blocks=8,
        profiled_rounds=FEW_PROFILED_ROUNDS,
        command=f"fusescope collect {model} --variants {','.join(variants)} --blocks 8",
    )


def _of_cuda(model: str, variants: tuple[str, ...], out: Path) -> Recording:
    return Recording(
        model=model,
        out=out,
        variants=variants,
        threads=4,
        blocks=8,
        profiled_rounds=FEW_PROFILED_ROUNDS,
        command=f"fusescope collect {model} --threads 4 --variants {','.join(variants)} --blocks 8",
    )


def _of_engine(engine: str, model: str, variants: tuple[str, ...], out: Path) -> Recording:
    return Recording(
        model=f"{engine}:{model}",
        out=out,
        runtime=engine,
        variants=variants,
        threads=1,  # two cores: the profiler writes on the other one
        blocks=5,
        profiled_rounds=PROFILED_ROUNDS,
        command=f"fusescope collect {engine}:{model} --runtime {engine} --threads 1 "
        f"--variants {','.join(variants)} --blocks 5",
    )


def _of_recipe(recipe: Recipe, out: Path) -> Recording:
    return replace(of_recipe(recipe, out), profiled_rounds=FEW_PROFILED_ROUNDS)


def _recorded(recording: Callable[[Path], Recording], out: Path) -> Path | None:
    made = record(recording(out), on_progress=_print, enough=decided)
    return None if read_record(made).outcome.stopped == "interrupted" else made


def _optimised(model: str, span: str, out: Path) -> Path:
    """What every release of the span makes of the model, as `fusescope bisect --out` keeps it."""
    command = f"fusescope bisect {model} --engine {span} --out {out.name}"
    recording = Recording(model=model, variants=("fused",), command=command)
    found = collector.find(parse_span(span))
    history = collector.optimise(recording, found, lambda said, *_: print(said, flush=True))
    out.write_bytes(history_file(history))
    return out


def _replace(name: str, make: Make) -> bool:
    """Makes one sample, puts it in place and writes the README anew; False where it may not."""
    path = FOLDER / _folder(name) / f"{name}.zip"
    print(f"{name}:", flush=True)
    with tempfile.TemporaryDirectory(prefix="fusescope-samples-") as temporary:
        made = make(Path(temporary) / path.name)
        if made is None:
            print(f"Interrupted: {name} stays as it was.", file=sys.stderr)
            return False
        others = sum(p.stat().st_size for p in FOLDER.rglob("*") if p.is_file() and p != path)
        size = others + made.stat().st_size
        if size > MAX_BYTES:
            print(f"{size} bytes in the folder is too much: lower the rounds.", file=sys.stderr)
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        publication.replace(path, made.read_bytes())
    (FOLDER / "README.md").write_text(readme(_records(), _histories()), encoding="utf-8")
    return True


def _folder(name: str) -> str:
    """Where a sample lies below the folder."""
    if name in MODELS:
        return ""
    if name in RELEASES:
        return "releases"
    is_case = name in CASES or _engine(name) or name.startswith("cuda_")
    return "cases" if is_case else "recipes"


def _records() -> dict[str, ExperimentRecord]:
    """The records of what lies in the folder, by path below it."""
    folders = (FOLDER, FOLDER / "cases", FOLDER / "recipes")
    paths = [path for folder in folders for path in sorted(folder.glob("*.zip"))]
    return {path.relative_to(FOLDER).as_posix(): read_record(path) for path in paths}


def _histories() -> dict[str, History]:
    """What releases made of models, by path below the folder."""
    return {
        path.relative_to(FOLDER).as_posix(): parse_history(path.read_bytes(), path.name)
        for path in sorted((FOLDER / "releases").glob("*.zip"))
    }


def readme(records: dict[str, ExperimentRecord], histories: dict[str, History]) -> str:
    """What was recorded, on what, how, and the medians in it, and what releases made of models;
    both by path."""
    machines = list(dict.fromkeys(_machine(one) for one in records.values()))
    lines = [
        "# Sample recordings",
        "",
        "Real recordings of built-in models, made by `make samples`, as was this file.",
        "In `recipes/` lies one of each recipe (docs/recipes.md), with fewer profiled rounds than",
        "`fusescope recipe` takes, in `cases/` what only docs/cases.md, docs/engines.md and",
        "docs/recording.md need. The format is described in docs/experiment-file.md. In",
        "`releases/` lies what releases of an engine make of a model (docs/bisect.md), which is",
        "not a recording: nothing was timed.",
        "",
        *(f"{number}. {machine}" for number, machine in enumerate(machines, start=1)),
        "",
        "| file | recorded | machine | threads | blocks x rounds | load before, after "
        + "| variant | ms |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for file, one in records.items():
        for variant in one.variants:
            median_ms = statistics.median(variant.samples.wall_ns) / 1e6
            lines.append(
                f"| {file} | {one.created[:10]} | {machines.index(_machine(one)) + 1} "
                f"| {one.settings.threads} "
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
        *(_made(file, one) for file, one in records.items()),
        "",
        "| file | input | dtype | shape | values |",
        "|---|---|---|---|---|",
        *(
            f"| {file} | {fact.name} | {fact.dtype} | {list(fact.shape)} | {fact.source} |"
            for file, one in records.items()
            for fact in one.model.inputs
        ),
        "",
        "| file | made | command | releases | left out | operators of the model |",
        "|---|---|---|---|---|---|",
        *(
            f"| {file} | {one.created[:10]} | `{one.command}` | {len(one.compared)} "
            f"| {len(one.releases) - len(one.compared)} | {len(one.graph.nodes)} |"
            for file, one in histories.items()
        ),
        "",
    ]
    return "\n".join(lines)


def _machine(one: ExperimentRecord) -> str:
    machine, engine = one.machine, one.engine
    told = (variant.settings.get("device") for variant in one.variants)
    devices = "".join(f", {name}" for name in dict.fromkeys(filter(None, told)))
    return (
        f"{machine.cpu_model}, {machine.physical_cores} cores{devices}, {machine.os}; "
        f"{engine.name} {engine.version}."
    )


def _made(file: str, one: ExperimentRecord) -> str:
    settings, outcome = one.settings, one.outcome
    batch = "unknown" if one.model.batch is None else one.model.batch
    spinning = "on" if settings.spin else "off"
    return (
        f"| {file} | `{settings.command}` | {batch} | {settings.seed} | {spinning} "
        f"| {outcome.stopped} | {outcome.blocks_replaced} |"
    )


def _load(load: float | None) -> str:
    return "unknown" if load is None else f"{load:.2f}"


def read_record(path: Path) -> ExperimentRecord:
    """The record in an experiment file."""
    with zipfile.ZipFile(path) as archive:
        return parse_record(archive.read("experiment.json"))


def _print(step: Progress) -> None:
    print(step.message, flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except FuseScopeError as error:
        print(error.text, file=sys.stderr)
        sys.exit(2)
