"""A saved baseline in the place of the first file: `compare --baseline main after.json`."""

from __future__ import annotations

from pathlib import Path

from fusescope.app.library import baselines


def saved_baseline(name: str, path: Path) -> Path | None:
    """Return how the saved baseline of that name is read; None where there is none, and where
    `path` is a recording that has a variant of that name."""
    if name not in baselines.names() or name in _variants(path):
        return None
    return Path(f"{baselines.PREFIX}{name}")


def _variants(path: Path) -> tuple[str, ...]:
    """Return the variants of a recording; none of a trace."""
    from fusescope.analysis.experiment import Experiment
    from fusescope.app.library.reading import read_at

    value = read_at(path).value
    return tuple(value.record.names) if isinstance(value, Experiment) else ()
