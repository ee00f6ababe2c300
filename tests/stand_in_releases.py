"""Stand-ins for releases of ONNX Runtime: wheels that import the installed engine with optimizers
off, in a folder that pip takes for its package index. Nothing of it needs a network."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

ANYWHERE = "py3-none-any"
ANOTHER_PYTHON = "cp27-cp27m-win32"
_PACKAGE = """
import importlib, os, sys
here = os.path.dirname(os.path.dirname(__file__))
mine = sys.modules.pop("onnxruntime")
sys.path.remove(here)
real = importlib.import_module("onnxruntime")
sys.path.insert(0, here)
real.__version__ = {version!r}

class InferenceSession(real.InferenceSession):
    def __init__(self, model, options=None, **given):
        if {refused!r}:
            raise RuntimeError("Unsupported model IR version: 10, max supported IR version: 9")
        off = [*(given.pop("disabled_optimizers", None) or ()), *{disabled!r}]
        super().__init__(model, options, disabled_optimizers=off or None, **given)

real.InferenceSession = InferenceSession
"""


def write_wheel(
    folder: Path,
    version: str,
    disabled: Sequence[str] = (),
    *,
    tag: str = ANYWHERE,
    refused: bool = False,
) -> Path:
    """A wheel of that version in which these optimizers are off, or that refuses every model."""
    folder.mkdir(exist_ok=True)
    path = folder / f"onnxruntime-{version}-{tag}.whl"
    about = f"onnxruntime-{version}.dist-info"
    body = _PACKAGE.format(version=version, disabled=tuple(disabled), refused=refused)
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("onnxruntime/__init__.py", body)
        wheel.writestr(
            f"{about}/METADATA",
            f"Metadata-Version: 2.1\nName: onnxruntime\nVersion: {version}\n",
        )
        wheel.writestr(
            f"{about}/WHEEL",
            f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: {tag}\n",
        )
        wheel.writestr(f"{about}/RECORD", "")
    return path


def use_as_index(monkeypatch: pytest.MonkeyPatch, folder: Path, cache: Path) -> None:
    """From here on pip knows what is in `folder` and nothing else, and the cache is empty."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
