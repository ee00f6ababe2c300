"""The HTML report: one file that needs no network, verdict first, readable without script."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from markupsafe import Markup

from fusescope.analysis import wording
from fusescope.analysis.advice import Findings, Subject, findings
from fusescope.analysis.colours import report_sheet
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.multiple.comparison import MultipleComparison
from fusescope.analysis.compare.multiple.ladder import ladder_of
from fusescope.analysis.compare.side import Side, engines_differ
from fusescope.analysis.compare.totals import totals
from fusescope.analysis.compare.trust import trust
from fusescope.analysis.interval import interval_picture
from fusescope.analysis.messages import listed, paragraph, say
from fusescope.analysis.readers.packed.report import GENERATOR
from fusescope.analysis.report import cards, languages, tables
from fusescope.analysis.report.ablation import ablation_table
from fusescope.analysis.report.blocked import apart_rows, blocked_notes, blocked_rows
from fusescope.analysis.report.counters import counters
from fusescope.analysis.report.doctor import file_facts
from fusescope.analysis.report.embedded import MAX_BYTES, embedded, with_data
from fusescope.analysis.report.explanation.rows import explained_rows
from fusescope.analysis.report.explanation.summary import summary_parts
from fusescope.analysis.report.ledger import ledger_table
from fusescope.analysis.report.limits import limits
from fusescope.analysis.report.method import method
from fusescope.analysis.report.model_tree.rows import tree_rows
from fusescope.analysis.report.multiple.ladder import ladder_html
from fusescope.analysis.report.multiple.table import (
    pareto_html,
    recorded_together,
    several_table,
    table_html,
)
from fusescope.analysis.report.origins import origins
from fusescope.analysis.report.pages import asset, policy, template
from fusescope.analysis.report.pictures.distribution import strip_plot
from fusescope.analysis.report.pictures.roofline import roofline
from fusescope.analysis.report.pictures.waterfall import waterfall
from fusescope.analysis.report.text import (
    model_name,
    slug,
    unbroken,
    unbroken_parts,
    with_short_labels,
)
from fusescope.analysis.report.timelines import (
    Drawing,
    drawing,
    section,
    style_sheets,
    timeline_script,
)
from fusescope.analysis.report.tried import tried_table
from fusescope.analysis.timeline.highlight import ShownChange, of_changes
from fusescope.analysis.timeline.payload import timeline_payload
from fusescope.analysis.trace import Diagnostic
from fusescope.analysis.units import column_of
from fusescope.analysis.wording import findings as finding_words
from fusescope.analysis.wording import step as step_words
from fusescope.analysis.wording import tried as tried_words
from fusescope.analysis.wording.advice import NEAR_MISSES_HELP
from fusescope.analysis.wording.counted import runs_of
from fusescope.analysis.wording.explanation import details as explained_words
from fusescope.analysis.wording.explanation import waterfall as explained_steps
from fusescope.analysis.wording.fusion.apart import APART_HELP
from fusescope.analysis.wording.fusion.groups import KNOWN_BY_HELP, LEDGER_HELP
from fusescope.analysis.wording.fusion.joined import JOINED_HELP, OWN_GROUPS
from fusescope.analysis.wording.fusion.terms import WATERFALL_HELP
from fusescope.analysis.wording.texts import RUN_TIMES
from fusescope.analysis.wording.trees.model_tree import TREE_HELP
from fusescope.analysis.wording.waterfall import waterfall_terms

MAX_HEAD = 18  # characters


def report_html(comparison: Comparison, *, include_environment: bool = False) -> str:
    """The report as one HTML page: equal comparisons give equal bytes.

    It loads nothing and runs only its own scripts, named by hash in its content security policy.
    Every text of a trace is escaped. Folders of commands and names are in it only with
    `include_environment`.
    """
    data = embedded(comparison.given, comparison.assumptions, private=not include_environment)
    drawn = drawing(timeline_payload(with_short_labels(comparison)))
    changes = of_changes(drawn.payload, comparison)
    found = findings(Subject(comparison.candidate, comparison))  # once for all languages
    several = recorded_together(comparison)
    page = languages.in_every_language(
        lambda codes: _page(
            comparison,
            found,
            several,
            codes,
            drawn,
            changes,
            include_environment,
            len(data) if data else None,
        )
    )
    return page if data is None else with_data(page, data)


def _page(
    comparison: Comparison,
    found: Findings,
    several: MultipleComparison | None,
    codes: Sequence[str],
    drawn: Drawing,
    changes: Sequence[ShownChange | None],
    include_environment: bool,
    data_bytes: int | None,
) -> str:
    """The report in the language that is spoken; `codes` are all that it will be in,
    `data_bytes` what both sides take in the page, None where they do not."""
    shown = with_short_labels(comparison)
    scripts = {
        "report_script": asset("report.js"),
        "keys_script": asset("keys.js"),
        "languages_script": asset("languages.js") if len(codes) > 1 else "",
    }
    report = "\n".join((report_sheet(), asset("report.css"), languages.style(codes)))
    sheets = (*style_sheets(), report)
    return template("template.html").render(
        language=codes[0],
        switch=languages.switch(codes),
        csp=policy((timeline_script(), *filter(None, scripts.values()))),
        full_names={
            shown.baseline.label: comparison.baseline.label,
            shown.candidate.label: comparison.candidate.label,
        },
        several=_several(comparison, several) if several is not None else None,
        ladder=ladder_html(ladder_of(comparison), has_ledger=True),
        timelines_section=section(drawn, wording.drawn_text(shown)),
        findings=limits(shown, found, drawn.payload),
        method=method(shown, include_environment=include_environment),
        styles=list(map(Markup, sheets)),
        generator=GENERATOR,
        data_bytes=data_bytes,
        most_data_bytes=MAX_BYTES,
        is_private=not include_environment,
        origins=origins(comparison),
        explained=explained_rows(shown, changes),
        explained_words=explained_words,
        **_verdict(shown),
        **_fusion(shown),
        **_tables(shown),
        **{name: Markup(text) for name, text in scripts.items()},
    )


def _several(comparison: Comparison, multiple: MultipleComparison) -> dict[str, Any]:
    """All variants of the recording: the table, and speed against what it costs."""
    experiment = comparison.baseline.experiment
    table = several_table(multiple, len(experiment.traces) if experiment else 0)
    title = say("All recorded variants")
    return {
        "title": title,
        "baseline": multiple.baseline.name,
        "answer": table.answer,
        "table": table_html(table, title),
        # Of a pair that is a ladder itself, that stands on top.
        "ladder": ladder_html(
            None if ladder_of(comparison) else ladder_of(multiple), "h3", has_ledger=True
        ),
        "pareto": pareto_html(multiple, table),
    }


def _no_verdict(shown: Comparison) -> str:
    """Return that there is no verdict, and why; '' where there is a speedup."""
    if shown.verdict.speedup is not None:
        return ""
    return paragraph(say("There is none, and no speedup."), wording.why_not_told(shown.verdict))


def _verdict(shown: Comparison) -> dict[str, Any]:
    """The head of the page: what was compared, the verdict, the doubts and the figures."""
    headline, _ = wording.headline_and_noise(shown)
    of_runs = totals(shown)
    return {
        "title": _title(shown),
        "subject": _subject(shown),
        "parts": headline,
        "summary": summary_parts(shown),
        "interval_text": wording.verdict_interval(shown.verdict),
        "interval_name": wording.interval_name(shown.verdict),
        "basis": wording.verdict_basis(shown.verdict),
        "change": unbroken(wording.change_sentence(shown)),
        "interval": interval_picture(shown.verdict),
        "labels": (shown.baseline.label, shown.candidate.label),
        "sides": _column_names(shown),
        "verdict": shown.verdict,
        "no_verdict": _no_verdict(shown),
        "trust": _trust(shown),
        "file_facts": file_facts(shown),
        "step": {bar.role: bar for bar in step_words.step_bars(shown)},
        "step_lines": step_words.step_lines(shown),
        "run_times": RUN_TIMES[runs_of(shown).word].text(),
        "beside_lead": [] if shown.explanation else unbroken_parts(wording.fusion_parts(shown)),
        "step_title": step_words.step_title(shown.baseline, shown.candidate),
        "step_sentence": unbroken(step_words.step_sentence(shown)),
        "step_words": step_words,
        "finding_words": finding_words,
        "tried": tried_table(shown),
        "tried_heads": tried_words.HEADS,
        "figures": cards.figures(shown),
        "totals_of_runs": [
            (
                wording.total_label(total, shown),
                total.baseline_ns,
                total.candidate_ns,
                wording.total_basis(total, shown),
            )
            for total in of_runs
        ],
        # A side that takes far longer leaves no digits to tell the other's times apart.
        "totals_columns": (
            column_of(total.baseline_ns for total in of_runs),
            column_of(total.candidate_ns for total in of_runs),
        ),
        "has_changes": shown.has_changes,
        "per": wording.per_text(shown),
        "mean_per": wording.mean_text(shown),
        "order": wording.order_text(shown),
    }


def _fusion(shown: Comparison) -> dict[str, Any]:
    """What fusion bought, group by group, and what it left."""
    one_model = not shown.is_of_other_work
    return {
        "change_title": str(explained_steps.TITLE)
        if shown.is_explained
        else wording.change_title(shown),
        "is_explained": shown.is_explained,
        "groups_title": str(explained_steps.GROUPS),
        "coverage": wording.coverage_sentence(shown),
        "beside_explanation": unbroken(wording.beside_explanation(shown)),
        "slow_executions": unbroken(
            "".join(part.text for part in wording.slow_parts(shown.ledger))
        ),
        "waterfall_terms": str(explained_steps.TERMS)
        if shown.is_explained
        else waterfall_terms(shown),
        "weak": [
            unbroken(wording.diagnostic_sentence(note))
            for note in shown.diagnostics
            if note.code == "weak_attribution" and note.severity == "warning"
        ],
        "waterfall": waterfall(shown),
        "ledger": ledger_table(shown),
        "own_groups": OWN_GROUPS.text(),
        "own_groups_help": wording.counted(JOINED_HELP, shown),
        "ledger_method": _ledger_method(shown),
        "no_shares": wording.no_shares_sentence(shown.ledger),
        "no_speedups": wording.no_speedups_sentence(shown.ledger),
        "grey": wording.grey_sentence(shown),
        "time_of_sum": wording.time_of_sum(shown),
        "blocked": blocked_rows(shown) if one_model else None,
        "blocked_help": NEAR_MISSES_HELP.text(),
        "blocked_notes": blocked_notes(shown) if one_model else (),
        "apart": apart_rows(shown) if one_model else None,
        "apart_help": APART_HELP.text(),
        "ablation": ablation_table(shown) if one_model else None,
    }


def _tables(shown: Comparison) -> dict[str, Any]:
    """Operators in tables and under their roofs, and every run."""
    operators = tables.operator_rows(shown)
    return {
        "types": tables.type_rows(shown),
        "engines_apart": engines_differ(shown.baseline, shown.candidate),
        "types_note": wording.kinds_sentence(shown, "op_types"),
        "modules": tables.module_rows(shown),
        "modules_help": wording.MODULES_HELP.text(),
        "tree": tree_rows(shown),
        "tree_help": TREE_HELP.text(),
        "operators": operators,
        "operator_rows": {row.row for row in (*operators.visible, *operators.folded)},
        "totals": tables.operator_totals(shown),
        "communicates": bool((shown.op_classes["op_class"] == "communication").any()),
        "slow_in_means": wording.slow_in_means(shown),
        "counters": counters(shown),
        "counters_help": wording.counted(wording.COUNTERS_HELP, shown),
        "has_utilisation": tables.has_utilisation(shown),
        "roofline": roofline(shown),
        "roofline_help": wording.ROOFLINE_HELP.text(),
        "distribution": strip_plot(shown),
        "time_source": wording.TIME_SOURCES[shown.verdict.of].text(),
    }


def _trust(comparison: Comparison) -> dict[str, Any]:
    """The line under the verdict and the whole list: doubts, general ones apart, then notes."""
    found = trust(comparison.diagnostics)

    def sentences(diagnostics: Iterable[Diagnostic]) -> list[str]:
        return [unbroken(wording.diagnostic_sentence(one)) for one in diagnostics]

    return {
        "line": unbroken(wording.trust_line(found)),
        "doubts": found.doubts,
        "specific": sentences(found.specific),
        "general": sentences(found.general),
        "notes": sentences(found.notes),
        "general_head": wording.general_doubt(found),
        "all": wording.all_of_them(found),
        "is_empty": not comparison.diagnostics,
    }


def report_file_name(comparison: Comparison) -> str:
    """A name for the file: letters, digits and hyphens of what is compared, and a fixed end."""
    names = [re.sub(r"(?i)(\.(json|zip|gz))+$", "", side.label) for side, _ in _roles(comparison)]
    parts = (_subject(comparison), names[1], "vs", names[0])
    return f"{slug('-'.join(filter(None, parts)))}-fusescope.html"


def _roles(comparison: Comparison) -> tuple[tuple[Side, str], tuple[Side, str]]:
    return (comparison.baseline, "baseline"), (comparison.candidate, "candidate")


def _column_names(comparison: Comparison) -> tuple[str, str]:
    """The sides' labels where both fit a column's head, else their roles; of two equal labels what
    tells the sides apart."""
    first, second = _labels(comparison)
    if max(len(first), len(second)) <= MAX_HEAD:
        return first, second
    return say("baseline"), say("candidate")


def _labels(comparison: Comparison) -> tuple[str, str]:
    first, second = comparison.baseline, comparison.candidate
    if first.label == second.label:
        return first.name, second.name
    return first.label, second.label


def _title(comparison: Comparison) -> str:
    """The page's title: 'mobilenetv2: fused against unfused'."""
    subject = _subject(comparison)
    baseline, candidate = _labels(comparison)
    sides = {"candidate": candidate, "baseline": baseline}
    if subject:
        return say(
            "{model:name}: {candidate:name} compared with {baseline:name}", model=subject, **sides
        )
    return say("{candidate:name} compared with {baseline:name}", **sides)


def _subject(comparison: Comparison) -> str:
    """The model or models; '' where no file says."""
    sides = (comparison.baseline, comparison.candidate)
    names = (model_name(s.experiment.record.model) for s in sides if s.experiment)
    return listed(list(dict.fromkeys(names)))


def _ledger_method(comparison: Comparison) -> tuple[str, ...]:
    """What the ledger's words mean, and its sum in numbers."""
    sum_ = unbroken(wording.sum_sentence(comparison))
    helps = (wording.counted(text, comparison) for text in (LEDGER_HELP, WATERFALL_HELP))
    of_ledger, of_waterfall = helps
    return tuple(filter(None, (of_ledger, str(KNOWN_BY_HELP), of_waterfall, sum_)))
