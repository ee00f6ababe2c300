"""`fusescope advise`: what limits a trace or a variant, what to try, and what that brings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import say
from fusescope.app.cli import memory, streams
from fusescope.app.cli.limits import LimitOption


def advise(
    path: Annotated[
        Path,
        typer.Argument(
            help="Trace or experiment, a file or folder; a folder of models or experiments; with "
            "--try also a model, by its name or its ONNX file.",
            show_default=False,
        ),
    ],
    variant: Annotated[
        str | None,
        typer.Option("--variant", help="Variant of an experiment; without it, the most optimised."),
    ] = None,
    work: Annotated[
        str | None,
        typer.Option(
            "--work",
            metavar="KIND",
            help="Kind of work to tell of a file with several, such as decode-32; --json lists "
            "them.",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON (docs/json.md).")] = False,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write the report to this file.")
    ] = None,
    redact: Annotated[
        bool, typer.Option("--redact", help="Leave out user names, host names and absolute paths.")
    ] = False,
    try_most: Annotated[
        int | None,
        typer.Option(
            "--try",
            metavar="N",
            help="Record up to N remedies beside the fastest variant, and say which to keep.",
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(help="With --try or a folder of models: time budget of each recording."),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.onnx",
            help="With --try of an experiment of your own model: the file of that model.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="With --try or a folder of models: folder of what is written. Default: here.",
        ),
    ] = None,
    limit: LimitOption = None,  # in force by now
) -> None:
    """Say what limits a trace or variant now, what to try, and what that would bring."""
    if try_most is not None:
        from fusescope.app.cli.recording.trying import Trial, try_out

        for option, is_given in (("--redact", redact), ("--html", html is not None)):
            if is_given:
                raise FuseScopeError("options_exclude", first="--try", second=option)
        try_out(Trial(path, model, variant, try_most, seconds, out or Path.cwd(), json))
        return
    from fusescope.app.cli.recording.models import Asked, collection_at, rank

    collection = collection_at(path)
    if collection is not None and model is None:
        if html is not None:
            models = say("a folder of models")
            raise FuseScopeError("options_exclude", first="--html", second=models)
        rank(collection, Asked(variant, seconds, out or Path.cwd(), json, redact))
        return
    for option, given in (("--seconds", seconds), ("--out", out), ("--model", model)):
        if given is not None:
            raise FuseScopeError("option_needs_other", option=option, needed="--try")
    with memory.lasting():
        from fusescope.analysis.advice import findings
        from fusescope.analysis.advice.explanation import explain_subject
        from fusescope.analysis.advice.explanation.model_tree import tree_of_trace
        from fusescope.analysis.advice.scorecard import scorecard
        from fusescope.analysis.advice.sides import advised, advised_names
        from fusescope.analysis.advice.subject import Subject
        from fusescope.analysis.compare import compare
        from fusescope.analysis.experiment import Experiment
        from fusescope.analysis.report.one_trace.advice_json import advice_json
        from fusescope.analysis.work_units.kinds import WorkKind, kinds_of_work
        from fusescope.app.cli.given import reports
        from fusescope.app.cli.given.work import work_named
        from fusescope.app.cli.reading import read_given
        from fusescope.app.cli.writing.outputs import print_report, refuse_lost, write_whole
        from fusescope.app.library.reading import named_by_path

    refuse_lost({"--html": html}, [path])
    # Placeholders are numbered over all variants, so that they are the same in every answer.
    held = reports.report_at(path)
    kinds: tuple[WorkKind, ...] = ()
    if held is not None:
        sides = reports.sides_of(held, candidate=variant)
        if redact:
            from fusescope.analysis.redaction import redacted_sides

            sides = redacted_sides(*sides)
        comparison = compare(*sides, reports.assumptions_of(held))
        subject = Subject(comparison.candidate, comparison)
    else:
        wanted = None if redact else lambda record: advised_names(record, variant)
        value = read_given(path, wanted)
        if redact:
            from fusescope.analysis.redaction import redacted

            value = redacted(value)
        kinds = () if isinstance(value, Experiment) else kinds_of_work(value)
        chosen = None if work is None else work_named(work, (kind.work for kind in kinds))
        subject = advised(value, variant, chosen)
        if path.is_dir() and not redact:
            [side] = named_by_path([subject.side], [path])
            subject = replace(subject, side=side)
    if html is not None:
        from fusescope.analysis.report.one_trace.html import trace_html

        write_whole(html, trace_html(subject).encode(), option="--html", code="report_unwritable")
    found = findings(subject)
    card = None if subject.comparison is None else scorecard(subject.comparison)
    explained = explain_subject(subject)
    tree = tree_of_trace(subject.trace)
    if json:
        streams.write_json(advice_json(subject.side, found, card, explained, kinds, tree))
        return
    from fusescope.app.cli.printing.findings import print_findings

    print_findings(subject.side, found, card, explained, tree)
    if html is not None:
        print_report(html, redact=redact)
