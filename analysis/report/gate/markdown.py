"""A gate as Markdown, for a pull request or the summary page of a CI job: below 60 lines."""

from __future__ import annotations

from collections.abc import Sequence

from fusescope.analysis.advice.missed_fusions import MissedFusion
from fusescope.analysis.gate.judged import Judged
from fusescope.analysis.messages import say
from fusescope.analysis.report.exports.markdown import plain, table_row
from fusescope.analysis.text import clean_text
from fusescope.analysis.wording.gate import (
    OUTCOMES,
    blocked_lines,
    cause_lines,
    change_lines,
    gate_sentence,
    judged_sentence,
)

MAX_LINES = 60
_SHOWN = 20  # conditions
_CHARS = 300


def gate_markdown(
    judged: Sequence[Judged],
    baseline: str,
    candidate: str,
    misses: Sequence[MissedFusion] = (),
) -> str:
    """What came of all, a row for each condition, failed ones first, and the groups behind those
    that failed; nothing that comes from a file is interpreted."""
    order = {"failed": 0, "unknown": 1, "cannot_tell": 2, "passed": 3}
    ranked = sorted(judged, key=lambda one: order[one.outcome])
    out = [
        f"### {plain(gate_sentence(judged))}",
        "",
        plain(clean_text(say("{a:name} → {b:name}", a=baseline, b=candidate), _CHARS)),
        "",
        table_row([say("condition"), say("outcome"), say("found")]),
        "|---|---|---|",
    ]
    out += [
        table_row(
            [
                clean_text(one.condition.text, _CHARS),
                str(OUTCOMES[one.outcome]),
                clean_text(judged_sentence(one), _CHARS),
            ]
        )
        for one in ranked[:_SHOWN]
    ]
    if len(ranked) > _SHOWN:
        left = len(ranked) - _SHOWN
        more = say("and {n:count} more condition", "and {n:count} more conditions", n=left)
        out.append(table_row([more, "", ""]))
    told = [*cause_lines(judged), *change_lines(judged), *blocked_lines(misses)]
    lines = [f"- {plain(clean_text(line, _CHARS))}" for line in told]
    out += ["", *lines] if lines else []
    return "\n".join(out) + "\n"
