"""The experiment file: one zip that appears complete or not at all."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import RECORD_NAME, ExperimentRecord, record_json
from fusescope.collectors.files.publication import Draft, draft_for_out, is_special

COMPRESSION = 9


def destination(out: Path | None, model: str, date: str) -> Path:
    """Where the file should go: `out`, or ./<model>-<date>.zip, or that name in a folder `out`.

    Raises FuseScopeError when the folder does not exist or cannot be written to.
    """
    name = re.sub(r"[^\w.-]+", "_", model).strip("._")[:80] or "model"
    path = out if out is not None else Path(f"{name}-{date}.zip")
    if path.is_dir():
        path = path / f"{name}-{date}.zip"
    if is_special(path):
        return path.absolute()
    if not path.suffix:
        path = path.with_name(path.name + ".zip")
    path = path.absolute()
    with draft_for_out(path):
        return path


def write(path: Path, record: ExperimentRecord, members: Mapping[str, Path | bytes]) -> Path:
    """Writes the zip and returns its path: `path`, or the first free name after it, since
    nothing is ever overwritten. Raises FuseScopeError when the disk refuses."""
    try:
        if is_special(path):
            whole = io.BytesIO()  # a device has no positions for a zip to count on
            _fill(whole, record, members)
            path.write_bytes(whole.getvalue())
            return path
        with Draft(path) as draft:
            with draft.opened() as file:
                _fill(file, record, members)
            return draft.publish_numbered()
    except OSError as error:
        problem = error.strerror or str(error)
        raise FuseScopeError(
            "experiment_unwritable", where=str(path), reason=problem.lower()
        ) from None


def _fill(file: IO[bytes], record: ExperimentRecord, members: Mapping[str, Path | bytes]) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        _add(archive, RECORD_NAME, record_json(record))
        for name, content in members.items():
            _add(archive, name, content)


def _add(archive: zipfile.ZipFile, name: str, content: Path | bytes) -> None:
    """Without the time of day: a zip has none before 1980, where boards without a battery start."""
    data = content.read_bytes() if isinstance(content, Path) else content
    archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED, COMPRESSION)
