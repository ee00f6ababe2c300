"""A worker: one task in a subprocess with limits, so that no model can take the recorder down.

The parent calls `run`; the child is `python -m fusescope.collectors.workers.worker TASK`, which
runs the file of that name in collectors/tasks. It reads its job as JSON on stdin and answers with
one JSON object on stdout. A worker has an empty working directory, a session of its own (Ctrl-C
reaches only the parent, which ends it), an address-space limit, no core dumps and a time limit, and
it dies with its parent. One that runs an engine of another environment (`python`) differs as
foreign.py says.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import importlib
import os
import resource
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec

import fusescope
from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors import ENGINE_TELEMETRY_OFF
from fusescope.collectors.errors import engine
from fusescope.collectors.files import scratch
from fusescope.collectors.workers import foreign
from fusescope.collectors.workers.failures import Failure, error_of, failure_of

ANSWER_BYTES = 64 * 1024 * 1024
THREAD_STACK_BYTES = 2 * 1024 * 1024
KEPT_ENVIRONMENT = (
    "PATH", "HOME", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT",
    "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_PATH",
)  # fmt: skip
POLL_S = 0.25

Answer = TypeVar("Answer")


class Cancelled(Exception):
    """The caller no longer wants the recording."""


@dataclass(frozen=True)
class Limits:
    """For one worker: memory in bytes (None: no limit), wall time in seconds. The memory is address
    space; in another environment, and with `are_resident`, which drivers of devices need since they
    reserve addresses for all memory that there is, resident memory of all of the worker's
    processes."""

    memory_bytes: int | None
    seconds: float
    are_resident: bool = False


class _Request(msgspec.Struct):
    parent: int
    memory_bytes: int | None
    seconds: float
    job: msgspec.Raw
    is_foreign: bool = False
    is_watched: bool = False  # its memory, from outside


class _Reply(msgspec.Struct):
    answer: msgspec.Raw = msgspec.Raw(b"null")
    failure: Failure | None = None


def run(
    task: str,
    job: msgspec.Struct,
    answer: type[Answer],
    *,
    limits: Limits,
    where: str,
    cancelled: Callable[[], bool],
    library: str = "",
    python: Path | None = None,
    packages: Path | None = None,
    brought: Sequence[str] = (),
    devices: Mapping[str, str] | None = None,
) -> Answer:
    """Runs the task and returns its answer. `library` is the name of a library of the user's that
    runs in there; `python` is that of the engine's environment, None for FuseScope's own. What
    lies in `packages` is imported in place of what FuseScope was installed with; `brought` are
    packages of FuseScope's own installation for another Python that has none of the name.
    `devices` are the variables by which an engine of another environment sees devices, None: it
    sees none.

    Raises FuseScopeError (with `where`, the model's name) for whatever goes wrong in there:
    a refusal of the engine, a crash, too much memory, too much time. Raises Cancelled when
    `cancelled()` becomes true. The worker is gone when this returns or raises.
    """
    if python == Path(sys.executable):
        python = None
    is_watched = limits.are_resident or python is not None
    request = msgspec.json.encode(
        _Request(
            os.getpid(),
            limits.memory_bytes,
            limits.seconds,
            msgspec.Raw(msgspec.json.encode(job)),
            is_foreign=python is not None,
            is_watched=is_watched,
        )
    )
    with (
        scratch.folder(scratch.WORKER) as directory,
        tempfile.TemporaryFile(dir=directory.parent) as stderr,
    ):
        watched_bytes = limits.memory_bytes if is_watched else None
        if packages is not None:
            child = _start_with(packages, task, directory, stderr)
        elif python is None:
            child = _start(task, directory, stderr)
        else:
            child = _start_foreign(python, task, directory, stderr, brought, devices)
        try:
            text = _converse(child, request, limits, where, cancelled, watched_bytes)
            code = child.wait()
        finally:
            _end(child)
        stderr.seek(max(0, stderr.seek(0, os.SEEK_END) - 4096))
        last_words = stderr.read().decode(errors="replace")
        left_no_room = scratch.is_full(directory)
    try:
        reply = msgspec.json.decode(text, type=_Reply)
    except msgspec.MsgspecError:
        if left_no_room:
            raise scratch.refused(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))) from None
        ended = engine.crash(code, last_words, limits.memory_bytes, library)
        raise ended.at(where) from None
    if reply.failure is not None:
        if left_no_room:  # what failed is a library's own sentence for it
            raise scratch.refused(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
        raise error_of(reply.failure, where)
    return msgspec.json.decode(reply.answer, type=answer)


def _start(task: str, directory: Path, stderr: IO[bytes]) -> subprocess.Popen[bytes]:
    return _started(task, directory, stderr, _environment(str(directory)))


def _start_with(
    packages: Path, task: str, directory: Path, stderr: IO[bytes]
) -> subprocess.Popen[bytes]:
    environment = _environment(str(directory))
    path = os.pathsep.join([str(packages), environment["PYTHONPATH"]])
    return _started(task, directory, stderr, {**environment, "PYTHONPATH": path})


def _started(
    task: str, directory: Path, stderr: IO[bytes], environment: dict[str, str]
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "fusescope.collectors.workers.worker", task],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        cwd=directory,
        env=environment,
        start_new_session=True,
    )


def _start_foreign(
    python: Path,
    task: str,
    directory: Path,
    stderr: IO[bytes],
    brought: Sequence[str],
    devices: Mapping[str, str] | None,
) -> subprocess.Popen[bytes]:
    """Raises FuseScopeError where that Python cannot be run."""
    foreign.lay_out(directory, brought)
    try:
        return subprocess.Popen(
            [python, "-P", *foreign.program(directory, task, brought)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            cwd=directory,
            env={**_environment(str(directory)), **foreign.environment(str(directory), devices)},
            start_new_session=True,
        )
    except OSError as error:
        if error.errno in scratch.FULL:
            raise
        raise FuseScopeError("runtime_python_gone", where=str(python)) from None


def _converse(
    child: subprocess.Popen[bytes],
    request: bytes,
    limits: Limits,
    where: str,
    cancelled: Callable[[], bool],
    watched_bytes: int | None,
) -> bytes:
    """Everything the child writes to stdout, up to its end, the time limit, a cancellation, or
    until its processes take more resident memory than `watched_bytes`."""
    assert child.stdin is not None and child.stdout is not None
    with contextlib.suppress(BrokenPipeError):
        child.stdin.write(request)
        child.stdin.close()
    deadline = time.monotonic() + limits.seconds
    parts: list[bytes] = []
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ)
        while sum(map(len, parts)) < ANSWER_BYTES:
            if cancelled():
                raise Cancelled
            left = deadline - time.monotonic()
            if left <= 0:
                raise engine.too_slow(limits.seconds).at(where)
            if watched_bytes and foreign.resident_bytes(child.pid, watched_bytes) > watched_bytes:
                raise engine.too_big(watched_bytes).at(where)
            # Asked before the pipe is looked at, as its last words may be on the way.
            has_ended = child.poll() is not None
            if selector.select(min(left, POLL_S)):
                part = os.read(child.stdout.fileno(), 1 << 16)
                if not part:
                    break
                parts.append(part)
            elif has_ended:
                break  # while what it started still holds the pipe
    return b"".join(parts)


def _end(child: subprocess.Popen[bytes]) -> None:
    """Ends the child and whatever it started; it leads a process group of its own."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


def _environment(directory: str) -> dict[str, str]:
    """A reduced environment in which `fusescope` can be imported from anywhere."""
    kept = {name: os.environ[name] for name in KEPT_ENVIRONMENT if name in os.environ}
    root = str(Path(fusescope.__file__).resolve().parents[1])
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join([root, *(path for path in paths if os.path.isabs(path))]),
        "PYTHONUTF8": "1",
        "TMPDIR": directory,
        "XDG_CACHE_HOME": directory,  # jobs name the user's cache; libraries get none of it
        **ENGINE_TELEMETRY_OFF,
        "OPENBLAS_NUM_THREADS": "1",  # numpy's own threads would only take address space
    }


