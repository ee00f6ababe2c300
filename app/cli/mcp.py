"""`fusescope mcp`: answers agents on stdin and stdout."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fusescope.app.cli import memory
from fusescope.app.cli.limits import LimitOption


def mcp(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(help="Folders whose traces an agent may read. Default: this one."),
    ] = None,
    names: Annotated[
        bool,
        typer.Option("--names", help="Do not leave out user names, host names and paths."),
    ] = False,
    limit: LimitOption = None,  # in force by now
) -> None:
    """Answer questions of an agent about traces, over the Model Context Protocol."""
    try:
        with memory.lasting():
            from fusescope.app.agents.answers import Answers
            from fusescope.app.agents.files import Files
            from fusescope.app.agents.server import server
    except ModuleNotFoundError as error:
        from fusescope.app.cli.recording.run import missing_package

        raise missing_package(error, "agents") from None

    files = Files.below(folders or [Path.cwd()])
    server(Answers(files, has_names=names)).run("stdio")
