"""What an engine needs of the machine beside its packages."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import sysconfig
from pathlib import Path

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.environments.catalogue import OLDEST_PYTHON, Engine


def missing_need(engine: Engine) -> FuseScopeError | None:
    """The first thing that this machine lacks, as the error that says so."""
    version = sys.version_info[:2]
    if not OLDEST_PYTHON <= version <= engine.newest_python:
        return FuseScopeError(
            "runtime_python",
            where=sys.executable,
            engine=engine.name,
            engine_version=engine.version,
            python=_dotted(version),
            oldest=_dotted(OLDEST_PYTHON),
            newest=_dotted(engine.newest_python),
        )
    return missing_to_compile(engine, _headers())


def missing_to_compile(engine: Engine, headers: str) -> FuseScopeError | None:
    """Likewise of what compiling needs; `headers` is where those of its Python lie."""
    if "compiler" in engine.needs and not _has_compiler():
        return FuseScopeError(
            "runtime_compiler", where=os.environ.get("CXX") or None, engine=engine.name
        )
    if "headers" in engine.needs and not Path(headers, "Python.h").exists():
        return FuseScopeError("runtime_headers", where=headers, engine=engine.name)
    return None


def _has_compiler() -> bool:
    """What TorchInductor looks for: $CXX, else the platform's usual compiler."""
    usual = "clang++" if sys.platform == "darwin" else "g++"
    try:
        words = shlex.split(os.environ.get("CXX", "")) or [usual]
    except ValueError:
        return False
    return shutil.which(words[0]) is not None


def _headers() -> str:
    return sysconfig.get_path("include")


def _dotted(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"
