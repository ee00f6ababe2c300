"""`fusescope bisect`: which release of the engine changed what runs of a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fusescope.analysis.errors import FuseScopeError
from fusescope.app.cli import streams


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
    measure: Annotated[
        bool,
        typer.Option(
            "--measure",
            help="Also time both releases of each change together, and say what it costs.",
        ),
    ] = False,
    seconds: Annotated[
        float | None,
        typer.Option(help="Time budget of each recording of --measure. Default: 120."),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE.html", help="Write the report to this file.")
    ] = None,
    issue: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.md",
            help="Write a text for the engine's tracker to this file, and beside it the smallest "
            "model that shows the change (none with --redact).",
        ),
    ] = None,
    redact: Annotated[
        bool, typer.Option("--redact", help="Leave out user names, host names and absolute paths.")
    ] = False,
    releases: Annotated[
        bool, typer.Option("--releases", help="List the releases that were fetched, and end.")
    ] = False,
    remove: Annotated[
        str | None,
        typer.Option(metavar="VERSION", help="Remove a release that was fetched, or all of them."),
    ] = None,
) -> None:
    """Compare what neighbouring releases of ONNX Runtime make of a model."""
    from fusescope.app.cli.releases import keeping
    from fusescope.app.cli.writing.outputs import refuse_lost, write_whole

    if releases or remove is not None:
        if remove is not None:
            keeping.remove(remove, json=json)
        else:
            keeping.list_all(json=json)
        return
    if model is None or engine is None:
        raise FuseScopeError("bisect_needs_model")
    from fusescope.app.cli.releases.optimising import optimised, recording_of, span_of

    cut = None if issue is None else issue.with_suffix(".onnx")
    files = {"--out": out, "--report": report, "--issue": issue}
    refuse_lost({**files, "--issue FILE.onnx": cut}, [Path(model)])
    if seconds is not None and not measure:
        raise FuseScopeError("option_needs_other", option="--seconds", needed="--measure")
    if measure and redact:
        raise FuseScopeError("options_exclude", first="--measure", second="--redact")
    history = optimised(model, span_of(engine), batch=batch, shapes=shape or ())
    if redact:
        from fusescope.analysis.redaction import redacted_histories

        [history] = redacted_histories([history])
    from fusescope.analysis.releases.changes import changes

    found = changes(history)
    if out is not None:
        from fusescope.analysis.releases.history import history_file

        write_whole(out, history_file(history), option="--out", code="report_unwritable")
    recording = recording_of(model, batch, shape or ())
    timed = {}
    if measure:
        from fusescope.app.cli.releases.measuring import measured

        timed = measured(recording, found, seconds)
    if report is not None:
        from fusescope.analysis.report.releases.html import releases_html

        page = releases_html(history, found, timed).encode()
        write_whole(report, page, option="--report", code="report_unwritable")
    if issue is not None:
        from fusescope.analysis.releases.changes import main_change
        from fusescope.app.cli.releases.issue import write_issue

        change = main_change(found)
        if change is None:
            raise FuseScopeError("bisect_nothing_to_report")
        shown_by = None if redact else recording
        write_issue(issue, shown_by, history, change, timed.get(change.newer))
    if json:
        from fusescope.analysis.report.releases.releases_json import releases_json

        streams.write_json(releases_json(history, found, timed))
        return
    from fusescope.app.cli.printing.releases import print_releases

    print_releases(history, found, timed)
