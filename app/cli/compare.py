"""`fusescope compare`: two traces, or two variants of an experiment."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli import streams

if TYPE_CHECKING:
    from analysis.compare.comparison import Comparison, Side

_TOP_ROWS = 12
_MOST_OTHERS = 8


def compare(
    baseline: Annotated[Path, typer.Argument(help="Baseline: trace or experiment file.")],
    candidate: Annotated[
        Path | None, typer.Argument(help="Candidate file; without it, another variant of the same.")
    ] = None,
    baseline_variant: Annotated[
        str | None, typer.Option("--baseline", help="Variant of the baseline experiment.")
    ] = None,
    candidate_variant: Annotated[
        str | None, typer.Option("--candidate", help="Variant of the candidate experiment.")
    ] = None,
    baseline_runs: Annotated[
        int | None,
        typer.Option(min=1, max=100_000, help="Runs in a baseline that does not mark them."),
    ] = None,
    candidate_runs: Annotated[
        int | None,
        typer.Option(min=1, max=100_000, help="Runs in a candidate that does not mark them."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON (docs/json.md).")] = False,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write the report to this file.")
    ] = None,
    ascend: Annotated[
        Path | None,
        typer.Option("--ascend", help="Write both sides as Ascend tables into this folder."),
    ] = None,
    redact: Annotated[
        bool, typer.Option("--redact", help="Leave out user names, host names and absolute paths.")
    ] = False,
) -> None:
    """Compare two traces, or two variants of an experiment."""
    from analysis.compare import compare as compare_sides
    from analysis.compare.assumptions import Assumptions
    from analysis.compare.choice import choose_sides
    from analysis.readers import read_path
    from app import places
    from app.cli.outputs import refuse_lost, write_whole

    given = (baseline, candidate)
    refuse_lost({"--html": html}, given)
    first = read_path(baseline, places.limits())
    second = read_path(candidate, places.limits()) if candidate is not None else None
    sides = choose_sides(first, second, baseline_variant, candidate_variant)
    if candidate is not None:
        sides = _with_names(sides, (baseline, candidate))
    if redact:
        from analysis.redaction import redacted_sides

        sides = redacted_sides(*sides)
    comparison = compare_sides(*sides, Assumptions(runs=(baseline_runs, candidate_runs)))
    if ascend is not None:
        from app.cli.ascend import write_ascend

        pair = {"baseline": sides[0].trace, "candidate": sides[1].trace}
        for sentence in write_ascend(ascend, pair, given):
            print(sentence, file=sys.stderr)
    if html is not None:
        from analysis.report.html import report_html

        write_whole(html, report_html(comparison).encode(), what="report", option="--html")
    if json:
        from analysis.report.comparison_json import comparison_json

        streams.write_json(comparison_json(comparison))
    else:
        _print(comparison, _others(comparison) if candidate is None else [])
        if html is not None:
            print(f"\nReport: {html.name if redact else html}")


def _with_names(sides: tuple[Side, Side], paths: tuple[Path, Path]) -> tuple[Side, Side]:
    """Traces named after what was given: 'before_ascend_pt', or 'before/trace.json' where alike."""
    from analysis.readers.source import display_name

    ends = [path.resolve().parts for path in paths]
    length = next((n for n in (1, 2, 3) if ends[0][-n:] != ends[1][-n:]), 1)
    first, second = (
        side
        if side.experiment is not None or (length == 1 and not path.is_dir())
        else replace(side, label="/".join(display_name(part) for part in end[-length:]))
        for side, path, end in zip(sides, paths, ends, strict=True)
    )
    return first, second


def _others(comparison: Comparison) -> list[str]:
    """The variants of a recording that are on neither side, fit to be shown."""
    from analysis.readers.source import clean_text

    experiment = comparison.candidate.experiment
    shown = (comparison.baseline.label, comparison.candidate.label)
    names = () if experiment is None else (variant.name for variant in experiment.record.variants)
    return [clean_text(name, 80) for name in names if name not in shown]


def _print(comparison: Comparison, others: list[str]) -> None:
    from rich.console import Console
    from rich.table import Table

    from analysis import units, wording
    from analysis.compare.entered_runs import offered_runs
    from app.cli.ledger import print_ledger

    console = Console(highlight=False, markup=False, emoji=False)
    console.print(wording.verdict_sentence(comparison), style="bold")
    console.print(wording.verdict_basis(comparison.verdict))
    console.print(wording.change_sentence(comparison))
    for side, runs in offered_runs(comparison.baseline, comparison.candidate).items():
        console.print(f"{wording.offer_sentence(side, runs)} --{side}-runs {runs or 'N'}")
    if others:
        listed = ", ".join(others[:_MOST_OTHERS])
        more = f" and {len(others) - _MOST_OTHERS} more" if len(others) > _MOST_OTHERS else ""
        console.print(f"Also recorded: {listed}{more}; choose with --baseline and --candidate.")
    console.print()
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("", no_wrap=True)
    for name in (comparison.baseline.label, comparison.candidate.label):
        table.add_column(units.middle_cut(name), justify="right", overflow="fold")
    table.add_column("change", justify="right", no_wrap=True)
    table.add_column("basis", style="dim")
    missing: dict[str, list[str]] = {}
    for figure in comparison.figures:
        if figure.baseline.value is None and figure.candidate.value is None:
            missing.setdefault(wording.basis_text(figure), []).append(
                wording.FIGURES[figure.code].label
            )
            continue
        table.add_row(
            wording.FIGURES[figure.code].label,
            wording.quantity_text(figure.baseline),
            wording.quantity_text(figure.candidate),
            wording.change_text(figure),
            wording.basis_text(figure),
        )
    console.print(table)
    for reason, labels in missing.items():
        console.print(f"No {', '.join(labels)}: {reason}.", style="dim")
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("OP Type")
    for name in ("Count", "per run", "Count", "per run", "delta"):
        table.add_column(name, justify="right")
    for row in comparison.op_types.head(_TOP_ROWS).to_dict("records"):
        table.add_row(
            str(row["op_type"]),
            units.count(_known(row["count_baseline"])),
            units.duration(_known(row["per_run_ns_baseline"])),
            units.count(_known(row["count_candidate"])),
            units.duration(_known(row["per_run_ns_candidate"])),
            units.duration(_known(row["delta_ns"]), signed=True),
        )
    console.print(
        "\nOp types per run as profiled, baseline and candidate, largest change first", style="bold"
    )
    console.print(table)
    console.print(wording.totals_sentence(comparison))
    print_ledger(console, comparison)
    console.print("\nCan I trust this?", style="bold")
    for note in comparison.diagnostics:
        mark = "!" if note.severity != "info" else "-"
        console.print(f"{mark} {wording.diagnostic_sentence(note)}")


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
