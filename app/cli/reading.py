"""A trace or experiment that a verb was given; a model is answered with the verbs that take one."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path

import typer

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.messages import say
from fusescope.analysis.readers.experiment import Wanted
from fusescope.analysis.text import display_name
from fusescope.analysis.trace import Trace
from fusescope.app.cli import streams
from fusescope.app.library.reading import read_at
from fusescope.app.sources import nsys, places
from fusescope.app.store import keeping

_FIRST_FIELD = 0x08  # ir_version, a number, stands first in what exporters write
_NEXT_FIELDS = frozenset(b"\x12\x1a\x22\x28\x32\x3a\x42")  # producer, domain, version, graph, …
_MAX_VERSION = 64


def read_given(path: Path, wanted: Wanted | None = None) -> Trace | Experiment:
    """What is there, as analysis.readers.read_path; its errors, but for a model another. What is
    large is kept in the library, which is said; `library:NAME` is what is there."""
    try:
        found = read_at(path, wanted)
        if found.said is not None:
            streams.tell(str(found.said))
        return found.value
    except FuseScopeError as error:
        if error.code == nsys.REPORT and _may_export(path):
            return nsys.read_report(path, places.limits())
        if not is_model(path):
            raise
    shown = shlex.quote(str(path))
    raise FuseScopeError(
        "model_instead_of_recording",
        where=display_name(path.name),
        record=f"fusescope collect {shown}",
        explain=f"fusescope fuse {shown} --explain",
    )


def _may_export(path: Path) -> bool:
    """Whether whoever sits at the terminal lets `nsys`, where it is there, export this report."""
    program = nsys.program()
    if program is None or not path.is_file() or not sys.stdin.isatty():
        return False
    question = say(
        "{file:name} is a report of Nsight Systems. Export it with {program:name} and read that?",
        file=display_name(path.name),
        program=str(program),
    )
    try:
        return typer.confirm(question, default=False, err=True)
    except typer.Abort:
        return False


def reading_ahead(paths: Iterable[Path]) -> AbstractContextManager[None]:
    """While this lasts, large ones of these files are read at once, for `read_given`."""
    return keeping.reading_ahead(paths, places.limits())


def is_model(path: Path) -> bool:
    """Whether a file that no reader knows is named, or starts, as an ONNX model does."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            head = file.read(3)
    except OSError:
        return False
    starts_so = (
        len(head) == 3
        and head[0] == _FIRST_FIELD
        and 0 < head[1] < _MAX_VERSION
        and head[2] in _NEXT_FIELDS
    )
    return starts_so or (bool(head) and path.suffix.lower() == ".onnx")
