"""Reading what a user names: a path, through the store, or a name in the library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fusescope.analysis.compare.side import Side, label_of
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.readers.experiment import Wanted
from fusescope.analysis.text import display_name
from fusescope.analysis.trace import Trace
from fusescope.app.library import baselines
from fusescope.app.sources import places
from fusescope.app.store import keeping

IN_LIBRARY = "library:"  # in front of a name, where a path may stand


def read_at(path: Path, wanted: Wanted | None = None) -> keeping.Read:
    """Return what is at a path, as analysis.readers.read_path, with its errors; what is large is
    kept in the library. `library:NAME` is what has that name there, `baseline:NAME` a baseline."""
    if str(path).startswith(IN_LIBRARY):
        return keeping.Read(_of_name(str(path).removeprefix(IN_LIBRARY), wanted))
    if str(path).startswith(baselines.PREFIX):
        path = baselines.path_of(str(path).removeprefix(baselines.PREFIX))
    return keeping.read_through(path, places.limits(), wanted=wanted)


def _of_name(name: str, wanted: Wanted | None) -> Trace | Experiment:
    """Return what has this name in the library. Raises FuseScopeError for none."""
    from fusescope.analysis.readers import read_path
    from fusescope.app.library.items import KEPT, RECORDED, named

    item = named(name)
    if item.kind == "experiment":
        path = places.experiments_folder() / item.id.removeprefix(RECORDED)
        return read_path(path, places.limits(), wanted=wanted)
    trace = keeping.trace_of(item.id.removeprefix(KEPT))
    return keeping.renamed(trace, item.name)


def named_by_path(sides: Sequence[Side], paths: Sequence[Path]) -> list[Side]:
    """Return traces named after what was given: 'before_ascend_pt', or 'before/trace.json' where
    alike; of archives whose files have the same name the archives."""
    are_alike = len({side.label for side in sides}) < len(sides)
    ends = [path.resolve().parts for path in paths]
    length = next((n for n in (1, 2, 3) if len({end[-n:] for end in ends}) == len(ends)), 1)
    return [
        side
        if side.experiment is not None or (length == 1 and not path.is_dir() and not are_alike)
        else replace(
            side, label=label_of("/".join(display_name(part) for part in end[-length:]), side.trace)
        )
        for side, path, end in zip(sides, paths, ends, strict=True)
    ]
