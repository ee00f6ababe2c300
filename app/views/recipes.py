"""The Recipes page: published fusion recipes, each repeated on this machine with one click."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from fusescope.analysis import units, wording
from fusescope.analysis.compare.timing.verdict import Verdict
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import listed, say
from fusescope.analysis.recipes import RECIPES, Recipe, beside_published, find
from fusescope.analysis.wording import recipes as words
from fusescope.app import state
from fusescope.app.parts import panels
from fusescope.app.recipes import card, results, run
from fusescope.app.recipes.results import SHIPPED, Result
from fusescope.app.recording import progress, recorder

_MACHINE_CHARS = 44


def show(recipes_page: st.Page, compare_page: st.Page) -> None:
    """Draw one recipe where the address names one, else all of them."""
    with panels.page():
        name = state.pages.recipe()
        chosen = None
        try:
            chosen = find(name) if name is not None else None
            state.pages.keep_recipe(name)
        except FuseScopeError as error:
            panels.problem(error, say("This link does not lead to a recipe."))
        if chosen is not None:
            card.show(chosen, recipes_page, compare_page)
        else:
            _all(recipes_page)


def _all(recipes_page: st.Page) -> None:
    st.header(say("Recipes"), anchor=False)
    st.markdown(
        say(
            "Published tuning recipes. Each one is a recording that runs on this machine with one "
            "click. Published figures are shown beside those measured, with the reasons why they "
            "differ."
        )
    )
    status = recorder.RECORDER.status
    if status is not None and status.running:
        progress.running()
    elif status is not None and status.recipe:
        with st.container(horizontal=True, vertical_alignment="center"):
            failed = status.error is not None
            st.badge(
                say("Nothing was recorded") if failed else say("Recorded"),
                color="red" if failed else "blue",
            )
            st.page_link(
                recipes_page,
                label=panels.own(status.recipe),
                query_params=state.pages.recipe_query(status.recipe),
            )
    grid = st.grid(3, min_column_width=300, border=True, key="recipes")
    own = results.recorded()
    for recipe in RECIPES:
        with grid.cell(), panels.guarded():
            _tile(recipe, results.results(recipe, own), recipes_page)


def _tile(recipe: Recipe, found: Mapping[str, Result], recipes_page: st.Page) -> None:
    st.subheader(panels.own(recipe.title), anchor=False)
    st.markdown(panels.own(recipe.question))
    st.markdown(card.steps_text(recipe))
    _headline(recipe, next(iter(found.values()), None))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(_state(recipe, found), width="stretch")
        st.page_link(
            recipes_page,
            label=say("Open"),
            icon=":material/arrow_forward:",
            icon_position="right",
            help=panels.own(recipe.title),
            query_params=state.pages.recipe_query(recipe.name),
        )


def _headline(recipe: Recipe, result: Result | None) -> None:
    """The verdict on the pair that says most, and a published figure below ours of the same."""
    with st.container(gap="xxsmall"):
        if result is None:
            st.markdown(f"**{panels.own(say('Not recorded yet'))}**")
        else:
            st.markdown(f"**{card.verdict_text(recipe, result)}**")
            st.caption(panels.own(_basis(result, result.verdict(recipe.compare))))
            if recipe.same_cut is not None:
                st.caption(panels.own(words.cut_text(result.verdict(recipe.same_cut))))
            if result.source == SHIPPED:
                machine = units.middle_cut(result.record.machine.cpu_model, _MACHINE_CHARS)
                st.caption(panels.code_span(machine))
        both = None if result is None else beside_published(recipe, result.record)
        if both is not None:
            published, ours = both
            st.caption(
                panels.own(say("Measured {figures}", figures=words.published_line(recipe, ours)))
            )
            told = words.published_line(recipe, published)
            st.caption(panels.own(say("Published {figures}", figures=told)))
        elif recipe.published:
            told = words.published_line(recipe, recipe.published[0])
            st.caption(panels.own(say("Published {figures}", figures=told)))


def _basis(result: Result, verdict: Verdict) -> str:
    """What the verdict rests on, in a line of our own words."""
    said = [wording.verdict_interval(verdict)]
    if verdict.outcome == "cannot_tell":
        said = [wording.why_not_told(verdict)]
        if verdict.speedup is not None:
            said.append(say("best guess {speedup:factor}", speedup=verdict.speedup))
    said += [say("measured"), card.SOURCES[result.source].text(), result.date]
    return " · ".join(filter(None, said))


def _state(recipe: Recipe, found: Mapping[str, Result]) -> str:
    """Markdown: how long it takes, and what it lacks here."""
    time = say("{time}, estimated", time=run.length(recipe, found))
    marks = [f":gray-badge[:material/schedule: {panels.own(time)}]"]
    lacking = progress.missing(compiler=recipe.needs_compiler)
    if not lacking and not run.is_there(recipe):
        lacking = (recipe.runtime,)
    if lacking:
        needs = say("needs {packages}", packages=listed(lacking))
        marks.append(f":orange-badge[:material/block: {panels.own(needs)}]")
    return " ".join(marks)
