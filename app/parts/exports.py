"""What can be taken away: the report, JSON, CSV."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import streamlit as st

from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.multiple.comparison import MultipleComparison
from fusescope.analysis.compare.side import Side
from fusescope.analysis.messages import Message, language, paragraph, say
from fusescope.analysis.recipes import RecipeTable
from fusescope.app.language import kept
from fusescope.app.parts import panels, tables
from fusescope.app.sources import alone, several
from fusescope.app.sources.comparisons import Shown

_REPORT = Message(
    "One HTML file with everything on this page, which needs no network. Writing it takes some "
    "seconds."
)
_LEFT_OUT = Message("Names of users, hosts and paths are left out, names of files are kept.")
_MIME = {"json": "application/json", "csv": "text/csv", "md": "text/markdown"}


def downloads(shown: Shown) -> None:
    """The report, and behind a small button other formats; each is made when asked for."""
    _say_while_written("download_report")
    with st.popover(say("Other formats"), help=say("Markdown, JSON, CSV and Perfetto")):
        private = _private()
        for label, name, key, write in (
            (say("Summary as Markdown"), "comparison.md", "markdown", _markdown),
            (say("Comparison as JSON"), "comparison.json", "json", _json),
            (say("Operators as CSV"), "operators.csv", "operators", _operators_csv),
            (say("Fusion ledger as CSV"), "fusion_ledger.csv", "ledger", _ledger_csv),
            (say("Op types as CSV"), "op_types.csv", "types", _types_csv),
            (say("Timelines for Perfetto"), "perfetto.json", "perfetto", _perfetto),
        ):
            st.download_button(
                label,
                partial(_written, write, shown, private),
                file_name=name,
                mime=_MIME[name.rpartition(".")[2]],
                on_click="ignore",
                key=f"download_{key}",
                width="stretch",
            )
    st.download_button(
        say("Report"),
        kept(lambda: _report(_taken(shown, private).comparison, not private)),
        file_name=_report_name(shown, private),
        mime="text/html",
        on_click="ignore",
        key="download_report",
        type="primary",
        icon=":material/description:",
        help=_report_help(private),
    )


def trace_download(side: Side, *, is_made: bool) -> None:
    """Draw the report of one trace or variant, made when asked for; `is_made` of a sample that
    nothing recorded."""
    from fusescope.analysis.report.one_trace.html import trace_report_name

    _say_while_written("download_trace")
    st.download_button(
        say("Report"),
        kept(lambda: alone.report(side, is_made=is_made)),
        file_name=trace_report_name(side),
        mime="text/html",
        on_click="ignore",
        key="download_trace",
        icon=":material/description:",
        help=paragraph(_REPORT.text(), _LEFT_OUT.text()),
    )


def several_downloads(multiple: MultipleComparison) -> None:
    """The report of several sides, and behind a small button other formats."""
    _say_while_written("download_several")
    with st.popover(say("Other formats"), help=say("Markdown, JSON, CSV and Perfetto")):
        private = _private("redact_several")
        for label, name, write in (
            (say("Table as Markdown"), "variants.md", _several_markdown),
            (say("Table as CSV"), "variants.csv", _several_csv),
            (say("Comparison as JSON"), "variants.json", _several_json),
            (say("Timelines for Perfetto"), "variants-perfetto.json", _several_perfetto),
        ):
            st.download_button(
                label,
                partial(several_bytes, multiple, private, write),
                file_name=name,
                mime=_MIME[name.rpartition(".")[2]],
                on_click="ignore",
                key=f"download_several_{name}",
                width="stretch",
            )
    st.download_button(
        say("Report"),
        kept(partial(_several_report, multiple, private)),
        file_name="variants-fusescope.html",
        mime="text/html",
        on_click="ignore",
        key="download_several",
        type="primary",
        icon=":material/description:",
        help=_report_help(private),
    )


def _report_help(private: bool) -> str:
    """What the report is, and whether names of users, hosts and paths are in it."""
    return paragraph(
        _REPORT.text(),
        say(
            "Names of users, hosts and paths are left out, names of files are kept; a choice "
            'behind "Other formats" changes that.'
        )
        if private
        else say('Names of users, hosts and paths are in it, as chosen behind "Other formats".'),
    )


def _say_while_written(key: str) -> None:
    """Say that the report is being written, as long as the button of this key is disabled
    (first_style.css)."""
    with st.container(key=f"{key}_writes", width="content"):
        st.caption(say("Writing the report …"))


def several_bytes(
    multiple: MultipleComparison, private: bool, write: Callable[[MultipleComparison], bytes]
) -> bytes:
    """What `write` makes of it in English, without names of users, hosts and paths where
    `private`."""
    with language.speaking(language.ENGLISH):
        return write(several.taken(multiple, private=private))


def _several_report(multiple: MultipleComparison, private: bool) -> bytes:
    from fusescope.analysis.report.multiple.html import multiple_html

    taken = several.taken(multiple, private=private)
    return multiple_html(taken, include_environment=not private).encode()


def _several_markdown(multiple: MultipleComparison) -> bytes:
    from fusescope.analysis.report.multiple.markdown import multiple_markdown

    return multiple_markdown(multiple).encode()


def _several_csv(multiple: MultipleComparison) -> bytes:
    from fusescope.analysis.report.multiple.csv import multiple_csv

    return multiple_csv(multiple)["variants.csv"]


def _several_json(multiple: MultipleComparison) -> bytes:
    from fusescope.analysis.report.exports.multiple_json import multiple_json

    return multiple_json(multiple)


def _several_perfetto(multiple: MultipleComparison) -> bytes:
    from fusescope.analysis.report.exports.perfetto import several_perfetto_json

    return several_perfetto_json(multiple)


def recipe_downloads(table: RecipeTable) -> None:
    """A recipe's table as a page, and behind a small button as CSV, Markdown and JSON."""
    from fusescope.analysis.report import recipe as made

    name = table.recipe.name
    with st.popover(say("Other formats"), help=say("CSV, Markdown and JSON")):
        private = _private()
        for label, extension, mime, write in (
            (say("Table as CSV"), "csv", "text/csv", made.recipe_csv),
            (say("Table as Markdown"), "md", "text/markdown", made.recipe_markdown),
            (say("Table as JSON"), "json", "application/json", made.table_json),
        ):
            st.download_button(
                label,
                kept(partial(recipe_bytes, table, private, write)),
                file_name=f"recipe-{name}.{extension}",
                mime=mime,
                on_click="ignore",
                key=f"download_recipe_{extension}",
                width="stretch",
            )
    st.download_button(
        say("Table as a page"),
        kept(partial(recipe_bytes, table, private, made.recipe_html)),
        file_name=f"recipe-{name}.html",
        mime="text/html",
        on_click="ignore",
        key="download_recipe_html",
        icon=":material/description:",
        help=say("One HTML file with the table, the published figures and how it was recorded"),
    )


