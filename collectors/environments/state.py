"""What is there of an engine's environment, and where its Python is."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import Message, Said
from fusescope.collectors.environments.catalogue import OWN, Engine, engine_of
from fusescope.collectors.environments.needs import missing_need
from fusescope.collectors.files import cache, publication, trust

Kind = Literal["absent", "unfinished", "ready", "broken"]

READY = "fusescope-ready.json"
_PYTHON_GONE = Message("its Python ({path:name}) cannot be run")
_PYTHON_OTHER = Message("it was made with another Python ({path:name})")
_PACKAGE_GONE = Message("the package {name:name} is not in it")
_RECORD_DAMAGED = Message("the file {name:name} in it is damaged")


class Ready(msgspec.Struct, frozen=True):
    """What READY holds, which is written last: the engine's own version, the requirement that was
    installed, the Python that the environment was made with, the size of all files."""

    engine: str
    version: str
    requirement: str
    base_python: str
    disk_bytes: int


@dataclass(frozen=True)
class State:
    """What is there of an engine. `reason` is a clause that says why it is broken; `version` and
    `disk_bytes` are those of one that is ready."""

    kind: Kind
    folder: Path
    reason: Said | None = None
    version: str | None = None
    disk_bytes: int | None = None


def root() -> Path:
    """Where the environments of all engines lie. It may not exist yet."""
    return cache.folder() / "engines"


def folder_of(engine: Engine) -> Path:
    """The environment of this engine and version, for the Python that runs FuseScope."""
    return root() / f"{engine.name}-{engine.version}-py{sys.version_info[0]}.{sys.version_info[1]}"


def python_in(folder: Path) -> Path:
    """The Python of an environment."""
    return folder / "bin" / "python"


def packages_in(folder: Path) -> Path:
    """Where an environment's packages lie."""
    major, minor = sys.version_info[:2]
    return folder / "lib" / f"python{major}.{minor}" / "site-packages"


def base_python() -> str:
    """The Python that environments are made with: that of FuseScope's own environment."""
    return os.path.realpath(sys.executable)


def state_of(engine: Engine) -> State:
    """What is there. Starts nothing: whether the engine can be imported was seen when it was added,
    here only whether its parts are still in their places."""
    folder = folder_of(engine)
    if not folder.is_dir():
        return State("absent", folder)
    try:
        ready = msgspec.json.decode((folder / READY).read_bytes(), type=Ready)
    except OSError:
        return State("unfinished", folder)
    except msgspec.MsgspecError:
        return State("broken", folder, _RECORD_DAMAGED.of(name=READY))
    reason = _fault(engine, folder, ready)
    if reason is not None:
        return State("broken", folder, reason)
    return State("ready", folder, version=ready.version, disk_bytes=ready.disk_bytes)


def write_ready(folder: Path, ready: Ready) -> None:
    """From here on the environment counts as ready. Raises OSError."""
    publication.replace(folder / READY, msgspec.json.encode(ready))


def _fault(engine: Engine, folder: Path, ready: Ready) -> Said | None:
    python = python_in(folder)
    if not os.access(python, os.X_OK):  # its base was removed, or upgraded to another version
        return _PYTHON_GONE.of(path=os.path.realpath(python))
    if ready.base_python != base_python():
        return _PYTHON_OTHER.of(path=ready.base_python)
    packages = packages_in(folder)
    for name in (engine.module, *engine.shared):
        if not any((packages / place).exists() for place in (name, f"{name}.py")):
            return _PACKAGE_GONE.of(name=name)
    return None


def python_of(name: str) -> Path:
    """The Python that runs an engine's workers. Raises FuseScopeError where there is none, with the
    command that makes it."""
    if name == OWN:
        return Path(sys.executable)
    engine = engine_of(name)
    state = state_of(engine)
    where = str(state.folder)
    if state.kind == "absent":
        raise FuseScopeError("runtime_absent", engine=name)
    if state.kind == "unfinished":
        raise FuseScopeError("runtime_unfinished", where=where, engine=name)
    if state.reason is not None:
        raise FuseScopeError("runtime_broken", where=where, engine=name, reason=state.reason)
    missing = missing_need(engine)
    if missing is not None:
        raise missing
    trust.check(state.folder)
    return python_in(state.folder)
