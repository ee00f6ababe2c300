"""An engine's environment comes, and goes: made anew, filled by pip, tried, and only then ready."""

from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import Message, Said
from fusescope.collectors.environments import state
from fusescope.collectors.environments.catalogue import Build, Engine
from fusescope.collectors.environments.needs import missing_need
from fusescope.collectors.environments.pip import Pip, disk_full
from fusescope.collectors.files import folder as folders
from fusescope.collectors.files import ownership, scratch, trust
from fusescope.collectors.workers import worker
from fusescope.collectors.workers.jobs import EngineJob, EngineVersion

# A step, and the bytes that are on the disk so far.
OnProgress = Callable[[Said, int], None]

CHECK_SECONDS = 600.0
_LOOK_S = 1.0
_MAKING = Message("Making an environment")
_ASKING = Message("Asking pip for the engine")
_TRYING = Message("Trying whether the engine can be imported")
_OTHER_VERSION = Message("it calls itself version {version:name}")


@dataclass(frozen=True)
class Addition:
    """An engine that can be added now: `build` is what pip found, and `install` adds it."""

    engine: Engine
    build: Build
    folder: Path
    pip: Pip

    @property
    def needed_bytes(self) -> int:
        return needed_bytes(self.build)

    def install(self) -> state.State:
        """Installs the engine, tries it, and returns it ready. Raises FuseScopeError."""
        beside = self.engine.beside
        named = {one.partition("==")[0] for one in beside}
        shared = [_pinned(name) for name in self.engine.shared if name not in named]
        self.pip.install([self.build.requirement, *beside, *shared])
        self.pip.on_step(_TRYING.of())
        version = try_import(self.engine)
        ownership.remove(self.folder / "fusescope-temporary")
        ready = state.Ready(
            engine=self.engine.name,
            version=version,
            requirement=self.build.requirement,
            base_python=state.base_python(),
            disk_bytes=disk_bytes(self.folder),
        )
        state.write_ready(self.folder, ready)
        return state.state_of(self.engine)


def needed_bytes(build: Build) -> int:
    """Free space that adding takes: the engine, and each file that is fetched twice, as pip keeps
    one copy in its cache and unpacks another."""
    return build.disk_bytes + 2 * build.download_bytes


def hindrance(engine: Engine) -> FuseScopeError | None:
    """Why an engine cannot be added on this machine, as far as can be seen without the network."""
    missing = missing_need(engine)
    if missing is not None:
        return missing
    if importlib.util.find_spec("ensurepip") is None or importlib.util.find_spec("venv") is None:
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"
        return FuseScopeError(
            "runtime_venv_missing", where=sys.executable, package=f"python{version}-venv"
        )
    return little_disk(engine, min(engine.builds, key=needed_bytes))


def little_disk(engine: Engine, build: Build) -> FuseScopeError | None:
    """Whether the disk has too little room for this build."""
    place = state.root()
    while not place.exists() and place != place.parent:
        place = place.parent
    free = shutil.disk_usage(place).free
    if free >= needed_bytes(build):
        return None
    return FuseScopeError(
        "runtime_little_disk",
        where=str(state.root()),
        engine=engine.name,
        needed=needed_bytes(build),
        free=free,
    )


@contextlib.contextmanager
def adding(engine: Engine, on_progress: OnProgress) -> Iterator[Addition | state.State]:
    """The engine's state where it is ready and works, else what can be added: of the disk only
    little is taken by then. Unless `install` has finished, nothing is left in the end.

    Raises FuseScopeError where the engine cannot be added, and while another process adds it.
    """
    folder = state.folder_of(engine)
    with _lock(folder, engine) as handle:
        trust.check(folder)
        found = state.state_of(engine)
        if found.kind == "ready" and _works(engine, on_progress):
            yield found
            return
        if (reason := hindrance(engine)) is not None:
            raise reason
        step = _Step(folder, on_progress)
        try:
            step.tell(_MAKING.of())
            _make(engine, folder)
            python = state.python_in(folder)
            pip = Pip(engine, folder, python, (handle,), step.tell, step.tick)
            step.tell(_ASKING.of())
            build = pip.available()
            if (reason := little_disk(engine, build)) is not None:
                raise reason
            yield Addition(engine, build, folder, pip)
        except OSError as error:
            if error.errno in scratch.FULL:
                raise disk_full(engine, folder) from None
            raise
        finally:
            if not (folder / state.READY).exists():
                ownership.remove(folder)


