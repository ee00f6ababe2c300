"""What can be taken away: the report, JSON, CSV."""

from __future__ import annotations

import streamlit as st

from analysis.compare.comparison import Comparison
from app import tables
from app.loading import Shown


def downloads(shown: Shown) -> None:
    """The report, and behind a small button other formats; each is made when asked for."""
    comparison = shown.comparison
    with st.popover("More", help="JSON and CSV"):
        environment = st.checkbox(
            "Keep folders in the report",
            key="environment",
            help=(
                "Recorded commands, model names and settings then show whole paths, which may "
                "name users and projects. Off: the last part of each path only."
            ),
        )
        st.download_button(
            "Comparison as JSON",
            lambda: _json(comparison),
            file_name="comparison.json",
            mime="application/json",
            on_click="ignore",
            key="download_json",
            width="stretch",
        )
        st.download_button(
            "Operators as CSV",
            lambda: tables.operator_table(tables.operator_rows(shown)).csv,
            file_name="operators.csv",
            mime="text/csv",
            on_click="ignore",
            key="download_operators",
            width="stretch",
        )
        st.download_button(
            "Fusion ledger as CSV",
            lambda: ledger_csv(comparison),
            file_name="fusion_ledger.csv",
            mime="text/csv",
            on_click="ignore",
            key="download_ledger",
            width="stretch",
        )
        st.download_button(
            "Op types as CSV",
            lambda: tables.type_table(comparison).csv,
            file_name="op_types.csv",
            mime="text/csv",
            on_click="ignore",
            key="download_types",
            width="stretch",
        )
    st.download_button(
        "Report",
        lambda: _report(comparison, environment),
        file_name=_report_name(comparison),
        mime="text/html",
        on_click="ignore",
        key="download_report",
        type="primary",
        icon=":material/description:",
        help="One HTML file with everything on this page: no network, readable by itself",
    )


def _report(comparison: Comparison, environment: bool) -> bytes:
    from analysis.report.html import report_html

    return report_html(comparison, include_environment=environment).encode()


def _report_name(comparison: Comparison) -> str:
    from analysis.report.html import report_file_name

    return report_file_name(comparison)


def _json(comparison: Comparison) -> bytes:
    from analysis.report.comparison_json import comparison_json

    return comparison_json(comparison)


def ledger_csv(comparison: Comparison) -> bytes:
    """The fusion ledger: a line a group, then the terms."""
    from analysis.report import ledger_csv as csv

    return csv.ledger_csv(comparison)
