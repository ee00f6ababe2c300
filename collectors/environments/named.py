"""Environments of the user's, by names (`torch@nightly`): a small record of each in the cache, with
what was seen there. Nothing is installed into them, and removing one removes its record."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import Message, Said
from fusescope.analysis.spelling import nearest
from fusescope.analysis.text import shown
from fusescope.collectors.environments.catalogue import (
    OF_THE_NAME,
    OWN,
    Engine,
    engine_of,
    is_named,
    kind_of,
)
from fusescope.collectors.environments.looking import Seen, look, python_given
from fusescope.collectors.environments.needs import missing_to_compile
from fusescope.collectors.environments.state import root
from fusescope.collectors.files import folder as folders
from fusescope.collectors.files import publication, trust

_NAME = re.compile(r"\w[\w.+-]{0,39}", re.ASCII)
_ENDING = ".json"
_DAMAGED = Message("its record {path:name} is damaged")
_PYTHON_GONE = Message("its Python ({path:name}) cannot be run")
_ENGINE_GONE = Message("{engine:name} is no longer in it")
_ENGINE_CHANGED = Message("{engine:name} in it has changed since it was looked at")
_OTHER_PYTHON = Message(
    "FuseScope runs with Python {own:name} now, whose packages its Python {python:name} cannot load"
)


class Named(msgspec.Struct, frozen=True):
    """A record: what was seen when (ISO 8601, UTC). `module` is the engine's file, which had the
    stamp `module_stamp` then; `brought` are packages that its workers get from FuseScope's own
    installation."""

    engine: str
    name: str
    python: str
    python_version: str
    headers: str
    module: str
    module_stamp: str
    brought: tuple[str, ...]
    version: str
    build: str
    compiler: str
    devices: tuple[str, ...]
    looked: str

    @property
    def runtime(self) -> str:
        """What it is called: `torch@nightly`."""
        return f"{self.engine}{OF_THE_NAME}{self.name}"


@dataclass(frozen=True)
class Listed:
    """An environment by the name that it is called, with its record, None where that is damaged,
    and the error that says why it cannot be used."""

    runtime: str
    named: Named | None
    problem: FuseScopeError | None


def folder() -> Path:
    """Where the records lie. It may not exist yet."""
    return root() / "named"


def use(engine_name: str, python: str, name: str = "") -> tuple[Named, bool]:
    """Looks at that Python, keeps what was seen under the name, by default the engine's version
    without its local part, and returns it with whether it replaced another one of that name.
    Raises FuseScopeError where the engine does not work there, and then nothing is kept."""
    engine = _engine(engine_name)
    if name and _NAME.fullmatch(name) is None:
        raise FuseScopeError("runtime_name_impossible", name=shown(name, 60))
    seen = look(engine, python_given(python))
    usual = re.sub(r"[^\w.-]", "-", seen.version.partition("+")[0], flags=re.ASCII)[:40]
    made = _record(engine, seen, name or usual)
    path = _path(made.runtime)
    is_new = not path.exists()
    _write(path, made)
    return made, not is_new


def remove(runtime: str) -> None:
    """Removes the record, and nothing of the environment. Raises FuseScopeError where there is
    none."""
    path = _path(runtime)
    try:
        path.unlink()
    except FileNotFoundError:
        raise _unknown(runtime) from None
    except OSError as error:
        raise _unwritable(path.parent, error) from None


def listed(kind: str = "") -> tuple[Listed, ...]:
    """All that are kept, of that engine alone where one is named, in order of names. Starts
    nothing."""
    try:
        names = sorted(path.name.removesuffix(_ENDING) for path in folder().glob(f"*{_ENDING}"))
    except OSError:
        return ()
    found = []
    for runtime in names:
        if not is_named(runtime) or (kind and kind_of(runtime) != kind):
            continue
        try:
            found.append(Listed(runtime, _read(runtime), None))
        except FuseScopeError as error:
            found.append(Listed(runtime, None, error))
            continue
        try:
            ready(runtime)
        except FuseScopeError as error:
            found[-1] = Listed(runtime, found[-1].named, error)
    return tuple(found)


def ready(runtime: str) -> Named:
    """The record of one that can be used as it was seen. Raises FuseScopeError for one that there
    is not, that has changed or gone, or whose record others could have written."""
    made = _read(runtime)
    reason = _fault(made)
    if reason is not None:
        raise FuseScopeError(
            "runtime_named_broken",
            where=made.python,
            runtime=runtime,
            reason=reason,
            engine=made.engine,
            name=made.name,
            python=made.python,
        )
    missing = missing_to_compile(engine_of(runtime), made.headers)
    if missing is not None:
        raise missing
    return made


def _engine(name: str) -> Engine:
    if is_named(name):
        raise FuseScopeError("runtime_named_twice", given=shown(name, 80), engine=kind_of(name))
    return engine_of(f"{OWN}{OF_THE_NAME}" if name == OWN else name)


def _record(engine: Engine, seen: Seen, name: str) -> Named:
    return Named(
        engine=engine.name,
        name=name,
        python=str(seen.python),
        python_version=seen.python_version,
        headers=seen.headers,
        module=str(seen.module),
        module_stamp=_stamp(seen.module),
        brought=seen.brought,
        version=seen.version,
        build=seen.build,
        compiler=seen.compiler,
        devices=seen.devices,
        looked=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _stamp(module: Path) -> str:
    """What changes when another version is installed in its place; '' where it is gone."""
    try:
        status = module.stat()
    except OSError:
        return ""
    return f"{status.st_mtime_ns}-{status.st_size}-{status.st_ino}"


def _fault(made: Named) -> Said | None:
    if not os.access(made.python, os.X_OK):
        return _PYTHON_GONE.of(path=made.python)
    stamp = _stamp(Path(made.module))
    if not stamp:
        return _ENGINE_GONE.of(engine=made.engine)
    if stamp != made.module_stamp:
        return _ENGINE_CHANGED.of(engine=made.engine)
    own = ".".join(map(str, sys.version_info[:2]))
    if made.brought and made.python_version.split(".")[:2] != own.split("."):
        return _OTHER_PYTHON.of(own=own, python=made.python_version)
    return None


def _path(runtime: str) -> Path:
    """Where its record lies. Raises FuseScopeError for a name that none can have."""
    engine, _, name = runtime.partition(OF_THE_NAME)
    engine_of(f"{engine}{OF_THE_NAME}")
    if _NAME.fullmatch(name) is None:
        raise FuseScopeError("runtime_name_impossible", name=shown(name, 60))
    return folder() / f"{runtime}{_ENDING}"


def _read(runtime: str) -> Named:
    path = _path(runtime)
    if not path.is_file():
        raise _unknown(runtime)
    trust.check(path.parent)
    try:
        return msgspec.json.decode(path.read_bytes(), type=Named)
    except (OSError, msgspec.MsgspecError):
        engine, _, name = runtime.partition(OF_THE_NAME)
        raise FuseScopeError(
            "runtime_named_broken",
            runtime=runtime,
            reason=_DAMAGED.of(path=str(path)),
            engine=engine,
            name=name,
            python="PYTHON",
        ) from None


def _write(path: Path, made: Named) -> None:
    try:
        folders.make(path.parent)
        path.parent.chmod(0o700)
        publication.replace(path, msgspec.json.encode(made))
    except OSError as error:
        raise _unwritable(path.parent, error) from None


def _unwritable(place: Path, error: OSError) -> FuseScopeError:
    reason = (error.strerror or str(error)).lower()
    return FuseScopeError("runtime_folder_unwritable", where=str(place), reason=reason)


def _unknown(runtime: str) -> FuseScopeError:
    engine, _, name = runtime.partition(OF_THE_NAME)
    names = [path.name.removesuffix(_ENDING) for path in folder().glob(f"*{_ENDING}")]
    return FuseScopeError(
        "runtime_no_such_name",
        runtime=runtime[:80],
        engine=engine,
        name=name,
        nearest=nearest(runtime, names),
    )
