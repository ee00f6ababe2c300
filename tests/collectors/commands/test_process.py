"""One run of a command: what it leaves, and what ends it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.commands import process
from fusescope.collectors.workers.worker import Cancelled
from tests.patience import GIVE_UP_S


def run(
    tmp_path: Path, script: str, seconds: float = 60.0, cancelled: bool = False
) -> process.CommandRun:
    return process.run(
        ("/bin/sh", "-c", script), dict(os.environ), tmp_path, seconds, lambda: cancelled
    )


def is_gone(pid: int) -> bool:
    """Whether a process ended; one that nobody has waited for yet has."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state in ("Z", "X")


def ends(pid: int) -> bool:
    until = time.monotonic() + GIVE_UP_S
    while not is_gone(pid) and time.monotonic() < until:
        time.sleep(0.01)
    return is_gone(pid)


def test_a_run_that_ends(tmp_path: Path) -> None:
    ran = run(tmp_path, "echo out; echo err >&2; exit 3")
    assert (ran.code, ran.output, ran.errors) == (3, "out\n", "err\n")
    assert ran.wall_ns > 0 and ran.cpu_ns >= 0


def test_processor_time_is_that_of_all_its_processes(tmp_path: Path) -> None:
    busy = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"
    ran = run(tmp_path, f"sh -c '{busy}' & sh -c '{busy}' & wait")
    one = run(tmp_path, busy)
    assert ran.cpu_ns > one.cpu_ns > 0


def test_what_it_leaves_running_is_ended(tmp_path: Path) -> None:
    ran = run(tmp_path, "sleep 600 & echo $!")
    assert ran.code == 0
    assert ends(int(ran.output))


def test_a_run_that_takes_too_long_is_ended_with_its_children(tmp_path: Path) -> None:
    note = tmp_path / "pids"
    with pytest.raises(FuseScopeError) as caught:
        run(tmp_path, f"sleep 600 & echo $! $$ > {note}; wait", seconds=1.0)
    assert caught.value.code == "command_too_slow"
    assert all(ends(int(pid)) for pid in note.read_text().split())


def test_a_cancelled_run_is_ended(tmp_path: Path) -> None:
    with pytest.raises(Cancelled):
        run(tmp_path, "sleep 600", cancelled=True)


@pytest.mark.parametrize(
    ("program", "code"),
    [("no-such-program", "command_not_found"), ("/", "command_not_started")],
)
def test_what_cannot_be_started(tmp_path: Path, program: str, code: str) -> None:
    with pytest.raises(FuseScopeError) as caught:
        process.run((program,), dict(os.environ), tmp_path, 60.0, lambda: False)
    assert caught.value.code == code
