"""A worker in an engine's own environment: what it imports, what it finds, and what ends it."""

from __future__ import annotations

import os
import sys
import venv
from importlib.util import find_spec
from pathlib import Path

import psutil
import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.environments import catalogue, state
from fusescope.collectors.workers import foreign, worker
from fusescope.collectors.workers.jobs import EngineJob, EngineVersion
from tests.patience import GIVE_UP_S

# Third-party packages that a worker of another engine may import beside that engine.
SHARED = ("msgspec", "numpy")


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that has the packages in SHARED and the engine that a test
    writes, and nothing else."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    packages = state.packages_in(folder)
    for name in SHARED:
        spec = find_spec(name)
        assert spec is not None and spec.origin is not None
        place = Path(spec.origin).parent
        for part in (place, place.with_name(f"{name}.libs")):
            if part.exists():
                (packages / part.name).symlink_to(part)
    return state.python_in(folder)


def engine(python: Path, source: str) -> EngineJob:
    packages = state.packages_in(python.parents[1])
    (packages / "fake_engine.py").write_text(source)
    return EngineJob("fake_engine", SHARED)


def run(python: Path, job: EngineJob, memory_bytes: int | None = None) -> str:
    limits = worker.Limits(memory_bytes, GIVE_UP_S)
    answer = worker.run(
        "engine", job, EngineVersion, limits=limits, where="m", cancelled=lambda: False,
        python=python,
    )  # fmt: skip
    return answer.version


def test_a_task_comes_back_from_another_environment(python: Path) -> None:
    assert run(python, engine(python, "__version__ = '1.2+cpu'")) == "1.2+cpu"


def test_the_tools_own_python_is_no_other_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_start_foreign", None)
    job = EngineJob("onnxruntime", SHARED)
    assert run(Path(sys.executable), job) == sys.modules["onnxruntime"].__version__


def test_it_imports_what_an_environment_has_and_nothing_else(python: Path) -> None:
    """What a worker imports of ours needs no more than what is installed beside the engine."""
    source = (
        "import sys\nfrom fusescope.collectors.workers import clock, jobs, memory\n"
        "names = {name.partition('.')[0] for name, module in sys.modules.items() if module}\n"
        "names -= {*sys.stdlib_module_names}\n"
        "__version__ = ' '.join(name for name in names if not name.startswith('_'))\n"
    )
    found = set(run(python, engine(python, source)).split())
    ours = {"fusescope", "fake_engine", "sitecustomize"}  # the last is Debian's
    assert found - ours == set(SHARED)
    for one in catalogue.ENGINES.values():
        assert set(SHARED) <= set(one.shared)
        assert {"pandas", "streamlit"} & set(one.shared) == set()


def test_caches_go_with_the_worker_and_nothing_is_asked_of_the_network(
    python: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", "/other/packages")
    monkeypatch.setenv("CXX", "my-compiler")
    monkeypatch.setenv("SECRET_TOKEN", "x")
    names = ("PYTHONPATH", "TORCHINDUCTOR_CACHE_DIR", "CXX", "SECRET_TOKEN", "JAX_PLATFORMS")
    source = f"import os; __version__ = '|'.join(str(os.environ.get(n)) for n in {names})"
    found = dict(zip(names, run(python, engine(python, source)).split("|"), strict=True))
    scratch = os.path.dirname(found["PYTHONPATH"])
    assert "fusescope-worker-" in scratch and not os.path.exists(scratch)
    assert found["PYTHONPATH"] == f"{scratch}/code"
    assert found["TORCHINDUCTOR_CACHE_DIR"] == f"{scratch}/inductor"
    assert (found["CXX"], found["SECRET_TOKEN"]) == ("my-compiler", "None")
    assert found["JAX_PLATFORMS"] == "cpu"


def test_resident_memory_of_all_its_processes_is_limited(python: Path) -> None:
    """A compiler that the engine starts takes the memory, not the worker."""
    source = (
        "import subprocess, sys, time\n"
        "hog = 'import time; kept = bytearray(200_000_000); time.sleep(1000)'\n"
        "subprocess.run([sys.executable, '-c', hog])\n"
    )
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    with pytest.raises(FuseScopeError) as caught:
        run(python, engine(python, source), memory_bytes=150_000_000)
    assert caught.value.code == "engine_over_limit"
    assert caught.value.text == (
        "The model needs more memory than the limit of 150 MB (m). Use a smaller batch or input, "
        "or raise the limit with --memory-limit."
    )
    assert {process.pid for process in psutil.Process().children(recursive=True)} <= before


def test_no_limit_on_address_space_holds(python: Path) -> None:
    """8 GiB that are mapped and never touched, with a limit of 1 GB."""
    source = (
        "import mmap; mapped = mmap.mmap(-1, 1 << 33, flags=mmap.MAP_PRIVATE | "
        "getattr(mmap, 'MAP_NORESERVE', 0)); __version__ = len(mapped)"
    )
    assert run(python, engine(python, source), memory_bytes=10**9) == str(1 << 33)


def test_pages_that_processes_share_count_once(monkeypatch: pytest.MonkeyPatch) -> None:
    class Process:
        def __init__(self, pid: int) -> None:
            self.pid = pid

        def memory_info(self) -> Process:
            self.rss = 60
            return self

        def memory_full_info(self) -> Process:
            self.pss = 35
            return self

    monkeypatch.setattr(psutil, "pids", lambda: [1, 2, 3])
    monkeypatch.setattr(psutil, "Process", Process)
    monkeypatch.setattr(os, "getsid", lambda pid: 7 if pid < 3 else 3)
    assert foreign.resident_bytes(7, limit_bytes=200) == 120
    assert foreign.resident_bytes(7, limit_bytes=100) == 70


def test_a_process_that_ends_while_memory_is_counted_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What was listed a moment ago has ended: there is no such process any more."""
    mine = os.getsid(0)
    monkeypatch.setattr(psutil, "pids", lambda: [os.getpid(), 2**22 - 1])
    monkeypatch.setattr(os, "getsid", lambda pid: mine)
    counted = foreign.resident_bytes(mine, limit_bytes=1 << 50)
    assert 0 < counted < 1 << 40


def test_a_package_that_is_not_there_is_said(python: Path) -> None:
    with pytest.raises(FuseScopeError) as caught:
        run(python, engine(python, "import not_there.inside"))
    assert caught.value.text == (
        "The package 'not_there' cannot be imported in the engine's environment (m). Run: "
        "fusescope runtimes. It says how to add an engine again."
    )


def test_a_python_that_is_gone_is_said(tmp_path: Path) -> None:
    with pytest.raises(FuseScopeError, match="The Python of the engine's environment cannot be"):
        run(tmp_path / "bin" / "python", EngineJob("fake_engine", SHARED))


def test_a_worker_whose_children_outlive_it_is_not_waited_for(python: Path) -> None:
    """It is killed; what it started still holds the pipe that its answer would come by."""
    source = (
        "import os, signal, time\n"
        "if os.fork() == 0:\n"
        "    time.sleep(3600)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    with pytest.raises(FuseScopeError) as raised:
        run(python, engine(python, source))
    assert raised.value.code != "too_slow" and "SIGKILL" in raised.value.text


def test_what_fails_on_a_full_disk_is_the_disk(
    python: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker.scratch, "is_full", lambda folder: True)
    with pytest.raises(FuseScopeError) as raised:
        run(python, engine(python, "raise RuntimeError('Write mem to file failed')"))
    assert raised.value.code == worker.scratch.refused(OSError(28, "full")).code
