"""Servers as processes of their own, what they print, and the ports they take."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests import known_peaks
from tests.patience import GIVE_UP_S

ROOT = Path(__file__).resolve().parents[2]
_MAIN = "from fusescope.app.cli.main import main; main()"
SERVE = [sys.executable, "-c", _MAIN, "serve", "--no-browser"]
# The same dashboard, whose recordings do not measure what the machine can do.
SERVE_WITH_PEAKS = [sys.executable, "-c", known_peaks.SETUP + _MAIN, *SERVE[3:]]
STREAMLIT = str(Path(sys.executable).with_name("streamlit"))
BLOCKS = {"unfused": [10.0 + b / 10 for b in range(8)], "fused": [5.0 + b / 20 for b in range(8)]}
# What `wait_for` looks for: where `fusescope serve` answers, and where `streamlit run` does.
SERVES_AT = r"FuseScope: (http://127\.0\.0\.1:\d+)\n"
RUNS_AT = r"URL: (http://127\.0\.0\.1:\d+)"


class Server:
    """A server process and what it printed."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.process = process
        self.log = log

    def wait_for(self, pattern: str) -> str:
        """The first group of `pattern` in the output, once it is there."""
        deadline = time.monotonic() + GIVE_UP_S
        while True:
            text = self.log.read_text()
            found = re.search(pattern, text)
            if found:
                return found[1]
            ended = self.process.poll() is not None
            if ended or time.monotonic() > deadline:
                raise AssertionError(f"no {pattern!r} in the output:\n{text}")
            time.sleep(0.05)


@contextmanager
def started(command: list[str], folder: Path, cwd: Path = ROOT) -> Iterator[Server]:
    """A server whose log and recordings lie in `folder`."""
    recordings = folder / "recordings"
    recordings.mkdir(exist_ok=True)
    log = folder / "server.log"
    env = {**os.environ, "FUSESCOPE_RECORDINGS": str(recordings), "PYTHONUNBUFFERED": "1"}
    if command[0] == sys.executable and "-c" in command:
        env["PYTHONPATH"] = str(ROOT)
    env.pop("DISPLAY", None)
    with log.open("w") as out:
        process = subprocess.Popen(
            command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out
        )
    try:
        yield Server(process, log)
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def free_port() -> int:
    """A port that nobody holds."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])
