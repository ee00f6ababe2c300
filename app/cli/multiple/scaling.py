"""`fusescope scaling`: one model over batch sizes and threads, from several experiments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fusescope.app.cli import streams
from fusescope.app.cli.limits import LimitOption

if TYPE_CHECKING:
    from fusescope.analysis.experiment import Experiment, ExperimentRecord

MAX_FILES = 64


def scaling(
    paths: Annotated[
        list[Path],
        typer.Argument(help="Experiments of one model, or a folder of them."),
    ],
    variants: Annotated[
        str | None,
        typer.Option("--variants", help="Variants to show, commas between them. Default: all."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON (docs/json.md).")] = False,
    limit: LimitOption = None,  # in force by now
) -> None:
    """Show how a model scales with the batch size and the number of threads."""
    from fusescope.analysis.compare.multiple.scaling import scaling as scaling_of

    names = tuple(filter(None, map(str.strip, (variants or "").split(","))))
    found = scaling_of([_read(path, names) for path in _files(paths)])
    if json:
        from fusescope.analysis.report.exports.scaling_json import scaling_json

        streams.write_json(scaling_json(found))
    else:
        from fusescope.app.cli.printing.scaling import print_scaling

        print_scaling(found)


def _files(paths: list[Path]) -> list[Path]:
    """The files, with those of folders by name."""
    from fusescope.analysis.errors import FuseScopeError
    from fusescope.analysis.text import display_name

    found: list[Path] = []
    for path in paths:
        inside = sorted(path.glob("*.zip")) if path.is_dir() else [path]
        if not inside:
            raise FuseScopeError("folder_without_experiments", where=display_name(str(path)))
        found += inside
    if len(found) > MAX_FILES:
        raise FuseScopeError("too_many_experiments", n=len(found), limit=MAX_FILES)
    return found


def _read(path: Path, names: tuple[str, ...]) -> Experiment:
    from fusescope.analysis.errors import FuseScopeError
    from fusescope.analysis.experiment import Experiment
    from fusescope.analysis.text import display_name
    from fusescope.app.cli.reading import read_given

    def wanted(record: ExperimentRecord) -> tuple[str, ...]:
        for name in names:
            record.variant(name)
        return names or record.names

    value = read_given(path, wanted)
    if not isinstance(value, Experiment):
        raise FuseScopeError("profile_instead_of_experiment", where=display_name(path.name))
    return value
