"""A worker in the Python of an engine's own environment: what it finds there, and how much memory
its processes take.

No limit on address space holds for it: compilers run as processes of their own, and map far more
than they use. The recorder watches the resident memory of all of its processes instead.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import fusescope
from fusescope.collectors.workers import visible

CODE = "code"
BROUGHT = "brought"
_WORKER = "fusescope.collectors.workers.worker"
# Behind everything that the environment has itself: PYTHONPATH would put it in front.
_WITH_BROUGHT = (
    f"import sys; sys.path.append(sys.argv[2]); import {_WORKER} as it; it.main(sys.argv[1])"
)
COMPILER_SETTINGS = ("CC", "CXX", "SDKROOT", "DEVELOPER_DIR")
_CACHES = {
    "TORCHINDUCTOR_CACHE_DIR": "inductor",
    "TRITON_HOME": "triton",
    "TRITON_CACHE_DIR": "triton/cache",
    "TORCH_HOME": "torch",
    "TORCH_EXTENSIONS_DIR": "torch/extensions",
    "PYTORCH_KERNEL_CACHE_PATH": "torch/kernels",
    "XDG_CONFIG_HOME": "config",
    "XDG_DATA_HOME": "data",
    "XDG_STATE_HOME": "state",
}
# No worker looks for an accelerator of JAX's, which for TPUs asks the network. Threads of OpenMP
# that wait do not spin, as none of ONNX Runtime's do: beside other work they take the cores.
_SETTINGS = {
    "JAX_PLATFORMS": "cpu",
    "TPU_SKIP_MDS_QUERY": "1",
    "OMP_WAIT_POLICY": "PASSIVE",
}


def lay_out(directory: Path, brought: Sequence[str] = ()) -> None:
    """Puts FuseScope's own code, and of the packages beside it only those that are `brought`, where
    the worker finds them: where FuseScope is installed, lie packages of another environment."""
    code = directory / CODE
    code.mkdir()
    (code / "fusescope").symlink_to(Path(fusescope.__file__).resolve().parent)
    if brought:
        place = directory / BROUGHT
        place.mkdir()
        for name in brought:
            _link(place, name)


def program(directory: Path, task: str, brought: Sequence[str] = ()) -> list[str]:
    """What a Python of another environment is told to run."""
    if not brought:
        return ["-m", _WORKER, task]
    return ["-c", _WITH_BROUGHT, task, str(directory / BROUGHT)]


def _link(place: Path, name: str) -> None:
    """The package of FuseScope's own installation, or the one that it lies in. Libraries that lie
    beside it are found where it really is."""
    spec = importlib.util.find_spec(name)
    if spec is None:
        return
    folders = list(spec.submodule_search_locations or ())
    real = Path(folders[0] if folders else spec.origin or "")
    for _ in range(name.count(".")):
        real = real.parent
    link = place / real.name
    if not link.is_symlink():
        link.symlink_to(real.resolve())


def environment(directory: str, devices: Mapping[str, str] | None = None) -> dict[str, str]:
    """Beside what every worker gets: where the code is, caches that go with the worker, and the
    variables by which it sees `devices`; None hides every device."""
    kept = {name: os.environ[name] for name in COMPILER_SETTINGS if name in os.environ}
    caches = {name: os.path.join(directory, place) for name, place in _CACHES.items()}
    shown = visible.HIDDEN if devices is None else devices
    return {**kept, **caches, **_SETTINGS, **shown, "PYTHONPATH": os.path.join(directory, CODE)}


def resident_bytes(leader: int, limit_bytes: int) -> int:
    """Resident memory of all processes of the session that `leader` leads. Pages that several of
    them share count once where the system says so, which is asked only beyond the limit: to ask
    holds up the process."""
    import psutil

    total, shared_once = 0, 0
    processes = []
    for pid in _session(leader, psutil.pids()):
        with contextlib.suppress(psutil.Error):  # it may have ended by now
            process = psutil.Process(pid)
            total += process.memory_info().rss
            processes.append(process)
    if total <= limit_bytes:
        return total
    for process in processes:
        with contextlib.suppress(psutil.Error):
            full = process.memory_full_info()
            shared_once += getattr(full, "pss", full.rss)
    return shared_once


def _session(leader: int, pids: list[int]) -> Iterator[int]:
    for pid in pids:
        with contextlib.suppress(OSError):
            if os.getsid(pid) == leader:
                yield pid