def remove(engine: Engine) -> int:
    """Removes every environment of the engine, of other versions and other Pythons as well; returns
    the bytes that they took, 0 where there was none. Raises FuseScopeError while another process
    adds one, or where something cannot be removed."""
    taken = 0
    for folder in sorted(state.root().glob(f"{engine.name}-*-py*")):
        with _lock(folder, engine):
            taken += disk_bytes(folder)
            (folder / state.READY).unlink(missing_ok=True)  # what is half removed is not ready
            ownership.remove(folder)
            if folder.exists():
                raise FuseScopeError("runtime_not_removed", where=str(folder), engine=engine.name)
    return taken


def try_import(engine: Engine) -> str:
    """What the engine calls itself, imported by a worker in its environment."""
    try:
        answer = worker.run(
            "engine",
            EngineJob(engine.module, engine.shared),
            EngineVersion,
            limits=worker.Limits(None, CHECK_SECONDS),
            where=engine.name,
            cancelled=lambda: False,
            python=state.python_in(state.folder_of(engine)),
        )
    except FuseScopeError as error:
        raise FuseScopeError(
            "runtime_import_failed", engine=engine.name, reason=error.said
        ) from None
    version = answer.version.partition("-")[0]  # behind it OpenVINO has the number of its build
    if version.partition("+")[0] != engine.version:
        other = _OTHER_VERSION.of(version=answer.version)
        raise FuseScopeError("runtime_import_failed", engine=engine.name, reason=other)
    return version


def disk_bytes(folder: Path) -> int:
    """What a folder takes on the disk."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_blocks * 512
    return total


class _Step:
    """Tells what is being done, again with every look at how much is there by now."""

    def __init__(self, folder: Path, on_progress: OnProgress) -> None:
        self._folder = folder
        self._on_progress = on_progress
        self._said: Said = _MAKING.of()
        self._looked_s = 0.0

    def tell(self, said: Said) -> None:
        self._said = said
        self._looked_s = 0.0
        self.tick()

    def tick(self) -> None:
        if time.monotonic() - self._looked_s >= _LOOK_S:
            self._on_progress(self._said, disk_bytes(self._folder))
            self._looked_s = time.monotonic()


def _works(engine: Engine, on_progress: OnProgress) -> bool:
    on_progress(_TRYING.of(), 0)
    try:
        try_import(engine)
    except FuseScopeError:
        return False
    return True


def _pinned(name: str) -> str:
    """The package in the version that FuseScope itself runs with."""
    try:
        return f"{name}=={metadata.version(name)}"
    except metadata.PackageNotFoundError:
        return name


def _make(engine: Engine, folder: Path) -> None:
    """An empty environment in `folder`, which loses what it held."""
    import venv

    ownership.remove(folder)
    try:
        venv.create(folder, clear=True, symlinks=True, with_pip=True)
    except subprocess.CalledProcessError as error:
        raise FuseScopeError(
            "runtime_venv_failed", where=str(folder), reason=f"status {error.returncode}"
        ) from None
    except OSError as error:
        if error.errno in scratch.FULL:
            raise
        raise _unwritable(folder, error) from None


@contextlib.contextmanager
def _lock(folder: Path, engine: Engine) -> Iterator[int]:
    """Keeps other processes from an environment, as long as anybody has the handle."""
    place = folder.with_name(f".{folder.name}.lock")
    try:
        folders.make(place.parent)
        place.parent.chmod(0o700)
        handle = os.open(place, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise _unwritable(place.parent, error) from None
    try:
        with contextlib.suppress(OSError):  # a file system without locks
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise FuseScopeError("runtime_busy", engine=engine.name) from None
        yield handle
    finally:
        os.close(handle)


def _unwritable(folder: Path, error: OSError) -> FuseScopeError:
    return FuseScopeError(
        "runtime_folder_unwritable",
        where=str(folder),
        reason=(error.strerror or str(error)).lower(),
    )
