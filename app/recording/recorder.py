"""The one job that a server runs at a time, in a thread of its own: a recording."""

from __future__ import annotations

import atexit
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.errors import FuseScopeError

if TYPE_CHECKING:
    from collectors.progress import Progress
    from collectors.record import Recording

    Record = Callable[..., Path]

_LOG = logging.getLogger("fusescope")
_STOP_SECONDS = 15.0


@dataclass(frozen=True)
class Status:
    """A job as pages see it; `path` when it is done, `error` when it failed. `recipe` is the
    name of the recipe that it is of, if any."""

    model: str
    recipe: str = ""
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
        with self._lock:
            if self._status is not None and self._status.running:
                return False
            self._cancel.clear()
            self._status = Status(Path(recording.model).name, recipe)
            self._thread = threading.Thread(
                target=self._run, args=(recording, record), name="recording", daemon=True
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
            if self._status is not None and self._status.path == path:
                self._status = None if new is None else replace(self._status, path=new)

    def stop(self) -> None:
        """Cancel and wait: the server ends, and no engine process may outlive it."""
        self._cancel.set()
        if self._thread is not None:
            self._thread.join(_STOP_SECONDS)

    def _run(self, recording: Recording, record: Record) -> None:
        from analysis.compare.timing.verdict import decided

        try:
            path = record(
                recording,
                on_progress=lambda progress: self._update(progress=progress),
                enough=decided,
                cancelled=self._cancel.is_set,
            )
            self._update(path=path)
        except FuseScopeError as error:
            self._update(error=error)
        except Exception:  # noqa: BLE001 - a thread has nobody to raise to
            _LOG.exception("unexpected error in a recording")
            self._update(error=FuseScopeError("internal_error"))

    def _update(self, **changes: object) -> None:
        with self._lock:
            if self._status is not None:
                self._status = replace(self._status, **changes)  # type: ignore[arg-type]


RECORDER = Recorder()
