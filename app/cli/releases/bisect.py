"""`fusescope bisect`: which release of the engine changed what runs of a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from analysis.errors import FuseScopeError
from app.cli import streams


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
    from app.cli.releases.optimising import optimised, span_of

    refuse_lost({"--out": out}, [Path(model)])
    history = optimised(model, span_of(engine), batch=batch, shapes=shape or ())
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
