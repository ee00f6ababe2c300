"""`fusescope inspect`: what is in a file."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fusescope.analysis.messages import paragraph, say
from fusescope.app.cli import memory, streams
from fusescope.app.cli.limits import LimitOption

if TYPE_CHECKING:
    from rich.console import Console

    from fusescope.analysis.doctor import Examination
    from fusescope.analysis.experiment import Experiment, ExperimentRecord
    from fusescope.analysis.trace import Trace


def inspect(
    path: Annotated[
        Path, typer.Argument(help="Trace or experiment: a file or folder.", show_default=False)
    ],
    json: Annotated[bool, typer.Option("--json", help="Print JSON (docs/json.md).")] = False,
    ascend: Annotated[
        Path | None,
        typer.Option("--ascend", help="Write it as Ascend tables into this folder."),
    ] = None,
    redact: Annotated[
        bool, typer.Option("--redact", help="Leave out user names, host names and absolute paths.")
    ] = False,
    limit: LimitOption = None,  # in force by now
) -> None:
    """Say what is in a trace or experiment, what was dropped, and what it can and cannot answer."""
    with memory.lasting():
        from fusescope.app.cli.given import reports
        from fusescope.app.cli.reading import read_given

    held = reports.report_at(path)
    values = {"": read_given(path)} if held is None else reports.values_of(held)
    if redact:
        from fusescope.analysis.redaction import redacted_all

        values = redacted_all(values)
    if ascend is not None:
        from fusescope.app.cli.writing.ascend import write_ascend

        for sentence in write_ascend(ascend, _by_folder(values), [path]):
            print(sentence, file=sys.stderr)
    if json:
        from fusescope.analysis.report.exports.inspection import inspection_json, report_json

        (only, *others) = values.values()
        streams.write_json(report_json(values) if others else inspection_json(only))
        return
    for value in values.values():
        _print(value, path.resolve().name if held is None and path.is_dir() and not redact else "")


def _print(value: Trace | Experiment, folder: str) -> None:
    """Print what a file or the files of a folder of that name contain."""
    from rich.console import Console

    from fusescope.analysis.doctor import examine
    from fusescope.analysis.experiment import Experiment
    from fusescope.analysis.text import display_name
    from fusescope.analysis.wording.doctor import recognised_sentence

    console = Console(highlight=False, markup=False, emoji=False)
    if isinstance(value, Experiment):
        record = value.record
        console.print(_experiment_text(record))
        for variant in record.variants:
            console.print(f"\n{variant.name}", style="bold")
            _print_trace(console, value.traces[variant.name])
        console.print()
    else:
        told = recognised_sentence(examine(value))
        console.print(
            say(
                "{label}: {text}",
                label=display_name(folder) if folder else value.meta.file_name,
                text=told,
            )
        )
        for name, trace in (value.units or {"": value}).items():
            if name:
                console.print(f"\n{name}", style="bold")
            _print_explanation(console, trace)
            _print_trace(console, trace)
        console.print()
    _print_doctor(console, examine(_measured(value)))


def _experiment_text(record: ExperimentRecord) -> str:
    from fusescope.analysis.wording import engines_text

    if record.command is not None:
        return say(
            "Experiment of {engine:name}, recorded {date:name} on {cpu:name}: {blocks:blocks}.",
            engine=engines_text(record),
            date=record.created,
            cpu=record.machine.cpu_model,
            blocks=record.outcome.blocks,
        )
    return say(
        "Experiment of {model:name}, recorded {date:name} with {engine:name} on "
        "{cpu:name}: {threads:threads}, {blocks:blocks}.",
        model=record.model.name,
        date=record.created,
        engine=engines_text(record),
        cpu=record.machine.cpu_model,
        threads=record.settings.threads,
        blocks=record.outcome.blocks,
    )


def _measured(value: Trace | Experiment) -> Trace | Experiment:
    """Return a trace by its units of work, of which its figures are."""
    from fusescope.analysis.compare.runs.units import with_runs
    from fusescope.analysis.compare.side import side_of_trace
    from fusescope.analysis.experiment import Experiment

    return value if isinstance(value, Experiment) else with_runs(side_of_trace(value)).trace


def _print_explanation(console: Console, trace: Trace) -> None:
    from fusescope.analysis.advice.explanation import explain_subject
    from fusescope.analysis.advice.sides import advised
    from fusescope.app.cli.printing.explained import print_explanation

    explained = explain_subject(advised(trace))
    if explained is not None:
        print_explanation(console, explained)


def _by_folder(values: Mapping[str, Trace | Experiment]) -> dict[str, Trace]:
    from fusescope.analysis.trace import Trace

    several = len(values) > 1
    found: dict[str, Trace] = {}
    for label, value in values.items():
        prefix = label if several else ""
        traces = {"": value} if isinstance(value, Trace) else value.traces
        found |= {" ".join(filter(None, (prefix, name))): one for name, one in traces.items()}
    return found


def _print_trace(console: Console, trace: Trace) -> None:
    from rich.table import Table

    from fusescope.analysis import units
    from fusescope.analysis.metrics.warmup import steady_runs
    from fusescope.analysis.report.exports.inspection import inspection
    from fusescope.analysis.wording.diagnostics.early_end import (
        early_end_text,
        early_end_title,
        end_caution,
    )
    from fusescope.app.cli.printing.heads import head_with_unit

    facts = inspection(trace)
    if trace.ends_early:
        console.print(early_end_title(trace.meta.file_name), style="bold red")
        console.print(early_end_text(trace))
        return
    console.print(_counts(facts))
    if caution := end_caution(trace):
        console.print(caution, style="yellow")
    if not facts["by_type"] and not facts["communication"]:
        return
    steady = steady_runs(trace)
    if set_aside := steady.marked + steady.slow:
        console.print(
            say(
                "Count, total and ratio are of all profiled runs. Per run leaves out "
                "{n:count} warm-up run, as compare does.",
                "Count, total and ratio are of all profiled runs. Per run leaves out "
                "{n:count} warm-up runs, as compare does.",
                n=set_aside,
            ),
            style="dim",
        )
    outside = int(trace.calls["n"][trace.calls["run"].isna()].sum())
    if facts["fields"]["runs"] and outside:
        console.print(
            say(
                "Count, total and ratio are of the whole file, with {n:count} execution in no run. "
                "Per run leaves it out.",
                "Count, total and ratio are of the whole file, with {n:count} executions in no "
                "run. Per run leaves them out.",
                n=outside,
            ),
            style="dim",
        )
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(say("OP Type"))
    shown = facts["by_type"][:20]
    told = [*shown, *_communication(facts)]
    totals = units.column_of(row["total_ns"] for row in told)
    each = units.column_of(row["per_run_ns"] for row in told)
    columns = [say("Count"), head_with_unit(say("Total"), totals.unit), say("Ratio")]
    if facts["fields"]["runs"]:
        columns.insert(2, head_with_unit(say("Per run"), each.unit))
    for column in columns:
        table.add_column(column, justify="right")
    total = facts["total_kernel_ns"] or 1
    shares = units.shares_of_whole([row["total_ns"] / total for row in facts["by_type"]])
    ratios = [*map(units.percent, shares[: len(shown)]), units.MISSING]
    for row, ratio in zip(told, ratios, strict=False):
        table.add_row(
            row["op_type"] or say("unknown"),
            units.count(row["count"]),
            totals.number(row["total_ns"]),
            *([each.number(row["per_run_ns"])] if facts["fields"]["runs"] else []),
            ratio,
        )
    console.print(table)
    if len(facts["by_type"]) > 20:
        console.print(
            say(
                "and {n:count} more op type (--json lists all).",
                "and {n:count} more op types (--json lists all).",
                n=len(facts["by_type"]) - 20,
            )
        )


def _communication(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the row of communication, which has no ratio; none where there is none."""
    talking = facts["communication"]
    return [{"op_type": say("communication"), **talking}] if talking else []


