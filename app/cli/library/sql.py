"""`fusescope sql`: a question about everything in the library."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import listed, say
from fusescope.app.cli import memory, streams

if TYPE_CHECKING:
    from fusescope.analysis.sql.database import Answer
    from fusescope.app.library.query import Prepared

_MAX_ROWS = 200  # that a terminal gets


def sql(
    question: Annotated[
        str | None,
        typer.Argument(help="One SELECT in the SQL of DuckDB; without it, the tables are listed."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON (docs/sql.md).")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    seconds: Annotated[
        float,
        typer.Option("--seconds", min=0.1, help="How long the question may take.", metavar="S"),
    ] = 60.0,
) -> None:
    """Answer a question in SQL about the traces and recordings in the library."""
    if json and csv:
        raise FuseScopeError("options_exclude", first="--json", second="--csv")
    with memory.lasting():
        from fusescope.app.library.query import opened

    with opened(seconds) as prepared:
        _tell_unread(prepared.unread)
        if question is None:
            _print_tables(prepared)
        elif json or csv:
            _write(prepared, question, is_json=json)
        else:
            answer = prepared.answer(question, _MAX_ROWS + 1)
            _tell_damaged(prepared.damaged)
            _print(answer)


def _write(prepared: Prepared, question: str, *, is_json: bool) -> None:
    """Writes all rows while DuckDB finds them: they need not fit in memory."""
    from fusescope.analysis.sql.written import csv_parts, json_parts

    stream = prepared.stream(question)
    _tell_damaged(prepared.damaged)
    if is_json:
        streams.write_json_parts(json_parts(stream))
        return
    sys.stdout.flush()
    for part in csv_parts(stream):
        sys.stdout.buffer.write(part)


def _tell_unread(names: Sequence[str]) -> None:
    if names:
        streams.tell(
            say(
                "{files:name} could not be read and is left out.",
                "{files:name} could not be read and are left out.",
                n=len(names),
                files=listed(names),
            )
        )


def _tell_damaged(names: Sequence[str]) -> None:
    if names:
        streams.tell(
            say(
                "{entries:name} is damaged in the library and is left out. Open its file again.",
                "{entries:name} are damaged in the library and are left out. Open their files "
                "again.",
                n=len(names),
                entries=listed(names),
            )
        )


def _print(answer: Answer) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from fusescope.analysis.sql.written import cell_text, is_number

    table = Table(box=None, pad_edge=False, header_style="dim")
    for name, kind in zip(answer.columns, answer.types, strict=True):
        table.add_column(Text(name), justify="right" if is_number(kind) else "left")
    for row in answer.rows[:_MAX_ROWS]:
        table.add_row(*(Text(cell_text(cell)) for cell in row))
    console = Console(highlight=False, markup=False, emoji=False)
    console.print(table)
    if len(answer.rows) > _MAX_ROWS:
        told = say(
            "There are more than {n:count} rows; --csv and --json print all of them.", n=_MAX_ROWS
        )
        console.print(told, style="dim")


def _print_tables(prepared: Prepared) -> None:
    from rich.console import Console
    from rich.table import Table

    from fusescope.app.library.query import TABLES

    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(say("Table"), no_wrap=True)
    table.add_column(say("Columns"))
    for name in TABLES:
        found = prepared.answer(f"select * from {name} limit 0")
        table.add_row(name, ", ".join(found.columns))
    console = Console(highlight=False, markup=False, emoji=False)
    console.print(table)
    example = 'fusescope sql "select name, run_ns from traces order by run_ns"'
    console.print(say("Ask, for example: {command:name}", command=example), style="dim")
