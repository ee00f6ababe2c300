"""pip in an engine's environment, with the user's own settings; its failures in one sentence."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import selectors
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.errors import FuseScopeError
from analysis.messages import Message, Said
from collectors.environments.catalogue import Build, Engine
from collectors.errors.engine import clean

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
_KEPT_LINES = 200
_LINE_CHARS = 2000
_AVAILABLE = re.compile(r"^Available versions: (.+)$", re.MULTILINE)
_FULL = re.compile(r"No space left on device|Disk quota exceeded|\[Errno (?:28|122)\]")
_NO_NETWORK = re.compile(
    r"NewConnectionError|ConnectTimeoutError|ReadTimeoutError|NameResolutionError|ProxyError|"
    r"Max retries exceeded|Network is unreachable|Temporary failure in name resolution|"
    r"Connection (?:refused|broken|aborted|reset)|Read timed out|SSLError|IncompleteRead|"
    r"ProtocolError|RemoteDisconnected|incomplete-download"
)
_SYSTEM = re.compile(r"\[Errno -?\d+\] ([^'\")]+)")  # what the system says of a connection
_NO_VERSION = re.compile(r"No matching distribution found for (\S+)")
_FETCH = re.compile(r"^Downloading (?:\S*/)?(\S+\.(?:whl|gz|zip)) \(([\d.]+ ?[kMG]?B)")
_CACHED = re.compile(r"^Using cached (?:\S*/)?(\S+\.(?:whl|gz|zip))(?!\.metadata)")
_INSTALL = re.compile(r"^Installing collected packages: (.+)$")

_FETCHING = Message("Fetching {file:name} ({size:name})")
_USING = Message("Using {file:name}, which was fetched before")
_INSTALLING = Message("Installing {n:count} package", "Installing {n:count} packages")


@dataclass(frozen=True)
class Pip:
    """pip of the environment in `folder`, for `engine`. While it runs, it holds the open files
    `handles`; `on_step` is told what it does, and `on_tick` is called every now and then."""

    engine: Engine
    folder: Path
    python: Path
    handles: tuple[int, ...]
    on_step: Callable[[Said], None]
    on_tick: Callable[[], None]

    def available(self) -> Build:
        """The first build of the engine that pip finds. Raises FuseScopeError where there is none,
        or no index."""
        first = self.engine.builds[0].requirement
        code, text = self._run(["index", "versions", re.split(r"[\[=]", first)[0]])
        versions = _AVAILABLE.search(text)
        if versions is None:
            if code == 0:  # another pip than we know: let it try
                return self.engine.builds[-1]
            raise self._error(text, first)
        listed = set(versions[1].split(", "))
        for build in self.engine.builds:
            if build.requirement.partition("==")[2] in listed:
                return build
        raise self._no_version(first)

    def install(self, requirements: Sequence[str]) -> None:
        """Raises FuseScopeError."""
        code, text = self._run(["install", "--no-warn-script-location", *requirements])
        if code != 0:
            raise self._error(text, requirements[0])

    def _run(self, arguments: Sequence[str]) -> tuple[int, str]:
        """The exit status, and the last lines of what pip says. It has a session of its own: Ctrl-C
        reaches only us, who end it."""
        temporary = self.folder / "fusescope-temporary"  # wheels are unpacked there: /tmp is small
        temporary.mkdir(exist_ok=True)
        settings = {key: value for key, value in os.environ.items() if key not in _NOT_PASSED}
        child = subprocess.Popen(
            [self.python, "-I", "-m", "pip", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**settings, **_SET, "TMPDIR": str(temporary)},
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
                    lines = [*lines[1 - _KEPT_LINES :], text]
                    if (step := step_of(text)) is not None:
                        self.on_step(step)
                if not part:
                    return lines

    def _error(self, text: str, requirement: str) -> FuseScopeError:
        if _FULL.search(text):
            return disk_full(self.engine, self.folder)
        if (reason := network_reason(text)) is not None:
            return FuseScopeError("runtime_no_network", engine=self.engine.name, said=clean(reason))
        if found := _NO_VERSION.search(text):
            return self._no_version(clean(found[1], 80))
        said = clean(quoted(text))
        return FuseScopeError("runtime_pip_failed", engine=self.engine.name, said=said)

    def _no_version(self, requirement: str) -> FuseScopeError:
        python = f"{sys.version_info[0]}.{sys.version_info[1]}"
        return FuseScopeError(
            "runtime_no_version",
            engine=self.engine.name,
            requirement=requirement,
            python=python,
        )


def disk_full(engine: Engine, folder: Path) -> FuseScopeError:
    """Of a disk that was full before everything was there."""
    return FuseScopeError(
        "runtime_disk_full",
        where=str(folder.parent),
        engine=engine.name,
        reason=os.strerror(errno.ENOSPC).lower(),
    )


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
