"""`fusescope collect`: record a model's variants into one experiment file."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import Said, say
from fusescope.app.cli.recording import command_options, own_command
from fusescope.app.cli.recording import run as recording_run
from fusescope.app.cli.recording.command import typed_command
from fusescope.app.recording import sweep as sweeping

_Model = Annotated[
    str | None,
    typer.Argument(
        help="A built-in model (fusescope zoo lists them), or an ONNX file; none with --command."
    ),
]
_Backbone = Annotated[
    str | None, typer.Option(help="Backbone of deeplabv3plus: mobilenetv2 (default) or resnet50.")
]
_Runtime = Annotated[
    str,
    typer.Option(
        metavar="ENGINE,…",
        help="The engine: onnxruntime, or openvino for the same models, or torch, jax or "
        "mindspore, for which MODEL is FILE.py:FUNCTION, whose code is run, or torch:mlp, "
        "torch:transformer, torch:convnet, torch:twice_read, jax:mlp, jax:transformer, "
        "jax:convnet, mindspore:mynet, mindspore:mobilenetv2 (docs/engines.md); torch@NAME is an "
        "environment of your own (fusescope runtimes use). Several engines or environments: each "
        "runs the same model, in processes that take turns, recorded into one file; variants are "
        "then called ENGINE:VARIANT, and fused of each is recorded by default.",
    ),
]
_Variants = Annotated[
    str | None,
    typer.Option(
        help="Variants to record, of eager, unfused, basic, extended, fused, int8, "
        "without:<Optimizer>, only:<Optimizer>, threads:<number>, "
        "rules:<file> (docs/rules.md; also rules:O1, rules:O2, rules:O3, rules:no-head.toml), "
        "custom:<kernel> (docs/kernels.md; "
        "segments:<kernel>, the same cut without the kernel, is recorded beside it), "
        "inside:<kernel> (the kernel inside the session of fused, needs a C compiler), "
        "custom:library (the kernels of --custom-op-library), "
        "model:<file.onnx> (another model with the same inputs and outputs), "
        "onnxruntime==<version> (a release of the engine), provider:<name> (openvino, dnnl, cuda "
        "or tensorrt, where the installed ONNX Runtime has it; provider:<name>:unfused and so on "
        "for fewer optimisations); comma-separated. Default: "
        "eager,unfused,fused."
    ),
]
_Ablate = Annotated[
    bool,
    typer.Option(
        "--ablate",
        help="Record unfused, fused, and the model without and with only each optimizer that "
        "changes it, with torch without each of the largest fusions; with --variants, beside "
        "those.",
    ),
]
_Baseline = Annotated[
    str | None, typer.Option(help="Variant to compare with; runs twice as A/A control.")
]
_Batch = Annotated[
    str | None,
    typer.Option(
        metavar="N,…",
        help="Samples per run, if the model allows. Several numbers: a recording for each, with "
        "each number of threads.",
    ),
]
_Threads = Annotated[
    str | None,
    typer.Option(
        metavar="N,…",
        help="Threads inside an operator. Default: physical cores. Several numbers: a recording "
        "for each.",
    ),
]
_Blocks = Annotated[
    int | None,
    typer.Option(
        help="Blocks, each of fresh processes. Default: looks at 8, 14 and 24 until decided."
    ),
]
_Rounds = Annotated[int | None, typer.Option(help="Runs of every variant in a block. Default: 24.")]
_Seconds = Annotated[
    float | None, typer.Option(help="Time budget: rounds shrink to fit, then blocks.")
]
_Seed = Annotated[int, typer.Option(help="Seed of the inputs and of the order of runs.")]
_Spin = Annotated[
    bool, typer.Option("--spin", help="Let idle threads spin; each variant then runs alone.")
]
_Shape = Annotated[
    list[str] | None, typer.Option(metavar="NAME=1,3,224,224", help="Shape of an input.")
]
_Inputs = Annotated[
    Path | None, typer.Option(metavar="FILE.npz", help="Input values by input name.")
]
_InputRange = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=LO,HI", help="Uniform random values for an input, in this range."),
]
_Input = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        metavar="NAME=1,512:int64",
        help="Shape and type (float32 if none) of an input that is drawn for the module that "
        "FILE.py:FUNCTION returns, with --runtime torch: by the name of a parameter, or by its "
        "place, from 0. ~512 is a dynamic dimension. --input-range sets its values.",
    ),
]
_CustomOpLibrary = Annotated[
    Path | None,
    typer.Option(
        metavar="PATH",
        help="Your own library of ONNX Runtime operators (docs/custom-op.md). Its code runs "
        "with your rights. With the variant custom:library it replaces operators that the "
        "model defines itself; else every variant uses it.",
    ),
]
_Dtype = Annotated[
    str,
    typer.Option(
        metavar="TYPE",
        help="torch and jax: convert floating-point weights and inputs to float32, bfloat16 or "
        "float16. Default: they stay what the model says.",
    ),
]
_Device = Annotated[
    str,
    typer.Option(
        metavar="DEVICE",
        help="torch: cpu (default), cuda, rocm, xpu, mps or npu; jax: cpu, cuda or rocm; with a "
        "number where there are several: cuda:1 (docs/engines.md#on-a-device).",
    ),
]
_Tf32 = Annotated[
    bool | None,
    typer.Option(
        "--tf32/--no-tf32",
        help="Whether a device rounds float32 to TF32 in products and convolutions. Default: as "
        "PyTorch does by itself.",
    ),
]
_FlushL2 = Annotated[
    bool, typer.Option("--flush-l2", help="Empty the caches of the device before each timed run.")
]
_MemoryLimit = Annotated[
    float | None,
    typer.Option(
        metavar="GB", help="Memory limit of each engine process. Default: 80 % of what is free."
    ),
]
_Timeout = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="Time limit for loading and trying one variant, 300 by default; for one run of a "
        "command, 3600.",
    ),
]
_Out = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.zip",
        help="Experiment file. Default: ./MODEL-DATE.zip; never overwrites. Of several numbers of "
        "samples or threads a folder.",
    ),
]
_ProgressJson = Annotated[
    bool, typer.Option("--progress-json", help="Print progress as JSON lines on stdout.")
]


def collect(
    context: typer.Context,
    model: _Model = None,
    backbone: _Backbone = None,
    runtime: _Runtime = "onnxruntime",
    variants: _Variants = None,
    ablate: _Ablate = False,
    baseline: _Baseline = None,
    batch: _Batch = None,
    threads: _Threads = None,
    blocks: _Blocks = None,
    rounds: _Rounds = None,
    seconds: _Seconds = None,
    seed: _Seed = 0,
    spin: _Spin = False,
    shape: _Shape = None,
    inputs: _Inputs = None,
    input_range: _InputRange = None,
    input_: _Input = None,
    custom_op_library: _CustomOpLibrary = None,
    device: _Device = "cpu",
    dtype: _Dtype = "",
    tf32: _Tf32 = None,
    flush_l2: _FlushL2 = False,
    memory_limit: _MemoryLimit = None,
    timeout: _Timeout = None,
    out: _Out = None,
    progress_json: _ProgressJson = False,
    command: command_options.Command = None,
    env: command_options.Env = None,
    arg: command_options.Arg = None,
    names: command_options.Names = None,
    trace: command_options.Trace = None,
    time: command_options.Time = None,
    unit: command_options.Unit = None,
    profile_env: command_options.ProfileEnv = None,
    profile_arg: command_options.ProfileArg = None,
    shell: command_options.Shell = False,
) -> None:
    """Record a model's variants, or a command's, and write one experiment file."""
    own_command.check_options(context)
    if command is not None:
        if model is not None:
            raise FuseScopeError("command_and_model")
        path = own_command.run(
            command=command,
            environment=tuple(env or ()),
            arguments=tuple(arg or ()),
            names=tuple(name.strip() for name in names.split(",")) if names else (),
            baseline=baseline,
            trace=trace or "",
            time=time or "wall",
            unit=unit or "",
            profile_environment=tuple(profile_env or ()),
            profile_arguments=profile_arg or "",
            shell=shell,
            out=out,
            blocks=blocks,
            rounds=rounds,
            seconds=seconds,
            seed=seed,
            run_timeout=timeout,
            progress_json=progress_json,
        )
        if not progress_json:
            _print_next(path, "compare")
        return
    if model is None:
        raise FuseScopeError("nothing_to_record")
    try:
        from fusescope.app.recording.given import given_inputs
        from fusescope.app.recording.shapes import shape_of
        from fusescope.app.sources.model_files import read_models
        from fusescope.app.sources.rule_files import read_variants
        from fusescope.collectors.record import OWN, Placement, Recording
        from fusescope.collectors.zoo.catalogue import chosen
    except ImportError as error:
        raise recording_run.missing_package(error) from None

    batches, numbers = sweeping.numbers(batch, "--batch"), sweeping.numbers(threads, "--threads")
    engines = tuple(name.strip() for name in runtime.split(","))
    if len(engines) > 1 and "" in engines:
        raise FuseScopeError("runtime_nameless", given=runtime[:60])
    runtime, engines = (OWN, engines) if len(engines) > 1 else ("".join(engines), ())
    asked = _names(variants, ablate, runtime, engines)
    rules: dict[str, str] = {}
    models: dict[str, Path] = {}
    if runtime == OWN and not engines:
        asked, rules = read_variants(asked)
        asked, models = read_models(asked)
    ranges = dict(_range(text) for text in input_range or ())
    recording = Recording(
        model=model if backbone is None else chosen(model, backbone).name,
        out=out,
        variants=asked,
        ablate=ablate,
        baseline=baseline,
        batch=batches[0],
        threads=numbers[0],
        blocks=blocks,
        rounds=rounds,
        seconds=seconds,
        seed=seed,
        spin=spin,
        shapes=dict(shape_of(text) for text in shape or ()),
        inputs=inputs,
        input_ranges=ranges,
        given=given_inputs(input_ or (), ranges),
        memory_bytes=recording_run.memory_bytes(memory_limit),
        run_timeout=Recording.run_timeout if timeout is None else timeout,
        rules=rules,
        models=models,
        custom_op_library=custom_op_library,
        command=typed_command(),
        runtime=runtime,
        runtimes=engines,
        placement=Placement(dtype, device, tf32, flush_l2),
    )

    def run(one: Recording) -> Path:
        return recording_run.run(one, progress_json=progress_json)

    def tell(number: int, told: Said) -> None:
        if not progress_json:
            print(told, flush=True)
        folder.mkdir(exist_ok=True)

    if sweeping.is_sweep(batches, numbers):
        folder = sweeping.sweep_folder(recording)
        sweeping.sweep(recording, batches, numbers, folder).run(run, tell)
        path, verb = folder.absolute(), "scaling"
    else:
        path, verb = run(recording), "compare"
    if not progress_json:
        _print_next(path, verb)


def _print_next(path: Path, verb: str) -> None:
    shown = shlex.quote(recording_run.relative(path))
    print(f"{shown}\n{say('Next: {command:name}', command=f'fusescope {verb} {shown}')}")


def _names(
    variants: str | None, ablate: bool, runtime: str, engines: tuple[str, ...] = ()
) -> tuple[str, ...]:
    from fusescope.collectors.record import first_of_several, first_variants

    if variants is None and engines:
        return first_of_several(engines)
    if variants is None:
        return () if ablate else first_variants("", runtime)
    return tuple(name.strip() for name in variants.split(",") if name.strip())


def _range(text: str) -> tuple[str, tuple[float, float]]:
    name, values = _named(text, "--input-range", "NAME=LO,HI")
    try:
        low, high = (float(value) for value in values)
    except ValueError:
        raise _malformed(text, "--input-range", "NAME=LO,HI") from None
    return name, (low, high)


def _named(text: str, option: str, form: str) -> tuple[str, list[str]]:
    name, _, values = text.rpartition("=")  # tensor names may hold '=', numbers do not
    if not name or not values:
        raise _malformed(text, option, form)
    return name, values.split(",")


def _malformed(text: str, option: str, form: str) -> Exception:
    return FuseScopeError("option_malformed", option=option, given=text[:60], form=form)
