"""Whoever ends a verb politely, or holds Ctrl-C, loses nothing that is there and leaves nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import onnx
import pytest

from benchmarks.fleet_job import Job, write
from tests.patience import GIVE_UP_S
from tests.pattern_cases import gelu

ROOT = Path(__file__).resolve().parents[2]
_SAVING = """
import time
from fusescope.app.cli import interruption
interruption.heed()
try:
    print("ready", flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    time.sleep(0.05)  # what there is is written
    print("saved", flush=True)
interruption.finish()
"""


def test_a_key_that_is_held_interrupts_once() -> None:
    saving = subprocess.Popen(
        [sys.executable, "-c", _SAVING], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert saving.stdout is not None and saving.stdout.readline() == "ready\n"
    while saving.poll() is None:  # also while Python ends, which takes a moment
        saving.send_signal(signal.SIGINT)
        time.sleep(0.005)
    told, _ = saving.communicate(timeout=GIVE_UP_S)
    assert (told, saving.returncode) == ("saved\n", 0)


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A temporary folder whose path is short enough for sockets."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.mark.parametrize("polite", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("verb", ["fuse", "ingest"])
def test_who_is_ended_politely_leaves_nothing(
    tmp_path: Path, short_folder: Path, verb: str, polite: signal.Signals
) -> None:
    """Copies of the model and sockets of processes lie in the temporary folder meanwhile."""
    temporary = short_folder
    if verb == "fuse":
        onnx.save(gelu(), str(tmp_path / "model.onnx"))
        arguments = ["fuse", str(tmp_path / "model.onnx")]
    else:
        write(Job(nodes=4, devices=4, steps=6, layers=6), tmp_path / "job")
        arguments = ["ingest", str(tmp_path / "job"), "--to", str(tmp_path / "st")]
        arguments += ["--processes", "2"]
    ended = subprocess.Popen(
        [sys.executable, "-m", "fusescope.app.cli.main", *arguments],
        cwd=ROOT, env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + GIVE_UP_S
    while not list(temporary.iterdir()) and ended.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    ended.send_signal(polite)
    _, said = ended.communicate(timeout=GIVE_UP_S)
    assert ended.returncode == 130, said
    assert "Traceback" not in said
    while left := list(temporary.iterdir()):
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


def printed(code: str, **environment: str) -> str:
    """Return what a Python process of this code prints."""
    ended = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT, env={**os.environ, **environment},
        capture_output=True, text=True, check=True, timeout=GIVE_UP_S,
    )  # fmt: skip
    return ended.stdout


def test_ending_waits_for_no_lock() -> None:
    """A signal comes wherever the main thread is, as where `tempfile` tries its first folder."""
    code = (
        "import tempfile\n"
        "from fusescope.app.fleet.ingesting import abandon\n"
        "with tempfile._once_lock:\n"
        "    abandon()\n"
        "print('ended')\n"
    )
    assert printed(code) == "ended\n"


def test_a_signal_that_is_put_off_takes_effect_at_the_end() -> None:
    code = (
        "import signal\n"
        "from fusescope.app.cli import interruption\n"
        "interruption.heed()\n"
        "try:\n"
        "    with interruption.put_off():\n"
        "        signal.raise_signal(signal.SIGHUP)\n"
        "        print('made')\n"
        "    print('not interrupted')\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    assert printed(code) == "made\ninterrupted\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_what_finds_the_temporary_folder_is_not_left_there(
    short_folder: Path, number: signal.Signals
) -> None:
    """Python makes a file to find the folder; here a signal comes right after that."""
    code = (
        "import os, signal, tempfile\n"
        "from fusescope.app.cli import interruption\n"
        "opened = os.open\n"
        "def opened_and_interrupted(*arguments, **named):\n"
        "    handle = opened(*arguments, **named)\n"
        f"    signal.raise_signal({int(number)})\n"
        "    return handle\n"
        "os.open = opened_and_interrupted\n"
        "try:\n"
        "    interruption.heed()\n"
        "    tempfile.gettempdir()\n"
        "except KeyboardInterrupt:\n"
        f"    print('interrupted', os.listdir({str(short_folder)!r}))\n"
    )
    assert printed(code, TMPDIR=str(short_folder)) == "interrupted []\n"


@pytest.mark.parametrize(("error", "is_said"), [("KeyboardInterrupt", False), ("OSError", True)])
def test_an_interruption_before_the_verb_begins_shows_no_trace(error: str, is_said: bool) -> None:
    code = f"import fusescope.app.cli\nraise {error}"
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode
    assert bool(ended.stderr) is is_said
