"""Filled: which of the pages that few need have something of the user's own to show."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal

from fusescope.app.sources import places
from fusescope.app.sources.engines import recorded
from fusescope.app.sources.fleets import open_ranks
from fusescope.app.sources.kept_fleets import stores
from fusescope.app.sources.recordings import recordings
from fusescope.app.sources.sweeps import sweeps
from fusescope.app.state.opened import Opened

Name = Literal["engines", "scaling", "fleet", "releases"]


def filled(opened: Mapping[str, Opened], histories: Collection[str] = ()) -> list[Name]:
    """Return the pages for which something was opened, recorded or lies in a configured folder,
    among them `histories`, the files of releases that were dropped; samples do not count."""
    is_there: dict[Name, bool] = {
        "engines": _has_several_engines(opened),
        "scaling": bool(sweeps(opened)),
        "fleet": bool(stores() or open_ranks(opened.values())),
        "releases": bool(histories or places.histories()),
    }
    return [name for name, has in is_there.items() if has]


def _has_several_engines(opened: Mapping[str, Opened]) -> bool:
    """Return True for a recording of several engines, or for recordings of one model by several."""
    is_own = any(True for _ in recordings(opened))
    return is_own and any(len(one.engines) > 1 for one in recorded(opened).values())
