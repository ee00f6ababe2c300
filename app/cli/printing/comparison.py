"""A comparison in a terminal: the answer and its doubts first, then the tables behind it."""

from __future__ import annotations

import pandas as pd
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from fusescope.analysis import units, wording
from fusescope.analysis.compare.comparison import Comparison, Figure
from fusescope.analysis.compare.ledger.modules import modules
from fusescope.analysis.compare.runs.entered import offered_runs
from fusescope.analysis.compare.side import engines_differ
from fusescope.analysis.compare.trust import Trust, trust
from fusescope.analysis.messages import Message, listed, say
from fusescope.analysis.operators.classes import LABELS
from fusescope.analysis.operators.short_names import library_kernel, short_names
from fusescope.analysis.report.text import known
from fusescope.analysis.text import clean_text
from fusescope.analysis.wording import NO_MODULE, step
from fusescope.analysis.wording.answer import answer_lines
from fusescope.analysis.wording.quantities import MISSING
from fusescope.app.cli.printing.heads import head_with_unit
from fusescope.app.cli.printing.ladder import print_ladder
from fusescope.app.cli.printing.ledger import print_ledger
from fusescope.app.cli.printing.model_tree import print_model_tree
from fusescope.app.cli.printing.products import print_products

_TOP_ROWS = 12
_MAX_OTHERS = 8
_KERNEL_CHARS = 44  # of which a library's kernel gets a short name
_WIDE = 120  # columns of the terminal from which long names of sides fit above figures
_SHORT = 16  # characters of a name that always fits
_SIDES = ("A", "B")


def print_comparison(comparison: Comparison, others: list[str], *, is_brief: bool) -> None:
    """Prints it; `others` are variants that could have been compared, `is_brief` ends it after the
    answer, what speaks against it, and what fusion bought in a sentence."""
    console = Console(highlight=False, markup=False, emoji=False)
    answer, *behind = answer_lines(comparison)
    console.print(answer, style="bold")
    for line in behind:
        console.print(line)
    print_products(console, comparison)
    for role, runs in offered_runs(comparison).items():
        console.print(f"{wording.offer_sentence(role, runs)} --{role}-runs {runs or 'N'}")
    if others:
        console.print(_also_recorded(others))
    print_ladder(console, comparison, is_brief=is_brief)
    if is_brief:
        return
    console.print()
    sides = (comparison.baseline, comparison.candidate)
    alike = sides[0].label == sides[1].label
    labels = [side.name if alike else side.label for side in sides]
    for side, label in zip(_SIDES, labels, strict=True):
        console.print(f"{side}: {clean_text(label, 200)}")
    for side, of in zip(_SIDES, (comparison.baseline, comparison.candidate), strict=True):
        if of.files:
            console.print(f"{side}: {clean_text(wording.files_text(of), 2000)}")
    _print_step(console, comparison)
    names = (comparison.baseline.name, comparison.candidate.name)
    _print_figures(console, comparison, names)
    if engines_differ(comparison.baseline, comparison.candidate):
        classes = comparison.op_classes.assign(
            op_class=comparison.op_classes["op_class"].map(lambda code: LABELS[code].text())
        )
        _print_kinds(console, comparison, classes, "op_class")
        _print_modules(console, comparison)
    print_model_tree(console, comparison)
    _print_kinds(console, comparison, comparison.op_types, "op_type")
    console.print(clean_text(wording.kinds_sentence(comparison, "op_types"), 1000))
    print_ledger(console, comparison)
    _print_trust(console, trust(comparison.diagnostics))


def _print_step(console: Console, comparison: Comparison) -> None:
    """Where the time of a run goes on each side, and what the change went to."""
    lines = ["".join(part.text for part in line) for line in step.step_lines(comparison)]
    if not lines:
        return
    console.print(f"\n{step.step_title(comparison.baseline, comparison.candidate)}", style="bold")
    for line in filter(None, (*lines, step.STEP_BASIS.text(), step.step_sentence(comparison))):
        console.print(clean_text(line, 1000))
    console.print()


def _also_recorded(names: list[str]) -> str:
    shown, more = ", ".join(names[:_MAX_OTHERS]), len(names) - _MAX_OTHERS
    if more > 0:
        return say(
            "Also recorded: {variants:name} and {more:count} more. Choose with --baseline and "
            "--candidate, or several with --variants.",
            variants=shown,
            more=more,
        )
    return say(
        "Also recorded: {variants:name}. Choose with --baseline and --candidate, or several with "
        "--variants.",
        variants=shown,
    )


