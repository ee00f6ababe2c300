"""`fusescope sql`: a question about everything in the library."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from analysis.messages import listed, say
from app.cli import memory, streams

if TYPE_CHECKING:
    from analysis.sql.database import Answer, Database

_MAX_ROWS = 200  # that a terminal gets


def sql(
    question: Annotated[
        str | None,
        typer.Argument(help="One SELECT in the SQL of DuckDB; without it, the tables are listed."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON (docs/sql.md).")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
) -> None:
    """Answer a question in SQL about the traces and recordings in the library."""
    from analysis.errors import FuseScopeError

    if json and csv:
        raise FuseScopeError("options_exclude", first="--json", second="--csv")
    with memory.lasting():
        from app.library.query import opened

    with opened() as prepared:
        if prepared.unread:
            streams.tell(
                say(
                    "{files:name} could not be read and is left out.",
                    "{files:name} could not be read and are left out.",
                    n=len(prepared.unread),
                    files=listed(prepared.unread),
                )
            )
        if question is None:
            _print_tables(prepared.database)
            return
        answer = prepared.database.answer(question, None if json or csv else _MAX_ROWS + 1)
    if json:
        from analysis.sql.written import answer_json

        streams.write_json(answer_json(answer))
    elif csv:
        from analysis.sql.written import answer_csv

        sys.stdout.flush()
        sys.stdout.buffer.write(answer_csv(answer))
    else:
        _print(answer)


def _print(answer: Answer) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from analysis.sql.written import cell_text, is_number

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


def _print_tables(database: Database) -> None:
    from rich.console import Console
    from rich.table import Table

    from app.library.query import TABLES

    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(say("Table"), no_wrap=True)
    table.add_column(say("Columns"))
    for name in TABLES:
        found = database.answer(f"select * from {name} limit 0")
        table.add_row(name, ", ".join(found.columns))
    console = Console(highlight=False, markup=False, emoji=False)
    console.print(table)
    example = 'fusescope sql "select name, run_ns from traces order by run_ns"'
    console.print(say("Ask, for example: {command:name}", command=example), style="dim")
