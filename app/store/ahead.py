"""Reading ahead: of several large files all but the first are read by processes of their own, which
keep them in the store, where they are found when it is their turn.

Nothing depends on that. What such a process did not keep, because it was ended, or the disk is
full, is read as if there had been none.
"""

from __future__ import annotations

import dataclasses
import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

import fusescope
from fusescope.analysis.limits import MIB, Limits

# To start a process, and to load what reading needs, takes as long as to read some 50 MB.
MIN_BYTES = 64 * MIB
MIN_PACKED_BYTES = 8 * MIB
KEPT, LEFT = b"kept\n", b"left\n"  # what a process says of each file, in turn
_MOST_PROCESSES = 3  # beside this one: each takes the memory that reading takes
_ROOT = Path(fusescope.__file__).resolve().parents[1]

_LOCK = Lock()
_pending: dict[str, _Process] = {}  # by what a file is asked for as
_in_vain: set[str] = set()  # what could not be kept


class _Process:
    """A process that reads some files one after the other."""

    def __init__(self, files: Mapping[str, Path], limits: Limits, *, above: bool) -> None:
        self._ways = list(files)
        self._told: dict[str, bool] = {}
        self._lock = Lock()
        settings = json.dumps({"limits": dataclasses.asdict(limits), "above": above})
        search = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"))))
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "fusescope.app.store.worker", settings]
            + [str(path.absolute()) for path in files.values()],
            stdin=subprocess.PIPE,  # closed when this process ends, which ends that one
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": search},
        )

    def is_kept(self, way: str) -> bool:
        """Waits until this file was read; whether it was kept."""
        with self._lock:
            stdout = self._process.stdout
            while way not in self._told and self._ways and stdout is not None:
                said = stdout.readline()
                if said not in (KEPT, LEFT):  # it has ended
                    self._ways.clear()
                    break
                self._told[self._ways.pop(0)] = said == KEPT
            return self._told.get(way, False)

    def end(self) -> None:
        """Ends the process, whatever it does."""
        self._process.kill()
        with self._lock:
            self._process.communicate()


@contextmanager
def reading(files: Mapping[str, Path], limits: Limits, *, above: bool) -> Iterator[None]:
    """While this lasts, processes read these files, by what they are asked for as; but for the
    first, and those of every turn of this process."""
    processes: dict[_Process, list[str]] = {}
    count = min(_cores(), len(files), 1 + _MOST_PROCESSES)
    with _LOCK:
        new = [way for way in files if way not in _pending and way not in _in_vain]
        for turn in range(1, count if len(new) > 1 else 1):
            theirs = new[turn::count]
            try:
                process = _Process({way: files[way] for way in theirs}, limits, above=above)
            except OSError:  # too many, or no memory: everything is read here
                break
            processes[process] = theirs
            _pending.update(dict.fromkeys(theirs, process))
    try:
        yield
    finally:
        for process, ways in processes.items():
            with _LOCK:
                for way in ways:
                    _pending.pop(way, None)
            process.end()


def is_kept(way: str) -> bool:
    """Whether a process has read this file and kept it; waits for one that does."""
    with _LOCK:
        process = _pending.get(way)
    if process is None:
        return False
    kept = process.is_kept(way)
    with _LOCK:
        _pending.pop(way, None)
        if not kept:
            _in_vain.add(way)
    return kept


def _cores() -> int:
    """Processes that can work at once; 1 where memory is limited for each."""
    if resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
