"""`fusescope compare --baseline a/*.json --candidate b/*.json`: several files a side."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand

from fusescope.analysis.errors import FuseScopeError

if TYPE_CHECKING:
    from fusescope.analysis.compare.side import Side
    from fusescope.analysis.experiment import Experiment
    from fusescope.analysis.trace import Trace

OPTIONS = ("--baseline", "--candidate")


class SidesCommand(TyperCommand):
    """A verb whose options for the sides take as many files as a shell makes of `a/*.json`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        takes = {
            name
            for param in self.params
            if not getattr(param, "is_flag", False)
            for name in param.opts
            if name.startswith("-")
        }
        return super().parse_args(ctx, list(spread(args, takes)))


def spread(words: Sequence[str], takes: Container[str]) -> Iterator[str]:
    """The words of a command, each file behind an option of OPTIONS with that option before it.

    Only where the first one is there, and no file stands before all options: else the option names
    a variant. `takes` are the options that take a value.
    """
    has_file, side, at = False, "", 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            yield from words[at - 1 :]
            return
        if word.startswith("-") and word != "-":
            side = ""
            yield word
            if word in takes and at < len(words):
                yield words[at]
                if word in OPTIONS and not has_file and Path(words[at]).exists():
                    side = word
                at += 1
        elif side:
            yield side
            yield word
        else:
            has_file = True
            yield word


def variant_of(words: Sequence[str] | None) -> str | None:
    """The variant that an option names beside a file. Raises FuseScopeError for more than one."""
    if words and len(words) > 1:
        raise FuseScopeError("options_exclude", first="PATH", second="--baseline FILE FILE")
    return words[0] if words else None


def refuse_runs(sides: Sequence[Side], runs: Mapping[str, int | None]) -> None:
    """Raises FuseScopeError for a number of `runs`, by its option, of a side of several files."""
    for side, (option, number) in zip(sides, runs.items(), strict=True):
        if side.files and number is not None:
            raise FuseScopeError("runs_of_several_files", option=option)


def sides_of(baseline: Sequence[str], candidate: Sequence[str]) -> tuple[Side, Side]:
    """Both sides, each of one file or folder, or of several. Raises FuseScopeError."""
    from fusescope.analysis.compare.files import check_apart
    from fusescope.analysis.compare.files.names import named_apart
    from fusescope.app.cli.reading import reading_ahead
    from fusescope.app.library.reading import named_by_path

    given = [list(map(Path, words)) for words in (baseline, candidate)]
    for option, paths in zip(OPTIONS, given, strict=True):
        if not paths:
            raise FuseScopeError("side_without_files", where=option)
    with reading_ahead(path for paths in given for path in paths):
        first, second = (side_at(paths) for paths in given)
    check_apart(first, second)
    if not first.files and not second.files:
        first, second = named_by_path((first, second), (given[0][0], given[1][0]))
    return named_apart(first, second)


def side_at(paths: Sequence[Path]) -> Side:
    """The side of the files at these paths. Raises FuseScopeError."""
    from fusescope.analysis.compare.files import side_of_files
    from fusescope.analysis.compare.files.names import common_name
    from fusescope.app.sources import places

    read = _read(paths)
    names = [name for name, _ in read]
    values = [value for _, value in read]
    return side_of_files(values, common_name(names), names, places.limits())


def _read(paths: Sequence[Path]) -> list[tuple[str, Trace | Experiment]]:
    """The recordings at these paths, by name: all of a folder or zip, and none of a file that
    another one was read with."""
    from fusescope.analysis.text import display_name
    from fusescope.analysis.trace import Trace

    found: list[tuple[str, Trace | Experiment]] = []
    failed: dict[Path, FuseScopeError] = {}
    alone: dict[Path, tuple[str, Trace | Experiment]] = {}
    used: set[tuple[Path, str]] = set()
    for path in paths:
        try:
            for name, value in _recordings(path):
                if name:
                    found.append((name, value))
                    continue
                alone[path] = ("/".join(map(display_name, path.parts[-3:])), value)
                if isinstance(value, Trace):
                    used |= {(path.parent, name) for name in value.meta.files}
        except FuseScopeError as error:
            failed[path] = error
    for path, refused in failed.items():
        if (path.parent, path.name) not in used:
            raise refused
    rest = [one for path, one in alone.items() if (path.parent, path.name) not in used]
    return found + rest


def _recordings(path: Path) -> list[tuple[str, Trace | Experiment]]:
    """What is at one path: recordings of a folder or zip by their place in it, that of a file
    under no name. Raises FuseScopeError where any of a folder cannot be read."""
    from fusescope.analysis.readers import find
    from fusescope.analysis.readers.input.folder import folder_sources, zip_sources
    from fusescope.analysis.readers.input.source import Source, load_file
    from fusescope.analysis.text import display_name
    from fusescope.app.cli.reading import read_given
    from fusescope.app.sources import places

    top, limits = display_name(path.resolve().name), places.limits()
    if path.is_dir():
        sources = folder_sources(path, limits)
    else:
        try:
            return [("", read_given(path))]
        except FuseScopeError as error:
            if error.code != "several_recordings":
                raise
        sources = zip_sources(Source(top, load_file(path, top, limits)(None), limits))
    found = find(sources)
    if found.failed:
        raise found.failed[0][1].at(found.failed[0][0])
    if not found.recordings:
        raise FuseScopeError("no_trace_among", where=top)
    return [(f"{top}/{one.source.path}", one.value) for one in found.recordings]
