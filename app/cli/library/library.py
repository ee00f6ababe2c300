"""`fusescope library`: what is kept and recorded: found, named, compared, removed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fusescope.analysis.messages import say
from fusescope.app.cli import memory, streams
from fusescope.app.cli.limits import LimitOption

if TYPE_CHECKING:
    from fusescope.app.library.items import Item

SCHEMA_VERSION = 1
library = typer.Typer(help="List, find, name, compare and remove what is kept and recorded.")
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON (docs/library.md).")]
NameArgument = Annotated[
    str, typer.Argument(help="Its name, or the beginning of its hash.", show_default=False)
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


@library.callback(invoke_without_command=True)
def listing(
    context: typer.Context,
    json: JsonOption = False,
    sort: Annotated[
        str, typer.Option("--sort", help="date, name, machine, model or bytes.")
    ] = "date",
) -> None:
    """List what is in the library, the newest in front."""
    if context.invoked_subcommand is None:
        _list("", json, sort)


@library.command(help="List what has these words in its name, tags, note, machine or model.")
def search(
    words: Annotated[list[str], typer.Argument(help="Words; all of them must be there.")],
    json: JsonOption = False,
) -> None:
    """List what has these words."""
    _list(" ".join(words), json, "date")


@library.command(help="Keep a trace, however small, or an experiment among the recordings.")
def add(
    files: Annotated[list[Path], typer.Argument(help="Traces, experiments, folders.")],
    limit: LimitOption = None,  # in force by now
) -> None:
    """Keep these files."""
    with memory.lasting():
        from fusescope.app.library import changes
        from fusescope.app.sources import places

    for path in files:
        name = changes.add(path, places.limits())
        print(say("{file:name} is in the library.", file=name))


@library.command(help="Give it another name; the file of a recording is renamed, too.")
def rename(name: NameArgument, new: Annotated[str, typer.Argument(help="The new name.")]) -> None:
    """Give it another name."""
    from fusescope.app.library import changes
    from fusescope.app.library.items import items, named

    listed = items()
    changes.rename(named(name, listed), new, listed)


@library.command(help="Give it these tags in place of those it has; without any, none.")
def tag(
    name: NameArgument,
    tags: Annotated[list[str] | None, typer.Argument(help="Tags, a word or phrase each.")] = None,
) -> None:
    """Give it tags."""
    from fusescope.app.library import changes
    from fusescope.app.library.items import named

    changes.tag(named(name), tags or ())


@library.command(help="Replace its note with this one; without a text, remove the note.")
def note(
    name: NameArgument, text: Annotated[str, typer.Argument(help="The note, a line.")] = ""
) -> None:
    """Give it a note."""
    from fusescope.app.library import changes
    from fusescope.app.library.items import named

    changes.note(named(name), text)


@library.command(help="Remove it; a recording is deleted with its file. Asks first.")
def delete(name: NameArgument, yes: YesOption = False) -> None:
    """Remove it."""
    from fusescope.app.library import changes
    from fusescope.app.library.items import named

    item = named(name)
    if item.kind == "experiment":
        question = say("Delete the recording {file:name}? This cannot be undone.", file=item.name)
    else:
        question = say(
            "Remove {file:name} from the library? The file that it was read from stays.",
            file=item.name,
        )
    _ask(question, yes)
    changes.delete(item)


@library.command(
    help="Remove all traces and ranks that are kept, with names, tags and notes. Asks first."
)
def clear(yes: YesOption = False) -> None:
    """Remove all that is kept; recordings stay."""
    from fusescope.analysis.units import capacity
    from fusescope.app.library import changes

    _ask(say("Remove all traces and ranks from the library? Recordings and your files stay."), yes)
    print(say("The library is empty, which frees {size}.", size=capacity(changes.clear())))


@library.command(help="Compare two of them, as fusescope compare does; an experiment alone, too.")
def compare(
    baseline: NameArgument,
    candidate: Annotated[
        str | None, typer.Argument(help="The other; without it, two variants of the first.")
    ] = None,
    json: JsonOption = False,
    brief: Annotated[
        bool, typer.Option("--brief", help="Print the answer and its doubts, no tables.")
    ] = False,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write the report to this file.")
    ] = None,
) -> None:
    """Compare two of them."""
    from fusescope.app.cli.compare import compare as compare_files
    from fusescope.app.library.reading import IN_LIBRARY

    first = Path(f"{IN_LIBRARY}{baseline}")
    second = None if candidate is None else Path(f"{IN_LIBRARY}{candidate}")
    compare_files(first, second, json=json, brief=brief, html=html)


def _list(words: str, json: bool, sort: str) -> None:
    from fusescope.analysis.errors import FuseScopeError
    from fusescope.app.library.items import (
        ORDERS,
        items,
        matching,
        ordered,
        store,
        unlisted,
        values_of,
    )

    if sort not in ORDERS:
        raise FuseScopeError("unknown_order", name=sort[:40], known=", ".join(ORDERS))
    found = ordered(matching(items(), words), sort)
    if json:
        import msgspec

        kept_in = store()
        value = {
            "schema_version": SCHEMA_VERSION,
            "folder": str(kept_in.folder),
            "bytes": kept_in.bytes,
            "max_bytes": kept_in.max_bytes,
            "unlisted": unlisted(),
            "items": [values_of(item) for item in found],
        }
        streams.write_json(msgspec.json.format(msgspec.json.encode(value), indent=1))
        return
    _print(found, words)


def _print(found: list[Item], words: str) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from fusescope.analysis import units
    from fusescope.app.library.items import short, store, unlisted, unlisted_parts

    console = Console(highlight=False, markup=False, emoji=False)
    if not found:
        console.print(
            say("Nothing in the library has these words.")
            if words
            else say("The library is empty.")
        )
    else:
        table = Table(box=None, pad_edge=False, header_style="dim")
        for head in (say("Name"), say("Date"), say("Model"), say("Machine"), say("Headline")):
            table.add_column(head)
        table.add_column(say("Tags"))
        table.add_column(say("Hash"), no_wrap=True)
        for item in found:
            cells = (
                item.name,
                item.date[:16].replace("T", " "),
                item.model or units.MISSING,
                item.machine or units.MISSING,
                item.headline,
                ", ".join(item.facts.tags),
                short(item),
            )
            table.add_row(*map(Text, cells))
        console.print(table)
    if count := unlisted():
        console.print("".join(part.text for part in unlisted_parts(count)))
    kept_in = store()
    console.print(
        say(
            "Traces and ranks that are kept take {used} of at most {size}, in {folder:name}.",
            used=units.capacity(kept_in.bytes),
            size=units.capacity(kept_in.max_bytes),
            folder=str(kept_in.folder),
        ),
        style="dim",
    )


def _ask(question: str, yes: bool) -> None:
    """Raises FuseScopeError where nobody agrees."""
    from fusescope.analysis.errors import FuseScopeError

    if yes:
        return
    try:
        is_agreed = sys.stdin.isatty() and typer.confirm(question, default=False, err=True)
    except typer.Abort:
        is_agreed = False
    if not is_agreed:
        raise FuseScopeError("removal_unconfirmed")
