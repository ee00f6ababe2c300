"""`fusescope fleet`: what is wrong with which rank."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fusescope.app.cli import memory, streams

if TYPE_CHECKING:
    from fusescope.analysis.fleet.examined import Examined


def fleet(
    store: Annotated[
        str,
        typer.Argument(help="A store that `fusescope ingest` has filled.", show_default=False),
    ],
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="STORE",
            help="The same job before a change: its steps are compared rank by rank.",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON (docs/fleet.md).")] = False,
) -> None:
    """Say which rank is slow and why, which link, whose kernels differ, and what that costs."""
    with memory.lasting():
        from fusescope.analysis.fleet.versus import versus

    found = _examined(store)
    paired = None
    if against is not None:
        paired = versus(_examined(against).by_rank, found.by_rank)
    if json:
        from fusescope.analysis.report.fleets.fleet_json import fleet_json

        streams.write_json(fleet_json(found, paired))
    else:
        from fusescope.app.cli.printing.fleet import print_fleet

        print_fleet(found, paired)


def _examined(text: str) -> Examined:
    from fusescope.app.fleet import store

    return store.examined(store.opened(text))
