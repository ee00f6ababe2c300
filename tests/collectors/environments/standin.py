"""An engine that takes no time to install: a wheel of one module, made here."""

from __future__ import annotations

import shutil
import sys
import venv
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pip
import pytest

from fusescope.analysis.messages import Message
from fusescope.collectors.environments import state
from fusescope.collectors.environments.catalogue import Build, Engine
from fusescope.collectors.environments.pip import Pip

ENGINE = Engine(
    name="toy",
    what=Message("PyTorch with TorchInductor, its compiler"),
    version="1.5.0",
    module="toy_engine",
    builds=(Build("toy-engine==1.5.0+cpu", 10_000, 20_000_000),),
    shared=(),
)


def place_ready(engine: Engine = ENGINE, version: str = "1.5.0+cpu") -> Path:
    """The folder of an environment that looks as if the engine had been added."""
    folder = state.folder_of(engine)
    state.packages_in(folder).mkdir(parents=True)
    (state.packages_in(folder) / f"{engine.module}.py").write_text("")
    state.python_in(folder).parent.mkdir()
    state.python_in(folder).symlink_to(sys.executable)
    ready = state.Ready(engine.name, version, "toy", state.base_python(), 20_000_000)
    state.write_ready(folder, ready)
    return folder


def write_wheel(
    folder: Path, source: str = "__version__ = '1.5.0+cpu'\n", local: str = "+cpu"
) -> None:
    """The engine as a wheel: one module with this source."""
    folder.mkdir(exist_ok=True)
    info = f"toy_engine-1.5.0{local}.dist-info"
    about = f"Metadata-Version: 2.1\nName: toy-engine\nVersion: 1.5.0{local}\n"
    files = {
        "toy_engine.py": f"__version__ = '1.5.0{local}'\n",
        f"{info}/METADATA": about,
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{name},,\n" for name in (*files, f"{info}/RECORD"))
    with zipfile.ZipFile(folder / f"toy_engine-1.5.0{local}-py3-none-any.whl", "w") as wheel:
        for name, text in {**files, f"{info}/RECORD": record}.items():
            wheel.writestr(name, text)


def only_wheels_of(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pip finds what lies in this folder, whatever the settings of this machine."""
    folder.mkdir(exist_ok=True)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_CONSTRAINT"):
        monkeypatch.delenv(name, raising=False)


def make_with_our_pip(engine: Engine, folder: Path) -> None:
    """In place of an environment with a pip of its own, which takes seconds: it has ours."""
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, symlinks=True)
    (state.packages_in(folder) / "pip").symlink_to(Path(pip.__file__).parent)


def install_at_once(one: Pip, requirements: Sequence[str]) -> None:
    """In place of `Pip.install`."""
    (state.packages_in(one.folder) / f"{one.engine.module}.py").touch()
