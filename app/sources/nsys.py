"""A report of Nsight Systems as a trace: exported by the user's own `nsys`, where they ask for it.

The program is run as a list of arguments, without a shell, in a folder that is removed, by the next
export or recording where this one is killed, for a limited time and a limited size of what it
writes.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.limits import MIB, Limits
from fusescope.analysis.readers import read_path
from fusescope.analysis.text import clean_text, display_name
from fusescope.analysis.trace import Trace

REPORT = "nsys_report"  # the code of the error of such a file
MOST_S = 600.0
_TICK_S = 0.05
_SAID_BYTES = 2000


def program() -> Path | None:
    """The `nsys` that is on the PATH; None where there is none, or only by a relative folder."""
    found = shutil.which("nsys")
    return Path(found) if found is not None and os.path.isabs(found) else None


def read_report(path: Path, limits: Limits, most_s: float = MOST_S) -> Trace | Experiment:
    """What is in the report at `path`. Raises FuseScopeError where `nsys` is missing, fails, or
    takes longer or writes more than it may, and as the reader of its export."""
    with _exported(path, limits, most_s) as database:
        return read_path(database, limits, above=False)


@contextmanager
def _exported(path: Path, limits: Limits, most_s: float) -> Iterator[Path]:
    """The database that `nsys` makes of the report, as long as this lasts."""
    nsys, name = program(), display_name(path.name)
    if nsys is None:
        raise FuseScopeError("nsys_report", where=name)
    from fusescope.collectors.files import scratch  # a comparison of other files loads none of it

    with scratch.folder(scratch.EXPORT) as folder:
        database = folder / f"{display_name(path.stem)}.sqlite"
        said = folder / "said.txt"
        with said.open("wb") as log:
            child = subprocess.Popen(
                [nsys, "export", "--type", "sqlite", "--output", database, path.resolve()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=folder,
                start_new_session=True,
            )
            try:
                status = _ended(child, folder, name, limits, most_s)
            finally:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(child.pid, signal.SIGKILL)
                child.wait()
        if status != 0 or not database.is_file():
            raise FuseScopeError("nsys_export_failed", where=name, reason=_last_words(said))
        yield database


def _ended(
    child: subprocess.Popen[bytes], folder: Path, name: str, limits: Limits, most_s: float
) -> int:
    """The exit status. Raises FuseScopeError where it takes too long or writes too much."""
    until = time.monotonic() + most_s
    while (status := child.poll()) is None:
        if time.monotonic() > until:
            raise FuseScopeError("nsys_export_too_long", where=name, took=round(most_s * 1e9))
        written = sum(file.stat().st_size for file in folder.iterdir() if file.is_file())
        if written > limits.file_bytes:
            raise FuseScopeError(
                "nsys_export_too_large",
                where=name,
                limit_mib=limits.file_bytes // MIB,
                raised=limits.raised("file_bytes"),
            )
        time.sleep(_TICK_S)
    return status


def _last_words(said: Path) -> str:
    """The last line of what the program said."""
    with said.open("rb") as file:
        file.seek(max(0, said.stat().st_size - _SAID_BYTES))
        lines = file.read().decode(errors="replace").split("\n")
    told = [line.strip() for line in lines if line.strip()]
    return clean_text(told[-1], 200) if told else "no reason"
