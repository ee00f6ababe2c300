"""`fusescope fuse`: our own fusion pass over one model, explained."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from fusescope.analysis.messages import paragraph, say
from fusescope.app.cli import interruption, streams
from fusescope.app.cli.recording import run as recording_run

if TYPE_CHECKING:
    from rich.console import Console

    from fusescope.collectors.fuse import Fused, Opportunity, Outcome, Report

_NAME_CHARS = 200
_OPERATORS = 6  # named in a line
_PLACES = 3  # likewise, of those where the same holds


def fuse(
    model: Annotated[
        str,
        typer.Argument(help="A built-in model (fusescope zoo lists them), or an ONNX file."),
    ],
    rules: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="A TOML rule file (docs/rules.md), or rules that are built in: O0, O1, O2, O3, "
            "no-head.toml.",
        ),
    ] = "O3",
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Print every opportunity, and why it was not taken."),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE.onnx", help="Write the fused model; never overwrites."),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print the report as JSON (docs/rules.md).")
    ] = False,
    shape: Annotated[
        list[str] | None, typer.Option(metavar="NAME=1,3,224,224", help="Shape of an input.")
    ] = None,
    batch: Annotated[int | None, typer.Option(help="Samples per run, if the model allows.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the inputs of the verification.")] = 0,
    memory_limit: Annotated[
        float | None,
        typer.Option(
            metavar="GB", help="Memory limit of the engine process. Default: 80 % of what is free."
        ),
    ] = None,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", help="Time limit for all of it.")
    ] = 300.0,
) -> None:
    """Fuse operators of a model by rules, verify the result, and say what was not fused and why."""
    interruption.heed()  # before anything is imported, which tries the temporary folder
    try:
        from fusescope.app.recording.shapes import shape_of
        from fusescope.app.sources.rule_files import read_rules
        from fusescope.collectors.fuse import Fusing
        from fusescope.collectors.fuse import fuse as run
    except ImportError as error:
        raise recording_run.missing_package(error) from None

    name, text = read_rules(rules)
    done = run(
        Fusing(
            model=model,
            rules_name=name,
            rules_text=text,
            out=out,
            batch=batch,
            shapes=dict(shape_of(text) for text in shape or ()),
            seed=seed,
            memory_bytes=recording_run.memory_bytes(memory_limit),
            timeout=timeout,
        )
    )
    if json:
        import msgspec

        streams.write_json(msgspec.json.encode(done.report))
    else:
        _print(done, explain=explain)
    if done.path is not None:
        _say_where(done, out, sys.stderr if json else sys.stdout)


def _print(done: Fused, *, explain: bool) -> None:
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False)
    report = done.report
    title = say(
        "{before:operators} become {after:count}, level {level:name}",
        before=report.nodes_before,
        after=report.nodes_after,
        level=report.level,
    )
    console.print(title, style="bold")
    _print_patterns(console, report)
    left = sum(row.outcome == "no" for row in report.opportunities)
    partly = sum(row.outcome == "partly" for row in report.opportunities)
    if explain and report.opportunities:
        _print_opportunities(console, report)
    else:
        not_taken = say(
            "{n:count} opportunity was not taken.",
            "{n:count} opportunities were not taken.",
            n=left,
        )
        in_part = say(
            "{n:count} opportunity was taken in part.",
            "{n:count} opportunities were taken in part.",
            n=partly,
        )
        if said := paragraph(not_taken if left else "", in_part if partly else ""):
            console.print(paragraph(said, say("--explain says which, and why.")))
    _print_verification(console, report)


def _print_patterns(console: Console, report: Report) -> None:
    from rich.table import Table

    from fusescope.analysis import units
    from fusescope.analysis.text import clean_text
    from fusescope.analysis.wording.rewriting import held_back_sentence

    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(say("Fused"))
    table.add_column(say("groups"), justify="right")
    table.add_column(say("operator written"))
    table.add_column(say("intermediates removed, modelled"), justify="right")
    for (pattern, outcome), rows in report.by_pattern().items():
        sizes = [row.bytes_removed for row in rows]
        total = None if None in sizes else sum(size or 0 for size in sizes)
        makes = ", ".join(dict.fromkeys(row.makes for row in rows))
        name = say("{pattern:name} (partly)", pattern=pattern) if outcome == "partly" else pattern
        table.add_row(name, units.count(len(rows)), makes, units.data_size(total))
    if report.applied:
        console.print(table)
    for asked in report.asked:
        if not asked.applied:
            why = clean_text(held_back_sentence(asked), 4 * _NAME_CHARS)
            found = why if asked.found else say("The model does not contain this pattern.")
            told = say("{label}: {text}", label=asked.pattern, text=found)
            console.print(f"- {told}")


def _print_opportunities(console: Console, report: Report) -> None:
    from rich.table import Table

    from fusescope.analysis import units
    from fusescope.analysis.text import clean_text
    from fusescope.analysis.wording.rewriting import OUTCOMES, held_back_sentence

    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column(say("Opportunity"))
    table.add_column("")
    table.add_column(say("places"), justify="right", no_wrap=True)
    table.add_column(say("in"), overflow="fold")
    table.add_column(say("removes"), justify="right", no_wrap=True)
    table.add_column(say("why not"), overflow="fold", ratio=1)
    alike: dict[tuple[str, Outcome, str], list[Opportunity]] = {}
    for row in report.opportunities:
        why = clean_text(held_back_sentence(row), 4 * _NAME_CHARS)
        alike.setdefault((row.pattern, row.outcome, why), []).append(row)
    for (pattern, outcome, why), rows in alike.items():
        sizes = [row.bytes_removed for row in rows]
        places = list(dict.fromkeys(map(_place, rows)))
        shown = "; ".join(places[:_PLACES])
        if len(places) > _PLACES:
            more = len(places) - _PLACES
            shown = say("{places:name} and {n:count} more", places=shown, n=more)
        table.add_row(
            pattern,
            OUTCOMES[outcome].text(),
            units.count(len(rows)),
            shown,
            units.data_size(None if None in sizes else sum(size or 0 for size in sizes)),
            why,
        )
    console.print()
    console.print(table)
    console.print()


def _place(row: Opportunity) -> str:
    """The module that it lies in, else its operators."""
    from fusescope.analysis.text import clean_text

    names = [clean_text(name, _NAME_CHARS) for name in row.operators[:_OPERATORS]]
    more = ", …" if len(row.operators) > _OPERATORS else ""
    return clean_text(row.scope, _NAME_CHARS) or ", ".join(names) + more


def _print_verification(console: Console, report: Report) -> None:
    from fusescope.analysis.wording.rewriting import VERIFIED_HELP

    if report.taken_back:
        count = len(report.taken_back)
        console.print(say("Taken back after verification: {n:count}.", n=count), style="bold")
    console.print(
        say(
            "The output difference of the whole model is {difference:number}, measured with ONNX "
            "Runtime {version:name}. At most {tolerance:number} is allowed.",
            difference=report.difference,
            version=report.engine_version,
            tolerance=report.tolerance,
        )
    )
    if report.applied or report.taken_back:
        console.print(VERIFIED_HELP.text(), style="dim")


def _say_where(done: Fused, asked: Path | None, to: TextIO) -> None:
    from fusescope.analysis.text import clean_text

    path = Path(str(done.path))
    print(say("Model: {file:name}", file=recording_run.relative(path)), file=to)
    if asked is not None and path.name != asked.name:
        renamed = say(
            "{asked:name} already exists, so this file is {file:name}.",
            asked=asked.name,
            file=path.name,
        )
        print(renamed, file=to)
    if done.fixed_shapes:
        fixed = say(
            "Shapes are fixed as they were when it was fused: {shapes:name}.",
            shapes=clean_text(done.fixed_shapes, 4 * _NAME_CHARS),
        )
        print(fixed, file=to)
