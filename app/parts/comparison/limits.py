"""What limits the candidate, what to try, and what was tried."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import streamlit as st

from fusescope.analysis.advice import Subject
from fusescope.analysis.metrics.stretch import Stretch
from fusescope.analysis.timeline import highlight
from fusescope.app import state
from fusescope.app.parts.advice import findings, tried, tries
from fusescope.app.sources.comparisons import Shown


def show(shown: Shown, record_page: st.Page) -> None:
    """Draw what was tried, what limits the candidate, and what the `record_page` can try."""
    comparison = shown.comparison
    experiment = comparison.candidate.experiment
    if experiment is not None:
        tried.show(experiment.record, Path(experiment.file_name).stem)
    findings.show(
        shown.findings,
        comparison.candidate.name,
        partial(_stretch, shown),
        partial(_group, shown),
    )
    tries.show(Subject(comparison.candidate, comparison), shown.findings, record_page)


def _group(shown: Shown, group: int) -> None:
    """Lead to a group, where its operators and timelines are."""
    state.groups.select_group(shown.key, group)
    state.folds.open_fold("groups")


def _stretch(shown: Shown, stretch: Stretch) -> None:
    """Show a stretch of the candidate on its timeline."""
    found = highlight.of_side(shown.payload, 1, stretch)
    if found is not None:
        state.table.highlight(shown.key, found)
