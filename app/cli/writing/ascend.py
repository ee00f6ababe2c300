"""Ascend tables in a folder: what `--ascend DIR` writes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from fusescope.analysis.messages import say
from fusescope.analysis.report.exports.ascend_tables import ascend_tables
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording import diagnostic_sentence
from fusescope.app.cli.writing.folders import write_files

_MAX_CHARS = 60


def write_ascend(
    folder: Path, traces: Mapping[str, Trace], inputs: Iterable[Path | None]
) -> list[str]:
    """Writes the tables of each trace to its own folder below `folder`; '' is `folder` itself.

    All of them are written, or none. Files of other names stay. Returns sentences on what the
    tables lack. Raises FuseScopeError where they cannot be written, or would replace `inputs`,
    which are what was read.
    """
    texts: dict[Path, bytes] = {}
    sentences: list[str] = []
    for name, place in _folders(traces).items():
        tables = ascend_tables(traces[name])
        texts |= {folder / place / file: data for file, data in tables.files.items()}
        told = [diagnostic_sentence(note) for note in tables.diagnostics]
        sentences += [
            say("{variant:name}: {note}", variant=name, note=t) if name else t for t in told
        ]
    write_files(texts, inputs, option="--ascend", code="ascend_tables_unwritable", where=folder)
    return sentences


def _folders(traces: Mapping[str, Trace]) -> dict[str, str]:
    """A folder name for each trace: its name without what a file name should not hold."""
    taken: dict[str, str] = {}
    for name in traces:
        base = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")[:_MAX_CHARS]
        place, number = base or ("trace" if name else ""), 2
        while place in taken.values():
            place, number = f"{base or 'trace'}-{number}", number + 1
        taken[name] = place
    return taken
