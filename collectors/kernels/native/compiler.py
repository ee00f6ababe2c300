"""The machine's C compiler: whether there is one, and a library out of sources."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from fusescope.analysis.errors import FuseScopeError

NAMES = ("cc", "gcc", "clang")
SECONDS = 240  # a library of some hundred kernels takes a tenth of that
# Products may be added without rounding, as numba does it. NaN and infinities stay what they are.
_FLAGS = (
    "-std=gnu11", "-O3", "-w", "-fPIC", "-shared", "-fopenmp-simd", "-fvisibility=hidden",
    "-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math",
)  # fmt: skip
_OF_THIS_PROCESSOR = ("-march=native", "-mcpu=native", "")  # not every compiler knows each


def path() -> str | None:
    """Where the compiler is, None where there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def found() -> str:
    """As `path`. Raises FuseScopeError where there is none."""
    compiler = path()
    if compiler is None:
        raise FuseScopeError("c_compiler_missing")
    return compiler


def version(compiler: str) -> str:
    """The first line of what it says of itself."""
    said = subprocess.run(
        [compiler, "--version"], capture_output=True, text=True, timeout=60, check=False
    )
    return said.stdout.strip().partition("\n")[0][:120] or Path(compiler).name


def build(files: Mapping[str, str], source: str, folder: Path, compiler: str) -> Path:
    """Writes the files into a new folder and compiles `source`, which includes the others, for this
    processor. Raises FuseScopeError where the compiler does not make a library of it."""
    folder.mkdir(mode=0o700)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    library = folder / "kernels.so"  # the engine takes any name
    for processor in _OF_THIS_PROCESSOR:
        flags = [*_FLAGS, *filter(None, [processor])]
        try:
            ended = subprocess.run(
                [compiler, *flags, "-o", library.name, source, "-lm"],
                cwd=folder,
                capture_output=True,
                timeout=SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            break
        if ended.returncode == 0 and library.is_file():
            return library
    raise FuseScopeError("c_compiler_failed", compiler=Path(compiler).name)
