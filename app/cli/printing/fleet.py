"""A fleet in a terminal: what is missing, the answers, then the tables and what they rest on."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from fusescope.analysis import units
from fusescope.analysis.fleet.examined import Examined
from fusescope.analysis.fleet.versus import Versus
from fusescope.analysis.messages import Part, say
from fusescope.analysis.operators.short_names import short_names
from fusescope.analysis.text import clean_text
from fusescope.analysis.units import Column
from fusescope.analysis.wording.fleet.bases import BASES, PARTS, TITLES, Question
from fusescope.analysis.wording.fleet.sentences import (
    KINDS,
    answer_sentences,
    ranks_text,
    state_sentences,
)
from fusescope.analysis.wording.fleet.versus import versus_sentences
from fusescope.app.cli.printing.heads import head_with_unit

_CHARS = 1200  # of a line: names in it come from files
_NAME_CHARS = 48
_MAX_ROWS = 10


def print_fleet(found: Examined, against: Versus | None) -> None:
    """Everything that is found, sentences first."""
    console = Console(highlight=False, markup=False, emoji=False)
    for place, sentence in enumerate(state_sentences(found)):
        _print(console, sentence if place == 0 else (Part("! "), *sentence))
    console.print()
    for sentence in answer_sentences(found):
        _print(console, sentence)
    if found.slow:
        _basis(console, "slow")
        _basis(console, "cause")
    if found.awaited:
        _basis(console, "waits")
    if found.straggler_free is not None:
        _basis(console, "free")
    if found.links:
        _basis(console, "links")
    if found.stages.differing:
        _basis(console, "differing")
    _splits(console, found)
    _transfers(console, found)
    _outliers(console, found)
    if against is not None:
        _title(console, "versus")
        for sentence in versus_sentences(against):
            _print(console, sentence)
        _basis(console, "versus")


def _print(console: Console, parts: Sequence[Part]) -> None:
    line = Text()
    for part in parts:
        line.append(clean_text(part.text, _CHARS), "bold" if part.role == "number" else "")
    console.print(line)


def _title(console: Console, question: Question) -> None:
    console.print(f"\n{TITLES[question]}", style="bold")


def _basis(console: Console, question: Question) -> None:
    console.print(say("{label}: {text}", label=TITLES[question], text=BASES[question]), style="dim")


def _table(*columns: str, left: int = 1) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for place, column in enumerate(columns):
        table.add_column(column, justify="left" if place < left else "right")
    return table


def _columns(rows: Sequence[object], names: Sequence[str]) -> dict[str, Column]:
    """Return the column of each of these times of the rows."""
    return {name: units.column_of(getattr(row, name) for row in rows) for name in names}


def _splits(console: Console, found: Examined) -> None:
    """By stage, and the ranks whose parts are furthest from their stage."""
    if not found.by_stage:
        return
    _title(console, "split")
    names = ("step_ns", "computing_ns", "uncovered_ns", "free_ns")
    told = {slow.rank for slow in found.slow} | {one.rank for one in found.stages.differing}
    ranks_told = [split for split in found.by_rank if split.rank in told]
    times = _columns([*found.by_stage, *ranks_told], names)
    heads = (head_with_unit(PARTS[name].text(), times[name].unit) for name in names)
    table = _table(say("pipeline stage"), say("ranks"), *heads, left=2)
    for split in found.by_stage:
        ranks = [rank for rank, stage in found.stages.of.items() if stage == split.stage]
        cells = [times[name].number(getattr(split, name)) for name in names]
        table.add_row(str(split.stage), ranks_text(ranks), *cells)
    for split in ranks_told:
        cells = [times[name].number(getattr(split, name)) for name in names]
        table.add_row("", say("rank {rank}", rank=split.rank), *cells)
    console.print(table)
    _basis(console, "split")


def _transfers(console: Console, found: Examined) -> None:
    if not found.transfers:
        return
    _title(console, "transfers")
    shown = found.transfers[:_MAX_ROWS]
    sizes = units.column_of((one.bytes for one in shown), units.BYTES)
    times = _columns(shown, ("transfer_ns", "wait_ns", "skew_ns"))
    heads = {"transfer_ns": say("transfer"), "wait_ns": say("mean wait"), "skew_ns": say("skew")}
    table = _table(
        say("collective"),
        say("ranks"),
        head_with_unit(say("data"), sizes.unit),
        say("process groups"),
        *(head_with_unit(head, times[name].unit) for name, head in heads.items()),
        head_with_unit(say("bus bandwidth"), "GB/s"),
    )
    for one in shown:
        table.add_row(
            KINDS[one.kind].text(),
            units.count(one.size),
            sizes.number(one.bytes),
            units.count(one.groups),
            *(column.number(getattr(one, name)) for name, column in times.items()),
            units.three_digits(one.bandwidth and one.bandwidth / 1e9),
        )
    console.print(table)
    _basis(console, "transfers")


def _outliers(console: Console, found: Examined) -> None:
    if not found.outliers:
        return
    _title(console, "outliers")
    shown = found.outliers[:_MAX_ROWS]
    names = short_names((one.name for one in shown), _NAME_CHARS)
    calls = units.column_of(ns for one in shown for ns in (one.each_ns, one.median_ns))
    steps = max(1, found.steps)
    sums = units.column_of(one.total_ns / steps for one in shown)
    table = _table(
        say("operator"), say("rank"), head_with_unit(say("call"), calls.unit),
        head_with_unit(say("median"), calls.unit), say("change"), say("deviations"),
        head_with_unit(say("in a step"), sums.unit),
    )  # fmt: skip
    for one in shown:
        table.add_row(
            clean_text(names[one.name], _NAME_CHARS),
            str(one.rank),
            calls.number(one.each_ns),
            calls.number(one.median_ns),
            units.percent(one.change, signed=True),
            units.small_number(one.score),
            sums.number(one.total_ns / steps, signed=True),
        )
    console.print(table)
    _basis(console, "outliers")
