"""Kernels as machine code: source files in the user's cache, compiled by numba once.

numba keeps the machine code beside them, so a process that needs a kernel again only loads it.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.files import cache, trust
from fusescope.collectors.files import folder as folders_of_files
from fusescope.collectors.kernels import missing_compiler
from fusescope.collectors.models.array import Array

Function = Callable[..., None]

ENTRY = "kernel"  # the function in every source file
_MACHINE_CODE = "machine_code"


def store(source: str, folders: tuple[Path, ...]) -> tuple[Path, Path]:
    """Puts a kernel's source into the first of the folders that we, and no others, can write.

    Returns its path and the folder for its machine code. The name is made of the content, so equal
    sources are one file.
    """
    digest = hashlib.sha256(source.encode()).hexdigest()[:24]
    for folder in folders:
        path = folder / f"kernel_{digest}.py"
        machine_code = folder / _MACHINE_CODE
        try:
            folders_of_files.make(machine_code)
            if trust.foreign(folder) is not None:
                continue
            is_there = path.is_file() and path.read_bytes() == source.encode()
            if not is_there and not cache.write_atomic(path, source.encode()):
                continue
        except OSError:
            continue
        if os.access(machine_code, os.W_OK | os.X_OK):
            return path, machine_code
    raise FuseScopeError("no_folder_for_kernels")


def load(source: str, machine_code: str, threads: int) -> Function:
    """The kernel of that source file, compiled, for calls on this many threads.

    Raises FuseScopeError where numba cannot be imported.
    """
    numba = prepare(machine_code, threads)
    numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
    return _entry(source)


@functools.cache  # the sessions of a process share the machine code
def _entry(source: str) -> Function:
    path = Path(source)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FuseScopeError("compiled_kernel_gone")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # numba looks a parallel loop's module up by name
    spec.loader.exec_module(module)
    function: Function = getattr(module, ENTRY)
    return function


def prepare(machine_code: str, threads: int) -> Any:
    """numba, imported with our settings; what it is set to counts for the whole process.

    Its workqueue layer has threads that sleep when they have nothing to do: ones that spin would
    take the cores from the other variants of a block.
    """
    if "numba" not in sys.modules:  # afterwards it refuses another number
        os.environ["NUMBA_NUM_THREADS"] = str(threads)
    os.environ["NUMBA_THREADING_LAYER"] = "workqueue"
    os.environ["NUMBA_CACHE_DIR"] = machine_code
    try:
        import numba
    except ImportError:
        raise missing_compiler() from None
    settings: Any = numba.config
    settings.THREADING_LAYER = "workqueue"  # it may have been imported before
    settings.CACHE_DIR = machine_code
    return numba


def version() -> str:
    """The version of numba, which must be loaded."""
    import numba

    return str(numba.__version__)


def constants(file: str) -> list[Array]:
    """The constant operands of a call, flat; none without a file."""
    if not file:
        return []
    with np.load(file, allow_pickle=False) as archive:
        return [archive[f"arr_{index}"].reshape(-1) for index in range(len(archive.files))]