def _print_trust(console: Console, found: Trust) -> None:
    """Each doubt behind a '!', as many as are counted above; what any two files raise is one."""
    console.print(f"\n{wording.TRUST}", style="bold")
    for doubt in found.specific:
        console.print(f"! {wording.diagnostic_sentence(doubt)}")
    if found.general:
        console.print(f"! {wording.general_doubt(found)}")
    for part in found.general:
        console.print(Padding(Text(wording.diagnostic_sentence(part)), (0, 0, 0, 2), expand=False))
    for note in found.notes:
        console.print(f"- {wording.diagnostic_sentence(note)}")


def _print_figures(console: Console, comparison: Comparison, labels: tuple[str, str]) -> None:
    is_narrow = console.width < _WIDE and max(map(len, labels)) > _SHORT
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("", no_wrap=True)
    for name in _SIDES if is_narrow else map(units.middle_cut, labels):
        table.add_column(name, justify="right", overflow="fold")
    changes = {figure.code: wording.change_text(figure) for figure in comparison.figures}
    with_change = any(changes.values())
    if with_change:
        table.add_column(say("change"), justify="right", no_wrap=True)
    table.add_column(say("basis"), style="dim")
    missing: dict[str, list[str]] = {}
    for figure in comparison.figures:
        if figure.baseline.value is None and figure.candidate.value is None:
            missing.setdefault(wording.basis_text(figure), []).append(
                wording.figure_text(comparison, figure.code).label
            )
            continue
        table.add_row(
            wording.figure_text(comparison, figure.code).label,
            wording.quantity_text(figure.baseline),
            wording.quantity_text(figure.candidate),
            *([changes[figure.code]] if with_change else []),
            _basis(comparison, figure),
        )
    console.print(table)
    for reason, figures in missing.items():
        console.print(str(MISSING.of(figures=listed(figures), reason=reason)), style="dim")


def _basis(comparison: Comparison, figure: Figure) -> str:
    """'measured, median of blocks'."""
    basis = wording.basis_beside_others(comparison, figure)
    statistic = wording.gap_statistic(comparison) if figure.code == "dispatch_gap" else ""
    return say("{basis}, {statistic}", basis=basis, statistic=statistic) if statistic else basis


_KINDS = {
    "op_type": (Message("OP Type"), Message("Op types {per}, as profiled, {order}")),
    "op_class": (Message("class"), Message("Operator classes {per}, as profiled, {order}")),
}


def _print_kinds(console: Console, comparison: Comparison, joined: pd.DataFrame, key: str) -> None:
    head, title = _KINDS[key]
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(head.text())
    rows = joined.head(_TOP_ROWS).to_dict("records")
    times = [
        (known(row["per_run_ns_baseline"]), known(row["per_run_ns_candidate"]),
         known(row["delta_ns"]))
        for row in rows
    ]  # fmt: skip
    columns = units.change_columns(times)
    for side in _SIDES:
        table.add_column(say("{side} count", side=side), justify="right")
        table.add_column(
            head_with_unit(say("{side} time", side=side), columns.unit), justify="right"
        )
    if comparison.has_changes:
        table.add_column(head_with_unit("B - A", columns.unit), justify="right")
    kernels = (str(row[key]) for row in rows if library_kernel(str(row[key])))
    shown = short_names(kernels, _KERNEL_CHARS)
    for row, found in zip(rows, times, strict=True):
        before, after, change = columns.numbers(*found)
        table.add_row(
            shown.get(str(row[key]), str(row[key])),
            units.count(known(row["count_baseline"])),
            before,
            units.count(known(row["count_candidate"])),
            after,
            *([change] if comparison.has_changes else []),
        )
    told = title.text(per=wording.per_text(comparison), order=wording.order_text(comparison))
    console.print(f"\n{told}", style="bold")
    console.print(table)


def _print_modules(console: Console, comparison: Comparison) -> None:
    """Where the change is in the model, whatever the engines call its operators."""
    rows = modules(comparison.ledger)
    if rows.empty:
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    shown = rows.head(_TOP_ROWS).to_dict("records")
    times = [
        (known(row["before_ns"]), known(row["after_ns"]), 0.0 - (known(row["gain_ns"]) or 0.0))
        for row in shown
    ]
    columns = units.change_columns(times)
    table.add_column(say("module"))
    table.add_column(say("groups"), justify="right")
    for head in (say("baseline"), say("candidate"), say("change")):
        table.add_column(head_with_unit(head, columns.unit), justify="right")
    for row, found in zip(shown, times, strict=True):
        name = clean_text(str(row["module"]), 60) or NO_MODULE.text()
        table.add_row(
            name,
            units.count(row["groups"]),
            *columns.numbers(*found),
        )
    console.print(f"\n{say('Modules of the model, largest change first')}", style="bold")
    console.print(table)
