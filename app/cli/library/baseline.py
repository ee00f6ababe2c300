"""`fusescope baseline`: traces and recordings under a name, for later ones to be compared with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fusescope.analysis.messages import say
from fusescope.app.cli import memory
from fusescope.app.cli.limits import LimitOption

baseline = typer.Typer(help="Keep a trace or recording under a name, to compare later ones with.")
NameArgument = Annotated[str, typer.Argument(help="Its name.", show_default=False)]


@baseline.callback(invoke_without_command=True)
def listing(context: typer.Context) -> None:
    """List the names of all baselines."""
    if context.invoked_subcommand is None:
        from fusescope.app.library import baselines

        for name in baselines.names():
            print(name)


@baseline.command(help="Copy a trace or recording under this name, in place of one that has it.")
def save(
    name: NameArgument,
    path: Annotated[
        Path, typer.Argument(help="Trace or experiment: a file or folder.", show_default=False)
    ],
    limit: LimitOption = None,  # in force by now
) -> None:
    """Save a baseline."""
    with memory.lasting():
        from fusescope.app.library import baselines

    baselines.save(name, path)
    print(
        say(
            "Saved. Compare with it: {command:name}",
            command=f"fusescope compare --baseline {name} NEW",
        )
    )


@baseline.command(help="Remove a baseline; the file that it was copied from stays.")
def remove(name: NameArgument) -> None:
    """Remove a baseline."""
    from fusescope.app.library import baselines

    baselines.remove(name)