def _counts(facts: Mapping[str, Any]) -> str:
    """Return how many executions there are and how long all of them take, communication told apart:
    '7 rows, 156 µs in operators. Of this 88.0 µs in 1 execution is communication, …'"""
    text = _whole(facts)
    if not facts["communication"]:
        return text
    return paragraph(
        text,
        say(
            "Of this {time:duration} in {n:executions} is communication, which ratios leave out.",
            time=facts["communication_ns"],
            n=facts["communication"]["count"],
        ),
    )


def _whole(facts: Mapping[str, Any]) -> str:
    counts = {
        "runs": facts["runs"],
        "profiled": facts["profiled_runs"],
        "rows": facts["rows"],
        "time": facts["total_kernel_ns"] + facts["communication_ns"],
    }
    has = facts["fields"]
    if has["runs"] and not has["samples"] and facts["profiled_runs"] < facts["runs"]:
        return say(
            "{runs:runs} ({profiled:count} with operators) of {operators:executions} each; the "
            "whole file: {rows:rows}, {time:duration} in operators.",
            operators=facts["operators"],
            **counts,
        )
    if has["runs"]:
        return say(
            "{runs:runs} ({profiled:count} profiled) of {operators:executions} each; the whole "
            "file: {rows:rows}, {time:duration} in operators.",
            operators=facts["operators"],
            **counts,
        )
    if has["samples"]:
        return say(
            "{runs:runs} ({profiled:count} profiled), {rows:rows}, {time:duration} in operators.",
            **counts,
        )
    return say("{rows:rows}, {time:duration} in operators.", **counts)


def _print_doctor(console: Console, found: Examination) -> None:
    """What was read, dropped and repaired, what the file holds and lacks, what it can feed."""
    from rich.table import Table

    from fusescope.analysis.wording import doctor as words

    console.print(say("What the file says"), style="bold")
    for sentence in (words.read_sentence(found), words.files_sentence(found.files)):
        if sentence:
            console.print(sentence)
    for name, notes in (
        (say("dropped"), found.dropped),
        (say("repaired"), found.repaired),
        (say("noted"), found.noted),
    ):
        for note in notes:
            console.print(say("{label}: {text}", label=name, text=words.note_sentence(note)))
    console.print(words.has_sentence(found))
    for sentence in words.lack_sentences(found):
        console.print(sentence)
    console.print("\n" + say("Figures that it can give"), style="bold")
    table = Table(box=None, pad_edge=False, show_header=False)
    for answer in found.shown_answers:
        table.add_row(
            words.FIGURE_LABELS[answer.figure].text(),
            say("yes") if answer.available else say("no"),
            words.answer_text(answer),
            style=None if answer.available else "dim",
        )
    console.print(table)
