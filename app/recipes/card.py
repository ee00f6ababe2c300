"""One recipe: what it asks, its recording, and its table beside what was published."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from fusescope.analysis import wording
from fusescope.analysis.messages import Message, listed, say
from fusescope.analysis.recipes import Recipe, RecipeTable
from fusescope.analysis.wording import recipes as words
from fusescope.app.parts import exports, panels
from fusescope.app.parts.table import ROW_HEIGHT, whole_height
from fusescope.app.recipes import results, run
from fusescope.app.recipes import table as recipe_table
from fusescope.app.recipes.results import OWN, SHIPPED, Result

_TIME = "latency"
_LINK_HEIGHT = 40  # the icon of a link is taller until it is drawn
_METRIC_HEIGHT = 84  # of a time with its change, which is lower until it is drawn
_COLOURS: Mapping[str, panels.DeltaColor] = {"faster": "blue", "slower": "red"}
SOURCES = {OWN: Message("Recorded here"), SHIPPED: Message("Comes with FuseScope")}


def show(recipe: Recipe, recipes_page: st.Page, compare_page: st.Page) -> None:
    """Draw the card of the recipe."""
    # Upright, a link would reach out of its container at the top and be cut.
    with st.container(
        height=_LINK_HEIGHT, border=False, horizontal=True, vertical_alignment="center"
    ):
        st.page_link(recipes_page, label=say("All recipes"), icon=":material/arrow_back:")
    found = results.results(recipe, results.recorded())
    main, side = st.columns([2.2, 1], gap="large")
    with side, panels.guarded(say("This recipe cannot be run.")):
        run.show(recipe, found, compare_page)
    table = None
    with main:
        st.header(panels.own(recipe.title), anchor=False)
        st.markdown(panels.own(recipe.question))
        st.markdown(steps_text(recipe))
        result = _chosen(found)
        if result is None:
            st.info(
                say("Not recorded yet. Run the recipe to see its table."), icon=":material/info:"
            )
        else:
            _answer(recipe, result, compare_page)
            with panels.guarded(say("The table of this recipe cannot be made.")):
                with st.spinner(say("Reading and comparing …")):
                    table = results.table(recipe, result)
                _step_times(table)
    if table is None:
        with main:
            _told(recipe)
        return
    with panels.guarded():
        _table(table)
    left, right = st.columns([1.6, 1], gap="large")
    with left:
        _told(recipe)
    with right, st.container(border=True):
        _doubts(table)


# What the overview shows too.


def steps_text(recipe: Recipe) -> str:
    """Markdown of the steps as chips, in order."""
    return " → ".join(f":gray-badge[{panels.own(step.label)}]" for step in recipe.steps)


def verdict_text(recipe: Recipe, result: Result) -> str:
    """Markdown of the verdict on the pair that says most; labels of steps are our own."""
    verdict = result.verdict(recipe.compare)
    colour = _COLOURS.get(verdict.outcome, "gray")
    parts = words.answer_parts(recipe, verdict)
    shown = [(part.role, panels.own(part.text)) for part in parts]
    return "".join(f":{colour}[{text}]" if role == "number" else text for role, text in shown)


# The answer.


def _chosen(found: Mapping[str, Result]) -> Result | None:
    """This machine's result or the shipped one, as the switch says; None without any."""
    if len(found) < 2:
        return next(iter(found.values()), None)

    def shown(source: str) -> str:
        name = SOURCES[source]
        date = found[source].date
        return say("{name} · {date}", name=name, date=date) if date else name.text()

    source = panels.switch(say("Result"), list(found), "recipe_source", shown=shown)
    return found[source if source in found else next(iter(found))]


def _answer(recipe: Recipe, result: Result, compare_page: st.Page) -> None:
    """The verdict on the pair that says most, where it was recorded, and the way to Compare."""
    verdict = result.verdict(recipe.compare)
    interval = panels.beside_headline(wording.verdict_interval(verdict))
    st.subheader(f"{verdict_text(recipe, result)}{interval}", anchor=False)
    with st.container(gap="xxsmall"):
        if recipe.same_cut is not None:
            st.text(words.cut_text(result.verdict(recipe.same_cut)))
        st.caption(panels.own(wording.verdict_basis(verdict)))
        mark = ":material/person:" if result.source == OWN else ":material/inventory_2:"
        made = say(
            "{source}: {made:name}",
            source=SOURCES[result.source],
            made=words.made_text(result.record),
        )
        panels.note(made, mark)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.page_link(
            compare_page,
            label=say("Open in Compare"),
            icon=":material/compare_arrows:",
            query_params=result.query(recipe.compare),
        )
        if recipe.same_cut is not None:
            st.page_link(
                compare_page,
                label=say("Against the same cut"),
                icon=":material/compare_arrows:",
                query_params=result.query(recipe.same_cut),
            )
        whole = (recipe.variants[0], recipe.variants[-1])
        if whole != recipe.compare:
            first, last = (step.label for step in (recipe.steps[0], recipe.steps[-1]))
            st.page_link(
                compare_page,
                label=panels.own(say("{first} against {last}", first=first, last=last)),
                icon=":material/compare_arrows:",
                query_params=result.query(whole),
            )


