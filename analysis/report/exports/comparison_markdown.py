"""A comparison for a pull request or a ticket: below 60 lines of Markdown."""

from __future__ import annotations

from fusescope.analysis import units, wording
from fusescope.analysis.advice import TOP, Subject, findings
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.multiple.ladder import ladder_of
from fusescope.analysis.compare.trust import trust
from fusescope.analysis.messages import Part, say
from fusescope.analysis.report import cards
from fusescope.analysis.report.explanation.product_rows import product_table, texts_of
from fusescope.analysis.report.exports.markdown import plain, table_row
from fusescope.analysis.report.origins import origin_lines
from fusescope.analysis.report.text import known, unbroken, with_unit
from fusescope.analysis.text import clean_text
from fusescope.analysis.wording import findings as finding_words
from fusescope.analysis.wording import step
from fusescope.analysis.wording.explanation import explained_parts
from fusescope.analysis.wording.explanation import product_table as product_words
from fusescope.analysis.wording.explanation import waterfall as explained_steps
from fusescope.analysis.wording.fusion.became import becomes_text, originals_text
from fusescope.analysis.wording.multiple import ladder

MAX_LINES = 60
_PATTERNS, _DOUBTS = 6, 4
_CHARS = 300  # of a sentence, which may hold names from a file
_PASSAGE_CHARS = 1000  # of several


def comparison_markdown(comparison: Comparison) -> str:
    """Verdict, doubts, figures, what fusion bought by pattern, and what limits the candidate now;
    nothing that comes from a file is interpreted."""
    verdict = comparison.verdict
    headline, noise = wording.headline_and_noise(comparison)
    out = [
        f"### {_told(headline)}",
        *(["", plain(noise)] if noise else []),
        "",
        plain(wording.verdict_interval(verdict) or wording.verdict_basis(verdict)),
        "",
        *_causes(comparison),
        *_doubts(comparison),
        *_figures(comparison),
        *_ladder(comparison),
        *_step(comparison),
        *_patterns(comparison),
        *_limits(comparison),
    ]
    out += [f"<sub>{plain(line)}</sub>  " for line in origin_lines(comparison)]
    return "\n".join(out) + "\n"


def _told(parts: tuple[Part, ...], chars: int = _CHARS) -> str:
    return plain(clean_text("".join(part.text for part in parts), chars))


def _causes(comparison: Comparison) -> list[str]:
    """What changed between two traces, the cause of most of it first; nothing of recordings, whose
    groups say it."""
    if comparison.explanation is None:
        return []
    told = explained_parts(comparison.explanation)
    lead, *others = (_told(parts, _PASSAGE_CHARS) for parts in told)
    return [
        f"**{lead}**",
        "",
        *_products(comparison),
        *(f"- {text}" for text in others),
        *([""] if others else []),
    ]


def _products(comparison: Comparison) -> list[str]:
    """The matrix products of two phases, a row each, and what their figures rest on."""
    table = None if comparison.explanation is None else product_table(comparison.explanation)
    if table is None:
        return []
    heads = [column.text(head=head) for column in product_words.COLUMNS for head in table.heads]
    lines = [table_row([table.title, *heads]), f"|---|{'---:|' * len(heads)}"]
    for row in table.rows:
        cells = [cell for side in row.sides for cell in texts_of(side)]
        lines.append(table_row([row.name, *cells]))
    return [*lines, "", plain(table.basis), ""]


def _doubts(comparison: Comparison) -> list[str]:
    found = trust(comparison.diagnostics)
    lines = [f"**{plain(str(wording.TRUST))}** {plain(wording.trust_line(found))}", ""]
    told = [wording.diagnostic_sentence(doubt) for doubt in found.specific[:_DOUBTS]]
    told += [wording.general_doubt(found)] if found.general else []
    lines += [f"- {plain(clean_text(text, _CHARS))}" for text in told]
    if found.doubts > len(told):
        more = say("{n:count} more doubt", "{n:count} more doubts", n=found.doubts - len(told))
        lines.append(f"- {plain(more)}")
    return [*lines, ""] if told else lines


def _figures(comparison: Comparison) -> list[str]:
    names = (comparison.baseline.name, comparison.candidate.name)
    shown = cards.figures(comparison).cards
    if not shown:
        return []
    lines = [table_row(["", *names, say("change"), say("basis")]), "|---|---:|---:|---:|---|"]
    lines += [
        table_row([card.label, card.baseline, card.candidate, card.change, card.basis])
        for card in shown
    ]
    return [*lines, ""]


def _ladder(comparison: Comparison) -> list[str]:
    found = ladder_of(comparison)
    return [] if found is None else [_told(ladder.ladder_parts(found)), ""]


def _step(comparison: Comparison) -> list[str]:
    lines = [_told(line) for line in step.step_lines(comparison)]
    sentence = step.step_sentence(comparison)
    told = [*([plain(unbroken(sentence))] if sentence else []), *lines]
    return (
        [
            f"**{plain(step.step_title(comparison.baseline, comparison.candidate))}**",
            "",
            *(f"- {line}" for line in told),
            "",
        ]
        if told
        else []
    )


def _patterns(comparison: Comparison) -> list[str]:
    if comparison.is_explained:
        return _steps(comparison)
    if not comparison.ledger.has_gains:
        return []
    records = comparison.ledger.patterns.head(_PATTERNS).to_dict("records")
    times = [
        (known(record["before_ns"]), known(record["after_ns"]), _negative(known(record["gain_ns"])))
        for record in records
    ]
    columns = units.change_columns(times)
    heads = [
        say("original operators"),
        say("groups"),
        with_unit(say("baseline"), columns.unit),
        with_unit(say("candidate"), columns.unit),
        with_unit(say("change"), columns.unit),
    ]
    lines = [f"**{plain(clean_text(wording.change_title(comparison), _CHARS))}**", ""]
    lines += [table_row(heads), "|---|---:|---:|---:|---:|"]
    for record, found in zip(records, times, strict=True):
        label = clean_text(f"{originals_text(record)} {becomes_text(record)}", 100)
        cells = columns.numbers(*found)
        lines.append(table_row([label, units.count(record["groups"]), *cells]))
    return [*lines, ""]


def _steps(comparison: Comparison) -> list[str]:
    """The steps from the baseline's unit of work to the candidate's, where no group is proven."""
    steps = explained_steps.steps_of(comparison)
    times = units.column_of(each.value_ns for each in steps)
    lines = [
        f"**{plain(explained_steps.TITLE.text())}**",
        "",
        table_row([say("change"), with_unit(say("time"), times.unit)]),
    ]
    lines.append("|---|---:|")
    for each in steps:
        time = times.number(each.value_ns, signed=each.kind != "total")
        lines.append(table_row([clean_text(each.label, 100), time]))
    return [*lines, ""]


def _limits(comparison: Comparison) -> list[str]:
    found = findings(Subject(comparison.candidate, comparison))
    title = _told(finding_words.FINDINGS_TITLE.parts(side=comparison.candidate.name))
    lines = [f"**{title}**", ""]
    if not found.found:
        return [*lines, plain(finding_words.NOTHING.text()), ""]
    for place, finding in enumerate(found.found[:TOP], 1):
        limits = _told(finding_words.limit_parts(finding))
        gain = _told(finding_words.gain_parts(finding, found.run_ns))
        lines.append(f"{place}. {limits} {gain}")
    return [*lines, ""]


def _negative(ns: float | None) -> float | None:
    """The change that goes with a gain."""
    return None if ns is None else -ns
