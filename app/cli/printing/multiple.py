"""Several variants against one baseline, in a terminal: the answer, then the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os.path import commonprefix

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from fusescope.analysis.compare.multiple.comparison import MultipleComparison
from fusescope.analysis.compare.multiple.pareto import pareto
from fusescope.analysis.messages import paragraph, say
from fusescope.analysis.text import clean_text
from fusescope.analysis.units import MISSING, middle_cut
from fusescope.analysis.wording.multiple import comparison as words
from fusescope.analysis.wording.multiple.engines import Fact, facts, reading_sentences
from fusescope.analysis.wording.trust import TRUST
from fusescope.app.cli.printing.ladder import print_ladder

_CHARS = 1000  # of a line: names in it come from files
_NAME_CHARS = (20, 28)  # on a narrow terminal, on others
_NARROW = 100
_WIDE = 170  # columns of the terminal from which all figures fit beside the speedup
_GAP = 2  # characters between columns
_FIXED = "\N{NO-BREAK SPACE}"
_TIMES = ("latency", "throughput")


def print_multiple(multiple: MultipleComparison, *, is_brief: bool) -> None:
    """The answer, what it rests on, the table, the Pareto front and doubts; `is_brief` ends it
    after the speedups."""
    console = Console(highlight=False, markup=False, emoji=False)
    console.print(clean_text(words.best_sentence(multiple), _CHARS), style="bold")
    said = paragraph(words.basis_sentences(multiple), reading_sentences(multiple))
    console.print(clean_text(said, _CHARS))
    times = [code for code in multiple.columns if code in _TIMES]
    costs = [code for code in multiple.columns if code not in _TIMES]
    is_wide, chars = console.width >= _WIDE, _NAME_CHARS[console.width >= _NARROW]
    console.print()
    console.print(_table(multiple, [*times, *costs] if is_wide else times, chars, has_result=True))
    if told := facts(multiple):
        console.print()
        console.print(_facts(multiple, told, chars))
    print_ladder(console, multiple, is_brief=is_brief)
    if is_brief:
        return
    for part in _fitting(multiple, costs, console.width - chars - _GAP) if not is_wide else ():
        console.print()
        console.print(_table(multiple, part, chars, has_result=False))
    found = pareto(multiple)
    if found is not None:
        console.print(f"\n{words.PARETO_TITLE}", style="bold")
        console.print(clean_text(words.front_sentence(multiple, found), _CHARS))
    doubts = words.doubt_lines(multiple)
    if doubts:
        console.print(f"\n{TRUST}", style="bold")
        for line in doubts:
            console.print(Text(clean_text(f"! {line}", _CHARS)))


def _facts(multiple: MultipleComparison, told: Sequence[Fact], chars: int) -> Table:
    """What ran each side."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(say("variant"), no_wrap=True)
    names = cut_names([side.name for side in multiple.sides], chars)
    for fact in told:
        label = fact.label.text()
        table.add_column(label[:1].lower() + label[1:])
    for at in multiple.order:
        table.add_row(names[at], *(fact.cells[at] or MISSING for fact in told))
    return table


def cut_names(names: Sequence[str], chars: int) -> list[str]:
    """Return names cut to at most `chars` characters: in the middle, and where that makes several
    alike, around the first character that tells those apart."""
    cut = [clean_text(middle_cut(name, chars), 80) for name in names]
    for form in {each for each in cut if cut.count(each) > 1}:
        alike = [at for at, each in enumerate(cut) if each == form]
        group = [names[at] for at in alike]
        start = min(len(commonprefix(group)), max(map(len, group)) - (chars - 1))
        if start > 0 and len(set(group)) > 1:
            for at in alike:
                cut[at] = clean_text(_cut_end(f"…{names[at][start:]}", chars), 80)
    return cut


def _cut_end(text: str, chars: int) -> str:
    return text if len(text) <= chars else f"{text[: chars - 1]}…"


def _fitting(
    multiple: MultipleComparison, columns: Sequence[str], width: int
) -> Iterator[list[str]]:
    """The columns in as many tables as it takes for no word of a head to be broken."""
    part: list[str] = []
    left = width
    for code in columns:
        needed = _GAP + _width(multiple, code)
        if part and needed > left:
            yield part
            part, left = [], width
        part.append(code)
        left -= needed
    if part:
        yield part


def _width(multiple: MultipleComparison, code: str) -> int:
    """Characters of the longest word of the head, or of the longest cell below it."""
    words_of_head = words.column_text(multiple, code).label.split()
    cells = words.figure_cells(multiple.entries, code)
    return max(map(cell_len, (*words_of_head, *cells, words.column_basis(multiple, code))))


def _table(
    multiple: MultipleComparison, columns: Sequence[str], chars: int, *, has_result: bool
) -> Table:
    """A row for each side, and what each figure rests on; `has_result` puts in front what each is
    told to be, and speedups where any is shown."""
    speedup_heads: list[str] = []
    if has_result and words.has_speedups(multiple):
        speedup_heads = [say("speedup"), str(words.interval_head(multiple))]
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(say("variant"), no_wrap=True)
    for head in speedup_heads:
        table.add_column(head, justify="right", no_wrap=True)
    if has_result:
        table.add_column(say("result"), no_wrap=True)
    for code in columns:
        label = words.column_text(multiple, code).label
        width = None if has_result else _width(multiple, code)
        table.add_column(label, justify="right", overflow="fold", width=width)
    entries = multiple.entries
    figures = [words.figure_cells(entries, code) for code in columns]
    names = cut_names([entry.side.name for entry in entries], chars)
    for at in multiple.order:
        entry = entries[at]
        cells = [column[at].replace(" ", _FIXED) for column in figures]
        if has_result:
            cells = [words.result_text(entry), *cells]
        if speedup_heads:
            cells = [words.speedup_text(entry), words.interval_text(entry), *cells]
        table.add_row(names[at], *cells)
    bases = [words.column_basis(multiple, code) for code in columns]
    blank = [""] * (len(speedup_heads) + has_result)
    table.add_row(say("basis"), *blank, *bases, style="dim")
    return table
