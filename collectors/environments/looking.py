"""A Python of the user's is looked at by starting it: what it is, and what its engine says."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import Message
from fusescope.analysis.text import shown
from fusescope.collectors import ENGINE_TELEMETRY_OFF
from fusescope.collectors.environments import first_look
from fusescope.collectors.environments.catalogue import OLDEST_PYTHON, Engine
from fusescope.collectors.errors.engine import clean
from fusescope.collectors.files import scratch
from fusescope.collectors.workers import worker
from fusescope.collectors.workers.jobs import EngineJob, EngineVersion

LOOK_SECONDS = 300.0
_NO_ANSWER = Message("it gave no answer in {seconds:number} s")
_NO_WORD = Message("it ended without a word (status {status:number})")
_VERSION = re.compile(r"(\d+)\.(\d+)")
_Answer = TypeVar("_Answer")


class _There(msgspec.Struct, frozen=True):
    """What first_look.py says of a Python; `module` is where the engine lies."""

    python: str
    version: str
    abi: str
    platform: str
    headers: str
    module: str | None
    lacks: tuple[str, ...]


class _Told(msgspec.Struct, frozen=True):
    """What it says of an engine."""

    version: str
    build: str
    compiler: str
    devices: tuple[str, ...]


@dataclass(frozen=True)
class Seen:
    """What was seen of an engine in a Python of the user's. `brought` are packages that its workers
    lack there and get from FuseScope's own installation, `module` is the file of the engine."""

    python: Path
    python_version: str
    headers: str
    module: Path
    brought: tuple[str, ...]
    version: str
    build: str
    compiler: str
    devices: tuple[str, ...]


def python_given(given: str) -> Path:
    """Return the Python that a user named: a path, a folder of an environment, or a command that
    PATH finds. Raises FuseScopeError for what is none, and for a command with arguments."""
    path = Path(given).expanduser()
    if path.is_dir() and (path / "bin" / "python").exists():
        path = path / "bin" / "python"
    if path.is_file():
        if not os.access(path, os.X_OK):
            raise FuseScopeError("runtime_no_python", python=shown(given, 120))
        return path.absolute()
    if len(given.split()) > 1:
        raise FuseScopeError("runtime_is_command", command=shown(given, 120))
    found = shutil.which(given)
    if found is None:
        raise FuseScopeError("runtime_no_python", python=shown(given, 120))
    return Path(found).absolute()


def look(engine: Engine, python: Path) -> Seen:
    """Return what is seen there, after a worker has imported the engine. Raises FuseScopeError
    where workers of the engine cannot run there."""
    there = _asked(python, [engine.module, *engine.shared], _There)
    version = _VERSION.match(there.version)
    if version is None or tuple(map(int, version.groups())) < OLDEST_PYTHON:
        raise FuseScopeError(
            "runtime_old_python",
            where=str(python),
            python=clean(there.version, 40),
            oldest=".".join(map(str, OLDEST_PYTHON)),
        )
    if there.module is None:
        raise FuseScopeError(
            "runtime_engine_not_there",
            where=str(python),
            engine=engine.name,
            module=engine.module,
        )
    if there.lacks and not _is_ours(there):
        raise FuseScopeError(
            "runtime_other_python",
            where=str(python),
            python=clean(there.version, 40),
            own=".".join(map(str, sys.version_info[:2])),
            packages=", ".join(there.lacks),
            requirements=" ".join(_PACKAGES.get(name, name) for name in there.lacks),
        )
    python = Path(there.python)  # not a script that leads to another one elsewhere
    told = _asked(python, [f"+{engine.module}"], _Told)
    _try_worker(engine, python, there.lacks)
    return Seen(
        python=python,
        python_version=clean(there.version, 40),
        headers=there.headers,
        module=Path(there.module),
        brought=there.lacks,
        version=clean(told.version, 60).partition("-")[0],  # OpenVINO's has the number of its build
        build=clean(told.build, 80),
        compiler=clean(told.compiler, 80),
        devices=tuple(clean(one, 80) for one in told.devices[:64]),
    )


_PACKAGES = {"google.protobuf": "protobuf", "ml_dtypes": "ml-dtypes"}


def _is_ours(there: _There) -> bool:
    """Whether that Python loads what was compiled for the one that runs FuseScope."""
    ours = sysconfig.get_config_var("SOABI"), sysconfig.get_platform()
    return (there.abi, there.platform) == ours


def _try_worker(engine: Engine, python: Path, brought: tuple[str, ...]) -> None:
    worker.run(
        "engine",
        EngineJob(engine.module, engine.shared),
        EngineVersion,
        limits=worker.Limits(None, LOOK_SECONDS),
        where=str(python),
        cancelled=lambda: False,
        python=python,
        brought=brought,
    )


def _asked(python: Path, words: list[str], answer: type[_Answer]) -> _Answer:
    """What that Python answers, in an empty folder. Raises FuseScopeError with its last words."""
    text = Path(first_look.__file__).read_text(encoding="utf-8")
    with scratch.folder(scratch.WORKER) as folder:
        try:
            child = subprocess.Popen(
                [python, "-c", text, *words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env=_environment(folder),
                start_new_session=True,
            )
        except OSError as error:
            raise _not_run(python, clean(error.strerror or str(error))) from None
        try:
            said, _ = child.communicate(timeout=LOOK_SECONDS)
        except subprocess.TimeoutExpired:
            raise _not_run(python, str(_NO_ANSWER.of(seconds=LOOK_SECONDS))) from None
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    lines = [line for line in said.decode(errors="replace").splitlines() if line.strip()]
    try:
        return msgspec.json.decode(lines[-1] if lines else "", type=answer)
    except msgspec.MsgspecError:
        last = lines[-1] if lines else str(_NO_WORD.of(status=child.returncode))
        raise _not_run(python, clean(last)) from None


def _environment(folder: Path) -> dict[str, str]:
    """As the user has it, less what is meant for another Python; what it writes goes."""
    kept = {name: one for name, one in os.environ.items() if not name.startswith("PYTHON")}
    settings = {"PYTHONUTF8": "1", "TMPDIR": str(folder), "XDG_CACHE_HOME": str(folder)}
    return {**kept, **settings, "TPU_SKIP_MDS_QUERY": "1", **ENGINE_TELEMETRY_OFF}


def _not_run(python: Path, reason: str) -> FuseScopeError:
    return FuseScopeError("runtime_python_fails", where=str(python), reason=reason)
