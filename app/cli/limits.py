"""`--limit`: a bound of reading, before a verb or behind it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Annotated

import typer

from fusescope.analysis.messages import mark

METAVAR = "NAME=N"
HELP = mark("Set a limit of reading (docs/limits.md). Repeatable.")


def set_limits(given: Sequence[str]) -> None:
    """Put limits into force for this process. Raises FuseScopeError for one that does not exist."""
    from fusescope.app.sources import places

    # The pages of the dashboard read them from the environment of this process.
    told = [os.environ.get(places.LIMITS_VARIABLE, ""), *given]
    os.environ[places.LIMITS_VARIABLE] = ",".join(filter(None, told))
    places.limits()


def _taken(given: list[str] | None) -> list[str] | None:
    if given:
        set_limits(given)
    return given


# An option of each verb that reads files; in force before the verb runs.
LimitOption = Annotated[
    list[str] | None, typer.Option("--limit", metavar=METAVAR, help=HELP, callback=_taken)
]
