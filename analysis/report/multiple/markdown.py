"""Several sides for a pull request or a ticket: below 40 lines of Markdown."""

from __future__ import annotations

from fusescope.analysis.compare.multiple.comparison import MultipleComparison
from fusescope.analysis.compare.multiple.ladder import ladder_of
from fusescope.analysis.messages import say
from fusescope.analysis.report.exports.markdown import plain, table_row
from fusescope.analysis.report.multiple.table import several_table
from fusescope.analysis.report.origins import origins_of
from fusescope.analysis.text import clean_text
from fusescope.analysis.wording.multiple import comparison as words
from fusescope.analysis.wording.multiple.ladder import ladder_sentence
from fusescope.analysis.wording.trust import TRUST

MAX_LINES = 40
_DOUBTS = 5
_CHARS = 400  # of a sentence, which may hold names from a file


def multiple_markdown(multiple: MultipleComparison) -> str:
    """The answer, the table, the Pareto front and doubts; nothing that comes from a file is
    interpreted."""
    table = several_table(multiple)
    speedups = [say("speedup"), str(words.interval_head(multiple))] if table.has_speedups else []
    heads = [say("variant"), *speedups, say("result")]
    heads += [fact.label.text() for fact in table.facts]
    heads += [column.label for column in table.columns]
    out = [
        f"### {_told(words.best_sentence(multiple))}",
        "",
        *(f"{_told(note)}  " for note in table.notes),
        "",
        table_row(heads),
        (
            f"|---|{'---:|' * len(speedups)}---|"
            f"{'---|' * len(table.facts)}{'---:|' * len(table.columns)}"
        ),
    ]
    for row in table.rows:
        of_row = [row.speedup, row.interval] if speedups else []
        out.append(table_row([row.name, *of_row, row.result, *row.facts, *row.cells]))
    blank = ["", *("" for _ in speedups), *("" for _ in table.facts)]
    out.append(table_row([say("basis"), *blank, *(column.basis for column in table.columns)]))
    out.append("")
    if table.pareto is not None:
        out += [_told(words.front_sentence(multiple, table.pareto)), ""]
    if (ladder := ladder_of(multiple)) is not None:
        out += [_told(ladder_sentence(ladder)), ""]
    doubts = words.doubt_lines(multiple)
    if doubts:
        out += [f"**{plain(str(TRUST))}**", ""]
        out += [f"- {_told(line)}" for line in doubts[:_DOUBTS]]
        if len(doubts) > _DOUBTS:
            more = say("{n:count} more doubt", "{n:count} more doubts", n=len(doubts) - _DOUBTS)
            out.append(f"- {_told(more)}")
        out.append("")
    for origin in origins_of(multiple.sides):
        made = say("{file:name}, {made:name}", file=origin.file_name, made=origin.made)
        out.append(f"<sub>{_told(made)}</sub>  ")
    return "\n".join(out) + "\n"


def _told(text: str) -> str:
    return plain(clean_text(text, _CHARS))
