"""pip as a process, with the user's own settings: what it is asked, what it does, what it says."""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import signal
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fusescope.analysis.messages import Message, Said
from fusescope.collectors.errors.engine import clean

TICK_S = 0.5
# Settings of the user's that would put packages elsewhere, or hide what pip says.
_NOT_PASSED = (
    "PIP_DRY_RUN", "PIP_LOG", "PIP_PREFIX", "PIP_PYTHON", "PIP_QUIET", "PIP_ROOT", "PIP_TARGET",
)  # fmt: skip
_SET = {
    "PIP_USER": "0",
    "PIP_NO_INPUT": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_PROGRESS_BAR": "off",
    "PIP_NO_COLOR": "1",
    "PYTHONUTF8": "1",
}
_LINE_CHARS = 2000
AVAILABLE = re.compile(r"^Available versions: (.+)$", re.MULTILINE)
FULL = re.compile(r"No space left on device|Disk quota exceeded|\[Errno (?:28|122)\]")
_NO_NETWORK = re.compile(
    r"NewConnectionError|ConnectTimeoutError|ReadTimeoutError|NameResolutionError|ProxyError|"
    r"Max retries exceeded|Network is unreachable|Temporary failure in name resolution|"
    r"Connection (?:refused|broken|aborted|reset)|Read timed out|SSLError|IncompleteRead|"
    r"ProtocolError|RemoteDisconnected|incomplete-download"
)
_SYSTEM = re.compile(r"\[Errno -?\d+\] ([^'\")]+)")  # what the system says of a connection
NO_VERSION = re.compile(r"No matching distribution found for (\S+)")
_FETCH = re.compile(r"^Downloading (?:\S*/)?(\S+\.(?:whl|gz|zip)) \(([\d.]+ ?[kMG]?B)")
_CACHED = re.compile(r"^Using cached (?:\S*/)?(\S+\.(?:whl|gz|zip))(?!\.metadata)")
_INSTALL = re.compile(r"^Installing collected packages: (.+)$")

_FETCHING = Message("Fetching {file:name} ({size:name})")
_USING = Message("Using {file:name}, which was fetched before")
_INSTALLING = Message("Installing {n:count} package", "Installing {n:count} packages")


@dataclass(frozen=True)
class PipProcess:
    """pip of the Python `python`. While it runs, it holds the open files `handles` and keeps what
    is half done in a folder of its own in `folder`; `on_step` is told what it does, and `on_tick`
    is called every now and then. Of what it says the last `kept_lines` are kept."""

    python: Path
    folder: Path
    handles: tuple[int, ...]
    on_step: Callable[[Said], None]
    on_tick: Callable[[], None]
    kept_lines: int = 200

    def run(self, arguments: Sequence[str]) -> tuple[int, str]:
        """The exit status, and the last lines of what pip says. It has a session of its own: Ctrl-C
        reaches only us, who end it."""
        temporary = self.folder / "fusescope-temporary"  # wheels are unpacked there: /tmp is small
        temporary.mkdir(exist_ok=True)
        kept = {key: value for key, value in os.environ.items() if key not in _NOT_PASSED}
        child = subprocess.Popen(
            [self.python, "-I", "-m", "pip", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**kept, **_SET, "TMPDIR": str(temporary)},
            start_new_session=True,
            pass_fds=self.handles,
        )
        try:
            lines = self._read(child)
            return child.wait(), "\n".join(lines)
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            if child.stdout is not None:
                child.stdout.close()

    def _read(self, child: subprocess.Popen[bytes]) -> list[str]:
        assert child.stdout is not None
        lines: list[str] = []
        rest = b""
        with selectors.DefaultSelector() as selector:
            selector.register(child.stdout, selectors.EVENT_READ)
            while True:
                self.on_tick()
                if not selector.select(TICK_S):
                    continue
                part = os.read(child.stdout.fileno(), 1 << 16)
                *whole, rest = (rest + part).split(b"\n")
                if not part:
                    whole = [rest]
                for line in whole:
                    text = line[:_LINE_CHARS].decode(errors="replace").strip()
                    lines = [*lines[1 - self.kept_lines :], text]
                    if (step := step_of(text)) is not None:
                        self.on_step(step)
                if not part:
                    return lines


def step_of(line: str) -> Said | None:
    """What pip does now, by one of its lines; None for the lines that nobody waits for."""
    if found := _FETCH.match(line):
        return _FETCHING.of(file=clean(found[1], 60), size=clean(found[2], 12))
    if found := _CACHED.match(line):
        return _USING.of(file=clean(found[1], 60))
    if found := _INSTALL.match(line):
        return _INSTALLING.of(n=len(found[1].split(", ")))
    return None


def quoted(text: str) -> str:
    """The lines in which pip says what went wrong: the last error, else its last words."""
    lines = [line for line in text.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    if errors:
        return errors[-1]
    return (lines or ["no reason"])[-1]


def network_reason(text: str) -> str | None:
    """What the last failed connection says; None where none failed."""
    lines = [line for line in text.splitlines() if _NO_NETWORK.search(line)]
    if not lines:
        return None
    system = _SYSTEM.search(lines[-1])
    return system[1] if system else lines[-1].partition(":")[2].strip() or lines[-1]
