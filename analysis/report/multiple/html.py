"""The report of several sides: one HTML file that needs no network, the answer first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from fusescope.analysis.colours import report_sheet
from fusescope.analysis.compare.multiple.comparison import MultipleComparison
from fusescope.analysis.compare.multiple.engines import has_engines
from fusescope.analysis.compare.multiple.ladder import ladder_of
from fusescope.analysis.messages import listed, say
from fusescope.analysis.readers.packed.report import GENERATOR
from fusescope.analysis.report import languages
from fusescope.analysis.report.embedded import MAX_BYTES, embedded, with_data
from fusescope.analysis.report.method import without_folders
from fusescope.analysis.report.multiple.ladder import ladder_html
from fusescope.analysis.report.multiple.table import pareto_html, several_table, table_html
from fusescope.analysis.report.origins import origins_of
from fusescope.analysis.report.pages import asset, policy, template
from fusescope.analysis.report.text import model_name, unbroken
from fusescope.analysis.report.timelines import (
    Drawing,
    drawing,
    section,
    style_sheets,
    timeline_script,
)
from fusescope.analysis.timeline.payload import several_payload
from fusescope.analysis.wording.multiple import comparison as words
from fusescope.analysis.wording.multiple import engines as engine_words
from fusescope.analysis.wording.trust import TRUST


def multiple_html(multiple: MultipleComparison, *, include_environment: bool = False) -> str:
    """The report as one HTML page: equal comparisons give equal bytes.

    It loads nothing and runs only its own scripts, named by hash in its content security policy.
    Every text of a trace is escaped. Folders of commands and names are in its data only with
    `include_environment`.
    """
    assumptions = multiple.comparisons[0].assumptions
    data = embedded(multiple.sides, assumptions, private=not include_environment)
    drawn = drawing(several_payload(multiple))
    held = {
        "data_bytes": len(data) if data else None,
        "most_data_bytes": MAX_BYTES,
        "is_private": not include_environment,
    }
    page = languages.in_every_language(lambda codes: _page(multiple, codes, drawn, held))
    return page if data is None else with_data(page, data)


def _page(
    multiple: MultipleComparison, codes: Sequence[str], drawn: Drawing, held: dict[str, Any]
) -> str:
    table = several_table(multiple)
    scripts = {
        "keys_script": asset("keys.js"),
        "languages_script": asset("languages.js") if len(codes) > 1 else "",
    }
    report = "\n".join((report_sheet(), asset("report.css"), languages.style(codes)))
    caption = say("Variants against the baseline, fastest first")
    return template("several.html").render(
        language=codes[0],
        switch=languages.switch(codes),
        csp=policy((timeline_script(), *filter(None, scripts.values()))),
        generator=GENERATOR,
        title=_title(multiple),
        subject=_subject(multiple),
        baseline=multiple.baseline.name,
        answer=table.answer,
        table=table_html(table, caption),
        table_help=words.MULTIPLE_HELP if table.has_intervals else "",
        bases=words.bases_sentence(multiple),
        ladder=ladder_html(ladder_of(multiple)),
        pareto=pareto_html(multiple, table, "h2"),
        timelines_section=section(drawn, say("in the order of the table")),
        timelines_help=words.TIMELINES_HELP,
        trust=TRUST,
        doubts=[unbroken(line) for line in words.doubt_lines(multiple)],
        origins=origins_of(multiple.sides),
        columns=table.columns,
        facts=table.facts,
        compares_title=engine_words.COMPARES_TITLE,
        compares=engine_words.compares_lines() if has_engines(multiple) else (),
        commands=_commands(multiple),
        **held,
        styles=list(map(Markup, (*style_sheets(), report))),
        **{name: Markup(text) for name, text in scripts.items()},
    )


def _title(multiple: MultipleComparison) -> str:
    subject = _subject(multiple)
    told = words.MULTIPLE_TITLE.text(baseline=multiple.baseline.name)
    return say("{label}: {text}", label=subject, text=told) if subject else told


def _subject(multiple: MultipleComparison) -> str:
    """The model or models; '' where no file says."""
    names = (model_name(s.experiment.record.model) for s in multiple.sides if s.experiment)
    return listed(list(dict.fromkeys(names)))


def _commands(multiple: MultipleComparison) -> tuple[str, ...]:
    """What recorded them, without folders."""
    records = (side.experiment.record for side in multiple.sides if side.experiment)
    told = (without_folders(record.settings.command) for record in records)
    return tuple(dict.fromkeys(filter(None, told)))
