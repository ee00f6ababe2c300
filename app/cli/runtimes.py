"""`fusescope runtimes`: the engines that there are; adding one in an environment of its own."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from fusescope.analysis import units
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import paragraph, say
from fusescope.app.cli import interruption

if TYPE_CHECKING:
    from fusescope.analysis.messages import Said
    from fusescope.collectors.environments.adding import Addition
    from fusescope.collectors.environments.catalogue import Engine
    from fusescope.collectors.environments.state import State

runtimes = typer.Typer(
    help="List the engines, add or remove one that is installed apart, or use one of your own."
)
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON (docs/engines.md).")]
NameArgument = Annotated[
    str, typer.Argument(help="An engine of the list that fusescope runtimes prints.")
]


@runtimes.callback(invoke_without_command=True)
def listing(context: typer.Context, json: JsonOption = False) -> None:
    """List the engines: ready, or the command that makes one so, or why it cannot be added."""
    from fusescope.app.cli.printing import runtimes as printing

    if context.invoked_subcommand is not None:
        return
    from fusescope.collectors.environments import named, state
    from fusescope.collectors.environments.catalogue import ENGINES

    if json:
        rows = [printing.own(), *(printing.row(engine) for engine in ENGINES.values())]
        rows += [printing.named_row(one) for one in named.listed()]
        printing.print_json({"folder": str(state.root()), "engines": rows})
        return
    printing.print_table()


@runtimes.command(help="Install an engine apart from FuseScope; says first what that takes.")
def add(
    name: NameArgument,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before fetching.")] = False,
    json: JsonOption = False,
) -> None:
    """Install an engine into an environment of its own. Says first what it takes."""
    from fusescope.collectors.environments import adding
    from fusescope.collectors.environments.catalogue import OWN, engine_of, is_named, kind_of
    from fusescope.collectors.environments.state import State

    if is_named(name):
        raise FuseScopeError("runtime_named_twice", given=name[:80], engine=kind_of(name))
    if name == OWN:
        _tell_own(json)
        return
    engine = engine_of(name)
    interruption.heed()
    progress = _Progress()
    try:
        with adding.adding(engine, progress) as found:
            progress.pause()
            if isinstance(found, State):
                _tell_ready(engine, found, is_new=False, json=json)
                return
            _tell_size(found)
            if yes or _is_agreed():
                ready = found.install()
            else:
                print(say("Nothing was added."), file=sys.stderr)
                return
    except KeyboardInterrupt:
        raise FuseScopeError("runtime_interrupted", engine=name) from None
    finally:
        progress.pause()
    _tell_ready(engine, ready, is_new=True, json=json)


@runtimes.command(help="Use an engine in a Python environment of your own; installs nothing.")
def use(
    engine: NameArgument,
    python: Annotated[
        str,
        typer.Option(
            metavar="PATH", help="The Python of the environment, as /opt/venv/bin/python."
        ),
    ],
    name: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="What it is called behind the engine: torch@NAME. Default: the engine's version.",
        ),
    ] = "",
    json: JsonOption = False,
) -> None:
    """Look at an environment of the user's, and keep it under a name."""
    from fusescope.app.cli.printing import runtimes as printing
    from fusescope.collectors.environments import named

    interruption.heed()
    print(say("Looking at {python:name}", python=python), file=sys.stderr, flush=True)
    made, was_there = named.use(engine, python, name)
    if json:
        printing.print_json(
            {"engines": [printing.named_row(named.Listed(made.runtime, made, None))]}
        )
    else:
        printing.print_named(made, was_there=was_there)


@runtimes.command(
    help="Remove an engine that was installed apart from FuseScope, or what is kept of an "
    "environment of your own (torch@NAME), which itself stays."
)
def remove(name: NameArgument, json: JsonOption = False) -> None:
    """Remove an engine's environment, or the record of one of the user's."""
    from fusescope.app.cli.printing import runtimes as printing
    from fusescope.collectors.environments import adding, named
    from fusescope.collectors.environments.catalogue import OWN, engine_of, is_named

    if is_named(name):
        named.remove(name)
        if json:
            printing.print_json({"engine": name, "removed_bytes": 0})
        else:
            print(say("{runtime:name} is no longer listed. Its environment stays.", runtime=name))
        return
    if name == OWN:
        raise FuseScopeError("runtime_own", engine=name)
    taken = adding.remove(engine_of(name))
    if json:
        printing.print_json({"engine": name, "removed_bytes": taken})
    elif taken:
        freed = units.capacity(taken)
        print(say("{engine:name} was removed, which frees {size}.", engine=name, size=freed))
    else:
        print(say("{engine:name} is not installed, so nothing was removed.", engine=name))


def _tell_own(json: bool) -> None:
    from fusescope.app.cli.printing import runtimes as printing

    own = printing.own()
    if own["error"] is not None:
        raise own["error"]
    if json:
        printing.print_json({"engines": [own]})
    else:
        print(say("{engine:name} comes with FuseScope: it is ready.", engine=own["engine"]))


def _tell_size(addition: Addition) -> None:
    """What will be fetched, before it is."""
    build = addition.build
    size = say(
        "{what}: pip fetches about {download:capacity}, and {disk:capacity} are taken on the disk, "
        "below {folder:name}.",
        what=addition.engine.what,
        download=build.download_bytes,
        disk=build.disk_bytes,
        folder=str(addition.folder.parent),
    )
    took = say(
        "It takes about {n:count} minute on a fast connection.",
        "It takes about {n:count} minutes on a fast connection.",
        n=addition.engine.minutes,
    )
    note = "" if build.note is None else build.note.text()
    print(paragraph(size, took, note), file=sys.stderr, flush=True)


def _is_agreed() -> bool:
    if not sys.stdin.isatty():
        raise FuseScopeError("runtime_unconfirmed")
    try:
        return typer.confirm(say("Add it?"), default=True, err=True)
    except typer.Abort:
        return False


def _tell_ready(engine: Engine, found: State, *, is_new: bool, json: bool) -> None:
    from fusescope.app.cli.printing import runtimes as printing

    if json:
        printing.print_json({"engines": [printing.row(engine, found)]})
        return
    size = units.MISSING if found.disk_bytes is None else units.capacity(found.disk_bytes)
    values = {"engine": engine.name, "version": found.version, "size": size}
    if is_new:
        print(say("{engine:name} {version:name} is ready. It takes {size} on the disk.", **values))
    else:
        print(
            say(
                "{engine:name} {version:name} is ready, so nothing was added. It takes {size} on "
                "the disk.",
                **values,
            )
        )


class _Progress:
    """What is being done, on stderr: a line that changes; without a terminal, a line a step."""

    def __init__(self) -> None:
        from rich.console import Console

        console = Console(stderr=True, highlight=False, markup=False, emoji=False)
        self._line = console.status("") if console.is_terminal else None
        self._last = ""

    def __call__(self, said: Said, on_disk: int) -> None:
        from rich.text import Text

        text = str(said)
        if self._line is not None:
            size = units.capacity(on_disk)
            shown = say("{step} ({size} on the disk so far)", step=said, size=size)
            self._line.update(Text(shown if on_disk else text))
            self._line.start()
        elif text != self._last:
            print(text, file=sys.stderr, flush=True)
        self._last = text

    def pause(self) -> None:
        """Clears the line, for something else to be printed there."""
        if self._line is not None:
            self._line.stop()
