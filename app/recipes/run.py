"""The recording of a recipe: what it does, how long it may take, its start and its progress."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

import streamlit as st

from fusescope.analysis.messages import Message, paragraph, say
from fusescope.analysis.recipes import Recipe
from fusescope.analysis.wording import recipes as words
from fusescope.app import state
from fusescope.app.parts import panels
from fusescope.app.parts.recording import engines
from fusescope.app.recipes import request
from fusescope.app.recipes.results import OWN, SHIPPED, Result
from fusescope.app.recording import progress, recorder

QUICK_BLOCKS = 2  # enough to see that everything runs
_BASES = {
    OWN: Message("The time is estimated from the last recording on this machine."),
    SHIPPED: Message("The time is estimated from the recording that comes with FuseScope."),
    "": Message("The time is estimated from the recipe's work at assumed rates."),
}


def show(recipe: Recipe, found: Mapping[str, Result], compare_page: st.Page) -> None:
    """The button that records it; in its place what runs now, or why nothing can."""
    status = recorder.RECORDER.status
    if status is not None and status.running:
        progress.running()
        return
    if status is not None and status.recipe == recipe.name:
        progress.result(status, compare_page, {})
    with st.container(border=True):
        st.subheader(say("Run it here"), anchor=False)
        st.caption(panels.own(words.settings_text(recipe)))
        refusal = progress.refusal(compiler=recipe.needs_compiler)
        if refusal is not None:
            st.caption(
                panels.own(
                    paragraph(
                        say("It would take {time}.", time=length(recipe, found)),
                        _basis(recipe, found),
                    )
                )
            )
            st.info(panels.parts_text(refusal, "gray"), icon=":material/block:")
            blocks = None
        elif not is_there(recipe):
            engines.how_to_add(recipe.runtime)
            blocks = None
        else:
            blocks = _form(recipe, found)
        st.caption(say("The same on the command line:"))
        panels.code(request.command(recipe, blocks=blocks))


def is_there(recipe: Recipe) -> bool:
    """Whether the engine of the recipe is there. Asked only where recording is possible."""
    from fusescope.collectors.record import is_ready

    return is_ready(recipe.runtime)


def length(recipe: Recipe, found: Mapping[str, Result], blocks: int | None = None) -> str:
    """About how long recording takes here: an estimate, whose basis the card says."""
    like = _like(recipe, found)
    return words.length_text(recipe.seconds(None if like is None else like.record, blocks))


def _like(recipe: Recipe, found: Mapping[str, Result]) -> Result | None:
    """The result whose runs take about as long as those of the recipe: the last of this machine
    with the same batch and threads, else the one that comes with FuseScope."""
    for result in (found[source] for source in (OWN, SHIPPED) if source in found):
        same_batch = recipe.batch in (None, result.record.model.batch)
        if same_batch and recipe.threads in (None, result.record.settings.threads):
            return result
    return None


def _basis(recipe: Recipe, found: Mapping[str, Result]) -> str:
    like = _like(recipe, found)
    return _BASES["" if like is None else like.source].text()


def _form(recipe: Recipe, found: Mapping[str, Result]) -> int | None:
    """How long it may take, and the button; the number of blocks, None for the recipe's own."""
    chosen = st.radio(
        say("How long"),
        [recipe.blocks, QUICK_BLOCKS],
        format_func=lambda count: say(
            "{blocks:blocks}, {time}", blocks=count, time=length(recipe, found, count)
        ),
        key=state.language.told_choice(f"recipe_blocks_{recipe.name}"),
        help=say(
            "A block is a fresh process that runs every step. Below 5 blocks there is no interval "
            "and no verdict. 2 blocks show that everything runs."
        ),
    )
    blocks = None if chosen == recipe.blocks else chosen
    st.caption(
        panels.own(
            paragraph(
                _basis(recipe, found),
                say("Do not use the machine for other work while the recording runs."),
            )
        )
    )
    if st.button(say("Run"), key="recipe_run", type="primary", icon=":material/play_arrow:"):
        with panels.guarded(say("This recipe cannot be run.")):
            _start(recipe, blocks)
    return blocks


def _start(recipe: Recipe, blocks: int | None) -> None:
    from fusescope.collectors.record import record

    path = progress.folder() / f"{recipe.name}-{date.today():%Y-%m-%d}.zip"
    job = request.recording(recipe, path, blocks=blocks)
    job.plan()  # what cannot be recorded is said here, not by the thread
    recorder.RECORDER.start(job, record, recipe=recipe.name)
    st.rerun()
