"""`fusescope compare`: two traces, or two variants of an experiment."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fusescope.app.cli import memory, streams
from fusescope.app.cli.limits import LimitOption

if TYPE_CHECKING:
    from fusescope.analysis.compare.comparison import Comparison


def compare(
    baseline: Annotated[
        Path | None, typer.Argument(help="Baseline: trace or experiment file.")
    ] = None,
    candidate: Annotated[
        Path | None, typer.Argument(help="Candidate file; without it, another variant of the same.")
    ] = None,
    more: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="candidate",
            help="More candidates: a table of all, the first file is the baseline.",
        ),
    ] = None,
    variants: Annotated[
        str | None,
        typer.Option(
            "--variants",
            help="Compare up to 8 variants at once: names with commas between them, or all.",
        ),
    ] = None,
    baselines: Annotated[
        list[str] | None,
        typer.Option(
            "--baseline",
            help="Variant of the baseline experiment; a baseline that was saved (fusescope "
            "baseline); or files or a folder of profiles, each of a process of its own.",
        ),
    ] = None,
    candidates: Annotated[
        list[str] | None,
        typer.Option(
            "--candidate", help="Variant of the candidate experiment; or files or a folder."
        ),
    ] = None,
    baseline_runs: Annotated[
        int | None,
        typer.Option(min=1, max=100_000, help="Runs in a baseline that does not mark them."),
    ] = None,
    candidate_runs: Annotated[
        int | None,
        typer.Option(min=1, max=100_000, help="Runs in a candidate that does not mark them."),
    ] = None,
    work: Annotated[
        str | None,
        typer.Option(
            "--work",
            metavar="KIND",
            help="Kind of work to compare of files with several, such as decode-32; --json lists "
            "them.",
        ),
    ] = None,
    brief: Annotated[
        bool, typer.Option("--brief", help="Print the answer and its doubts, no tables.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON (docs/json.md).")] = False,
    top: Annotated[
        int | None,
        typer.Option(
            "--top",
            metavar="N",
            min=0,
            help="With --json, no more than N operators and groups, largest change first, and sums "
            "of the rest.",
        ),
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write the report to this file.")
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option("--markdown", help="Write a pull request comment to this file."),
    ] = None,
    perfetto: Annotated[
        Path | None,
        typer.Option("--perfetto", help="Write all sides as one trace for Perfetto."),
    ] = None,
    csv: Annotated[
        Path | None,
        typer.Option("--csv", help="Write figures, operators, op types and groups here."),
    ] = None,
    parquet: Annotated[
        Path | None,
        typer.Option("--parquet", help="Write those tables, runs and calls as Parquet here."),
    ] = None,
    ascend: Annotated[
        Path | None,
        typer.Option("--ascend", help="Write both sides as Ascend tables into this folder."),
    ] = None,
    redact: Annotated[
        bool, typer.Option("--redact", help="Leave out user names, host names and absolute paths.")
    ] = False,
    limit: LimitOption = None,  # in force by now
) -> None:
    """Compare two traces, or two variants of an experiment."""
    with memory.lasting():
        from fusescope.analysis.compare import compare as compare_sides
        from fusescope.analysis.compare.assumptions import Assumptions
        from fusescope.analysis.compare.choice import choose_sides, chosen_names
        from fusescope.analysis.errors import FuseScopeError
        from fusescope.app.cli.given import reports
        from fusescope.app.cli.given.saved import saved_baseline
        from fusescope.app.cli.given.sides import refuse_runs, sides_of, variant_of
        from fusescope.app.cli.reading import read_given, reading_ahead
        from fusescope.app.cli.writing.outputs import print_report, refuse_lost
        from fusescope.app.library.reading import named_by_path

    if top is not None and not json:
        raise FuseScopeError("option_needs_other", option="--top", needed="--json")
    baseline_variant = candidate_variant = None
    if baseline is not None:
        baseline_variant, candidate_variant = map(variant_of, (baselines, candidates))
    held = reports.report_at(baseline) if baseline and candidate is None else None
    is_several = held is not None and held.manifest.more and candidate_variant is None
    if baseline is not None and (more or variants is not None or is_several):
        from fusescope.app.cli.multiple.several import print_several

        refused: dict[str, object] = {
            "--candidate": candidate_variant, "--baseline-runs": baseline_runs,
            "--candidate-runs": candidate_runs, "--ascend": ascend, "--top": top,
            "--work": work,
        }  # fmt: skip
        paths = [baseline, *filter(None, (candidate, *(more or ())))]
        print_several(
            paths,
            variants,
            baseline_variant,
            refused,
            {"--html": html, "--markdown": markdown, "--perfetto": perfetto},
            {"--csv": csv, "--parquet": parquet},
            held,
            redact=redact,
            brief=brief,
            json=json,
        )
        return
    if baseline is not None and candidate is None and baseline_variant is not None:
        saved = saved_baseline(baseline_variant, baseline)
        if saved is not None:
            baseline, candidate, baseline_variant = saved, baseline, None
    given: list[Path | None] = [baseline, candidate]
    if baseline is None:
        given = [Path(word) for words in (baselines, candidates) for word in words or ()]
    files = {"--html": html, "--markdown": markdown, "--perfetto": perfetto}
    refuse_lost(files, given)
    # A report tells of all variants; placeholders are numbered over all that could name somebody.
    is_alone = candidate is None and html is None and not redact
    wanted = partial(chosen_names, baseline=baseline_variant, candidate=candidate_variant)
    assumptions = Assumptions()
    if baseline is None:
        if variants is not None:
            raise FuseScopeError("options_exclude", first="--baseline FILE", second="--variants")
        sides = sides_of(baselines or (), candidates or ())
        refuse_runs(sides, {"--baseline-runs": baseline_runs, "--candidate-runs": candidate_runs})
    elif held is not None:
        sides = reports.sides_of(held, baseline_variant, candidate_variant)
        assumptions = reports.assumptions_of(held)
    else:
        with reading_ahead(filter(None, (baseline, candidate))):
            first = read_given(baseline, wanted if is_alone else None)
            second = read_given(candidate) if candidate is not None else None
        sides = choose_sides(first, second, baseline_variant, candidate_variant)
    if baseline is not None and candidate is not None:
        first_named, second_named = named_by_path(sides, (baseline, candidate))
        sides = first_named, second_named
    entered = assumptions.runs
    runs = (baseline_runs or entered[0], candidate_runs or entered[1])
    if redact:
        from fusescope.analysis.redaction import redacted_sides

        sides = redacted_sides(*sides)
    chosen = assumptions.work
    if work is not None:
        from fusescope.analysis.work_units.kinds import common_kinds
        from fusescope.app.cli.given.work import work_named

        kinds = common_kinds(sides[0].trace, sides[1].trace)
        chosen = work_named(work, (kind.work for kind, _ in kinds))
    comparison = compare_sides(*sides, replace(assumptions, runs=runs, work=chosen))
    if ascend is not None:
        from fusescope.app.cli.writing.ascend import write_ascend

        pair = {"baseline": sides[0].trace, "candidate": sides[1].trace}
        for sentence in write_ascend(ascend, pair, given):
            print(sentence, file=sys.stderr)
    _write(comparison, files)
    if csv is not None:
        from fusescope.analysis.report.exports.comparison_csv import comparison_csv
        from fusescope.app.cli.writing.folders import write_files

        tables = {csv / name: data for name, data in comparison_csv(comparison).items()}
        write_files(tables, given, option="--csv", code="tables_unwritable")
    if parquet is not None:
        from fusescope.analysis.report.exports.comparison_parquet import comparison_parquet
        from fusescope.app.cli.writing.folders import write_files

        tables = {parquet / name: data for name, data in comparison_parquet(comparison).items()}
        write_files(tables, given, option="--parquet", code="tables_unwritable")
    if json:
        from fusescope.analysis.report.exports.comparison_json import comparison_parts

        streams.write_json_parts(comparison_parts(comparison, top))
    else:
        from fusescope.app.cli.printing.comparison import print_comparison

        others = _others(comparison) if candidate is None else []
        print_comparison(comparison, others, is_brief=brief)
        if html is not None:
            print_report(html, redact=redact)


def _write(comparison: Comparison, files: Mapping[str, Path | None]) -> None:
    """Each file that was asked for, by its option."""
    for option, path in files.items():
        if path is not None:
            from fusescope.app.cli.writing.outputs import write_whole

            data = _made(option, comparison)
            write_whole(path, data, option=option, code="report_unwritable")


def _made(option: str, comparison: Comparison) -> bytes:
    if option == "--markdown":
        from fusescope.analysis.report.exports.comparison_markdown import comparison_markdown

        return comparison_markdown(comparison).encode()
    if option == "--perfetto":
        from fusescope.analysis.report.exports.perfetto import perfetto_json

        return perfetto_json(comparison)
    from fusescope.analysis.report.html import report_html

    return report_html(comparison).encode()


def _others(comparison: Comparison) -> list[str]:
    """The variants of a recording that are on neither side, fit to be shown."""
    from fusescope.analysis.text import clean_text

    experiment = comparison.candidate.experiment
    shown = (comparison.baseline.label, comparison.candidate.label)
    names = () if experiment is None else experiment.record.names
    return [clean_text(name, 80) for name in names if name not in shown]
