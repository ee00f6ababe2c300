"""One recording at a time, whatever it does."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import Message
from fusescope.app.recording.recorder import Recorder, Status
from fusescope.collectors.progress import Progress
from fusescope.collectors.record import Recording
from tests.patience import GIVE_UP_S

JOB = Recording("mul_add")


def wait(recorder: Recorder) -> Status:
    deadline = time.monotonic() + GIVE_UP_S
    while recorder.status is None or recorder.status.running:
        assert time.monotonic() < deadline, "the recording never ended"
        time.sleep(0.01)
    return recorder.status


def test_a_recording_reports_and_ends_with_its_file() -> None:
    recorder = Recorder()

    def record(_: Recording, *, on_progress: Callable[[Progress], None], **__: Any) -> Path:
        on_progress(Progress("blocks", 3, 8, Message("Block 4 of 8")))
        return Path("done.zip")

    assert recorder.start(JOB, record)
    status = wait(recorder)
    assert status.path == Path("done.zip")
    assert status.progress is not None
    assert status.progress.done == 3
    recorder.forget()
    assert recorder.status is None


def test_there_is_one_at_a_time_and_it_can_be_cancelled() -> None:
    recorder = Recorder()
    started = threading.Event()

    def record(_: Recording, *, cancelled: Callable[[], bool], **__: Any) -> Path:
        started.set()
        while not cancelled():
            time.sleep(0.01)
        raise FuseScopeError("interrupted_too_early")

    assert recorder.start(JOB, record)
    started.wait(10)
    assert not recorder.start(JOB, record)
    recorder.forget()  # does nothing while it runs
    assert recorder.status is not None
    recorder.cancel()
    status = wait(recorder)
    assert status.error is not None
    assert status.error.code == "interrupted_too_early"
    assert recorder.start(JOB, lambda *_, **__: Path("next.zip"))
    assert wait(recorder).path == Path("next.zip")


def test_an_unforeseen_error_is_a_sentence_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def record(*_: Any, **__: Any) -> Path:
        raise ValueError("secret")

    recorder = Recorder()
    recorder.start(JOB, record)
    status = wait(recorder)
    assert status.error is not None
    assert "secret" not in status.error.text
    assert "secret" in caplog.text


def test_the_end_of_the_server_ends_the_recording() -> None:
    recorder = Recorder()
    ended = threading.Event()

    def record(_: Recording, *, cancelled: Callable[[], bool], **__: Any) -> Path:
        while not cancelled():
            time.sleep(0.01)
        ended.set()
        return Path("kept.zip")

    recorder.start(JOB, record)
    recorder.stop()
    assert ended.is_set()
