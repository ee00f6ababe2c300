"""pip in an engine's environment, with the user's own settings; its failures in one sentence."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import Said
from fusescope.collectors.environments.catalogue import Build, Engine
from fusescope.collectors.environments.pip_process import (
    AVAILABLE,
    FULL,
    NO_VERSION,
    PipProcess,
    network_reason,
    quoted,
)
from fusescope.collectors.errors.engine import clean


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
        code, text = self._process().run(["index", "versions", re.split(r"[\[=]", first)[0]])
        versions = AVAILABLE.search(text)
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
        code, text = self._process().run(["install", "--no-warn-script-location", *requirements])
        if code != 0:
            raise self._error(text, requirements[0])

    def _process(self) -> PipProcess:
        return PipProcess(self.python, self.folder, self.handles, self.on_step, self.on_tick)

    def _error(self, text: str, requirement: str) -> FuseScopeError:
        if FULL.search(text):
            return disk_full(self.engine, self.folder)
        if (reason := network_reason(text)) is not None:
            return FuseScopeError("runtime_no_network", engine=self.engine.name, said=clean(reason))
        if found := NO_VERSION.search(text):
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
