"""The Compare page: the verdict, what changed, whether it can be trusted, and the timelines; all
else is in parts below that are computed where they are open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.distribution import distribution
from fusescope.analysis.interval import interval_picture
from fusescope.analysis.messages import Message
from fusescope.analysis.wording.counted import runs_of
from fusescope.analysis.wording.fusion.title import is_of_fusion
from fusescope.analysis.wording.texts import RUN_TIMES
from fusescope.app import state
from fusescope.app.parts import entered_runs, exports, operators, pair, panels, roofline, settings
from fusescope.app.parts.comparison import (
    figures,
    files,
    groups,
    limits,
    ranks,
    runs,
    several,
    times,
)
from fusescope.app.parts.copying import buttons
from fusescope.app.parts.explanation import explained
from fusescope.app.parts.folds.fold import bring, fold
from fusescope.app.parts.pair import Chosen
from fusescope.app.parts.several import all_engines
from fusescope.app.parts.start.opening import Shows
from fusescope.app.sources import engines
from fusescope.app.sources.comparisons import Shown

_GROUPS = Message("What fusion bought, group by group")
_GROUPS_OF_OTHERS = Message("Where the change came from, group by group")
_GROUPS_OF_TRACES = Message("Groups of kernels by class and by what launched them")
_SEVERAL = Message("All variants in one table")
_TIMES = Message("Where the time goes")
_LIMITS = Message("What limits the candidate, and what to try")
_FIGURES = Message("Figures of both sides, and what the modelled ones assume")
_ROOFLINE = Message("Roofline")
_FILES = Message("What the files say")


def show(
    trace_page: st.Page,
    record_page: st.Page,
    engines_page: st.Page,
    shown_on: Mapping[Shows, StreamlitPage],
) -> None:
    """Draw the page; the others are linked to, and those of `shown_on` led to."""
    with panels.page():
        others = dict(shown_on)
        others.pop("compare", None)
        chosen = pair.choose(trace_page, others)
        if chosen is not None:
            _results(chosen, record_page, engines_page, shown_on["fleet"])


def _results(
    chosen: Chosen, record_page: st.Page, engines_page: st.Page, fleet_page: st.Page
) -> None:
    """Draw the answer, then the parts; the settings are among the figures, and hold for all."""
    shown = chosen.compare(settings.current())
    if shown is None:
        return
    comparison = shown.comparison
    with chosen.main:
        panels.verdict(comparison)
        buttons.show(shown)
    explained.show(shown)
    ranks.way_to_fleet(comparison, fleet_page)
    entered_runs.ask(shown, chosen.baseline, chosen.candidate)
    panels.trust(comparison)
    with chosen.side, st.container(horizontal=True, horizontal_alignment="right", gap="xsmall"):
        exports.downloads(shown)  # whose names are redacted, which takes longer than the answer
    _engines(chosen, engines_page)
    operators.show(shown)
    _first_parts(shown, record_page)
    of_figures = st.expander(_FIGURES.text(), key="figures", bind="query-params")
    with of_figures, panels.guarded():
        if of_figures.open:
            figures.show(comparison)
        settings.assumptions()
    _last_parts(comparison)
    bring()


def _first_parts(shown: Shown, record_page: st.Page) -> None:
    comparison = shown.comparison
    is_of_traces = comparison.is_explained or comparison.verdict.reason == "no_change"
    title = _GROUPS if is_of_fusion(comparison) else _GROUPS_OF_OTHERS
    title = _GROUPS_OF_TRACES if is_of_traces else title
    fold("groups", title, partial(groups.show, shown, record_page))
    assumed = replace(shown.assumptions, runs=(None, None), work=None)
    fold(state.pages.SEVERAL_FOLD, _SEVERAL, partial(several.show, assumed))
    fold("times", _TIMES, partial(times.show, comparison))
    fold("limits", _LIMITS, partial(limits.show, shown, record_page))


def _last_parts(comparison: Comparison) -> None:
    fold("roofline", _ROOFLINE, partial(roofline.show, comparison))
    if distribution(comparison) is not None or interval_picture(comparison.verdict) is not None:
        fold("runs", RUN_TIMES[runs_of(comparison).word], partial(runs.show, comparison))
    fold("files", _FILES, partial(files.show, comparison))


def _engines(chosen: Chosen, engines_page: st.Page) -> None:
    """The way to all engines that ran the model, where there are several."""
    key = engines.key_of((chosen.baseline, chosen.candidate), state.files.opened())
    if key is not None:
        all_engines(engines_page, key)
