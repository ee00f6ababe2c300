"""Workers as copies of one process that has loaded the engine: a process of its own for each loads
it again, which takes longer than most of what tests record.

A copy is a child of the recorder like any worker (CLONE_PARENT), has its standard streams, folder
and environment, and runs the same `main`. Only how it starts is another: tests/collectors/
test_worker.py, and every test that records in a program of its own, start workers as users do.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import platform
import signal
import socket
import subprocess
import sys
import traceback
from pathlib import Path
from typing import IO

from fusescope.collectors import tasks
from fusescope.collectors.environments.catalogue import ENGINES
from fusescope.collectors.workers import worker

SUPPORTED = (sys.platform, platform.machine()) == ("linux", "x86_64")
CLONE, CLONE_PARENT = 56, 0x8000
REQUEST_BYTES = 1 << 16
PROGRAM = "from tests.collectors.forks import serve; serve()"


class Copy:
    """What `worker.run` uses of a subprocess.Popen."""

    def __init__(self, pid: int, stdin: IO[bytes], stdout: IO[bytes]) -> None:
        self.pid, self.stdin, self.stdout = pid, stdin, stdout
        self._code: int | None = None

    def wait(self) -> int:
        if self._code is None:
            self._code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self._code

    def poll(self) -> int | None:
        if self._code is None:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            self._code = os.waitstatus_to_exitcode(status) if ended else None
        return self._code


class Copies:
    """Starts workers as copies; the process they are copies of starts with the first one."""

    def __init__(self) -> None:
        self._original: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None

    def start(self, task: str, directory: Path, stderr: IO[bytes]) -> Copy:
        """In place of `worker._start`."""
        channel = self._socket or self._connect()
        job, answer = os.pipe(), os.pipe()
        request = {
            "task": task,
            "directory": str(directory),
            "environment": worker._environment(str(directory)),
        }
        streams = [job[0], answer[1], stderr.fileno()]
        socket.send_fds(channel, [json.dumps(request).encode()], streams)
        os.close(job[0])
        os.close(answer[1])
        pid = int(channel.recv(REQUEST_BYTES))
        return Copy(pid, os.fdopen(job[1], "wb"), os.fdopen(answer[0], "rb"))

    def close(self) -> None:
        if self._socket is not None and self._original is not None:
            self._socket.close()
            self._original.wait()

    def _connect(self) -> socket.socket:
        self._socket, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with other:
            self._original = subprocess.Popen(
                [sys.executable, "-P", "-c", PROGRAM, str(other.fileno())],
                pass_fds=[other.fileno()],
                stdin=subprocess.DEVNULL,
                env=worker._environment("/"),
            )
        return self._socket


def serve() -> None:
    """The original: loads every task that needs no other engine, and makes a copy of itself for
    each request."""
    others = tuple(f"{engine}_" for engine in ENGINES)
    for path in sorted(Path(tasks.__file__).parent.glob("[!_]*.py")):
        if not path.stem.startswith(others):
            importlib.import_module(f"fusescope.collectors.tasks.{path.stem}")
    with socket.socket(fileno=int(sys.argv[1])) as channel:
        while True:
            request, streams, _, _ = socket.recv_fds(channel, REQUEST_BYTES, 3)
            if not request:
                return
            pid = ctypes.CDLL(None).syscall(CLONE, CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0)
            if pid == 0:
                ctypes.pythonapi.PyOS_AfterFork_Child()
                channel.close()
                _work(json.loads(request), streams)
            for stream in streams:
                os.close(stream)
            channel.send(str(pid).encode())


def _work(request: dict[str, str], streams: list[int]) -> None:
    """The copy: what `python -m fusescope.collectors.workers.worker TASK` does. Does not return."""
    try:
        os.setsid()
        for at, stream in enumerate(streams):
            os.dup2(stream, at)
            os.close(stream)
        os.chdir(request["directory"])
        os.environ.clear()
        os.environ.update(request["environment"])
        worker.main(request["task"])
    except BaseException:  # noqa: BLE001 - what a program ends with, and shows
        traceback.print_exc()
    finally:
        os._exit(1)