def _private(key: str = "redact") -> bool:
    """Whether names of users, hosts and paths are left out."""
    return st.checkbox(
        say("Leave out user, host and path names"),
        value=True,
        key=key,
        help=panels.own(
            say(
                "Names of users and hosts and absolute paths become placeholders such as <user1>, "
                "the same ones on both sides, in everything that is downloaded, the report too. "
                "Names of files stay. If this is off, commands, settings and names are kept as "
                "recorded, which may name users and projects."
            )
        ),
    )


def recipe_bytes(
    table: RecipeTable, private: bool, write: Callable[[RecipeTable], str | bytes]
) -> bytes:
    """What `write` makes of the table, without names of users, hosts and paths where `private`."""
    from fusescope.analysis.redaction import redacted

    if private:  # the cells are figures and words of ours: only the facts beside them name anybody
        table = replace(table, experiment=redacted(table.experiment))
    data = write(table)
    return data.encode() if isinstance(data, str) else data


def _taken(shown: Shown, private: bool) -> Shown:
    """What is taken away: without names of users, hosts and paths where `private`."""
    return shown.redacted if private else shown


def _written(write: Callable[[Shown], bytes], shown: Shown, private: bool) -> bytes:
    with language.speaking(language.ENGLISH):  # these are the same in every language
        return write(_taken(shown, private))


def _report(comparison: Comparison, environment: bool) -> bytes:
    from fusescope.analysis.report.html import report_html

    return report_html(comparison, include_environment=environment).encode()


def _report_name(shown: Shown, private: bool) -> str:
    from fusescope.analysis.report.html import report_file_name

    comparison = shown.comparison
    if private:
        baseline, candidate = shown.redacted_sides
        comparison = replace(comparison, baseline=baseline, candidate=candidate)
    return report_file_name(comparison)


def _json(shown: Shown) -> bytes:
    from fusescope.analysis.report.exports.comparison_json import comparison_json

    return comparison_json(shown.comparison)


def _markdown(shown: Shown) -> bytes:
    from fusescope.analysis.report.exports.comparison_markdown import comparison_markdown

    return comparison_markdown(shown.comparison).encode()


def _perfetto(shown: Shown) -> bytes:
    from fusescope.analysis.report.exports.perfetto import perfetto_json

    return perfetto_json(shown.comparison)


def _operators_csv(shown: Shown) -> bytes:
    return tables.operator_table(tables.operator_rows(shown)).of(shown.comparison).csv


def _types_csv(shown: Shown) -> bytes:
    return tables.type_table(shown.comparison).of(shown.comparison).csv


def _ledger_csv(shown: Shown) -> bytes:
    return ledger_csv(shown.comparison)


def ledger_csv(comparison: Comparison) -> bytes:
    """The fusion ledger: a line a group, then the terms."""
    from fusescope.analysis.report.exports import ledger_csv as csv

    with language.speaking(language.ENGLISH):
        return csv.ledger_csv(comparison)
