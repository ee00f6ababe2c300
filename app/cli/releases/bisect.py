"""`fusescope bisect`: which release of the engine changed what runs of a model."""

from __future__ import annotations

import contextlib
import shlex
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self

import typer

from analysis.errors import FuseScopeError
from analysis.messages import paragraph, say
from app.cli import streams
from app.cli.recording import run as recording_run

if TYPE_CHECKING:
    from analysis.releases.history import History
    from collectors.bisect import Found
    from collectors.record import Recording


def bisect(
    model: Annotated[
        str | None,
        typer.Argument(help="A built-in model (fusescope zoo lists them), or an ONNX file."),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            metavar="onnxruntime==A..B",
            help="The releases: onnxruntime==1.20.1..1.32.0. Those that are missing are fetched.",
        ),
    ] = None,
    batch: Annotated[int | None, typer.Option(help="Samples per run, if the model allows.")] = None,
    shape: Annotated[
        list[str] | None, typer.Option(metavar="NAME=1,3,224,224", help="Shape of an input.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON (docs/json.md).")] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE.zip", help="Keep the graphs of all releases in this file."),
    ] = None,
    releases: Annotated[
        bool, typer.Option("--releases", help="List the releases that were fetched, and end.")
    ] = False,
    remove: Annotated[
        str | None,
        typer.Option(metavar="VERSION", help="Remove a release that was fetched, or all of them."),
    ] = None,
) -> None:
    """Compare what neighbouring releases of ONNX Runtime make of a model."""
    from app.cli.outputs import refuse_lost, write_whole
    from app.cli.releases import keeping

    if releases or remove is not None:
        if remove is not None:
            keeping.remove(remove, json=json)
        else:
            keeping.list_all(json=json)
        return
    if model is None or engine is None:
        raise FuseScopeError("bisect_needs_model")
    refuse_lost({"--out": out}, [Path(model)])
    history = optimised(model, engine, batch, shape or ())
    from analysis.releases.changes import changes

    found = changes(history)
    if out is not None:
        from analysis.releases.history import history_file

        write_whole(out, history_file(history), option="--out", code="report_unwritable")
    if json:
        from analysis.report.releases.releases_json import releases_json

        streams.write_json(releases_json(history, found))
        return
    from app.cli.printing.releases import print_releases

    print_releases(history, found)


def optimised(
    model: str, engine: str, batch: int | None = None, shapes: list[str] | tuple[str, ...] = ()
) -> History:
    """What the releases make of the model; says before what has to be fetched. Raises
    FuseScopeError where fewer than two of them can optimise it."""
    try:
        from collectors import bisect as collector
    except ImportError as error:
        raise recording_run.missing_package(error) from None
    from collectors.releases.version import parse_span

    span = parse_span(engine)
    recording = _recording(model, batch, shapes)
    recording.plan()  # refuses before anything is fetched
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        found = collector.find(span)
    except KeyboardInterrupt:
        raise FuseScopeError("release_interrupted") from None
    _tell_size(found)
    with _Line() as line:
        history = collector.optimise(recording, found, line)
    if len(history.compared) < 2:
        raise FuseScopeError("release_none_compared", n=len(history.compared))
    return history


def _recording(model: str, batch: int | None, shapes: list[str] | tuple[str, ...]) -> Recording:
    from app.recording.shapes import shape_of
    from collectors.record import Recording

    return Recording(
        model=model,
        variants=("fused",),
        batch=batch,
        shapes=dict(map(shape_of, shapes)),
        command=shlex.join(["fusescope", *sys.argv[1:]]),
    )


def _tell_size(found: Found) -> None:
    """What will be fetched, before it is."""
    from collectors.releases import kept

    if found.offline is not None:
        said = say(
            "The package index cannot be reached, so only releases that were fetched before are "
            "compared."
        )
        streams.tell(said)
    if not found.missing:
        return
    said = say(
        "{n:count} release has to be fetched: at most {download:capacity} with pip, and at most "
        "{disk:capacity} on the disk, in {folder:name}.",
        "{n:count} releases have to be fetched: at most {download:capacity} with pip, and at most "
        "{disk:capacity} on the disk, in {folder:name}.",
        n=len(found.missing),
        download=found.download_bytes,
        disk=found.disk_bytes,
        folder=str(kept.root()),
    )
    later = say("They stay there; fusescope bisect --releases lists them.")
    streams.tell(paragraph(said, later))


class _Line:
    """How far it is, on stderr: a line that changes; without a terminal a line a step."""

    def __init__(self) -> None:
        from rich.console import Console

        console = Console(stderr=True, highlight=False, markup=False, emoji=False)
        self._status = console.status("") if console.is_terminal else None

    def __enter__(self) -> Self:
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()

    def __call__(self, step: object, done: int, total: int) -> None:
        from rich.text import Text

        said = say("{done:count} of {total:count}: {step}", step=str(step), done=done, total=total)
        if self._status is not None:
            self._status.update(Text(said))
        else:
            with contextlib.suppress(OSError):
                print(said, file=sys.stderr, flush=True)


def _interrupt(_signal: int, _frame: object) -> None:
    """Whoever ends us politely gets what Ctrl-C gets."""
    raise KeyboardInterrupt
