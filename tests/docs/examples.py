"""Commands that the pages tell to type, what the pages show of their output, and running them."""

from __future__ import annotations

import atexit
import contextlib
import functools
import re
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from typer.testing import CliRunner

from tests.command_line import app

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md", ROOT / "README.zh.md"]
SKIPPED = "…"  # a line that stands for lines that are not shown
_BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`((?:fusescope|make) [^`\n]+)`")


@dataclass(frozen=True)
class Example:
    """A command that a page shows behind `$`, and lines of its output, in order."""

    page: Path
    command: str
    lines: tuple[str, ...]


def blocks(text: str, language: str = "") -> list[str]:
    """The code blocks of a page in this language, '' for those that name none."""
    return [m["text"] for m in _BLOCK.finditer(text) if m["language"] == language]


def sentences(text: str) -> str:
    """A page without its code blocks."""
    return _BLOCK.sub("", text)


def examples(page: Path) -> Iterator[Example]:
    """Each command that a page shows with its output."""
    for block in blocks(page.read_text(encoding="utf-8")):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *lines = part.splitlines()
            yield Example(page, command, tuple(lines))


def commands(page: Path) -> list[str]:
    """Every command of FuseScope or make in the blocks and sentences of a page."""
    text = page.read_text(encoding="utf-8")
    lines = (line for block in blocks(text) for line in block.replace("\\\n", " ").splitlines())
    typed = [
        part.strip()
        for line in lines
        for part in re.split(r"&&|; | \| ", re.sub(r"\s#.*", "", line).removeprefix("$ "))
    ]
    found = [one for one in typed if re.match(r"(fusescope|make) ", one)]
    return [*found, *_INLINE.findall(sentences(text))]


def is_of_samples(command: str) -> bool:
    """Whether a command reads samples, or a report of one, and nothing else: it is cheap to run."""
    verb, *words = shlex.split(command)[1:]
    reads = [word for word in words if not word.startswith("-")]
    is_here = bool(reads) and reads[0].startswith(("sample_traces/", "report.html"))
    return verb in ("inspect", "compare", "advise") and is_here


@functools.cache
def output(command: str) -> str:
    """What a command prints on a terminal of 80 columns; it must end well."""
    with contextlib.chdir(_folder()):
        result = CliRunner().invoke(app, shlex.split(command)[1:], env={"COLUMNS": "80"})
    assert result.exit_code == 0, f"{command}: {result.output}{result.exception}"
    return str(result.stdout)


@functools.cache
def _folder() -> Path:
    """One folder for all commands, with the samples; some write what others read."""
    folder = Path(tempfile.mkdtemp(prefix="fusescope-docs-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "sample_traces").symlink_to(ROOT / "sample_traces")
    return folder
