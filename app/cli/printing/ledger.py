"""The top of the fusion ledger, in a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from fusescope.analysis import units, wording
from fusescope.analysis.advice import MissedFusion, missed_fusions
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.messages import Message, say
from fusescope.analysis.operators.short_names import library_kernel, short_names
from fusescope.analysis.report.text import known
from fusescope.analysis.text import clean_text
from fusescope.analysis.wording.advice import near_miss_sentence, own_pass_sentence, pattern_text
from fusescope.analysis.wording.counted import whole_text
from fusescope.analysis.wording.fusion.apart import Apart, apart
from fusescope.analysis.wording.fusion.became import becomes_text, originals_text
from fusescope.analysis.wording.fusion.shares import shown_shares
from fusescope.analysis.wording.fusion.terms import shown_terms, term_label
from fusescope.app.cli.printing.heads import head_with_unit
from fusescope.app.cli.printing.joined import print_joined

if TYPE_CHECKING:
    import pandas as pd

TOP_PATTERNS = 6
_KERNEL_CHARS = 44  # of which a library's kernel gets a short name
TOP_MISSES = 3
TOP_REASONS = 4
_TIMES = ("before", "after", "change")
_HEADS = {
    "groups": Message("groups"),
    "before": Message("baseline"),
    "after": Message("candidate"),
    "change": Message("change"),
    "share": Message("share"),
}
NARROW = 80  # columns of the terminal below which only the change is shown


def print_ledger(console: Console, comparison: Comparison) -> None:
    """The largest patterns, what closes the sum, coverage, and the first near misses.

    Every line is a change of time, candidate - baseline, and they add up to the whole one.
    """
    if comparison.is_explained:
        _print_changes(console, comparison)
        _print_misses(console, comparison)
        return
    title = clean_text(wording.change_title(comparison), 200)
    has_gains = comparison.ledger.has_gains
    if has_gains:
        per = wording.per_text(comparison)
        title = (
            say("{title} ({per}: - is time saved, + is time added)", title=title, per=per)
            if wording.came_from_parts(comparison)
            else say("{title}, {per}: - is time saved, + is time added", title=title, per=per)
        )
    console.print(f"\n{title}", style="bold")
    if has_gains:
        console.print(_table(comparison, is_narrow=console.width < NARROW))
    else:
        console.print(clean_text(wording.fusion_sentence(comparison), 1000))
    notes = (
        wording.beside_explanation(comparison),
        "".join(part.text for part in wording.slow_parts(comparison.ledger)),
        wording.no_shares_sentence(comparison.ledger),
        wording.coverage_sentence(comparison),
    )
    for note in filter(None, notes):
        console.print(clean_text(note, 1000), style="dim")
    print_joined(console, comparison)
    if not comparison.is_of_other_work:
        _print_misses(console, comparison)


def _print_changes(console: Console, comparison: Comparison) -> None:
    """The steps from the baseline's unit of work to the candidate's, where no group is proven."""
    from fusescope.analysis.wording.explanation import waterfall as explained_steps

    console.print(f"\n{explained_steps.TITLE}", style="bold")
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(overflow="fold")
    table.add_column(justify="right", no_wrap=True)
    steps = explained_steps.steps_of(comparison)
    times = units.column_of(step.value_ns for step in steps)
    for step in steps:
        is_total = step.kind == "total"
        time = times.text(step.value_ns, signed=not is_total)
        style = "bold" if is_total else None
        table.add_row(clean_text(step.label, 200), time, style=style)
    console.print(table)


def _table(comparison: Comparison, *, is_narrow: bool) -> Table:
    ledger = comparison.ledger
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(say("original operators"), overflow="fold", ratio=None)
    columns = ("groups", "change") if is_narrow else tuple(_HEADS)
    if ledger.no_shares is not None:
        columns = tuple(name for name in columns if name != "share")
    rows = ledger.patterns.head(TOP_PATTERNS).to_dict("records")
    rest = ledger.patterns.iloc[TOP_PATTERNS:]
    of_rest = _times(rest[["before_ns", "after_ns", "gain_ns"]].sum(min_count=1))
    of_times = units.change_columns([*map(_times, rows), *([of_rest] if len(rest) else [])])
    for name in columns:
        head = _HEADS[name].text()
        head = head_with_unit(head, of_times.unit) if name in _TIMES else head
        table.add_column(head, justify="right", no_wrap=True)

    def add(label: str, **cells: str) -> None:
        table.add_row(label, *(cells.get(name, "") for name in columns))

    def times(found: units.ChangeRow) -> dict[str, str]:
        return dict(zip(_TIMES, of_times.numbers(*found), strict=True))

    def shown_change(ns: float) -> str:
        return of_times.changes.number(ns, signed=True)

    kernels = {
        kernel
        for row in rows
        for name in ("pattern", "becomes")
        for kernel in str(row[name]).split(" + ")
        if library_kernel(kernel)
    }
    shown = short_names(sorted(kernels), _KERNEL_CHARS)
    shares, term_shares = shown_shares(ledger)
    for row, share in zip(rows, shares, strict=False):
        row |= {
            name: " + ".join(shown.get(part, part) for part in str(row[name]).split(" + "))
            for name in ("pattern", "becomes")
        }
        label = clean_text(f"{originals_text(row)} {becomes_text(row)}", 200)
        if row["hurts"]:
            label = say("{pattern:name} ({n:count} slower)", pattern=label, n=row["hurts"])
        add(
            label,
            groups=units.count(row["groups"]),
            **times(_times(row)),
            share=units.percent(share),
        )
    if len(rest):
        more = say("{n:count} more pattern", "{n:count} more patterns", n=len(rest))
        told = {
            **times(of_rest),
            "share": units.percent(sum(share or 0.0 for share in shares[TOP_PATTERNS:])),
        }
        if not (rest[["before_ns", "after_ns"]] != 0).any(axis=None):  # nothing was measured
            more = say(
                "{n:count} more pattern, without a measured time on either side",
                "{n:count} more patterns, without a measured time on either side",
                n=len(rest),
            )
            told = {}
        add(more, groups=units.count(int(rest["groups"].sum())), **told)
    sum_ = ledger.reconciliation
    if sum_.whole_ns is None:
        return table
    for name, change in shown_terms(sum_).items():
        if name != "groups_ns":
            part = units.percent(term_shares.get(name))
            label = term_label(name, has_starts=sum_.has_starts).text()
            add(label, change=shown_change(change), share=part)
    time = wording.TIME_SOURCES[sum_.of]
    label = say("= {whole}, {time}", whole=whole_text(comparison), time=time)
    whole = units.percent(ledger.share(sum_.whole_ns))
    add(label, change=shown_change(sum_.whole_ns), share=whole)
    return table


def _times(row: Mapping[Any, Any] | pd.Series) -> units.ChangeRow:
    """Return the time before and after, and the change that goes with the gain."""
    before, after, gain = (known(row[f"{name}_ns"]) for name in ("before", "after", "gain"))
    return before, after, None if gain is None else -gain


def _print_misses(console: Console, comparison: Comparison) -> None:
    _print_apart(console, apart(comparison))
    misses = missed_fusions(comparison)
    if not misses:
        return
    places = sum(miss.count for miss in misses)
    title = say("Why not fused")
    if places:
        title = say(
            "Why not fused: {n:count} missed fusion",
            "Why not fused: {n:count} missed fusions",
            n=places,
        )
    console.print(f"\n{title}", style="bold")
    for miss in misses[:TOP_MISSES]:
        console.print(clean_text(f"- {_miss_text(miss)}", 1000))
    if sentence := own_pass_sentence(misses):
        console.print(f"- {sentence}")
    if len(misses) > TOP_MISSES:
        more = say(
            "{n:count} more kind: --json has it.",
            "{n:count} more kinds: --json has all.",
            n=len(misses) - TOP_MISSES,
        )
        console.print(f"- {more}")


def _print_apart(console: Console, rows: Sequence[Apart]) -> None:
    """Kernels that the compiler left apart; pairs of one reason in one line."""
    if not rows:
        return
    title = say(
        "Why not fused: {n:count} pair of kernels left apart",
        "Why not fused: {n:count} pairs of kernels left apart",
        n=len(rows),
    )
    console.print(f"\n{title}", style="bold")
    reasons: dict[tuple[str, str], list[Apart]] = {}
    for row in rows:
        reasons.setdefault((row.why, row.said_by), []).append(row)
    for (why, said_by), alike in list(reasons.items())[:TOP_REASONS]:
        more = f" ×{units.count(len(alike))}" if len(alike) > 1 else ""
        first = say(
            "{first:name} and {second:name}, {said_by}: {why}",
            why=why,
            said_by=said_by,
            first=alike[0].first,
            second=alike[0].second + more,
        )
        console.print(clean_text(f"- {first}", 1000))
    if len(reasons) > TOP_REASONS:
        more = say(
            "{n:count} more reason: --json has it.",
            "{n:count} more reasons: --json has all.",
            n=len(reasons) - TOP_REASONS,
        )
        console.print(f"- {more}")


def _miss_text(miss: MissedFusion) -> str:
    """'Conv + Relu ×3, 1.20 ms per run, without slow executions: why'."""
    count = f" ×{units.count(miss.count)}" if miss.count > 1 else ""
    pattern, why = f"{pattern_text(miss)}{count}", near_miss_sentence(miss)
    if miss.stake_ns is None:
        return say("{pattern:name}: {why}", pattern=pattern, why=why)
    return say(
        "{pattern:name}, {stake:duration} per run, without slow executions: {why}",
        pattern=pattern,
        stake=miss.stake_ns,
        why=why,
    )
