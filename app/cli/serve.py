"""`fusescope serve`: the dashboard."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from fusescope.analysis.messages import say
from fusescope.app.cli.limits import LimitOption

DEFAULT_PORT = 8501


def serve(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[PATH]...",
            help="Traces, experiments or folders of a profiler to open, a folder with "
            "everything below it; stores of `fusescope ingest`; files of `fusescope bisect`.",
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="Port. Default: 8501, or the next free one."),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to answer on. With 0.0.0.0 other machines reach it, too.")
    ] = "127.0.0.1",
    folder: Annotated[
        list[Path] | None,
        typer.Option(metavar="DIR", help="Files below it may be opened by path. Repeatable."),
    ] = None,
    browser: Annotated[
        bool,
        typer.Option("--browser/--no-browser", help="Open a browser where there is a display."),
    ] = True,
    limit: LimitOption = None,  # in force by now
) -> None:
    """Start the dashboard and print its address; Ctrl-C ends it."""
    from fusescope.analysis.errors import FuseScopeError
    from fusescope.app.cli import memory
    from fusescope.app.cli.recording import run as recording_run
    from fusescope.app.sources import places

    memory.check(memory.DASHBOARD_BYTES)
    given = [path.absolute() for path in paths or ()]
    for path in given:
        if not path.exists():
            raise FuseScopeError("no_such_file", where=str(path))
    folders = [path.absolute() for path in folder or ()]
    folders += [path for path in given if path.is_dir() and not places.is_fleet(path)]
    for path in folders:
        if not path.is_dir():
            raise FuseScopeError("not_a_folder", where=str(path))
    fleets = [path for path in given if places.is_fleet(path)]
    histories = [path for path in given if places.is_history(path)]
    given = [path for path in given if path not in (*fleets, *histories)]
    # The pages run in this process, and read these from its environment.
    places.add_to(places.FOLDERS_VARIABLE, folders)
    places.add_to(places.FILES_VARIABLE, given)
    places.add_to(places.FLEETS_VARIABLE, fleets)
    places.add_to(places.HISTORIES_VARIABLE, histories)
    try:
        from fusescope.app import application
        from fusescope.app.server.same_origin import LOOPBACK
    except ImportError as error:
        raise recording_run.missing_package(error, "dashboard") from None

    listening = application.listen(host, port or DEFAULT_PORT, search=port is None)
    used = listening.getsockname()[1]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    address = f"http://{shown}:{used}"

    def ready() -> None:
        if port is None and used != DEFAULT_PORT:
            text = say("{address} (port {port} is in use)", address=address, port=DEFAULT_PORT)
        else:
            text = address
        print(f"FuseScope: {text}", flush=True)
        if host not in LOOPBACK:
            warning = say("Everyone who can reach this machine can open it.")
            print(warning, file=sys.stderr, flush=True)
        if browser and _has_display():
            import webbrowser

            webbrowser.open(address)

    application.run(listening, host, ready)


def _has_display() -> bool:
    if sys.platform == "darwin":
        return "SSH_CONNECTION" not in os.environ
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
