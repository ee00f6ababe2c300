"""`fusescope compare` with several variants or files: one table against the baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from fusescope.analysis.compare import DEFAULT_ASSUMPTIONS
from fusescope.analysis.compare.files import check_apart
from fusescope.analysis.compare.multiple.choice import names_of, several_sides
from fusescope.analysis.compare.multiple.comparison import (
    MAX_SIDES,
    MultipleComparison,
    check_number,
    compare_several,
)
from fusescope.analysis.compare.side import Side
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment, ExperimentRecord
from fusescope.analysis.readers.experiment import Wanted
from fusescope.analysis.readers.packed.report import Contents
from fusescope.analysis.spelling import nearest
from fusescope.analysis.trace import Trace
from fusescope.app.cli import streams
from fusescope.app.cli.given import reports
from fusescope.app.cli.given.sides import side_at
from fusescope.app.cli.reading import read_given, reading_ahead
from fusescope.app.cli.writing.outputs import print_report, refuse_lost, write_whole
from fusescope.app.library.reading import named_by_path


def print_several(
    paths: Sequence[Path],
    variants: str | None,
    baseline: str | None,
    refused: Mapping[str, object],
    files: Mapping[str, Path | None],
    folders: Mapping[str, Path | None],
    held: Contents | None,
    *,
    redact: bool,
    brief: bool,
    json: bool,
) -> None:
    """Prints the table of all sides, the first one, or the variant `baseline`, as the baseline.

    Before that it writes the `files`, and tables into the `folders`, by their options. `refused`
    are options of pairs by name; `held` is what a report holds where one is given alone. Raises
    FuseScopeError.
    """
    for option, value in refused.items():
        if value is not None:
            words = "PATH PATH PATH" if len(paths) > 1 else str(paths[0])
            first = "--variants" if variants is not None else words
            raise FuseScopeError("options_exclude", first=first, second=option)
    if len(paths) > MAX_SIDES:
        check_number(len(paths))
    refuse_lost(files, paths)
    names = tuple(filter(None, map(str.strip, (variants or "").split(","))))
    assumptions = DEFAULT_ASSUMPTIONS
    if held is not None:
        assumptions = replace(reports.assumptions_of(held), runs=DEFAULT_ASSUMPTIONS.runs)
    if held is not None and held.manifest.more and not names:
        sides = _with_baseline(reports.several_of(held), baseline)
    else:
        sides = _sides(paths, names, baseline)
    if redact:
        from fusescope.analysis.redaction import all_redacted

        sides = all_redacted(sides)
    multiple = compare_several(sides, assumptions)
    for option, path in files.items():
        if path is not None:
            data = _made(option, multiple)
            write_whole(path, data, option=option, code="report_unwritable")
    for option, folder in folders.items():
        if folder is not None:
            from fusescope.app.cli.writing.folders import write_files

            tables = {folder / name: data for name, data in _tables(option, multiple).items()}
            write_files(tables, paths, option=option, code="tables_unwritable")
    if json:
        from fusescope.analysis.report.exports.multiple_json import multiple_json

        streams.write_json(multiple_json(multiple))
    else:
        from fusescope.app.cli.printing.multiple import print_multiple

        print_multiple(multiple, is_brief=brief)
        html = files.get("--html")
        if html is not None:
            print_report(html, redact=redact)


def _made(option: str, multiple: MultipleComparison) -> bytes:
    if option == "--markdown":
        from fusescope.analysis.report.multiple.markdown import multiple_markdown

        return multiple_markdown(multiple).encode()
    if option == "--perfetto":
        from fusescope.analysis.report.exports.perfetto import several_perfetto_json

        return several_perfetto_json(multiple)
    from fusescope.analysis.report.multiple.html import multiple_html

    return multiple_html(multiple).encode()


def _tables(option: str, multiple: MultipleComparison) -> dict[str, bytes]:
    if option == "--csv":
        from fusescope.analysis.report.multiple.csv import multiple_csv

        return multiple_csv(multiple)
    from fusescope.analysis.report.multiple.parquet import multiple_parquet

    return multiple_parquet(multiple)


def _with_baseline(sides: list[Side], baseline: str | None) -> list[Side]:
    """The sides with the one of that name in front. Raises FuseScopeError where none has it."""
    if baseline is None:
        return sides
    names = [side.label for side in sides]
    if baseline not in names:
        raise FuseScopeError(
            "no_such_variant",
            where=sides[0].trace.meta.file_name,
            variant=baseline[:60],
            known=", ".join(names),
            nearest=nearest(baseline, names),
        )
    front = sides[names.index(baseline)]
    return [front, *(side for side in sides if side is not front)]


def _sides(paths: Sequence[Path], names: tuple[str, ...], baseline: str | None) -> list[Side]:
    def wanted(record: ExperimentRecord) -> tuple[str, ...]:
        chosen = names_of(record, names)
        check_number(max(2, len(chosen)))
        return tuple(dict.fromkeys((*chosen, *filter(None, (baseline,)))))

    with reading_ahead(paths):
        files = [_read(path, wanted if len(paths) == 1 else None) for path in paths]
    found = several_sides(files, names, baseline)
    for one, other in combinations(found, 2):
        check_apart(one, other)
    of = {
        id(part): path
        for file, path in zip(files, paths, strict=True)
        for part in (file, *(file.others if isinstance(file, Trace) else ()))
    }
    traces = [side for side in found if side.experiment is None]
    given = [of[id(side if side.files else side.trace)] for side in traces]
    named = iter(named_by_path(traces, given))
    return [side if side.experiment is not None else next(named) for side in found]


def _read(path: Path, wanted: Wanted | None) -> Trace | Experiment | Side:
    """What is there; of a folder of profiles the side that they are together."""
    try:
        return read_given(path, wanted)
    except FuseScopeError as error:
        if error.code != "several_recordings" or wanted is not None:
            raise
    return side_at([path])