def _step_times(table: RecipeTable) -> None:
    """Latency of each step, its change to the first, and what was published."""
    grid = st.grid(len(table.rows), min_column_width=130, border=True, key="recipe_steps")
    for row in table.rows:
        told = table.published_at(row.step.variant)
        change = row.cells["latency_change"]
        outcome = row.first.outcome if row.first is not None else ""
        text = "" if change.is_empty else words.cell_text("latency_change", change)
        with grid.cell(), st.container(gap="xxsmall"):
            st.metric(
                panels.own(row.step.label),
                panels.own(words.cell_text(_TIME, row.cells[_TIME])),
                delta=text or None,
                delta_arrow=panels.arrow(text),
                delta_color=_COLOURS.get(outcome, "gray"),
                help=panels.own(words.COLUMNS[_TIME].definition),
                height=_METRIC_HEIGHT,
            )
            if told is not None and _TIME in told.cells:
                st.caption(
                    panels.own(
                        say("published {time}", time=words.cell_text(_TIME, told.cells[_TIME]))
                    )
                )
    st.caption(say("Measured latency. Changes are relative to the first step."))


def _table(table: RecipeTable) -> None:
    drawn = recipe_table.drawn(table)
    title, tools = st.columns([3, 2], vertical_alignment="bottom")
    title.subheader(say("Table"), anchor=False)
    with tools, st.container(horizontal=True, horizontal_alignment="right", gap="xsmall"):
        exports.recipe_downloads(table)
    st.dataframe(
        drawn.styled,
        key="recipe_table",
        height=whole_height(len(drawn.styled.index)),  # kept while it loads
        row_height=ROW_HEIGHT,
        hide_index=True,
        column_config=drawn.settings,
        placeholder="",
        alt=say(
            "Figures of the recipe, a column for each step, published figures below those measured"
        ),
    )
    st.caption(panels.own(words.how_to_read(table)))
    for why, labels in drawn.lacking.items():
        names = listed(labels)
        st.caption(
            panels.own(
                say("Not available: {names}. Reason: {why}.", names=names, why=why)
                if why
                else say("Not available: {names}.", names=names)
            )
        )
    with st.expander(say("Definitions"), key="recipe_definitions"):
        for line in drawn.lines:
            st.markdown(f"**{panels.own(line.label)}**: {panels.own(line.definition)}")


def _doubts(table: RecipeTable) -> None:
    st.subheader(say("Can I trust this?"), anchor=False)
    for note in table.notes:
        icon = ":orange[:material/warning:]" if note.is_doubt else ":gray[:material/info:]"
        panels.note(words.note_sentence(note), icon)
    if not table.notes:
        st.caption(say("There are no known doubts."))


def _told(recipe: Recipe) -> None:
    """What was published and what is odd about it, why ours differ, and what each step is."""
    if recipe.published:
        st.subheader(say("Published"), anchor=False)
        st.caption(panels.own(recipe.source))
        told = []
        for one in recipe.published:
            told.append(f"- {panels.own(words.published_line(recipe, one))}")
            told += [f"  - :gray[{panels.own(one.note)}]"] if one.note else []
        st.markdown("\n".join(told))
    if recipe.why_differ:
        title = (
            say("Why these differ from the published ones")
            if recipe.published
            else say("How to read it")
        )
        st.subheader(title, anchor=False)
        st.markdown("\n".join(f"- {panels.own(sentence)}" for sentence in recipe.why_differ))
    st.subheader(say("What runs"), anchor=False)
    told = []
    for step in recipe.steps:
        name = f"**{panels.own(step.label)}** {panels.code_span(step.variant)}"
        told.append("1. " + say("{label}: {text}", label=name, text=panels.own(step.adds)))
    st.markdown("\n".join(told))
