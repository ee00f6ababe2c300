"""The Compare page: what is compared, the verdict, the figures behind it, and the doubts."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import streamlit as st

from analysis import wording
from analysis.advice import Subject
from analysis.compare.comparison import Comparison, Figure
from analysis.compare.ledger.modules import modules
from analysis.compare.multiple.comparison import MAX_SIDES
from analysis.compare.side import engines_differ
from analysis.compare.totals import totals
from analysis.messages import Message, paragraph, say
from analysis.metrics.stretch import Stretch
from analysis.report import cards
from analysis.report.origins import origins
from analysis.timeline import highlight
from analysis.wording import step as step_words
from app import state
from app.language import spoken
from app.parts import (
    doctor,
    entered_runs,
    exports,
    ledger,
    operators,
    pair,
    panels,
    roofline,
    settings,
    tables,
)
from app.parts.advice import findings, tried, tries
from app.parts.explanation import explained
from app.parts.heads import SIDES, told
from app.parts.model_tree.fold import show_tree
from app.parts.pair import Chosen
from app.parts.several import all_engines, steps
from app.parts.table import choice
from app.sources import choices, engines
from app.sources.comparisons import Shown

LAUNCHED, MODULES = "launched_by", "modules"
KINDS = {
    "op_types": tables.type_table,
    "classes": tables.class_table,
    MODULES: ledger.module_table,
    LAUNCHED: tables.launcher_table,
}
KIND_NAMES = {
    "op_types": Message("Op types"),
    "classes": Message("Classes"),
    MODULES: Message("Modules"),
    LAUNCHED: Message("Launched by"),
}
_ALTS = {  # with changes, and of two models
    "op_types": (
        Message("Op types of both sides, largest change first"),
        Message("Op types of both sides, longest time first"),
    ),
    "classes": (
        Message("Operator classes of both sides, largest change first"),
        Message("Operator classes of both sides, longest time first"),
    ),
    MODULES: (
        Message("Modules of the model, largest change first"),
        Message("Modules of the model, largest change first"),
    ),
    LAUNCHED: (
        Message("Operators that launched kernels, of both sides, largest change first"),
        Message("Operators that launched kernels, of both sides, longest time first"),
    ),
}
_MADE = {
    "baseline": Message("Baseline: {file:name}, {made:name}"),
    "candidate": Message("Candidate: {file:name}, {made:name}"),
}
HEAD_HEIGHT = 72
MAX_TYPES = 14  # rows that are shown without scrolling


def show(
    fusion_page: st.Page,
    trace_page: st.Page,
    record_page: st.Page,
    variants_page: st.Page,
    engines_page: st.Page,
) -> None:
    """Draw the page; the others are linked to."""
    with panels.page():
        chosen = pair.choose(trace_page, variants_page)
        if chosen is not None:
            _results(chosen, fusion_page, record_page, variants_page, engines_page)


def _results(
    chosen: Chosen,
    fusion_page: st.Page,
    record_page: st.Page,
    variants_page: st.Page,
    engines_page: st.Page,
) -> None:
    """Verdict and doubts, figures, what fusion bought, where the time went, then the runs."""
    with chosen.side:
        tools = st.container(horizontal=True, horizontal_alignment="right", gap="xsmall")
    with tools:
        assumptions = settings.assumptions()
    shown = chosen.compare(assumptions)
    if shown is None:
        return
    comparison = shown.comparison
    with chosen.main:
        panels.verdict(comparison)
        explained.show(shown)
        _interval(comparison)
        if comparison.explanation is None:
            _origins(comparison)
        _together(chosen, variants_page)
        _engines(chosen, engines_page)
        entered_runs.ask(shown, chosen.baseline, chosen.candidate)
    with tools:
        exports.downloads(shown)
    with panels.trust(comparison):
        doctor.link(comparison)
        if comparison.explanation is not None:
            panels.verdict_basis(comparison)
            _origins(comparison)
    if comparison.explanation is not None:
        operators.show(shown)
        show_tree(comparison)
    steps(comparison)
    _step(comparison)
    experiment = comparison.candidate.experiment
    if experiment is not None:
        tried.show(experiment.record, Path(experiment.file_name).stem)
    findings.show(
        shown.findings,
        comparison.candidate.name,
        partial(_stretch, shown),
        partial(_group, shown, fusion_page),
    )
    tries.show(Subject(comparison.candidate, comparison), shown.findings, record_page)
    _cards(comparison)
    if not comparison.is_explained:
        _bought(comparison, fusion_page)
    if comparison.explanation is None:
        operators.show(shown)
    _op_types(comparison)
    roofline.show(comparison)
    _runs(comparison)


def _group(shown: Shown, fusion_page: st.Page, group: int) -> None:
    """Lead to a group on the Fusion page, where its operators and timelines are."""
    state.groups.select_group(shown.key, group)
    st.switch_page(fusion_page)


def _stretch(shown: Shown, stretch: Stretch) -> None:
    """Show a stretch of the candidate on its timeline."""
    found = highlight.of_side(shown.payload, 1, stretch)
    if found is not None:
        state.table.highlight(shown.key, found)


def _interval(comparison: Comparison) -> None:
    """The speedup as a picture."""
    from analysis.charts.interval import interval

    figure = interval(comparison.verdict, panels.mark_colours())
    if figure is not None:
        with st.container(height=HEAD_HEIGHT, border=False):  # so that nothing below it moves
            alt = say("Speedup with its interval, the A/A control and no change")
            panels.chart(figure, "interval", alt)
        st.caption(panels.own(wording.interval_key(comparison.verdict)))


def _origins(comparison: Comparison) -> None:
    """Where the files come from."""
    files = origins(comparison)
    for role, origin in zip(SIDES, files, strict=False):
        made = str(origin.made)
        if len(files) > 1:
            st.text(_MADE[role].text(file=origin.file_name, made=made))
        else:
            st.text(say("{file:name}, {made:name}", file=origin.file_name, made=made))


def _together(chosen: Chosen, variants_page: st.Page) -> None:
    """The way to all variants that were recorded together with the candidate, where there are
    more."""
    ids = choices.together(chosen.candidate, state.files.opened())
    if len(ids) < 3:
        return
    front = [id_ for id_ in (chosen.baseline, chosen.candidate) if id_ in ids]
    shown = [*front, *(id_ for id_ in ids if id_ not in front)][:MAX_SIDES]
    st.page_link(
        variants_page,
        label=say(
            "{shown:count} of {n:count} recorded variants in one table",
            shown=len(shown),
            n=len(ids),
        ),
        icon=":material/table_rows:",
        query_params=state.pages.several_query(dict.fromkeys(shown)),
    )


def _engines(chosen: Chosen, engines_page: st.Page) -> None:
    """The way to all engines that ran the model, where there are several."""
    key = engines.key_of((chosen.baseline, chosen.candidate), state.files.opened())
    if key is not None:
        all_engines(engines_page, key)


def _step(comparison: Comparison) -> None:
    """Where the time of a run goes on each side, and what the change went to."""
    from analysis.charts.step import step

    figure = step(step_words.step_bars(comparison), panels.mark_colours())
    if figure is None:
        return
    st.subheader(step_words.STEP_TITLE.text(), anchor=False, help=step_words.STEP_HELP.text())
    if change := step_words.step_sentence(comparison):
        st.markdown(panels.own(change))
    panels.chart(figure, "step", say("The mean run of each side in parts"))
    lines = [panels.parts_text(line, "gray") for line in step_words.step_lines(comparison)]
    lines.append(panels.own(step_words.STEP_BASIS.text()))
    st.caption("  \n".join(lines))  # two spaces break a line


def _bought(comparison: Comparison, fusion_page: st.Page) -> None:
    """What fusion bought, by pattern: the top of the ledger, and the way to the rest."""
    if not comparison.ledger.has_gains:
        return
    with panels.guarded():
        with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
            title = panels.parts_text(wording.change_parts(comparison, by_pattern=True), "gray")
            st.subheader(
                title,
                anchor=False,
                help=wording.counted(wording.LEDGER_HELP, comparison),
                width="content",
            )
            st.page_link(fusion_page, label=say("All groups"), icon=":material/account_tree:")
        table = ledger.summary(comparison.ledger).of(comparison)
        alt = say("Patterns of fused operators, largest change first")
        table.draw("patterns_table", alt)
        terms = wording.reconciliation_sentence(comparison.ledger.reconciliation)
        unshared = wording.no_shares_sentence(comparison.ledger)
        st.caption(panels.own(paragraph(terms, unshared)))
        if slow := wording.slow_parts(comparison.ledger):
            st.caption(panels.parts_text(slow, "gray"))


def _cards(comparison: Comparison) -> None:
    """What both sides have, as cards; what is missing and why, as a line; the rest folded."""
    grid = st.grid(4, min_column_width=170, border=True, key="figures")
    first = cards.first_codes(comparison)
    for code in first:
        with grid.cell():
            figure = comparison.figure(code)
            detail = wording.figure_detail(comparison, code)
            panels.card(comparison, figure, detail, neutral=_may_be_noise(comparison, figure))
    missing = " ".join(gap.sentence for gap in cards.gaps(comparison))
    if missing:
        st.caption(panels.own(missing))
    _totals(comparison)
    with st.expander(say("More figures"), key="all_figures"):
        more = st.grid(4, min_column_width=200, border=True, key="more_figures")
        for figure in comparison.figures:
            if figure.code not in first and figure.is_known:
                with more.cell():
                    detail = wording.figure_detail(comparison, figure.code)
                    is_noise = _may_be_noise(comparison, figure)
                    panels.card(comparison, figure, detail, neutral=is_noise)
        st.caption(panels.own(wording.assumptions_sentence(comparison)))


def _may_be_noise(comparison: Comparison, figure: Figure) -> bool:
    """Whether a change of this figure is one of times that nobody can tell from noise."""
    return not comparison.verdict.is_decided and figure.baseline.unit in ("ns", "1/s")


def _totals(comparison: Comparison) -> None:
    """Which of the times of a run on this page is which."""
    found = totals(comparison)
    if len(found) < 2:
        return
    table = tables.totals_table(comparison, found)
    with st.expander(panels.own(wording.totals_title(comparison)), key="totals"):
        alt = say("Times on this page and what each is based on")
        table.draw("totals_table", alt, placeholder="–")


@st.fragment
@spoken
def _op_types(comparison: Comparison) -> None:
    with panels.guarded():
        with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
            traces = (comparison.baseline.trace, comparison.candidate.trace)
            launched = any(trace.operators["launched_by"].notna().any() for trace in traces)
            missing = {LAUNCHED} if not launched else set()
            missing |= {MODULES} if modules(comparison.ledger).empty else set()
            kinds = [name for name in KINDS if name not in missing]
            title = say("Op types and classes")
            if MODULES in kinds:
                title = say("Op types, classes and modules")
            help_ = wording.table_help(wording.OP_TYPES_HELP, comparison)
            st.subheader(title, anchor=False, help=help_, width="content")
            # Two engines call operators by words of their own: what both have comes first.
            apart = engines_differ(comparison.baseline, comparison.candidate)
            first = "classes" if apart else kinds[0]
            kind = panels.switch(
                say("Kind"),
                kinds,
                "kind_of_engines" if apart else "kind",
                default=first,
                shown=lambda code: KIND_NAMES[code].text(),
            )
            kind = kind if kind in kinds else first
            table = KINDS[kind](comparison).of(comparison)
            more = choice(table, "type_columns")
        alt = _ALTS[kind][0 if comparison.has_changes else 1].text()
        table.only(more).draw(f"{kind}_table", alt, max_rows=MAX_TYPES)
        st.caption(panels.own(wording.kinds_sentence(comparison, kind)))


def _runs(comparison: Comparison) -> None:
    from analysis.charts.run_times import run_times

    figure = run_times(comparison, panels.mark_colours())
    if figure is None:
        return
    st.subheader(say("Run times"), anchor=False, help=told(wording.RUN_TIMES_HELP))
    panels.chart(figure, "run_times", say("Every run of both sides"))
