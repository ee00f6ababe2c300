"""A recording from the command line: progress, interruption, where the file is."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from fusescope.analysis.errors import FuseScopeError
from fusescope.app.cli import interruption

if TYPE_CHECKING:
    from fusescope.analysis.experiment import ExperimentRecord
    from fusescope.collectors.progress import Progress
    from fusescope.collectors.record import Recording

OnProgress = Callable[["Progress"], None]


def run(recording: Recording, *, progress_json: bool = False) -> Path:
    """Records, and returns the path of the file. Ctrl-C, SIGTERM and a hang-up keep
    complete blocks."""
    interruption.heed()  # before anything is imported, which tries the temporary folder
    from fusescope.collectors.record import record

    with showing(progress_json) as on_progress:
        return record(recording, on_progress=on_progress, enough=is_decided)


def showing(progress_json: bool) -> AbstractContextManager[OnProgress]:
    """How far a recording is, as lines of JSON or as a bar."""
    return _json_lines() if progress_json else _bar()


def missing_package(error: ImportError, extra: str = "collect") -> FuseScopeError:
    """What to say where a package that a verb needs is not installed."""
    return FuseScopeError("package_missing", package=str(error.name), extra=extra)


def memory_bytes(gigabytes: float | None) -> int | None:
    """What `--memory-limit` says. Raises FuseScopeError for what is not a limit."""
    if gigabytes is None:
        return None
    if not 0 < gigabytes < 1e9:
        raise FuseScopeError("memory_limit_impossible", given=f"{gigabytes:g}")
    return int(gigabytes * 1e9)


def relative(path: Path) -> str:
    """The path as one would type it here."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def is_decided(experiment: ExperimentRecord) -> bool:
    """Whether every comparison of a recording is settled."""
    from fusescope.analysis.compare.timing.verdict import decided

    return decided(experiment)


def _json_lines() -> AbstractContextManager[OnProgress]:
    from fusescope.collectors.progress import encode

    def say(progress: Progress) -> None:
        with suppress(OSError):  # a recording goes on when nobody reads how far it is
            print(encode(progress), flush=True)

    return nullcontext(say)


def _bar() -> AbstractContextManager[OnProgress]:
    """A bar on stderr; without a terminal, a line for each step.

    It is drawn only between blocks: a bar that refreshes itself would take the cores from the
    runs that are being timed.
    """
    from fusescope.app.cli.recording.bar import RecordingBar

    return RecordingBar()
