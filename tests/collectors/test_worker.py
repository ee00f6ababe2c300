"""A worker is confined, and however it ends the recorder goes on."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Peaks
from fusescope.analysis.messages import Message
from fusescope.collectors import tasks
from fusescope.collectors.environments.catalogue import ENGINES
from fusescope.collectors.errors import engine
from fusescope.collectors.progress import Progress, encode
from fusescope.collectors.record import record
from fusescope.collectors.workers import worker
from fusescope.collectors.workers.jobs import PeaksJob
from tests.collectors.short_recordings import short
from tests.patience import GIVE_UP_S

ROOT = Path(__file__).resolve().parents[2]
START = worker._start


@pytest.fixture(autouse=True)
def started_as_for_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_start", START)


@pytest.fixture
def new_children() -> Callable[[], set[psutil.Process]]:
    """`new_children()`: processes that this test started and that are still there."""
    before = set(psutil.Process().children())  # such as the dashboard of the browser tests
    return lambda: set(psutil.Process().children()) - before


def test_a_crash_is_one_sentence(tmp_path: Path) -> None:
    """A worker that dies of a segmentation fault while a block runs."""

    def crash(step: Progress) -> None:
        if step.stage == "blocks":
            threading.Thread(target=segfault_worker).start()

    def segfault_worker() -> None:
        deadline = time.monotonic() + GIVE_UP_S
        while time.monotonic() < deadline:
            for child in psutil.Process().children():
                with contextlib.suppress(psutil.Error):
                    if "fusescope.collectors.workers.worker" in child.cmdline():
                        child.send_signal(signal.SIGSEGV)
                        return
            time.sleep(0.01)

    with pytest.raises(FuseScopeError, match=r"ended by signal SIGSEGV \(mul_add\)"):
        record(short("mul_add", tmp_path, rounds=10_000), on_progress=crash)
    assert list(tmp_path.iterdir()) == []


def test_a_worker_has_an_empty_folder_and_a_small_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "x")
    monkeypatch.setenv("PYTHONPATH", f"{os.pathsep}relative{os.pathsep}/absolute")
    environment = worker._environment("/empty")
    assert "SECRET_TOKEN" not in environment
    assert environment["TMPDIR"] == "/empty"
    root = str(Path(worker.__file__).resolve().parents[2])
    assert environment["PYTHONPATH"].split(os.pathsep) == [root, "/absolute"]


def test_no_task_loads_what_only_analysis_needs() -> None:
    """Each block has a process of its own: what it imports is paid again and again."""
    others = tuple(f"{engine}_" for engine in ENGINES)  # run where there is no such package
    found = sorted(path.stem for path in Path(tasks.__file__).parent.glob("[!_]*.py"))
    names = [name for name in found if not name.startswith(others)]
    assert "block" in names
    modules = ", ".join(f"fusescope.collectors.tasks.{name}" for name in names)
    code = f"import sys, {modules}; print(sorted({{'pandas', 'pyarrow'}} & {{*sys.modules}}))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_an_answer_comes_back_and_nothing_is_left(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    new_children: Callable[[], set[psutil.Process]],
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    peaks = worker.run(
        "peaks",
        PeaksJob(threads=1, spin=False),
        Peaks,
        limits=worker.Limits(None, 60),
        where="peaks",
        cancelled=lambda: False,
    )
    assert peaks.gemm_flops_per_s > 0
    assert peaks.gemm_n in (256, 384, 512)
    assert list(tmp_path.iterdir()) == []
    assert new_children() == set()


def test_a_cancelled_worker_is_ended(new_children: Callable[[], set[psutil.Process]]) -> None:
    with pytest.raises(worker.Cancelled):
        worker.run(
            "peaks",
            PeaksJob(threads=1, spin=False),
            Peaks,
            limits=worker.Limits(None, 60),
            where="peaks",
            cancelled=lambda: True,
        )
    assert new_children() == set()


@pytest.mark.parametrize(
    ("code", "last_words", "expected"),
    [
        (-11, "", "ended by signal SIGSEGV"),
        (-9, "", "ended from outside (SIGKILL). If the system did that because memory ran out"),
        (-6, "terminate called after throwing an instance of 'std::bad_alloc'", "more memory"),
        (-250, "", "ended by signal 250"),
        (1, "", "ended with status 1"),
        (
            -6,
            "terminate called after throwing an instance of 'x'\n  what():  bad \x1b[31mgraph\n",
            "ended by signal SIGABRT: bad [31mgraph.",
        ),
    ],
)
def test_how_a_process_ended(code: int, last_words: str, expected: str) -> None:
    assert expected in engine.crash(code, last_words, 2 * 10**9).text


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("[ONNXRuntimeError] : 7 : INVALID_PROTOBUF : Protobuf parsing failed.", "cut short"),
        (
            "[ONNXRuntimeError] : 9 : FAIL : Could not find an implementation for Conv(11)",
            "no CPU kernel for Conv of opset 11",
        ),
        (
            "[ONNXRuntimeError] : 1 : FAIL : /build/core/graph.cc:12 Verify\x1b[0m\nnot true",
            "refused the model: Verify [0m not true",
        ),
        ("", "refused the model: RuntimeError"),
        (  # what the macro of the engine puts in front of its reason
            "[ONNXRuntimeError] : 1 : FAIL : Load model from m.onnx "  # noqa: ISC004
            "/build/graph/model.cc:181 onnxruntime::Model::Model(onnx::ModelProto&&, const "
            "onnxruntime::PathString&, const std::function<void(int)>&) Unsupported model "
            "kind: 99",
            "Load model from m.onnx Unsupported model kind: 99",
        ),
        (
            "[ONNXRuntimeError] : 1 : FAIL : Unsupported model IR version: 99, max supported IR "  # noqa: ISC004
            "version: 13",
            "format (IR version 99) is too new for this ONNX Runtime, which knows those up to 13",
        ),
        (
            "only *guarantees* support for models stamped with official released onnx opset "  # noqa: ISC004
            "versions. Opset 23 is under development and support for this is limited. Current "
            "official support for domain ai.onnx is till opset 21.\n",
            "needs operator set 23, and this ONNX Runtime knows those up to 21",
        ),
        (  # a long name in front of the reason, and words that have no end
            f"Load model failed:Node ({'n' * 5000}) Op (Add) [ShapeInferenceError] Incompatible",
            "nn…nn",
        ),
        (f"{'name ' * 4000}Incompatible dimensions", "name name"),
        (f"Node ({'n' * 5000}) Op (Add) [ShapeInferenceError] Incompatible", "] Incompatible"),
        ("onnxruntime::" * 2000 + "(" * 2000, "onnxruntime::"),
    ],
)
def test_what_an_engine_says_becomes_one_sentence(said: str, expected: str) -> None:
    text = engine.sentence(RuntimeError(said), None).text
    assert expected in text
    assert text.isprintable()
    assert len(text) < 600


@pytest.mark.parametrize("folder", ["/tmp", "/Users/Jo Doe/tmp"])
def test_what_an_engine_says_names_no_private_folder(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", f"{folder}/fusescope-worker-a1b2")
    said = f"Load model from {folder}/fusescope-recording-x_9/eager/00007.onnx failed:bad node"
    expected = "Load model from eager/00007.onnx failed:bad node"
    assert engine.clean(said) == expected
    told = engine.sentence(RuntimeError(f"[ONNXRuntimeError] : 1 : FAIL : {said}"), None)
    assert told.text.startswith(f"The engine refused the model: {expected}")
    quoted = f"cannot open '{folder}/fusescope-worker-a1b2/p.json' (and /usr/lib/x.so)"
    assert engine.clean(quoted) == "cannot open 'p.json' (and /usr/lib/x.so)"


def test_a_missing_package_says_how_to_install_it() -> None:
    error = ModuleNotFoundError("No module named 'onnxruntime'", name="onnxruntime")
    assert "pip install 'fusescope[collect]'" in engine.sentence(error, None).text


def test_progress_survives_a_line() -> None:
    said = Message("Trying {variant:name} alone").of(variant='a "b"\nc')
    line = encode(Progress("check", 1, 8, said, 3.5))
    assert "\n" not in line
    assert json.loads(line) == {
        "stage": "check",
        "done": 1,
        "total": 8,
        "message": 'Trying a "b"\nc alone',
        "seconds_left": 3.5,
        "path": "",
    }


def test_a_full_disk_is_not_blamed_on_the_model(tmp_path: Path) -> None:
    """A limit on the size of files stands for a disk: the inputs of mul_add take 4 MB."""
    code = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))\n"
        "from fusescope.app.cli.main import main; main()"
    )
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", code, "collect", "mul_add", "--out", str(tmp_path / "x.zip")],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    last = done.stderr.splitlines()[-1]
    assert last == (
        f"fusescope: The temporary folder cannot be written to: file too large ({temporary}). "
        "Free some space there, or set TMPDIR in the environment to another folder."
    )
    assert list(temporary.iterdir()) == []
    assert [path.name for path in tmp_path.iterdir()] == ["temporary"]


@pytest.mark.parametrize("error", [RuntimeError("Protobuf serialization failed."), ValueError()])
def test_what_an_engine_says_on_a_full_disk_is_about_the_disk(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/t/fusescope-worker-1")
    monkeypatch.setattr("fusescope.collectors.files.scratch.is_full", lambda path: True)
    told = engine.sentence(error, None)
    assert told.text.startswith(
        "The temporary folder cannot be written to: no space left on device (/t). "
    )
