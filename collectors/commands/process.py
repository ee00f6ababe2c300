"""One run of a command: a process group of its own, which is gone when the run is over."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Self

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.text import shown
from fusescope.collectors.workers.worker import Cancelled

READ_BYTES = 16 * 1024 * 1024  # of what it prints, the end
GRACE_S = 5.0
_POLL_S = 0.25
_WITHOUT_PIDFD_S = 0.001


@dataclass(frozen=True)
class CommandRun:
    """A run that ended by itself: its exit code, its wall time, the processor time of its processes
    that were waited for, and what it printed last."""

    code: int
    wall_ns: int
    cpu_ns: int
    output: str
    errors: str


def run(
    words: Sequence[str],
    environment: Mapping[str, str],
    folder: Path,
    seconds: float,
    cancelled: Callable[[], bool],
) -> CommandRun:
    """Return how the command ran in the user's own working folder; what it prints lies in `folder`.

    Raises FuseScopeError where it cannot be started or takes longer than `seconds`, Cancelled when
    `cancelled()` becomes true. Neither of them, nor an interruption, leaves a process behind.
    """
    with (folder / "stdout").open("w+b") as output, (folder / "stderr").open("w+b") as errors:
        begun = time.perf_counter_ns()
        try:
            child = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                env=dict(environment),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise _not_started(words[0], error) from None
        try:
            _wait(child, seconds, cancelled)
            ended = time.perf_counter_ns()
        except BaseException:
            _end(child)
            raise
        _kill(child.pid, signal.SIGKILL)  # what it left running would disturb the next run
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        return CommandRun(
            child.returncode,
            ended - begun,
            round((usage.ru_utime + usage.ru_stime) * 1e9),
            *(_end_of(file) for file in (output, errors)),
        )


def _wait(child: subprocess.Popen[bytes], seconds: float, cancelled: Callable[[], bool]) -> None:
    """Returns when the child has ended, and leaves it to be waited for."""
    deadline = time.monotonic() + seconds
    with _Ending(child.pid) as ending:
        while not ending.has_come(min(_POLL_S, max(0.0, deadline - time.monotonic()))):
            if cancelled():
                raise Cancelled
            if time.monotonic() >= deadline:
                raise FuseScopeError("command_too_slow", seconds=seconds)


class _Ending:
    """The end of a process, as it comes where the system can say it at once."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._handle = -1
        if hasattr(os, "pidfd_open"):
            with contextlib.suppress(OSError):
                self._handle = os.pidfd_open(pid)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._handle >= 0:
            os.close(self._handle)

    def has_come(self, seconds: float) -> bool:
        """Return whether it ended, after waiting for at most so many seconds."""
        if self._handle >= 0:
            return bool(select.select([self._handle], [], [], seconds)[0])
        until = time.monotonic() + seconds
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        while os.waitid(os.P_PID, self._pid, flags) is None:
            if time.monotonic() >= until:
                return False
            time.sleep(_WITHOUT_PIDFD_S)
        return True


def _end(child: subprocess.Popen[bytes]) -> None:
    """Ends the whole group: politely, so that a server lets go of its device, then at once."""
    try:
        _kill(child.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(GRACE_S)
    finally:
        _kill(child.pid, signal.SIGKILL)
        child.wait()


def _kill(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _end_of(file: IO[bytes]) -> str:
    file.seek(max(0, file.seek(0, os.SEEK_END) - READ_BYTES))
    return file.read().decode(errors="replace")


def _not_started(program: str, error: OSError | ValueError) -> FuseScopeError:
    name = shown(program, 120)
    if isinstance(error, OSError) and error.errno == errno.ENOENT:
        return FuseScopeError("command_not_found", program=name)
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return FuseScopeError("command_not_started", program=name, reason=reason.lower())
