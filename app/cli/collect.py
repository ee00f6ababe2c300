"""`fusescope collect`: record a model's variants into one experiment file."""

from __future__ import annotations

import shlex
import signal
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from analysis.experiment import ExperimentRecord
    from collectors.progress import Progress

OnProgress = Callable[["Progress"], None]

NAMED_TENSORS = ("--shape", "--input-range")


def collect(
    model: Annotated[
        str,
        typer.Argument(help="resnet50, mobilenetv2, conv_bn_relu, mul_add, or an ONNX file."),
    ],
    variants: Annotated[
        str | None,
        typer.Option(
            help="Of eager, unfused, basic, extended, fused, without:<Optimizer>, "
            "only:<Optimizer>; comma-separated. Default: eager,unfused,fused."
        ),
    ] = None,
    ablate: Annotated[
        bool,
        typer.Option(
            "--ablate",
            help="Record unfused, fused, and the model without and with only each optimizer that "
            "changes it; with --variants, beside those.",
        ),
    ] = False,
    baseline: Annotated[
        str | None, typer.Option(help="Variant to compare with; runs twice as A/A control.")
    ] = None,
    batch: Annotated[int | None, typer.Option(help="Samples per run, if the model allows.")] = None,
    threads: Annotated[
        int | None, typer.Option(help="Threads inside an operator. Default: physical cores.")
    ] = None,
    blocks: Annotated[
        int | None,
        typer.Option(help="Fresh processes. Default: looks at 8, 14 and 24 until decided."),
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(help="Runs of every variant in a block. Default: 24.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(help="Time budget; rounds shrink to fit, blocks do not.")
    ] = None,
    seed: Annotated[int, typer.Option(help="For inputs and for the order of runs.")] = 0,
    spin: Annotated[
        bool, typer.Option("--spin", help="Let idle threads spin; each variant then runs alone.")
    ] = False,
    shape: Annotated[
        list[str] | None, typer.Option(metavar="NAME=1,3,224,224", help="Shape of an input.")
    ] = None,
    inputs: Annotated[
        Path | None, typer.Option(metavar="FILE.npz", help="Input values by input name.")
    ] = None,
    input_range: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=LO,HI", help="Uniform values for an input instead."),
    ] = None,
    memory_limit: Annotated[
        float | None,
        typer.Option(metavar="GB", help="Of each engine process. Default: 80 % of what is free."),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="For loading and trying one variant. Default: 300."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE.zip", help="Default: ./MODEL-DATE.zip; never overwrites."),
    ] = None,
    progress_json: Annotated[
        bool, typer.Option("--progress-json", help="Print progress as JSON lines on stdout.")
    ] = False,
) -> None:
    """Record a model's variants and write one experiment file."""
    from analysis.errors import FuseScopeError

    try:
        from app.shapes import shape_of
        from collectors.record import Recording, record
    except ImportError as error:
        raise FuseScopeError(
            f"Recording needs the package '{error.name}'",
            hint="Run: pip install 'fusescope[collect]'.",
        ) from None

    recording = Recording(
        model=model,
        out=out,
        variants=_names(variants, ablate),
        ablate=ablate,
        baseline=baseline,
        batch=batch,
        threads=threads,
        blocks=blocks,
        rounds=rounds,
        seconds=seconds,
        seed=seed,
        spin=spin,
        shapes=dict(shape_of(text) for text in shape or ()),
        inputs=inputs,
        input_ranges=dict(_range(text) for text in input_range or ()),
        memory_bytes=None if memory_limit is None else _bytes(memory_limit),
        run_timeout=Recording.run_timeout if timeout is None else timeout,
        command=_command(sys.argv[1:]),
    )
    signal.signal(signal.SIGTERM, _interrupt)
    with _json_lines() if progress_json else _bar() as on_progress:
        path = record(recording, on_progress=on_progress, enough=_decided)
    if not progress_json:
        shown = shlex.quote(_relative(path))
        print(f"{shown}\nNext: fusescope compare {shown}")


def _names(variants: str | None, ablate: bool) -> tuple[str, ...]:
    from collectors.record import Recording

    if variants is None:
        return () if ablate else Recording.variants
    return tuple(name.strip() for name in variants.split(",") if name.strip())


def _decided(experiment: ExperimentRecord, look_blocks: int) -> bool:
    from analysis.compare.verdict import decided

    return decided(experiment, look_blocks)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    """Whoever ends us politely gets the complete blocks, as with Ctrl-C."""
    raise KeyboardInterrupt


def _json_lines() -> AbstractContextManager[OnProgress]:
    from collectors.progress import encode

    return nullcontext(lambda progress: print(encode(progress), flush=True))


def _bar() -> AbstractContextManager[OnProgress]:
    """A bar on stderr; without a terminal, a line for each step.

    It is drawn only between blocks: a bar that refreshes itself would take the cores from the
    runs that are being timed.
    """
    from app.cli.recording_bar import RecordingBar

    return RecordingBar()


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
    from analysis.errors import FuseScopeError

    return FuseScopeError(f"{option} does not understand '{text[:60]}'", hint=f"Write {form}.")


def _bytes(gigabytes: float) -> int:
    from analysis.errors import FuseScopeError

    if not 0 < gigabytes < 1e9:
        raise FuseScopeError(f"--memory-limit is {gigabytes:g}", hint="Give gigabytes above 0.")
    return int(gigabytes * 1e9)


def _command(arguments: list[str]) -> str:
    """The command as typed, paths cut to their last part: the file travels, folders do not."""
    kept = []
    for before, argument in zip(["", *arguments], arguments, strict=False):
        option, equals, value = argument.partition("=")
        if before in NAMED_TENSORS or (equals and option in NAMED_TENSORS):
            kept.append(argument)  # a '/' in there belongs to the name of a tensor
        elif equals and option.startswith("--"):
            kept.append(f"{option}={_last_part(value)}")
        else:
            kept.append(_last_part(argument))
    return shlex.join(["fusescope", *kept])


def _last_part(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def _relative(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
