"""`fusescope inspect`: what is in a file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from analysis.trace import Diagnostic, Trace


def inspect(
    path: Annotated[Path, typer.Argument(help="Trace or experiment file.", show_default=False)],
    json: Annotated[bool, typer.Option("--json", help="Print JSON (docs/json.md).")] = False,
) -> None:
    """Say what is in a trace or experiment file, and what it can answer."""
    from analysis.readers import read_path

    value = read_path(path)
    if json:
        from analysis.report.inspection import inspection_json

        sys.stdout.write(inspection_json(value).decode() + "\n")
        return
    from rich.console import Console

    from analysis.experiment import Experiment

    console = Console(highlight=False, markup=False, emoji=False)
    if isinstance(value, Experiment):
        record = value.record
        console.print(
            f"Experiment of {record.model.name}, recorded {record.created} with "
            f"{record.engine.name} {record.engine.version} on {record.machine.cpu_model}, "
            f"{record.settings.threads} threads, {record.outcome.blocks} blocks."
        )
        _print_notes(console, value.diagnostics)
        for variant in record.variants:
            console.print(f"\n{variant.name}", style="bold")
            _print_trace(console, value.traces[variant.name])
    else:
        version = f" {value.meta.version}" if value.meta.version else ""
        console.print(f"{value.meta.tool}{version} profile, {value.meta.file_name}.")
        _print_trace(console, value)


def _print_trace(console: Console, trace: Trace) -> None:
    from rich.table import Table

    from analysis import units
    from analysis.report.inspection import inspection

    facts = inspection(trace)
    console.print(
        f"{units.count(facts['runs'])} runs ({units.count(facts['profiled_runs'])} profiled), "
        f"{units.count(facts['operators'])} operators a run, {units.count(facts['rows'])} rows, "
        f"{units.duration(facts['total_kernel_ns'])} in operators."
    )
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("OP Type")
    for column in ("Count", "Total", "Per run", "Ratio"):
        table.add_column(column, justify="right")
    total = facts["total_kernel_ns"] or 1
    for row in facts["by_type"][:20]:
        table.add_row(
            row["op_type"] or "unknown",
            units.count(row["count"]),
            units.duration(row["total_ns"]),
            units.duration(row["per_run_ns"]),
            units.percent(row["total_ns"] / total),
        )
    console.print(table)
    if len(facts["by_type"]) > 20:
        console.print(f"and {len(facts['by_type']) - 20} more op types (--json lists all).")
    has = [name for name, known in facts["fields"].items() if known]
    lacks = [name for name, known in facts["fields"].items() if not known]
    console.print(f"Has: {', '.join(has) or 'nothing'}. Lacks: {', '.join(lacks) or 'nothing'}.")
    _print_notes(console, trace.diagnostics)


def _print_notes(console: Console, notes: Sequence[Diagnostic]) -> None:
    from analysis.wording import diagnostic_sentence

    for note in notes:
        console.print(f"{note.severity}: {diagnostic_sentence(note)}")