def main(task: str) -> None:
    """The child: one job from stdin, one reply to stdout."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is not a reply
    tempfile.tempdir = os.getcwd()  # full or not: what is elsewhere would stay
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=_Request)
    _confine(request)
    reply = _Reply()
    try:
        task_module: Any = importlib.import_module(f"fusescope.collectors.tasks.{task}")
        job = msgspec.json.decode(request.job, type=task_module.Job)
        reply.answer = msgspec.Raw(msgspec.json.encode(task_module.run(job)))
    except FuseScopeError as error:
        reply.failure = failure_of(error)
    except Exception as error:  # noqa: BLE001 - the engine raises many kinds; the user reads one sentence
        reply.failure = failure_of(
            engine.missing_in_environment(error)
            if request.is_foreign and isinstance(error, ImportError)
            else engine.sentence(error, request.memory_bytes)
        )
    _say(replies, reply)


def _say(replies: IO[bytes], reply: _Reply) -> None:
    replies.write(msgspec.json.encode(reply))
    replies.flush()
    os._exit(0)  # engine threads and big arrays need no tidy end


def _confine(request: _Request) -> None:
    """Limits of this process: they hold for everything the task loads from here on."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if request.memory_bytes is not None and not request.is_watched:
        with contextlib.suppress(ValueError, OSError):  # macOS knows no address-space limit
            resource.setrlimit(resource.RLIMIT_AS, (request.memory_bytes, request.memory_bytes))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, request.seconds + 30)  # should the parent be gone
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        libc.prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
        if os.getppid() != request.parent:
            os._exit(1)
        if not request.is_watched:  # a compiler in a thread needs the usual stack
            _shrink_thread_stacks(libc)


def _shrink_thread_stacks(libc: ctypes.CDLL) -> None:
    """Eager has a thread pool a node; at 8 MiB a stack they alone would use up the limit."""
    if hasattr(libc, "pthread_setattr_default_np"):  # glibc
        attributes = ctypes.create_string_buffer(256)
        libc.pthread_attr_init(attributes)
        libc.pthread_attr_setstacksize(attributes, ctypes.c_size_t(THREAD_STACK_BYTES))
        libc.pthread_setattr_default_np(attributes)


if __name__ == "__main__":
    main(sys.argv[1])
