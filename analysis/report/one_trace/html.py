"""The report of one trace: what takes its time and what need not be, as one HTML file that needs
no network and can be read without script."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from fusescope.analysis import wording
from fusescope.analysis.advice import Findings, Subject, findings
from fusescope.analysis.advice.explanation import explain_subject
from fusescope.analysis.advice.explanation.explanation import TraceExplanation
from fusescope.analysis.advice.explanation.model_tree import TracedTree, tree_of_trace
from fusescope.analysis.colours import report_sheet
from fusescope.analysis.compare.side import Side
from fusescope.analysis.messages import Part, passage
from fusescope.analysis.readers.packed.report import GENERATOR
from fusescope.analysis.report import languages
from fusescope.analysis.report.doctor import facts_of
from fusescope.analysis.report.explanation.rows import ExplainedRows
from fusescope.analysis.report.explanation.trace_rows import TOGETHER, trace_rows
from fusescope.analysis.report.limits import limits_of
from fusescope.analysis.report.model_tree.rows import trace_tree_rows
from fusescope.analysis.report.one_trace.summary import summary_of_trace
from fusescope.analysis.report.one_trace.tables import operator_rows, type_rows
from fusescope.analysis.report.origins import origin_of
from fusescope.analysis.report.pages import asset, policy, template
from fusescope.analysis.report.text import slug, unbroken_parts
from fusescope.analysis.report.timelines import (
    Drawing,
    drawing,
    section,
    style_sheets,
    timeline_script,
)
from fusescope.analysis.timeline.highlight import ShownChange, of_calls
from fusescope.analysis.timeline.payload import trace_payload
from fusescope.analysis.wording import findings as finding_words
from fusescope.analysis.wording import step as step_words
from fusescope.analysis.wording.diagnostics.early_end import end_caution
from fusescope.analysis.wording.explanation import details as explained_words
from fusescope.analysis.wording.texts import PER_WORD
from fusescope.analysis.wording.trees.model_tree import TREE_HELP, costliest_said
from fusescope.analysis.work_units import run_word


@dataclass(frozen=True)
class _Content:
    """The content of the page in every language, computed once; nothing of a file that ends
    early, whose sums are not those of a run."""

    subject: Subject
    found: Findings
    explained: TraceExplanation | None
    drawn: Drawing | None
    places: Sequence[ShownChange | None]
    is_made: bool

    @property
    def rows(self) -> ExplainedRows | None:
        """Return what need not be in rows; None where nothing is explained."""
        if self.explained is None:
            return None
        return trace_rows(self.explained, self.subject.trace, self.places)


def trace_html(subject: Subject, *, is_made: bool = False) -> str:
    """Return the report of the side that findings are about, `is_made` of a sample that nothing
    recorded: equal traces give equal bytes.

    It loads nothing and runs only its own scripts, named by hash in its content security policy.
    Every text of the trace is escaped. It holds no data to be opened again.
    """
    side = subject.side
    has_starts = not side.trace.calls["start_ns"].isna().any()
    drawn = drawing(trace_payload(side)) if has_starts else None
    explained = None if side.trace.ends_early else explain_subject(subject)
    savings = explained.savings if explained is not None else ()
    places = tuple(
        None
        if drawn is None
        else of_calls(
            drawn.payload, side.trace, each.calls, each.longest, together=each.code in TOGETHER
        )
        for each in savings
    )
    content = _Content(subject, findings(subject), explained, drawn, places, is_made)
    return languages.in_every_language(lambda codes: _page(content, codes))


def trace_report_name(side: Side) -> str:
    """Return a name for the file: letters, digits and hyphens of what it is about."""
    name = re.sub(r"(?i)(\.(json|zip|gz))+$", "", side.name)
    return f"{slug(name)}-fusescope.html"


def _page(content: _Content, codes: Sequence[str]) -> str:
    """Return the report in the language that is spoken; `codes` are all that it will be in."""
    side = content.subject.side
    scripts = {
        "report_script": asset("report.js"),
        "keys_script": asset("keys.js"),
        "languages_script": asset("languages.js") if len(codes) > 1 else "",
    }
    sheet = "\n".join((report_sheet(), asset("report.css"), languages.style(codes)))
    has_timeline = content.drawn is not None
    run_scripts = ((timeline_script(),) if has_timeline else ()) + tuple(scripts.values())
    title = wording.trace_parts(side)
    return template("one_trace.html").render(
        language=codes[0],
        switch=languages.switch(codes),
        csp=policy(filter(None, run_scripts)),
        generator=GENERATOR,
        styles=list(map(Markup, (*style_sheets(), sheet))),
        title="".join(part.text for part in title),
        label=side.name,
        parts=title,
        summary=summary_of_trace(side, is_made=content.is_made),
        caution=wording.trace_facts(side) if side.trace.ends_early else end_caution(side.trace),
        others=wording.units_text(side.trace),
        origin=origin_of(side, is_alone=True),
        timelines_section="" if content.drawn is None else section(content.drawn, None),
        file_facts=facts_of([side]),
        finding_words=finding_words,
        explained_words=explained_words,
        step_words=step_words,
        **({"is_whole": False} if side.trace.ends_early else _whole(content)),
        **{name: Markup(text) for name, text in scripts.items()},
    )


def _whole(content: _Content) -> dict[str, Any]:
    """Return what a file that does not end early says beside its head."""
    side, drawn = content.subject.side, content.drawn
    tree = tree_of_trace(side.trace)
    operators = operator_rows(side)
    [bar] = step_words.bars_of([("candidate", side)]) or [None]
    return {
        "is_whole": True,
        "explained": content.rows,
        "step": bar,
        "step_title": step_words.step_title(side),
        "findings": limits_of(side.label, content.found, drawn.payload if drawn else None, 0),
        "operators": operators,
        "operator_rows": {row.row for row in (*operators.visible, *operators.folded)},
        "types": type_rows(side),
        "mean_per": str(PER_WORD[run_word(side.trace)]["mean"]) if side.trace.has_runs else "",
        "tree": None if tree is None else trace_tree_rows(tree, side.trace),
        "tree_lead": _lead(tree),
        "tree_help": TREE_HELP.text(),
    }


def _lead(tree: TracedTree | None) -> list[Part]:
    """Return the sentence on the part of the model that takes most; nothing where none stands
    out."""
    if tree is None or tree.costliest is None:
        return []
    said = costliest_said(tree.costliest, tree.tree.unit_kind, tree.unit_name)
    return unbroken_parts(passage(*(each.parts() for each in said)))
