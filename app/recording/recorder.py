"""The one job that a server runs at a time, in a thread of its own: a recording."""

from __future__ import annotations

import atexit
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import Said

if TYPE_CHECKING:
    from fusescope.app.recording.sweep import Sweep
    from fusescope.collectors.progress import Progress
    from fusescope.collectors.record import Recording

    Record = Callable[..., Path]

_LOG = logging.getLogger("fusescope")
_STOP_SECONDS = 15.0


@dataclass(frozen=True)
class Status:
    """A job as pages see it; `path` when it is done, `error` when it failed. `recipe` is the
    name of the recipe that it is of, if any.

    Of a sweep of `settings` settings, else 0: `setting` is the one that is recorded, and what it
    is, `paths` are the files of those that are complete, also where a later one failed.
    """

    model: str
    recipe: str = ""
    settings: int = 0
    setting: int = 0
    told: Said | None = None
    paths: tuple[Path, ...] = ()
    progress: Progress | None = None
    path: Path | None = None
    error: FuseScopeError | None = None
    cancelling: bool = False

    @property
    def running(self) -> bool:
        """True until there is a file or an error."""
        return self.path is None and self.error is None


class Recorder:
    """Runs jobs, one at a time, for every session of the server."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cancel = threading.Event()
        self._thread: threading.Thread | None = None
        self._status: Status | None = None
        atexit.register(self.stop)

    @property
    def status(self) -> Status | None:
        """The running job, else the last one; None before the first."""
        return self._status

    def start(self, recording: Recording, record: Record, *, recipe: str = "") -> bool:
        """Start `record(recording, …)`, of that recipe if of one; False while another runs."""
        status = Status(Path(recording.model).name, recipe)
        return self._start(status, partial(self._recorded, record, recording))

    def start_sweep(self, sweep: Sweep, record: Record) -> bool:
        """Start `record(recording, …)` of one setting after the other; False while a job runs."""
        recordings = sweep.recordings
        status = Status(Path(recordings[0].model).name, settings=len(recordings))
        return self._start(status, partial(self._swept, sweep, record))

    def _start(self, status: Status, run: Callable[[], Path]) -> bool:
        with self._lock:
            if self._status is not None and self._status.running:
                return False
            self._cancel.clear()
            self._status = status
            self._thread = threading.Thread(
                target=self._run, args=(run,), name="recording", daemon=True
            )
            self._thread.start()
            return True

    def cancel(self) -> None:
        """Ask the job to stop; complete blocks are kept."""
        self._cancel.set()
        self._update(cancelling=True)

    def forget(self) -> None:
        """Drop the last result."""
        with self._lock:
            if self._status is not None and not self._status.running:
                self._status = None

    def moved(self, path: Path, new: Path | None) -> None:
        """The file of the last result has another name, or is gone (None)."""
        with self._lock:
            status = self._status
            if status is None or status.running:
                return
            if path in status.paths:
                paths = (new if one == path else one for one in status.paths)
                kept = tuple(one for one in paths if one is not None)
                last = None if status.path is None or not kept else kept[-1]
                is_over = not kept and status.error is None
                self._status = None if is_over else replace(status, paths=kept, path=last)
            elif status.path == path:
                self._status = None if new is None else replace(status, path=new)

    def stop(self) -> None:
        """Cancel and wait: the server ends, and no engine process may outlive it."""
        self._cancel.set()
        if self._thread is not None:
            self._thread.join(_STOP_SECONDS)

    def _run(self, run: Callable[[], Path]) -> None:
        try:
            self._update(path=run())
        except FuseScopeError as error:
            self._update(error=error)
        except Exception:  # noqa: BLE001 - a thread has nobody to raise to
            _LOG.exception("unexpected error in a recording")
            self._update(error=FuseScopeError("internal_error"))

    def _recorded(self, record: Record, recording: Recording) -> Path:
        from fusescope.analysis.compare.timing.verdict import decided

        return record(
            recording,
            on_progress=lambda progress: self._update(progress=progress),
            enough=decided,
            cancelled=self._cancel.is_set,
        )

    def _swept(self, sweep: Sweep, record: Record) -> Path:
        def tell(number: int, told: Said) -> None:
            self._update(setting=number, told=told, progress=None)

        def kept(path: Path) -> None:
            done = self._status.paths if self._status is not None else ()
            self._update(paths=(*done, path))

        return sweep.run(partial(self._recorded, record), tell, kept)[-1]

    def _update(self, **changes: object) -> None:
        with self._lock:
            if self._status is not None:
                self._status = replace(self._status, **changes)  # type: ignore[arg-type]


RECORDER = Recorder()
