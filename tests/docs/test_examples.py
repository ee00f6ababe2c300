"""What the pages tell to type can be typed, and what they show and say of it is what comes."""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from fusescope.analysis import units
from tests.command_line import app
from tests.docs.examples import (
    PAGES,
    ROOT,
    SKIPPED,
    Example,
    blocks,
    commands,
    examples,
    is_of_samples,
    output,
    sentences,
)

DOCS = ROOT / "docs"
_TAUGHT = ("tutorial.md", "cases.md", "faq.md", "zh/tutorial.md", "zh/cases.md", "zh/faq.md")
TAUGHT = [DOCS / name for name in _TAUGHT]
SHOWN = [example for page in PAGES for example in examples(page)]
# Of these `make test` runs the commands; of the others test-exhaustive does.
_FIRST_READ = ("README", "index", "tutorial")
TYPED = sorted({command for page in PAGES for command in commands(page)})
# Words of a sentence that stand for what is left out, not for what can be typed.
_LEFT_OUT = re.compile(r"…|\[options\]|\.\.\.")
_TARGETS = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
# A figure as pages write it: 2.15×, 10.6 ms, 23.9 %, 9.63 MB.
_FIGURE = re.compile(r"(?<![\w.])\d[\d.]*(?:×| (?:ns|µs|ms|s|%|pt|[kMG]B|GB/s)(?![\w/]))")
_HEAD = re.compile(r"(?<=\s)(?:ns|µs|ms|s)(?!\S)")
_CELL = re.compile(rf"\d[\d{units.APART}]*(?:\.\d+)?(?!\S)")

# What a page quotes of files that are not here.
_QUOTED = re.compile(r"^> .*$", re.MULTILINE)


def test_pages_show_commands() -> None:
    assert len(SHOWN) > 30 and len(TYPED) > 60


@cache
def _command_line() -> Any:
    return typer.main.get_command(app)


@pytest.mark.parametrize("command", TYPED)
def test_every_command_is_understood(command: str) -> None:
    """Its verb, its options and their values are; a sentence may leave out what a verb reads."""
    if command.startswith("make "):
        words = [word for word in shlex.split(command)[1:] if "=" not in word]
        assert [word for word in words if word not in _TARGETS] == []
        return
    verb = _command_line()
    words = shlex.split(_LEFT_OUT.sub("", command))[1:]
    while words and words[0] in getattr(verb, "commands", {}):
        verb = verb.commands[words.pop(0)]
    needs = [one for one in verb.params if one.param_type_name == "argument" and one.required]
    if needs and not [word for word in words if not word.startswith("-")]:
        words += ["FILE"] * len(needs)
    verb.make_context("fusescope", words)


def _of(page: Path, value: object, name: str) -> object:
    is_first = page.stem in _FIRST_READ and page.parent.name != "zh"
    return pytest.param(value, id=name, marks=() if is_first else pytest.mark.exhaustive)


@pytest.mark.parametrize(
    "page", [_of(page, page, page.relative_to(ROOT).as_posix()) for page in PAGES]
)
def test_commands_on_samples_end_well(page: Path) -> None:
    for command in filter(is_of_samples, commands(page)):
        if "report.html" not in command:
            assert output(command)


@pytest.mark.exhaustive  # seconds; tests/report and tests/cli write and open smaller ones
def test_reports_of_samples_are_written_and_opened() -> None:
    reports = [one for one in commands(DOCS / "index.md") if "report.html" in one]
    assert len(reports) == 2
    for command in reports:
        assert output(command)


@pytest.mark.parametrize(
    "example",
    [_of(e.page, e, f"{e.page.stem}-{e.command.removeprefix('fusescope ')}") for e in SHOWN],
)
def test_what_a_page_shows_is_what_is_printed(
    example: Example, request: pytest.FixtureRequest
) -> None:
    """With --update-golden, a line that is not printed becomes the one that is most like it."""
    printed = [line.rstrip() for line in output(example.command).splitlines()]
    if request.config.getoption("--update-golden"):
        update(example, printed)
        return
    at = 0
    for line in example.lines:
        if line == SKIPPED:
            continue
        assert line.rstrip() in printed[at:], f"make test ARGS=--update-golden; not there: {line}"
        at = printed.index(line.rstrip(), at) + 1


def update(example: Example, printed: list[str]) -> None:
    text = example.page.read_text(encoding="utf-8")
    for line in example.lines:
        if line != SKIPPED and line.rstrip() not in printed:
            like = difflib.get_close_matches(line, printed, n=1, cutoff=0.5)
            text = text.replace(f"\n{line}\n", f"\n{like[0] if like else line}\n")
    example.page.write_text(text, encoding="utf-8")


def _times_of_columns(printed: str) -> Iterator[str]:
    """The times below heads with their unit, as sentences write them: below µs, −5 661.1 is
    5.66 ms."""
    columns: dict[int, float] = {}  # the unit of times by where they end
    scales = {unit: scale for scale, unit in units.TIMES}
    for line in printed.splitlines():
        if heads := [m for m in _HEAD.finditer(line) if not re.search(r"\d", line)]:
            columns = {head.end(): scales[head[0]] for head in heads}
        elif not line.strip():
            columns = {}
        for cell in _CELL.finditer(line):
            if cell.end() in columns:
                number = float(cell[0].replace(units.APART, ""))
                yield units.duration(number * columns[cell.end()])


def test_times_of_columns_have_the_unit_of_their_head() -> None:
    shown = (
        "operators     µs    ms  share\n"
        "Conv 2     1\u202f450  −6.2  4.0 %\n"
        "\n"
        "Conv 2     1\u202f450\n"
    )  # fmt: skip
    assert list(_times_of_columns(shown)) == ["1.45 ms", "6.20 ms"]


@pytest.mark.parametrize(
    "page", [_of(page, page, page.relative_to(DOCS).as_posix()) for page in TAUGHT]
)
def test_figures_of_sentences_are_those_that_are_printed(page: Path) -> None:
    printed = " ".join(" ".join(output(one.command) for one in examples(page)).split())
    known = set(_FIGURE.findall(printed))
    known |= {time for one in examples(page) for time in _times_of_columns(output(one.command))}
    text = sentences(page.read_text(encoding="utf-8"))
    said = _FIGURE.findall(_QUOTED.sub("", text))
    assert len(known) > 20 and (said or page.stem != "tutorial")
    assert [figure for figure in said if figure not in known] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_python_is_python(page: Path) -> None:
    for block in blocks(page.read_text(encoding="utf-8"), "python"):
        compile(block, page.name, "exec")
